/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inspected row in the window that is shown, and what it waits for.
 */
#ifndef TOP_INSPECT_ROW_H
#define TOP_INSPECT_ROW_H

#include "state/view.h"
#include "top/wait_answer.h"
#include "tui/screen.h"

struct top;

/* Of a group also its threads, those that are of interest first; they live in the list of `top`. */
struct inspected_row {
	bool is_there;
	uint64_t id; /* of the line, as in struct screen_subject */
	struct state_line line;
	const struct state_line *members;
	size_t count;
};

struct error *inspected_row_find(struct top *top, const struct screen_subject *subject,
				 struct inspected_row *ret) MUST_CHECK;

/* What it waits for. The row must be there. */
struct error *inspected_row_answer(struct top *top, const struct inspected_row *row,
				   struct wait_answer *ret) MUST_CHECK;

#endif
