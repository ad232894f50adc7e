/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The four delays of taskstats as times by state: what was accounted, and nothing else. These
 * functions read nothing.
 *
 * A thread is distinguished from an earlier one with the same number by its age. The start time
 * that the kernel gives (ac_btime) is in seconds of the time of day, which may be set, so it may
 * differ between two readings of one thread.
 */
#ifndef TOP_DELAY_TIMES_H
#define TOP_DELAY_TIMES_H

#include "os/taskstats.h"
#include "state/reading.h"
#include "top/counter_times.h"

#define DELAY_TIMES_MEASURED \
	(1u << STATE_EXEC | 1u << STATE_RUNNABLE | 1u << STATE_SLEEP_DISK | 1u << STATE_PAGING)

/* The states that are measured, with or without delay accounting. */
unsigned delay_times_measured(bool counts_delays);

/* Are these the values of another thread than was reported? `now` is a time shortly before they
 * were requested. */
bool delay_times_are_anothers(const struct state_thread *thread,
			      const struct counter_memory *memory,
			      const struct taskstats_values *stats, uint64_t now);

/* Begin with a thread: all of it, if it was started after `opened_ns`; else what it does from now.
 */
void delay_times_begin(struct state_thread *thread, struct counter_memory *memory,
		       const struct taskstats_values *stats, uint64_t opened_ns, uint64_t now);

/* Returns how many delays were left out, as they are longer than the thread lived: Linux 6.12 and
 * newer may count one by block I/O from the boot. */
unsigned delay_times_add(struct state_thread *thread, struct counter_memory *memory,
			 const struct taskstats_values *stats, uint64_t now);

#endif
