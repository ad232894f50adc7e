/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of one thread's files of /proc into its record, by the plan.
 *
 * These functions read nothing: they take what was read. A value that cannot be understood leaves
 * its metric unmeasured and the rest as it is.
 */
#ifndef CAPTURE_THREAD_FILES_H
#define CAPTURE_THREAD_FILES_H

#include "capture/plan.h"
#include "os/cpulist.h"
#include "os/taskstats.h"
#include "snapshot/model.h"

/* The context of taking values: where names go, and a buffer. */
struct taker {
	const struct plan *plan;
	struct ctprof_snapshot *snapshot;
	struct cpus cpus;
	bool keep;               /* what was measured before, by BPF, stays */
	uint64_t negative_times; /* times of /proc/<tid>/sched that ran backwards */
};

/*
 * Take a file of columns (stat, schedstat) or of pairs (status, sched, io). False when some value
 * could not be understood, or when no key of it is known. `thread` gets its name and start time
 * from stat.
 */
bool take_thread_file(struct taker *taker, enum metric_source_id source, struct text bytes,
		      struct ctprof_thread *thread);

/*
 * Take smaps_rollup: "Pss:  123 kB" lines; the first line, a range of addresses, is passed over.
 * False when some line could not be understood. No lines, or a name twice, leave it unmeasured.
 */
bool take_smaps_rollup(struct taker *taker, struct text bytes, struct ctprof_thread *thread);

/* Take the CPUs in taker->cpus as the thread's affinity. */
bool take_affinity(struct taker *taker, struct ctprof_thread *thread);

/* The state of delay accounting, which decides what a zero means. */
enum delay_accounting {
	DELAYS_UNKNOWN, /* on for some threads perhaps: no switch to look at */
	DELAYS_OFF,     /* kernel.task_delayacct is 0 */
	DELAYS_RUNTIME, /* turned on after boot: only threads born since then have it */
	DELAYS_BOOT,    /* on from the start */
};

extern const char *const delay_accounting_names[];

/*
 * Take what the kernel's statistics hold.
 *
 * cpu is counted always (it is sched_info's). The other seven are measured when delay accounting is
 * on from boot, or when one of them is not zero: netlink cannot tell a thread without a record,
 * born before the switch, from one without a delay. irq needs a kernel that accounts interrupt
 * time.
 */
void take_taskstats(struct taker *taker, const struct taskstats_values *stats,
		    enum delay_accounting delays, bool irq_accounting,
		    struct ctprof_thread *thread);

#endif
