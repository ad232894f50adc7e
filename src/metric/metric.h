/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder metric/: the registry. metrics.def has a row per metric: type, name, aggregation
 * rule, section, prose, sources, kernel options, scheduler class, caveat. It is included several
 * times and makes the members of the thread record (record.h), the identifiers, the compile-time
 * checks and the table; capture, files, aggregation, reports, metric-list and the library walk
 * that table.
 *
 * A type (total_ns, peak_bytes, gauge_count, label, ...) is a struct of its own that permits one
 * rule; the row names the rule as well, and the compiler refuses a row whose two disagree. Rules
 * have units in their names (SUM_NS, MAX_PEAK), so that bytes under a rule for times can be
 * refused. Derived metrics (derived.def) divide totals only. A value is measured or not: one bit
 * for each row and thread goes with it from the file that was read to the cell that prints "-".
 */

/*
 * The table of all metrics, and what their rows mean.
 *
 *	for (size_t i = 0; i < METRIC_COUNT; i++)
 *		printf("%s: %s\n", metrics[i].name, metrics[i].prose);
 */
#ifndef METRIC_METRIC_H
#define METRIC_METRIC_H

#include "base/text.h"
#include "metric/record.h"
#include "metric/section.h"

/* Kernel features that rows need to be measured: GATE(id, what turns it on). */
#define GATES(GATE)                                                                               \
	GATE(SCHED_INFO, "needs a kernel built with CONFIG_SCHED_INFO")                           \
	GATE(SCHED_CORE,                                                                          \
	     "needs a kernel built with CONFIG_SCHED_CORE, and sysctl kernel.sched_schedstats=1") \
	GATE(SCHEDSTATS,                                                                          \
	     "needs a kernel built with CONFIG_SCHEDSTATS, and sysctl kernel.sched_schedstats=1") \
	GATE(SCHED_CLASS_EXT, "needs a kernel built with CONFIG_SCHED_CLASS_EXT")                 \
	GATE(TASK_IO_ACCOUNTING, "needs a kernel built with CONFIG_TASK_IO_ACCOUNTING")           \
	GATE(TASKSTATS, "needs a kernel built with CONFIG_TASKSTATS")                             \
	GATE(TASK_DELAY_ACCT,                                                                     \
	     "needs boot parameter delayacct, or sysctl kernel.task_delayacct=1 for "             \
	     "threads born after it")                                                             \
	GATE(TASK_XACCT, "needs a kernel built with CONFIG_TASK_XACCT")

enum metric_gate {
#define GATE_ENUM(id, remedy) GATE_##id,
	GATES(GATE_ENUM)
#undef GATE_ENUM
		GATE_COUNT
};

struct metric_gate_info {
	const char *name, *remedy;
};
extern const struct metric_gate_info metric_gates[GATE_COUNT];

/* Scheduler classes that feed a row: CLASS(id, tag, prose). */
#define CLASSES(CLASS)                                                       \
	CLASS(ANY, "", "")                                                   \
	CLASS(CFS_ONLY, "cfs-only", "counted by the fair scheduler only")    \
	CLASS(NON_EXT, "non-ext", "not counted for threads under sched_ext") \
	CLASS(FAIR_POLICY, "fair-policy", "printed for SCHED_OTHER, SCHED_BATCH and SCHED_EXT only")

enum metric_class {
#define CLASS_ENUM(id, tag, prose) CLASS_##id,
	CLASSES(CLASS_ENUM)
#undef CLASS_ENUM
		METRIC_CLASS_COUNT
};

struct metric_class_info {
	const char *tag, *prose;
};
extern const struct metric_class_info metric_classes[METRIC_CLASS_COUNT];

/* Sources of values: SOURCE(id, name, what it is, why it was denied). */
#define PROC_DENIED "denied: needs root, or hidepid=0 on /proc"
#define SOURCES(SOURCE)                                                                            \
	SOURCE(NONE, "", "", "")                                                                   \
	SOURCE(ONE, "one", "1 for each thread", "")                                                \
	SOURCE(TASK, "task", "BPF task iterator",                                                  \
	       "denied: needs CAP_BPF, CAP_PERFMON and CAP_SYSLOG")                                \
	SOURCE(STAT, "stat", "/proc/<tid>/stat", PROC_DENIED)                                      \
	SOURCE(SCHEDSTAT, "schedstat", "/proc/<tid>/schedstat", PROC_DENIED)                       \
	SOURCE(STATUS, "status", "/proc/<tid>/status", PROC_DENIED)                                \
	SOURCE(SCHED, "sched", "/proc/<tid>/sched", PROC_DENIED)                                   \
	SOURCE(IO, "io", "/proc/<tid>/io", "denied: needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH") \
	SOURCE(AFFINITY, "affinity", "sched_getaffinity(2)", PROC_DENIED)                          \
	SOURCE(TASKSTATS, "taskstats", "taskstats over netlink", "denied: needs CAP_NET_ADMIN")    \
	SOURCE(JEMALLOC, "jemalloc", "jemalloc's counters in the process",                         \
	       "denied: needs CAP_SYS_PTRACE over the process")                                    \
	SOURCE(STATES, "states", "the engine of ctprof top --record", "")

enum metric_source_id {
#define SOURCE_ENUM(id, name, what, denied) SOURCE_##id,
	SOURCES(SOURCE_ENUM)
#undef SOURCE_ENUM
		SOURCE_COUNT
};

struct metric_source_info {
	const char *name, *what, *denied;
};
extern const struct metric_source_info metric_source_infos[SOURCE_COUNT];

