/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Do two small samples differ, or is it chance?
 *
 *	struct statistics_sample a = { 0 }, b = { 0 };
 *	sample_add(&a, 27.5);
 *	...
 *	p[i] = welch_p(&a, &b);
 *	...
 *	if (!benjamini_hochberg(p, count))
 *		return &error_no_memory;
 *
 * A p value is the probability of a difference at least as large as the one seen if there were
 * none. It is never NaN: numbers that give no evidence give 1.
 */
#ifndef COMPARE_STATISTICS_H
#define COMPARE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* All zero is an empty sample. */
struct statistics_sample {
	size_t count;
	double mean;
	double variance; /* unbiased: by count - 1; 0 below two values */
};

/* Take one more value in (B. P. Welford, "Note on a method for calculating corrected sums of
 * squares and products", Technometrics 4, 1962). */
void sample_add(struct statistics_sample *sample, double value);

/*
 * The two-sided p of Welch's test, which does not take the variances to be equal (B. L. Welch, "The
 * generalization of 'Student's' problem when several different population variances are
 * involved", Biometrika 34, 1947), with Satterthwaite's degrees of freedom (F. E. Satterthwaite,
 * "An approximate distribution of estimates of variance components", Biometrics Bulletin 2, 1946).
 *
 * 1 when a side has fewer than two values, or a mean or variance is not finite. When neither side
 * varies and the means differ, t has no value; then what an exact permutation test of so many
 * values could give at best, 2 / C(n1 + n2, n1).
 */
double welch_p(const struct statistics_sample *a, const struct statistics_sample *b);

/*
 * The probability that Student's t with `df` degrees of freedom (at least 1, not always whole) is
 * at least as far from 0 as `t`. Accurate to ten digits. 1 if `t` is NaN or `df` is less than 1.
 */
double student_two_sided(double t, double df);

/* The inverse: the t whose two-sided p is `p`, to nine digits; 1.96 of 0.05 and many degrees of
 * freedom. 0 of a p of 1, infinite of one of 0 or of less than one degree of freedom. */
double student_quantile(double p, double df);

/*
 * Replace p values by the least false discovery rates at which each would count as a discovery
 * (Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
 * Statistical Society B 57, 1995; p.adjust(p, "BH") of R). At most 1, and in the order of the p
 * values; NaN counts as 1. False without memory: nothing is replaced then.
 */
bool benjamini_hochberg(double *p, size_t count) MUST_CHECK;

#endif
