/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder live/: a profile that is shown on the terminal while it is taken, for profile, offcpu
 * and top.
 *
 *	options.progress = live_profile_progress;
 *	err = profile_session_open(&options, &session);
 *	...                                    drop privileges
 *	err = live_profile_run(&(struct live_profile){ .session = session, ... }, &signal);
 *
 * The session runs in a thread of its own, which also names frames and adds readings up: so keys
 * have their effect at once. The screen (tui/flame_screen.h) makes its trees of the sum, which a
 * lock keeps as it is meanwhile.
 */
#ifndef LIVE_LIVE_PROFILE_H
#define LIVE_LIVE_PROFILE_H

#include "profile/filter.h"
#include "sched/profile_session.h"
#include "tui/flame_screen.h"

struct live_profile {
	struct profile_session *session; /* opened, and not started; the caller closes it */
	const struct flame_screen_options *screen;
	uint64_t duration_ns;        /* collecting ends after it; 0: never */
	bool ends_with_targets;      /* or when no thread of them is left */
	bool no_inline;              /* as in struct symbolise_options, */
	const char *symfs;           /* the same */
	const struct filter *filter; /* of samples; NULL: none */
	/* Called some times a second in the thread, for what else must go on; may be NULL. */
	struct error *(*tick)(void *context);
	void *tick_context;
};

/* For struct profile_options of the session: the user may leave while unwind tables are made. */
bool live_profile_progress(void *context, size_t done, size_t all);

/* Show it until the user leaves. `ret_signal` is what ended it, or 0. What was collected goes to
 * `ret_profile`, if that is not NULL: the caller destroys it; NULL where there is nothing. */
struct error *live_profile_run(const struct live_profile *live, struct profile **ret_profile,
			       int *ret_signal) MUST_CHECK;

#endif
