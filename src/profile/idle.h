/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits that are idle by choice, so that those of a whole host do not hide the others.
 *
 * Waiting for work and for a connection is idle, whoever does it (REASON_IDLE, REASON_ACCEPT). A
 * thread that waits for any of its files, at a condition or for a time may be idle, or may wait for
 * an answer: it is idle if it did next to nothing else, as the loops of servers, pools and timers.
 * Below a function that asks another program, such as getaddrinfo(), it waits for an answer.
 *
 *	struct idle idle;
 *	struct error *err = idle_find(profile, &idle);
 *	...
 *	if (idle_has(&idle, sample->thread, sample->class, sample->state))
 *		...
 *	idle_deinit(&idle);
 */
#ifndef PROFILE_IDLE_H
#define PROFILE_IDLE_H

#include "profile/profile.h"

/* What a thread that is idle all the time does beside that, at most: a hundredth. */
#define IDLE_BESIDE 100

struct idle {
	bool *threads;       /* of each thread: idle all the time */
	size_t thread_count; /* that are */
	size_t part_count;   /* threads that are idle at other times */
	uint64_t ns, all_ns; /* idle waits, and all samples */
};

struct error *idle_find(const struct profile *profile, struct idle *ret) MUST_CHECK;
/* Takes one that is zeroed. */
void idle_deinit(struct idle *idle);

static inline void idle_deinit_guard(struct idle *idle)
{
	idle_deinit(idle);
}

/* Is a wait of this thread idle? `idle` may be NULL: nothing is. */
bool idle_has(const struct idle *idle, uint32_t thread, unsigned class, unsigned state);

#endif
