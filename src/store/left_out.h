/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that are not stored in the table threads, since they can be computed from others; they
 * would be a third of a row. Their bits are not set, and readers restore them.
 *
 * The states of threads are rounded, for the same reason: `states` has the exact times of each
 * program.
 */
#ifndef STORE_LEFT_OUT_H
#define STORE_LEFT_OUT_H

#include "metric/record.h"

/* A state is stored in units of 2^26 ns (67 ms), rounded to the nearest. */
#define STORE_STATE_SHIFT 26

bool store_is_left_out(unsigned id);

/* Is it the time of a state? */
bool store_is_rounded(unsigned id);

static inline uint64_t store_round(uint64_t ns)
{
	return (ns + (UINT64_C(1) << (STORE_STATE_SHIFT - 1))) >> STORE_STATE_SHIFT
									  << STORE_STATE_SHIFT;
}

/* Compute the metrics that were left out of a row from those that were measured. */
void store_restore(struct thread_record *record);

#endif
