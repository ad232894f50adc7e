/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- samples --- */

void sample_add(struct statistics_sample *sample, double value)
{
	double before = value - sample->mean;

	sample->count++;
	sample->mean += before / (double)sample->count;
	if (sample->count > 1)
		sample->variance += (before * (value - sample->mean) - sample->variance) /
				    (double)(sample->count - 1);
}

/* --- Student's distribution --- */

/* The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method as
 * Thompson and Barnett changed it (DLMF 3.10(iii)). */
static double beta_fraction(double a, double b, double x)
{
	/* The number of steps is proportional to sqrt(a + b), which DF_MANY limits. */
	const int steps_max = 10000;
	double value = 1, c = 1, d = 0;

	for (int i = 1; i < steps_max; i++) {
		double m = i / 2, factor, term;

		if (i % 2)
			term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		else
			term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		c = 1 + term / c;
		d = 1 + term * d;
		c = fabs(c) < DBL_MIN ? DBL_MIN : c;
		d = fabs(d) < DBL_MIN ? DBL_MAX : 1 / d;
		factor = c * d;
		value *= factor;
		if (fabs(factor - 1) <= DBL_EPSILON)
			break;
	}
	return 1 / value;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* DLMF 8.17.1 and 8.17.2: p is I_x(df/2, 1/2) at x = df / (df + t^2). */
static double by_beta(double t, double df)
{
	double a = df / 2, b = 0.5, odds = t * t / df;
	double x = 1 / (1 + odds), y = 1 / (1 + 1 / odds);
	double log_front = -a * log1p(odds) - b * log1p(1 / odds) + log_gamma(a + b) -
			   log_gamma(a) - log_gamma(b);

	/* The fraction comes to rest fast on one side of the mean, DLMF 8.17.4 leads there. */
	if (x < (a + 1) / (a + b + 2))
		return exp(log_front) / a * beta_fraction(a, b, x);
	return 1 - exp(log_front) / b * beta_fraction(b, a, y);
}

/* Above so many degrees of freedom Hill's expansion is the more exact. */
#define DF_MANY 1000

/* G. W. Hill, "Algorithm 395: Student's t-distribution", Communications of the ACM 13, 1970. */
static double by_normal(double t, double df)
{
	double a = df - 0.5, b = 48 * a * a, y = a * log1p(t * t / df), z;

	/* There p is less than any number; and y may be infinite. */
	if (y > 1500)
		return 0;
	z = (((((-0.4 * y - 3.3) * y - 24) * y - 85.5) / (0.8 * y * y + 100 + b) + y + 3) / b + 1) *
	    sqrt(y);
	return erfc(z / sqrt(2));
}

double student_two_sided(double t, double df)
{
	if (!(fabs(t) > 0) || !(df >= 1))
		return 1;
	if (df > DF_MANY)
		return by_normal(t, fmin(df, 1e100));
	return fmin(fmax(by_beta(t, df), 0), 1);
}

double student_quantile(double p, double df)
{
	double low = 0, high = 1;

	if (!(p > 0) || !(df >= 1))
		return INFINITY;
	if (p >= 1)
		return 0;
	while (student_two_sided(high, df) > p && isfinite(high))
		high *= 2;
	/* Half of the interval at each step: 2^-40 of it are left. */
	for (int i = 0; i < 40; i++) {
		const double middle = low / 2 + high / 2;

		if (student_two_sided(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* --- two samples --- */

/* 2 / C(n + m, n): of all ways to part the values, those two that set the sides apart most. */
static double least_p(size_t n, size_t m)
{
	size_t fewer = n < m ? n : m, more = n < m ? m : n;
	double ways = 1;

	/* Each step doubles it at least: there are no more steps than the exponent has bits for. */
	for (size_t i = 1; i <= fewer && isfinite(ways); i++)
		ways *= ((double)more + (double)i) / (double)i;
	return fmin(2 / ways, 1);
}

static bool is_usable(const struct statistics_sample *sample)
{
	return sample->count >= 2 && isfinite(sample->mean) && isfinite(sample->variance);
}

double welch_p(const struct statistics_sample *a, const struct statistics_sample *b)
{
	double error_a, error_b, error, share_a, share_b, df;

	if (!is_usable(a) || !is_usable(b))
		return 1;
	error_a = a->variance / (double)a->count;
	error_b = b->variance / (double)b->count;
	error = error_a + error_b;
	if (!(error > 0))
		return a->mean == b->mean ? 1 : least_p(a->count, b->count);
	/* Shares, for the squares of small errors would be 0. */
	share_a = error_a / error;
	share_b = error_b / error;
	df = 1 / (share_a * share_a / (double)(a->count - 1) +
		  share_b * share_b / (double)(b->count - 1));
	return student_two_sided((a->mean - b->mean) / sqrt(error), df);
}

/* --- many p values --- */

static double probability(double p)
{
	return p < 1 ? fmax(p, 0) : 1;
}

static int by_p(const void *a, const void *b)
{
	double x = **(const double *const *)a, y = **(const double *const *)b;

	return (x > y) - (x < y);
}

bool benjamini_hochberg(double *p, size_t count)
{
	_cleanup_free_ double **order = NULL;
	double least = 1;

	if (!count)
		return true;
	order = calloc(count, sizeof(*order));
	if (!order)
		return false;
	for (size_t i = 0; i < count; i++) {
		p[i] = probability(p[i]);
		order[i] = &p[i];
	}
	qsort(order, count, sizeof(*order), by_p);
	for (size_t rank = count; rank; rank--) {
		least = fmin(least, *order[rank - 1] * ((double)count / (double)rank));
		*order[rank - 1] = least;
	}
	return true;
}
