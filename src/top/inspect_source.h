/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sources of the inspector of `ctprof top` beside the window: the host as it is now, or the
 * captures of a recording. What only a live host has is marked as not recorded.
 */
#ifndef TOP_INSPECT_SOURCE_H
#define TOP_INSPECT_SOURCE_H

#include <stdio.h>

#include "snapshot/model.h"
#include "top/inspect_row.h"
#include "tui/screen.h"

struct top;

/* The counters of a thread. */
struct inspect_counters {
	const struct ctprof_thread *now; /* NULL: it has ended */
	/* at the start of the window; NULL: unknown */
	const struct ctprof_thread *before;
	struct ctprof_snapshot *owned; /* owned by the receiver; or NULL */
};

struct inspect_source {
	/* Look at the windows before, too. */
	struct error *(*look_back)(struct top *top, const struct screen_subject *subject);
	/* Print its system call, wait channel and memory, and the origin of its taskstats: a line
	 * each; of recorded memory, a line for each kind. */
	struct error *(*print_facts)(struct top *top, const struct state_thread *thread, FILE *out);
	/* Print where threads run and wait, which threads wake them, and which run instead; of a
	 * group, for all its threads. */
	void (*print_stacks)(struct top *top, const struct screen_subject *subject, FILE *out);
	/* Print the open files of its process; of a group, of the process that stands for it. */
	void (*print_files)(struct top *top, const struct screen_subject *subject,
			    const struct inspected_row *row, FILE *out);
	struct error *(*count)(struct top *top, const struct state_thread *thread,
			       struct inspect_counters *ret);
	/* Counting a thread costs nothing, and says what it was before: so of groups all are
	 * counted. */
	bool has_all;
};
extern const struct inspect_source inspect_live, inspect_recorded;

#endif
