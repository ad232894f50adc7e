/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What matters most in a report, before its tables: what the host did, and the groups of threads
 * that changed most, by time that matters.
 *
 * Everything is a rate: so much per second. A span is what a rate is taken over: from one capture
 * to a later one of the same boot, or the life of threads before a capture.
 *
 *	captures                    before                       after
 *	one                         -                            all that the threads did
 *	two of one boot             the life before the first    from the first to the second
 *	two of different boots      the life before the first    the life before the second
 *	several on a side           from each to the next        from each to the next
 *	several of different boots  the life before each         the life before each
 *
 * A cause is a metric that costs time: those of time itself, and events at a usual price. A group
 * changed by |after - before| of each cause, in seconds per second; that is weighed by how unusual
 * it is (significance.h): among the changes of all groups, or over time where a side has several
 * spans. Between two captures of one boot, what is as before counts a little (LEVEL_WEIGHT), since
 * what takes the CPUs all of the time is an answer, too.
 */
#ifndef COMPARE_OVERVIEW_H
#define COMPARE_OVERVIEW_H

#include "compare/report.h"

/*
 * CAUSE(id, ns that a unit counts for, what a fall counts for, its metric, and others with the same
 * meaning: the first that a group has is taken; COUNT: no other)
 *
 * Times count as they are, events at a usual price: 200 MB/s of a disk, a tenth of a millisecond
 * for a page from storage and a microsecond for one from memory, 5 us for two switches and a
 * wake-up. A fall against a whole life counts less than a rise, since that is a rough measure of
 * what is usual: half of CPU time, since threads may stand still, a quarter of other work, and next
 * to nothing of waits; but half of the wait for a CPU as well where a group stands still.
 *
 * The memory of processes is no metric of threads and no rate: its values are bytes at the end of
 * each side, the difference counts as much as to read it from storage, whatever the time in
 * between, and a level does not count. One capture has no difference.
 */
#define OVERVIEW_CAUSES(CAUSE)                                                         \
	CAUSE(CPU, 1, 0.5, run_time_ns, COUNT, COUNT)                                  \
	CAUSE(CPU_WAIT, 1, 0.05, wait_time_ns, COUNT, COUNT)                           \
	CAUSE(STORAGE, 1, 0.05, blkio_delay_total_ns, iowait_sum, state_sleep_disk_ns) \
	CAUSE(LOCK, 1, 0.05, state_lock_ns, COUNT, COUNT)                              \
	CAUSE(BLOCKED, 1, 0.05, block_sum, COUNT, COUNT)                               \
	CAUSE(SWAP, 1, 0.05, swapin_delay_total_ns, state_paging_ns, COUNT)            \
	CAUSE(RECLAIM, 1, 0.05, freepages_delay_total_ns, COUNT, COUNT)                \
	CAUSE(COMPACT, 1, 0.05, compact_delay_total_ns, COUNT, COUNT)                  \
	CAUSE(MAJOR_FAULT, 100000, 0.05, majflt, COUNT, COUNT)                         \
	CAUSE(FAULT, 1000, 0.05, minflt, COUNT, COUNT)                                 \
	CAUSE(READ, 5, 0.25, read_bytes, COUNT, COUNT)                                 \
	CAUSE(WRITE, 5, 0.25, write_bytes, COUNT, COUNT)                               \
	CAUSE(WRITE_CALL, 0.1, 0.25, wchar, COUNT, COUNT)                              \
	CAUSE(SWITCH, 5000, 0.25, voluntary_csw, COUNT, COUNT)                         \
	CAUSE(MEMORY, 5, 0.25, COUNT, COUNT, COUNT)

enum overview_cause {
#define CAUSE(id, ...) CAUSE_##id,
	OVERVIEW_CAUSES(CAUSE)
#undef CAUSE
		CAUSE_COUNT
};

#define CAUSE_METRICS 3

struct overview_cause_info {
	double ns;                             /* that one unit of its metrics counts for */
	double fall;                           /* the weight of a fall against a life */
	enum metric_id metrics[CAUSE_METRICS]; /* METRIC_COUNT: no more */
};
extern const struct overview_cause_info overview_causes[CAUSE_COUNT];

/* One cause of one group. */
struct overview_value {
	bool measured;
	bool is_first;         /* it was not measured before */
	enum metric_id metric; /* METRIC_COUNT: memory, in bytes */
	double before, after;  /* per second, in the metric's unit; medians of several spans */
	double seconds;        /* that count: the change and a part of the level, per second */
	double score;          /* the same, weighed by how unusual they are */
};

