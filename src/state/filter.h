/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Applies a filter to threads: of a window of top, or of a snapshot.
 */
#ifndef STATE_FILTER_H
#define STATE_FILTER_H

#include "state/view.h"

/* The values that filters search, from a window of top or from a snapshot. */
struct thread_facts {
	uint32_t tid, tgid, uid;
	bool has_uid;
	unsigned states;                            /* a bit for each enum state that it was in */
	const struct state_times *times;            /* the time in each; NULL: not known */
	uint64_t whole_ns;                          /* the time that those are shares of */
	const struct name *name, *process, *cgroup; /* NULL: unknown, and matches nothing */
	/* The name of a user, or NULL. May be NULL itself: then numbers match alone. */
	const char *(*user_name)(void *context, uint32_t uid);
	void *context;
};

/* Does it match all terms? */
bool state_filter_matches(const struct state_filter *filter, const struct thread_facts *facts);

/* Does it match the view's filter, and is it no kernel thread where these are left out? */
bool state_view_shows(const struct state_view *view, const struct state_delta *delta);

#endif
