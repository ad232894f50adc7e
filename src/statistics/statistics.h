/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder statistics/: tests of differences, with the mathematical functions of libm that they
 * need.
 */

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
#ifndef STATISTICS_STATISTICS_H
#define STATISTICS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Sort values, none of which is NaN, in ascending order. */
void sort_values(double *values, size_t count);

/* The median of values, none of which is NaN, which are sorted by that: the mean of the middle two
 * of an even number. NaN of none. */
double sort_for_median(double *values, size_t count);

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

/* The same of means whose squared errors (variance / count) the caller knows better than the
 * samples do; `df_a` and `df_b` are the degrees of freedom of the errors, more than 0. */
struct statistics_mean {
	double mean, error, df;
};
double welch_of_means(const struct statistics_mean *a, const struct statistics_mean *b);

/*
 * The interval that has b / a with probability `level`: all quotients r that Welch's test of b
 * against r times a does not reject (E. C. Fieller, "Some problems in interval estimation", Journal
 * of the Royal Statistical Society B 16, 1954), with the degrees of freedom at r = 1. It does not
 * have 1 exactly when welch_of_means() is below 1 - level. An end is infinite where a may be 0.
 */
void ratio_interval(const struct statistics_mean *a, const struct statistics_mean *b, double level,
		    double *ret_low, double *ret_high);

/*
 * Two counts of events, or of amounts in a unit in which they behave as counts do. Conditional on
 * their sum, one is binomial (J. Przyborowski and H. Wilenski, "Homogeneity of results in testing
 * samples from Poisson series", Biometrika 31, 1940). Two-sided, exact, at most 1; counts need not
 * be whole. The interval of b / a is Clopper and Pearson's of the share.
 */
double counts_p(double a, double b);
void counts_interval(double a, double b, double level, double *ret_low, double *ret_high);

/*
 * The probability that Student's t with `df` degrees of freedom (at least 1, not always whole) is
 * at least as far from 0 as `t`. Accurate to ten digits. 1 if `t` is NaN or `df` is less than 1.
 */
double student_two_sided(double t, double df);

/* The inverse: the t whose two-sided p is `p`, to nine digits; 1.96 of 0.05 and many degrees of
 * freedom. 0 of a p of 1, infinite of one of 0 or of less than one degree of freedom. */
double student_quantile(double p, double df);

/* The regularised incomplete beta function I_x(a, b) (DLMF 8.17.2); 0 and 1 beyond the ends. `a`
 * and `b` are positive. */
double beta_share(double x, double a, double b);

/*
 * Replace p values by the least false discovery rates at which each would count as a discovery
 * (Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
 * Statistical Society B 57, 1995; p.adjust(p, "BH") of R). At most 1, and in the order of the p
 * values; NaN counts as 1. False without memory: nothing is replaced then.
 */
bool benjamini_hochberg(double *p, size_t count) MUST_CHECK;
/* The same of the `count` smallest p of so many tests: exact up to the smallest p of the others,
 * which larger results may exceed. */
bool benjamini_hochberg_smallest(double *p, size_t count, size_t tests) MUST_CHECK;

#endif
