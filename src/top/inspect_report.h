/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inspection of one row as JSON (doc/top.md), for `top --inspect --format json` and for
 * /api/thread of `ctprof serve`.
 */
#ifndef TOP_INSPECT_REPORT_H
#define TOP_INSPECT_REPORT_H

#include "base/json_writer.h"
#include "state/view.h"
#include "top/thread_limits.h"
#include "top/wait_answer.h"

struct inspect_report {
	uint64_t window, at_unix_ns; /* the number of the window, and the time of its end */
	unsigned measured;           /* the states that it contains, a bit for each */
	enum state_grouping grouping;
	const struct state_thread *thread; /* of the row, or the one that represents it */
	const struct state_line *line;
	const struct wait_answer *answer;
	const struct thread_limits *limits; /* NULL: not known, as in a recording */
};

void inspect_report_put(struct json_writer *w, const struct inspect_report *report);

#endif