enum overview_presence { PRESENCE_BOTH, PRESENCE_NEW, PRESENCE_ENDED };

struct overview_group {
	const struct name *label;
	uint32_t key;
	enum overview_presence presence;
	size_t threads_before, threads_after;
	double age_s; /* of its oldest thread in the candidate, of those shown; 0: not known */
	uint32_t pid; /* of its process with most of the first cause, in the candidate; 0: none */
	struct overview_value values[CAUSE_COUNT];
	enum overview_cause order[CAUSE_COUNT]; /* the first says most */
	double seconds, score;
};

/* Groups that changed by less (in seconds per second) are left out. In the overview of one capture,
 * groups that the user named are never left out. */
#define OVERVIEW_SECONDS_LEAST 0.001
#define OVERVIEW_GROUPS        10

/* What the host did: HOST_FACT(id, name, unit, whether it is of the whole host at a moment) */
#define OVERVIEW_FACTS(FACT)                              \
	FACT(CPU_BUSY, "cpu_busy", "ratio")               \
	FACT(CPU_PRESSURE, "cpu_pressure", "ratio")       \
	FACT(MEMORY_PRESSURE, "memory_pressure", "ratio") \
	FACT(IO_PRESSURE, "io_pressure", "ratio")         \
	FACT(LOAD, "load1", "")                           \
	FACT(AVAILABLE, "memory_available", "bytes")      \
	FACT(SWAPPED_IN, "swapped_in", "bytes/s")         \
	FACT(SWAPPED_OUT, "swapped_out", "bytes/s")       \
	FACT(DISK_READ, "disk_read", "bytes/s")           \
	FACT(DISK_WRITTEN, "disk_written", "bytes/s")     \
	FACT(DISK_BUSY, "disk_busy", "ratio")             \
	FACT(NET_RECEIVED, "net_received", "bytes/s")     \
	FACT(NET_SENT, "net_sent", "bytes/s")

enum overview_fact {
#define FACT(id, ...) FACT_##id,
	OVERVIEW_FACTS(FACT)
#undef FACT
		FACT_COUNT
};

struct overview_fact_info {
	const char *name, *unit;
};
extern const struct overview_fact_info overview_facts[FACT_COUNT];

/* NaN: not known. */
struct overview_host {
	double before[FACT_COUNT], after[FACT_COUNT];
	uint64_t cpus;         /* of the candidate; 0: not known */
	uint64_t memory_bytes; /* the same */
};

struct overview {
	const char *why_not; /* nothing could be ranked; NULL */
	double window_s;     /* of two captures of one boot, the time between them; of one, since
				boot; else 0: amounts are per second */
	bool has_uptime;     /* of one capture: window_s is that */
	struct overview_host host;
	struct {
		ARRAY(struct overview_group);
	} groups;                   /* that matter, those with the highest score first */
	bool measured[CAUSE_COUNT]; /* in some group */
	size_t named_threads;       /* of one capture: threads, of a query programs, of the groups
				       that were asked for by name; 0: none was */
	size_t own;                 /* groups of ctprof's own threads that were left out */
	double own_cpu;             /* their CPU time, in ns per second */
	double unseen_s; /* of the CPU time in the window, what no thread of both captures has */
	/* What all groups did in the window together, of each cause; METRIC_COUNT: not known. */
	enum metric_id total_metrics[CAUSE_COUNT];
	__int128 totals[CAUSE_COUNT];
};

/* The overview of a report that is otherwise complete. */
struct error *overview_create(struct report *report, struct overview **ret) MUST_CHECK;

/* Takes NULL. */
void overview_destroy(struct overview *overview);
DEFINE_CLEANUP(overview_destroy, struct overview *)

/* The number of groups that reports show. */
size_t overview_shown(const struct overview *overview);

/* Does no capture tell anything about it, though about other causes? */
bool overview_is_missing(const struct overview *overview, enum overview_cause cause);

/* Is the cause at place `i` of its order worth a word? */
bool overview_is_reason(const struct overview_group *group, size_t i);

/* It used a CPU, hardly does any more, and is there: idle, or it waits. Not if its first cause is a
 * wait that became longer, which says why. */
bool overview_is_idle(const struct overview_group *group);

/* Did what is in no capture use more CPU time than any group changed by? */
bool overview_unseen_leads(const struct overview *overview);

/* Fill in what the host did (overview_host.c). A span without `from` is since boot. */
struct overview_span {
	const struct ctprof_snapshot *from, *to;
	double seconds;
};
void overview_fill_host(struct overview_host *host, const struct overview_span *before,
			const struct overview_span *after);

#endif
