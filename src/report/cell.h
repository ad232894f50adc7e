/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One value of a row as people read it.
 *
 *	sums, peaks    1.235ms
 *	ranges         0..19, or 0 when all agree
 *	categories     SCHED_OTHER, or "SCHED_OTHER (9/10)" when they differ
 *	CPU sets       4 cpus (0-3); 4 cpus (mixed); 2-4 cpus (mixed)
 *	limits         1.000GiB; max
 *	unmeasured     -
 *	of some only             1.235ms (2/9): measured in 2 of 9
 *	a sum of some delays     1.235ms (1 of 8 delays)
 *	a minimum of nothing     no events
 *	a mean                   1.235ms ±100.000µs
 *	that cannot be           30.100s (!)
 */
#ifndef REPORT_CELL_H
#define REPORT_CELL_H

#include "compare/row.h"

/* The text of a cell without a measurement. */
#define CELL_NONE "-"

/* The mark of an impossible value: a thread has more of it than there was time for. */
#define CELL_IMPOSSIBLE " (!)"

#define CELL_MAX        512

/* Write a value of the row into `buffer`, cut to its size; returns `buffer`. */
char *cell_before(char buffer[CELL_MAX], const struct row *row);
char *cell_after(char buffer[CELL_MAX], const struct row *row);

/*
 * Candidate less baseline: "+1.235ms", per second when `rate`; "same" or "differs" of what has no
 * difference as a number; "-" when a side was not measured, or not as the other.
 */
char *cell_delta(char buffer[CELL_MAX], const struct row *row, bool rate);

/* The delta as a share of the baseline, "+12.5%"; ">1000x" of a larger one; "new" from none of
 * it; "-" without one. */
char *cell_percent(char buffer[CELL_MAX], const struct row *row);

/* The delta as a share of the host's, "12.5%". */
char *cell_share(char buffer[CELL_MAX], const struct row *row);

/* The probability of such a difference by chance: "0.003", "<0.001"; "-" if not tested. */
char *cell_probability(char buffer[CELL_MAX], const struct row *row);

/* "0-3,8" of a set of CPUs; long lists end in "...". */
char *cell_cpus(char *buffer, size_t room, const struct name *set);

#endif
