/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How processes ended last, beyond the window that they ended in: a service that is killed again
 * and again is there all the time, but each of its processes is gone.
 *
 *	last_exits_take(&exits, &window);                 each window, in their order
 *	exit = last_exits_of(&exits, line, view.grouping, at_ns);
 *
 * Rows of threads and processes have the last exit of a process of this name in this cgroup, those
 * of cgroups of any process directly in it, and pools of any process of their name.
 */
#ifndef STATE_LAST_EXITS_H
#define STATE_LAST_EXITS_H

#include "base/word_map.h"
#include "state/view.h"

/* Names and cgroups; when there are more, the older half makes room. */
#define LAST_EXITS_MAX 4096

struct last_exit {
	uint32_t code;  /* as wait(2) returns it */
	uint64_t at_ns; /* CLOCK_MONOTONIC */
};

/* All zero is an empty one. */
struct last_exits {
	struct word_map places;
	struct {
		ARRAY(struct last_exit_row {
			struct words key;
			struct last_exit exit;
		});
	} rows;
};

void last_exits_deinit(struct last_exits *exits);

/* The names of the window's threads must live as long. What there is no memory for is not known. */
void last_exits_take(struct last_exits *exits, const struct state_window *window);

/* Of a row that has itself ended, its own. NULL: none is known, or not until `at_ns`. `ret` is
 * where the row's own is made. */
const struct last_exit *last_exits_of(const struct last_exits *exits, const struct state_line *line,
				      enum state_grouping grouping, uint64_t at_ns,
				      struct last_exit *ret);

/* "KILL", or "3" for a code; the number of a signal without a name. */
#define LAST_EXIT_TEXT_MAX 16
char *last_exit_text(char buffer[LAST_EXIT_TEXT_MAX], const struct last_exit *exit);

/* 0: it ended by itself. */
static inline unsigned last_exit_signal(const struct last_exit *exit)
{
	return exit->code & 0x7f;
}

#endif
