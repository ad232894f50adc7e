/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up the readings of a profile that goes on: all of them, or so that old ones count less.
 *
 *	struct profile_sum sum = { .half_life_ns = 0 };
 *	while (reading) {
 *		err = profile_sum_add(&sum, profile);
 *		show(sum.profile);
 *	}
 *	profile_sum_deinit(&sum);
 *
 * A reading has named frames (profile/symbolise.h). Of it only what flame graphs show is kept:
 * threads, stacks and samples, but no processes, single waits or distributions. So the sum grows
 * with different stacks and threads, not with time.
 */
#ifndef PROFILE_PROFILE_SUM_H
#define PROFILE_PROFILE_SUM_H

#include "profile/profile.h"

/* With more nodes or threads, the sum is begun anew: some hundred MiB. */
#define PROFILE_SUM_NODES_MAX   ((size_t)4 << 20)
#define PROFILE_SUM_THREADS_MAX ((size_t)1 << 20)

struct profile_sum {
	struct profile *profile; /* NULL: nothing was added yet */
	uint64_t half_life_ns;   /* what is older by this counts half; 0: all counts the same */
	bool only_last;          /* the last reading is all there is */
	unsigned restarts;       /* how often it was begun anew, since it had become too large */
};

/* Add a reading, which is changed. */
struct error *profile_sum_add(struct profile_sum *sum, struct profile *reading) MUST_CHECK;

/* A copy as it is now; NULL if there is nothing. */
struct error *profile_sum_copy(const struct profile_sum *sum, struct profile **ret) MUST_CHECK;

void profile_sum_reset(struct profile_sum *sum);
void profile_sum_deinit(struct profile_sum *sum);

#endif
