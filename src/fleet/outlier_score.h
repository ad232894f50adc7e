/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far is each of some values from its peers, and how probable is that by chance?
 *
 * Each value is compared with all others that are not outliers themselves: with n of them, whose
 * mean is m and whose standard deviation is s, t = (x - m) / (s sqrt(1 + 1/n)) has Student's
 * distribution if x is one more value of the same normal distribution (the interval of prediction:
 * G. J. Hahn, "Factors for calculating two-sided prediction intervals", JASA 64, 1969).
 *
 * Some outliers among a hundred would widen s, and each hide the others. They are found first by
 * the many-outlier procedure of B. Rosner ("Percentage points for a generalized ESD many-outlier
 * procedure", Technometrics 25, 1983), which takes away the most extreme value up to a tenth of
 * all, and goes by the last of them that is significant: its level is that of all values
 * together, and outliers do not hide each other. A standard deviation is used, and not the MAD, as
 * heavy tails make it larger and so the test more cautious.
 *
 * Where tails are heavier than those of a normal distribution, Student's t has fewer degrees of
 * freedom: those whose excess of kurtosis, 6 / (df - 4), is that of the values (K. L. Lange, R. J.
 * A. Little and J. M. G. Taylor, "Robust statistical modeling using the t distribution", JASA 84,
 * 1989). One set of values says little about its tails, so callers give what many sets have in
 * common.
 */
#ifndef FLEET_OUTLIER_SCORE_H
#define FLEET_OUTLIER_SCORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* With fewer others their spread is not known well enough. */
#define OUTLIER_PEERS_LEAST 3

/* A value and its peers. */
struct outlier_score {
	size_t peers;
	double mean, deviation; /* of its peers; the scale of Student's distribution of `df` */
	double df;
	double p; /* two-sided, of a difference beyond SCALE_LEAST (fleet/scale.h) */
};

/*
 * Compare each of `count` finite values with the others; `errors` are standard errors of the values
 * by themselves, which are added to the deviation of the peers (NULL: they have none): without, a
 * value beside peers that are all the same is certain to differ. `excess` is that of similar sets
 * of values, or 0. `ret` has room for `count`. With fewer than OUTLIER_PEERS_LEAST peers p is 1.
 * False without memory.
 */
bool fleet_outlier_scores(const double *values, const double *errors, size_t count, double excess,
			  struct outlier_score *ret) MUST_CHECK;

/* Which values are outliers by Rosner's procedure, with tails of a normal distribution. False
 * without memory. */
bool fleet_rosner_outliers(const double *values, size_t count, bool *ret) MUST_CHECK;

/* The excess of kurtosis of values, 0 of normal ones; NaN of too few. One outlier makes it large,
 * so take the median of many sets. False without memory. */
bool fleet_excess(const double *values, size_t count, double *ret) MUST_CHECK;

/* The half width of the interval in which one more value like the peers is in 95 of 100 cases. */
double fleet_prediction_half_width(const struct outlier_score *score);

#endif
