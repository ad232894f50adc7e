/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did between two captures of any recording, by the counters in them: times by state,
 * as top/counter_times.h makes them.
 *
 *	err = counter_rows_read(before, now, &names, &readings[0], &readings[1]);
 *
 * A thread's times sum up to the time between the captures, or to its life where that is shorter.
 */
#ifndef TOP_COUNTER_ROWS_H
#define TOP_COUNTER_ROWS_H

#include "snapshot/model.h"
#include "state/reading.h"

/*
 * Two readings, whose times begin with the first. What cannot be said is left out: threads that the
 * first lacks though they are older, and all threads where the two are of two boots.
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
