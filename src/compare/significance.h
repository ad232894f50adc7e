/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far is a value from the others, by measures that the outlier itself cannot move?
 *
 *	double median, scale;
 *
 *	if (!robust_spread(values, count, &spread))
 *		return &error_no_memory;
 *	certainty = robust_certainty(&spread, value);
 *
 * The modified z-score of B. Iglewicz and D. C. Hoaglin, "How to Detect and Handle Outliers" (ASQC
 * Basic References in Quality Control 16, 1993): M = 0.6745 (x - median) / MAD, where MAD is the
 * median of the absolute deviations from the median. Of |M| above 3.5 they call x an outlier.
 *
 * The MAD is 0 when more than half of the values are the same, as where most groups of threads do
 * nothing. Then M = (x - median) / (1.253314 mean absolute deviation), which estimates the same for
 * a normal distribution; and where that is 0 as well, all values are the same.
 */
#ifndef COMPARE_SIGNIFICANCE_H
#define COMPARE_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

/* |M| of an outlier. */
#define OUTLIER_SCORE 3.5

struct robust_spread {
	size_t count;
	double median;
	double scale; /* M = (x - median) / scale; 0: all values are the same */
};

/* Of the values that are not NaN. False without memory. */
bool robust_spread(const double *values, size_t count, struct robust_spread *ret);

/* M of a value: 0 where there is no spread and the value is the median, infinite where it is not.
 */
double robust_score(const struct robust_spread *spread, double value);

/*
 * The weight of a value for ranking, from CERTAINTY_LEAST for one that is as usual as the median to
 * 1 for an outlier. Never 0: where two groups are all there is, both are as unusual as each other.
 */
#define CERTAINTY_LEAST 0.1
double robust_certainty(const struct robust_spread *spread, double value);

#endif