/* The conversion of a source's bytes to the value. */
enum metric_form {
	FORM_INTEGER,  /* decimal */
	FORM_MS_AS_NS, /* "12.345678", milliseconds as the scheduler's files print them */
	FORM_KIB,      /* decimal KiB, kept as bytes */
	FORM_POLICY,   /* the number of a scheduling policy, kept as its name */
	FORM_LETTER,   /* the first character */
	FORM_FLAG,     /* 0 or 1 */
	FORM_CPU_LIST, /* "0-3,8" */
};

struct metric_source {
	enum metric_source_id id;
	enum metric_form form;
	unsigned column;  /* counted from 1, in files of columns */
	const char *key;  /* in files of "key: value", and the name of a field of taskstats or of a
			     task */
	const char *less; /* the value of this key is taken off, and must be there too */
};

#define METRIC_SOURCES_MAX 2

/* The categories of delay accounting. */
enum metric_delay {
	DELAY_NONE,
	DELAY_cpu,
	DELAY_blkio,
	DELAY_swapin,
	DELAY_freepages,
	DELAY_thrashing,
	DELAY_compact,
	DELAY_wpcopy,
	DELAY_irq,
};

/* The threads that can have a metric. */
enum metric_owners {
	OWNERS_ALL,
	OWNERS_LEADERS, /* a fact of the process, kept on its leader */
	OWNERS_USER,    /* not kernel threads */
	OWNERS_KERNEL,
};

struct metric {
	const char *name;
	enum value_type type;
	enum metric_kind kind;
	enum unit unit;
	enum metric_rule rule;
	enum metric_family family;
	enum section section;
	const char *prose;
	size_t offset;             /* in struct thread_values */
	struct metric_source task; /* by BPF; without a key: it is not there */
	struct metric_source sources[METRIC_SOURCES_MAX]; /* without BPF, best first */
	unsigned gates;                                   /* a bit for each enum metric_gate */
	enum metric_class class;
	const char *caveat; /* NULL when there is none */
	bool zero_is_no_events;
	enum metric_owners owners;  /* which threads can have it */
	enum metric_id counterpart; /* what others have instead; 0: nothing */
	bool is_idle;  /* time in which it wanted nothing; of most threads, all that there is */
	bool is_label; /* a number that names something: two of them have no difference */
	bool may_exceed_life;    /* a time, but not one that passes for the thread while it lives */
	enum metric_delay delay; /* DELAY_NONE: it is no delay */
	/* The metric with the elapsed part of this total, which the kernel accounts when the wait
	 * ends; 0: none. */
	enum metric_id in_progress;
};

extern const struct metric metrics[METRIC_COUNT];

/* The metric of that name, or NULL. */
const struct metric *metric_find(struct text name);

static inline enum metric_id metric_id(const struct metric *metric)
{
	return (enum metric_id)(metric - metrics);
}

/*
 * Two names for one fact: TWIN(metric, the other that is shown instead). The kernel counts both in
 * one place (sched_info_arrive(), kernel/sched/stats.h), and prints them in two: delay accounting
 * reads its CPU delays from sched_info (__delayacct_add_tsk(), kernel/delayacct.c).
 */
#define METRIC_TWINS(TWIN)                     \
	TWIN(cpu_delay_total_ns, wait_time_ns) \
	TWIN(cpu_delay_count, timeslices)

struct metric_twin {
	enum metric_id metric, shown;
};

/* The twin of a metric, which may be a derived one; NULL: it has none. */
const struct metric_twin *metric_twin_of(unsigned number);

/* A kernel counter that is captured but that nothing in the kernel writes any more. */
static inline bool metric_is_dead(const struct metric *metric)
{
	return metric->kind == KIND_DEAD;
}

static inline bool metric_is_of(const struct metric *metric, bool is_leader, bool is_kernel)
{
	switch (metric->owners) {
	case OWNERS_LEADERS:
		return is_leader;
	case OWNERS_USER:
		return !is_kernel;
	case OWNERS_KERNEL:
		return is_kernel;
	default:
		return true;
	}
}

/* The value of a metric whose representation is a number, widened; categories and sets are not
 * numbers. Letters and flags are given as their code. */
int64_t metric_load_i64(const struct thread_values *values, const struct metric *metric);
uint64_t metric_load_u64(const struct thread_values *values, const struct metric *metric);

/* The value of a label or cpu_set; NULL when there is none. */
const struct name *metric_load_name(const struct thread_values *values,
				    const struct metric *metric);

/*
 * The elapsed time of the thread's wait in progress, which is not in this total yet, since the
 * kernel adds a wait when it ends. 0 if the thread does not wait, or it was not measured.
 */
static inline uint64_t metric_unaccounted(const struct thread_record *record,
					  const struct metric *metric)
{
	if (!metric->in_progress || !metric_set_has(&record->measured, metric->in_progress))
		return 0;
	return metric_load_u64(&record->values, &metrics[metric->in_progress]);
}

/* Store a number into a metric of any type of number, letter or flag. False when it does not fit.
 */
bool metric_store_u64(struct thread_values *values, const struct metric *metric, uint64_t value);
bool metric_store_i64(struct thread_values *values, const struct metric *metric, int64_t value);

/* The same into a metric that is a 64-bit number, as all totals, peaks and gauges are. */
static inline void metric_place_u64(struct thread_values *values, const struct metric *metric,
				    uint64_t value)
{
	*(uint64_t *)(void *)((char *)values + metric->offset) = value;
}

/* Store into a label or cpu_set. */
void metric_store_name(struct thread_values *values, const struct metric *metric,
		       const struct name *name);

/* Write the bracketed tags of a metric, "[cfs-only] [SCHEDSTATS]", and return `buffer`. */
#define METRIC_TAGS_MAX 128
char *metric_tags(char *buffer, const struct metric *metric);

#endif
