/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a distribution moved from another one, and how sure that is.
 *
 * A percentile of recorded values is that of a sample, not of all that may come. Its 95 %
 * confidence interval is by order statistics: of n values, the true percentile lies between the
 * values of the ranks n q -/+ 1.96 sqrt(n q (1 - q)), whatever the distribution is (H. A. David and
 * H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1; the binomial distribution by the
 * normal one). Between them lie the bounds of the slots as well. That presumes values that do not
 * depend on each other.
 *
 * Two distributions as wholes: the largest distance of their cumulative shares at the ends of
 * slots, and how probable so large a one is by chance (Kolmogorov and Smirnov's test of two
 * samples; on slots it is conservative: it sees no difference inside of them).
 */
#ifndef KSTATS_SHIFT_H
#define KSTATS_SHIFT_H

#include "kstats/distribution.h"

struct kstats_confidence {
	uint64_t low, high; /* the whole population's percentile, in 95 of 100 samples */
};
/* 0 to UINT64_MAX when there are too few values to say. */
struct kstats_confidence kstats_confidence(const struct kstats_distribution *distribution,
					   double fraction);

enum kstats_shift_sureness {
	KSTATS_SAME,   /* the same slot */
	KSTATS_UNSURE, /* could be chance */
	KSTATS_SLOWER, /* larger for sure: the confidence intervals do not touch */
	KSTATS_FASTER,
};

struct kstats_shift {
	struct kstats_percentile before, after;
	/* `after` less `before`: the true difference of what was recorded lies between these. */
	double least, most;
	enum kstats_shift_sureness sureness;
};
struct kstats_shift kstats_shift(const struct kstats_distribution *before,
				 const struct kstats_distribution *after, double fraction);

struct kstats_distance {
	double distance;    /* 0 to 1 */
	double probability; /* by chance; 1 when one is empty */
};
/* Both must have the same frac_bits. */
struct kstats_distance kstats_distance(const struct kstats_distribution *before,
				       const struct kstats_distribution *after);

#endif
