/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of one row of `ctprof top` in the windows up to the displayed one: all windows of a
 * recording; live, those since the row is inspected.
 *
 *	err = top_past_look(&past, &subject, &window, number);	of each window
 *	top_past_print(&past, number, out);
 */
#ifndef TOP_PAST_H
#define TOP_PAST_H

#include <stdio.h>

#include "state/view.h"
#include "tui/screen.h"

/* Windows that are shown. */
#define TOP_PAST_WINDOWS 10
/* The number of windows that are kept, so that stepping in a recording does not read them again. */
#define TOP_PAST_KEPT 64

struct top_past_row {
	bool is_known; /* the window was read */
	bool is_there; /* the row was in it */
	size_t number; /* of the window */
	uint64_t at_unix_ns, length_ns;
	unsigned measured;
	struct state_line line; /* of what it points to only numbers are left */
};

/* Begins as {0}. */
struct top_past {
	enum state_grouping grouping;
	uint64_t line;
	struct top_past_row rows[TOP_PAST_KEPT]; /* each at the rest of its number */
};

/* Is this window known of this row? Of another row than before, nothing is. */
bool top_past_knows(struct top_past *past, const struct screen_subject *subject, size_t number);

/* Take what it did in this window. */
struct error *top_past_look(struct top_past *past, const struct screen_subject *subject,
			    const struct state_window *window, size_t number) MUST_CHECK;

/* Print a table of windows, the latest first: percent of the time in each state. For a recording,
 * also print how many are not read yet. */
struct error *top_past_print(const struct top_past *past, size_t number, bool is_recorded,
			     FILE *out) MUST_CHECK;

/* The same of threads, in one window. */
struct error *top_threads_print(const struct state_window *window, const struct state_line *lines,
				size_t count, FILE *out) MUST_CHECK;

#endif
