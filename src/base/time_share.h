/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shares of the time that slow calls about others may take: each subject (a user, a process) is
 * charged for what it took, and pays it back by waiting.
 *
 *	struct time_shares shares = { .advance_ns = ... };
 *	if (!time_shares_used_up(&shares, subject)) {
 *		look at it, which takes cost_ns;
 *		time_shares_charge(&shares, subject, cost_ns, 5);	a fifth of the time
 *	}
 *	time_shares_deinit(&shares);
 *
 * Not for several threads at once. Without memory a charge is lost.
 */
#ifndef BASE_TIME_SHARE_H
#define BASE_TIME_SHARE_H

#include "base/array.h"
#include "base/word_map.h"

struct time_shares {
	uint64_t advance_ns;      /* debt allowed before calls are refused */
	struct word_map subjects; /* to the index of its time */
	struct {
		ARRAY(uint64_t);
	} free_ns; /* until when what was used is paid for (CLOCK_MONOTONIC) */
};

/* The subject may take one part of the time: it pays `part` times the cost. */
void time_shares_charge(struct time_shares *shares, uint64_t subject, uint64_t cost_ns,
			unsigned part);

/* Has it more to pay than what is advanced? */
bool time_shares_used_up(const struct time_shares *shares, uint64_t subject);

/* Has it anything to pay? */
bool time_shares_owes(const struct time_shares *shares, uint64_t subject);

/* Has any subject more to pay than what is advanced? */
bool time_shares_any_used_up(const struct time_shares *shares);

/* Was no subject charged yet? Then subjects need not be looked up. */
static inline bool time_shares_empty(const struct time_shares *shares)
{
	return !shares->free_ns.count;
}

void time_shares_deinit(struct time_shares *shares);

#endif
