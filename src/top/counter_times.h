/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes the times of a thread by state from two readings of the kernel's counters. These
 * functions read nothing.
 *
 * The kernel has four counters: time on a CPU, waits for a CPU, waits for storage, and swapping in.
 * The start of two of these waits is known while they last; they are counted up to now. The rest of
 * the time since the last reading is in no counter. If the thread has not switched since, it was in
 * the same state as then: this holds for stopped threads, for kernel threads that waited for work,
 * and for threads that never slept. For all others the rest is SLEEP, undivided.
 *
 * The times of a window always add up to its length:
 *
 * Counters may lag: time on a CPU is accounted by the tick. Time that exceeds a window is carried
 * over to the next one, and time that was added too early is subtracted there; both are limited to
 * COUNTER_SLACK_NS.
 *
 * If counters exceed the window, time on a CPU comes first, since it is never too much, then waits
 * for a CPU, then storage: each is limited to what the others left.
 *
 * The kernel's delays overlap. Since Linux 5.17 (a3d5dc908a5f) a swap-in that sleeps is also in the
 * delay of block I/O; one that does not sleep, as from compressed memory, is time on the CPU. So
 * PAGING is the time that is in both `swapin` and `blkio`, and SLEEP_DISK is `blkio` without it;
 * the rest of `swapin` is in EXEC. If swap is read asynchronously, the kernel counts the wait as
 * block I/O only, so it is in SLEEP_DISK. `thrashing` is the wait for recently evicted pages, of
 * files and of swap: it is part of `blkio`, and gives no further information.
 *
 * Since Linux 6.12 (152e11f6df29) a thread that goes to sleep may first be moved to another CPU;
 * then, when it is woken, the kernel counts all of that sleep as a wait for a CPU. If a reading
 * finds a thread asleep in this way, the delay of the next window is ignored: it is part of the
 * rest. Such a sleep between two readings cannot be distinguished from a wait.
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
	uint64_t reported[COUNTED_COUNT]; /* of each counter, in its times or before them */
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

/* Set the state in a record that was not read from the kernel, by the letter that /proc has for it.
 */
void counter_times_set_letter(struct iterator_record *record, char letter);

/* Is it dead, whether its parent has heard of it or not? */
bool counter_times_is_over(const struct iterator_record *record);

/* Start with an existing thread; its earlier times do not count. */
void counter_times_meet(struct state_thread *thread, struct counter_memory *memory,
			const struct iterator_record *record, const struct counter_facts *facts);

/* Begin with a thread that was born after the first reading: all of its time counts. `thread` and
 * `memory` are {0} except for names. */
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
