/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Converts a record of the BPF task iterator to the record of a thread, by the rows of metrics.def.
 *
 *	task_plan_init(&plan, &facts);
 *	take_task(&taker, &plan, record, cpus, thread);
 *
 * Values are those that /proc shows for the same thread; what /proc computes is computed here in
 * the same way. These functions read nothing.
 */
#ifndef CAPTURE_THREAD_TASK_H
#define CAPTURE_THREAD_TASK_H

#include "capture/task_record.h"
#include "capture/thread_files.h"

/* Fields that rows may name besides the counters of the record: FIELD(name). */
#define TASK_FIELDS(FIELD)                  \
	FIELD(policy)                       \
	FIELD(cpus)                         \
	FIELD(nice)                         \
	FIELD(priority)                     \
	FIELD(rt_priority)                  \
	FIELD(cpu)                          \
	FIELD(state)                        \
	FIELD(ext_enabled)                  \
	FIELD(threads)                      \
	FIELD(utime_ticks)                  \
	FIELD(stime_ticks)                  \
	FIELD(hiwater_rss)                  \
	FIELD(hiwater_vm)                   \
	FIELD(wait_in_progress_ns)          \
	FIELD(wait_sum_in_progress_ns)      \
	FIELD(sleep_in_progress_ns)         \
	FIELD(block_in_progress_ns)         \
	FIELD(kthread_block_in_progress_ns) \
	FIELD(iowait_in_progress_ns)        \
	FIELD(blkio_in_progress_ns)

enum task_field {
	TASK_FIELD_FIRST = TASK_COUNTER_COUNT - 1,
#define FIELD_ENUM(name) TASK_FIELD_##name,
	TASK_FIELDS(FIELD_ENUM)
#undef FIELD_ENUM
		TASK_FIELD_COUNT
};

/* The number of a counter or field; -1 when there is none of that name. */
int task_field_find(struct text name);

/* Facts that decide which rows exist and what they mean. */
struct task_facts {
	uint64_t counters[(TASK_COUNTER_COUNT + 63) / 64]; /* that the kernel has */
	uint64_t features;                                 /* a bit for each enum task_feature */
	bool statistics;                                   /* kernel.sched_schedstats is 1 */
	bool irq_accounting;
	int64_t clock_offset;     /* the scheduler's clock less CLOCK_MONOTONIC */
	int64_t boottime_offset;  /* of our time namespace, ns */
	const __u64 *active_cpus; /* NULL: unknown, masks are taken as they stand */
	size_t cpu_words;
	uint64_t page_bytes;
};

struct task_row {
	const struct metric *metric;
	uint32_t offset;      /* in struct thread_values */
	uint16_t field, less; /* less: TASK_FIELD_COUNT for none */
};

struct task_plan {
	struct task_facts facts;
	/* rows of 64-bit numbers, which are most, and the others */
	struct task_row wide[METRIC_COUNT], others[METRIC_COUNT];
	size_t wide_count, other_count;
	/* The measured rows: of every thread; and of leaders, of user threads, of kernel threads,
	 * of threads with a record of delays, and of those among these with a fair policy. */
	struct metric_set always, leaders, user, kernel, delays, fair, irq;
	/* Most threads have the mask, the policy and the name of the thread before. */
	__u64 mask[TASK_CPU_WORDS];
	const struct name *cpus, *policy_name, *comm;
	uint32_t policy;
	struct ctprof_snapshot *snapshot; /* that these names are of */
};

void task_plan_init(struct task_plan *plan, const struct task_facts *facts);

/* The rows that come from the iterator at all, for some thread. */
struct metric_set task_plan_rows(const struct task_plan *plan);

/* Take a record; `cpus` is its mask of more than 64 CPUs. The thread gets its numbers, name and
 * start time too. False without memory. */
bool take_task(struct taker *taker, struct task_plan *plan, const struct iterator_record *record,
	       const __u64 *cpus, struct ctprof_thread *thread);

/* Does the letter of its state depend on the kernel in a way that only /proc tells? Frozen threads
 * are R before Linux 6.8 and D since (f718faf3940e). */
bool task_state_is_unclear(const struct iterator_record *record);

#endif
