/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of threads by state, of a profile.
 *
 *	struct state_times *times;
 *	struct error *err = profile_thread_states(profile, &times);
 *	...                              times[t] belongs to profile->threads.items[t]
 *	free(times);
 *
 * The times of a thread add up to the time for which it was watched, if all waits were measured:
 * samples say what it waited for, and the rest of each class, such as waits that were too short for
 * a stack, has the state of the class. States of code, EXEC_USER and EXEC_SYSTEM, are not told
 * apart.
 */
#ifndef PROFILE_THREAD_STATES_H
#define PROFILE_THREAD_STATES_H

#include "profile/profile.h"
#include "state/reading.h"

/* The states that a profile of on-CPU and off-CPU time tells apart: a bit for each. */
#define PROFILE_STATES_MEASURED \
	(((1u << STATE_COUNT) - 1) & ~(1u << STATE_EXEC_USER | 1u << STATE_EXEC_SYSTEM))

/* As many as the profile has threads; the caller frees them. NULL if it has none. */
struct error *profile_thread_states(const struct profile *profile,
				    struct state_times **ret) MUST_CHECK;

#endif
