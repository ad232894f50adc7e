/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics that rows of the table threads do not have, since others tell the same: they would take a
 * third of a row. Their bits are not set, and readers restore them.
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

/* Give a record that was read from a row what was left out of it, where what it is made of was
 * measured. */
void store_restore(struct thread_record *record);

#endif
