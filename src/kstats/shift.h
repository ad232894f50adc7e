/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shift between two distributions, and its confidence.
 *
 * Recorded values are a sample, so a percentile of them has a 95 % confidence interval, computed by
 * order statistics: of n values, the true percentile lies between the values of the ranks
 * n q -/+ 1.96 sqrt(n q (1 - q)), for any distribution (H. A. David and H. N. Nagaraja, Order
 * Statistics, 3rd edition, section 7.1; with the normal approximation of the binomial
 * distribution). The interval is extended to the bounds of slots. This assumes independent values.
 *
 * Whole distributions are compared by the largest distance of their cumulative shares at the ends
 * of slots, and its probability by chance (the two-sample Kolmogorov-Smirnov test; on slots it is
 * conservative, since it does not see differences inside of them).
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
	KSTATS_SAME,   /* the same bucket */
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

/* `least` and `most` as shares of what was before: 0.5 is half as much more. INFINITY: of none. */
struct kstats_shares {
	double least, most;
};
struct kstats_shares kstats_shift_shares(const struct kstats_shift *shift);

/* How many times as large a percentile is at least, beyond chance, or as small: from one confidence
 * interval to the other. 1: it may be chance, or one is empty. */
double kstats_shift_factor(const struct kstats_distribution *before,
			   const struct kstats_distribution *after, double fraction);

struct kstats_distance {
	double distance;    /* 0 to 1 */
	double probability; /* by chance; 1 when one is empty */
};
/* Both must have the same frac_bits. */
struct kstats_distance kstats_distance(const struct kstats_distribution *before,
				       const struct kstats_distribution *after);

#endif
