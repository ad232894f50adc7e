/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One value as people read it.
 *
 *	sums, peaks    1.235ms
 *	ranges         0..19, or 0 when all agree
 *	categories     SCHED_OTHER, or "SCHED_OTHER (9/10)" when they differ
 *	CPU sets       4 cpus (0-3); 4 cpus (mixed); 2-4 cpus (mixed)
 *	unmeasured     -
 *	of some threads          1.235ms (2/9): measured in 2 of 9
 *	a minimum of nothing     no events
 */
#ifndef REPORT_CELL_H
#define REPORT_CELL_H

#include "metric/aggregate.h"
#include "metric/derived.h"

/* What stands where nothing was measured. */
#define CELL_NONE "-"

/* Write the value into `buffer`, cut to its size; returns `buffer`. */
#define CELL_MAX 512
char *cell_value(char buffer[CELL_MAX], const struct metric *metric, const struct aggregate *a);

/*
 * Candidate less baseline: "+1.235ms"; "same" or "differs" of what is no number, and of ranges and
 * CPU sets that differ around the same midpoint; "-" when a side was not measured in all its
 * threads.
 */
char *cell_delta(char buffer[CELL_MAX], const struct metric *metric,
		 const struct aggregate *baseline, const struct aggregate *candidate);

/* The delta as a share of the baseline, "+12.5%"; "-" without a delta or from zero. */
char *cell_percent(char buffer[CELL_MAX], const struct metric *metric,
		   const struct aggregate *baseline, const struct aggregate *candidate);

/* Twice the delta as a number; false when there is none. */
bool delta_x2(const struct metric *metric, const struct aggregate *baseline,
	      const struct aggregate *candidate, __int128 *ret);

/* The same three for a derived metric; NULL is a side without a value. A ratio has no percentage:
 * its difference says it. */
char *derived_cell_value(char buffer[CELL_MAX], const struct derived *derived,
			 const struct derived_value *value);
char *derived_cell_delta(char buffer[CELL_MAX], const struct derived *derived,
			 const struct derived_value *baseline,
			 const struct derived_value *candidate);
char *derived_cell_percent(char buffer[CELL_MAX], const struct derived *derived,
			   const struct derived_value *baseline,
			   const struct derived_value *candidate);

/* False when a side has no value, or not of all its threads. */
bool derived_delta(const struct derived_value *baseline, const struct derived_value *candidate,
		   double *ret);

#endif
