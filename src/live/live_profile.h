/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder live/: a profile that is shown on the terminal while it is taken, for `profile`,
 * `offcpu` and `top`.
 *
 *	options.progress = live_profile_progress;
 *	err = profile_session_open(&options, &session);
 *	...					drop privileges
 *	struct live_profile live = { .session = session, ... };
 *	err = live_profile_run(&live, &profile, &end);
 *
 * A thread reads the session once a second, symbolises each reading and adds it to a sum
 * (profile/profile_sum.h), so the screen answers keys at once. The screen (tui/flame_screen.h)
 * builds its tree from the sum while it holds the lock.
 */
#ifndef LIVE_LIVE_PROFILE_H
#define LIVE_LIVE_PROFILE_H

#include "profile/filter.h"
#include "sched/profile_session.h"
#include "tui/flame_screen.h"

struct live_profile {
	struct profile_session *session; /* open, not started; the caller closes it */
	const struct flame_screen_options *screen;
	uint64_t duration_ns;   /* collecting ends after this time; 0: never */
	bool ends_with_targets; /* collecting ends when no target is left */
	/* Asked when none is left, in the thread: may there be some later? NULL: no. */
	bool (*may_return)(void *context);
	void *may_return_context;
	bool no_inline;              /* as in struct symbolise_options */
	const char *symfs;           /* likewise; NULL: none */
	const struct filter *filter; /* applied to each reading; NULL: none */
	/* Called about four times a second in the thread, also after collecting has ended: for work
	 * of the caller that must go on. An error ends the screen. May be NULL. */
	struct error *(*tick)(void *context);
	void *tick_context;
};

/* `progress` of the session's struct profile_options: lets the user leave while unwind tables are
 * built. */
bool live_profile_progress(void *context, size_t done, size_t all);

/* Show the profile until the user leaves or a signal ends the screen. `ret_profile` may be NULL;
 * else `*ret_profile` is what was collected, owned by the caller, or NULL if nothing was. */
struct error *live_profile_run(const struct live_profile *live, struct profile **ret_profile,
			       struct flame_screen_end *ret) MUST_CHECK;

#endif
