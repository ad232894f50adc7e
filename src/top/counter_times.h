/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel counts of a thread, made into times by state: of two readings, what it did
 * between. These functions read nothing.
 *
 * The kernel has four counters: of time on a CPU, of waiting for one, of waiting for storage, of
 * swapping in. Two of these waits can be dated while they last, and are counted up to now. What is
 * left of the time since the last reading is in no counter. A thread that has not switched since
 * was in the state that it was in then, whatever that is; so it is known of one that was stopped,
 * of a kernel thread that waited for work, of one that never slept. Of all others the rest is
 * SLEEP, undivided.
 *
 * What a window adds is as long as the window, each time:
 *
 * Counters may run behind: time on a CPU is booked by the tick. What a window has no room for is
 * kept for the next one, and what it was given too early is taken off there: COUNTER_SLACK_NS at
 * most.
 *
 * Where counters are more than the window has room for, time on a CPU comes first, which is never
 * too much, then waiting for a CPU, then storage: each has no more than what the others left.
 *
 * The kernel's delays overlap. Since Linux 5.17 (a3d5dc908a5f) a swap-in that sleeps is in the
 * delay of block I/O too, and one that does not, as from compressed memory, is time on the CPU. So
 * PAGING is what a window has of both `swapin` and `blkio`, and SLEEP_DISK is `blkio` without that;
 * the rest of `swapin` is where it ran, in EXEC. Where swap is read asynchronously the kernel
 * counts the wait as block I/O alone, and so it is in SLEEP_DISK. `thrashing` is waiting for pages
 * that were dropped a moment ago, of files as well as of swap: it is part of `blkio`, and tells no
 * more.
 *
 * Since Linux 6.12 (152e11f6df29) a thread that goes to sleep may be moved to another CPU first,
 * and then the kernel counts all of that sleep as waiting for a CPU, once it is woken. Where a
 * reading finds one asleep so, the delay that the next window books is not taken: it is in the
 * rest. Such a sleep that begins and ends between two readings cannot be told from a wait.
 */
#ifndef TOP_COUNTER_TIMES_H
#define TOP_COUNTER_TIMES_H

#include "capture/task_record.h"
#include "state/reading.h"

/* A tick of the slowest kernel (CONFIG_HZ_100). */
#define COUNTER_SLACK_NS 10000000

enum counted { COUNTED_RUN, COUNTED_DELAY, COUNTED_BLKIO, COUNTED_SWAPIN, COUNTED_COUNT };

/* State of a thread besides its reported times. */
struct counter_memory {
	uint64_t told[COUNTED_COUNT]; /* of each counter, in its times or before them */
	uint64_t utime, stime;
	uint64_t voluntary, involuntary; /* switches */
	uint64_t queued_asleep;          /* as the record's, when it slept last */
};

/* Facts that hold for all threads of a reading. */
struct counter_facts {
	int64_t clock_offset; /* the scheduler's clock less CLOCK_MONOTONIC */
	bool is_dated;        /* that is known, so starts of waits mean something */
	bool counts_delays;   /* kernel.task_delayacct is 1 */
};

/* Is it dead, whether its parent has heard of it or not? */
bool counter_times_is_over(const struct iterator_record *record);

/* Begin with a thread that was there before: what it did until now is none of ours. */
void counter_times_meet(struct state_thread *thread, struct counter_memory *memory,
			const struct iterator_record *record, const struct counter_facts *facts);

/* Begin with one all of whose life is ours. `thread` and `memory` are {0} but for names. */
void counter_times_born(struct state_thread *thread, struct counter_memory *memory,
			uint64_t begun_ns);

/*
 * Add what it did since the reading before, up to `record->now`, and say what it does now.
 *
 * Of one that is over, what was counted last is taken. When it ended is not known: no rest is
 * added, as if it had ended when that was done.
 */
void counter_times_add(struct state_thread *thread, struct counter_memory *memory,
		       const struct iterator_record *record, const struct counter_facts *facts);

#endif
