/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of threads between two readings: a row for each thread.
 *
 *	struct state_window window = { 0 };
 *	struct error *err = state_window_make(&window, &before, &now);
 *	...
 *	state_window_deinit(&window);
 *
 * Percentages are of a thread's own window: the time between its two readings, or its life where
 * that is shorter. Of a group they are of the sum of its threads' windows.
 *
 * A thread that has ended is in the window that it ended in, and in none after. If a thread was
 * tracked before the window and `before` does not have it (readings may lose threads, unless they
 * are complete), the window gets its share of the thread's times.
 */
#ifndef STATE_WINDOW_H
#define STATE_WINDOW_H

#include "base/error.h"
#include "state/reading.h"

/* A thread in a window. */
struct state_delta {
	const struct state_thread *thread; /* of the later reading */
	uint64_t window_ns;
	struct state_times times;
	/* The age of the wait in progress, which may have begun before the window. */
	uint64_t in_progress_ns; /* 0: it runs, or has ended, or that is not known */
	uint64_t switches;
	bool is_new; /* it began in this window */
};

struct state_window {
	uint64_t begun_ns, ended_ns;
	uint64_t at_unix_ns; /* its end */
	unsigned measured;
	struct {
		ARRAY(struct state_delta);
	} deltas; /* by the order of the later reading; those that had ended are in it */
	struct state_cost cost;   /* in it */
	struct state_hosts hosts; /* set by the maker of a replay's window */
};

/* The readings must outlive the window. One that is used again keeps its memory. */
struct error *state_window_make(struct state_window *window, const struct state_reading *before,
				const struct state_reading *now) MUST_CHECK;
void state_window_deinit(struct state_window *window);

#endif
