/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of threads by state between two captures of any recording, from their counters
 * (top/counter_times.h).
 *
 *	err = counter_rows_read(before, now, &names, &readings[0], &readings[1]);
 *
 * The times of a thread add up to the time between the captures, or to its life if that is shorter.
 */
#ifndef TOP_COUNTER_ROWS_H
#define TOP_COUNTER_ROWS_H

#include "snapshot/model.h"
#include "state/reading.h"

/*
 * Make two readings of two captures; times count from the first. Threads without a known difference
 * are left out: those that the first lacks although they are older, and all if the two are of
 * different boots.
 *
 * Names are interned in `names`; readings may be used again.
 */
struct error *counter_rows_read(const struct ctprof_snapshot *before,
				const struct ctprof_snapshot *now, struct names *names,
				struct state_reading *ret_before,
				struct state_reading *ret_now) MUST_CHECK;

/* Is one of another boot than the other, as far as they tell? */
bool counter_rows_other_boot(const struct ctprof_snapshot *before,
			     const struct ctprof_snapshot *now);

#endif
