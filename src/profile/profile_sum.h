/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds up the readings of a profile in progress: all with the same weight, or older ones with less.
 *
 *	struct profile_sum sum = { .half_life_ns = 0 };
 *	while (reading) {
 *		err = profile_sum_add(&sum, profile);
 *		show(sum.profile);
 *	}
 *	profile_sum_deinit(&sum);
 *
 * Readings must be symbolised (profile/symbolise.h). The sum keeps what flame graphs show: threads,
 * stacks and samples, but no processes, single waits or distributions. So its size depends on the
 * number of different stacks and threads, not on time.
 */
#ifndef PROFILE_PROFILE_SUM_H
#define PROFILE_PROFILE_SUM_H

#include "profile/profile.h"

/* With more nodes or threads than these (some hundred MiB), the sum is reset. */
#define PROFILE_SUM_NODES_MAX   ((size_t)4 << 20)
#define PROFILE_SUM_THREADS_MAX ((size_t)1 << 20)

struct profile_sum {
	struct profile *profile; /* NULL: empty */
	uint64_t half_life_ns;   /* readings of this age count half; 0: all count the same */
	bool only_last;          /* keep only the last reading */
	unsigned restarts;       /* resets because the sum was too large */
};

/* Add a reading. Removes from it what the sum does not keep; the caller still owns it. */
struct error *profile_sum_add(struct profile_sum *sum, struct profile *reading) MUST_CHECK;

/* Copy the sum; `*ret` is NULL if it is empty. */
struct error *profile_sum_copy(const struct profile_sum *sum, struct profile **ret) MUST_CHECK;

void profile_sum_reset(struct profile_sum *sum);
void profile_sum_deinit(struct profile_sum *sum);

#endif
