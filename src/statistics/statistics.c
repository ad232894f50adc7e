/* SPDX-License-Identifier: BSD-2-Clause */
#include "statistics/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- order --- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sort_values(double *values, size_t count)
{
	/* qsort() must not get a null pointer. */
	if (count)
		qsort(values, count, sizeof(*values), by_value);
}

double sort_for_median(double *values, size_t count)
{
	sort_values(values, count);
	if (!count)
		return NAN;
	return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

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

/* I_x(a, b), where `y` is 1 - x: the smaller one is exact. */
static double beta_share_of(double x, double y, double log_x, double log_y, double a, double b)
{
	double log_front = a * log_x + b * log_y + log_gamma(a + b) - log_gamma(a) - log_gamma(b);

	/* The fraction comes to rest fast on one side of the mean, DLMF 8.17.4 leads there. */
	if (x < (a + 1) / (a + b + 2))
		return exp(log_front) / a * beta_fraction(a, b, x);
	return 1 - exp(log_front) / b * beta_fraction(b, a, y);
}

double beta_share(double x, double a, double b)
{
	if (!(x > 0))
		return 0;
	if (!(x < 1))
		return 1;
	return fmin(fmax(beta_share_of(x, 1 - x, log(x), log1p(-x), a, b), 0), 1);
}

/* DLMF 8.17.1 and 8.17.2: p is I_x(df/2, 1/2) at x = df / (df + t^2). */
static double by_beta(double t, double df)
{
	double odds = t * t / df;

	return beta_share_of(1 / (1 + odds), 1 / (1 + 1 / odds), -log1p(odds), -log1p(1 / odds),
			     df / 2, 0.5);
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

/* Where `falls`, which falls from `low` to `high`, crosses `p`. */
static double bisect(double low, double high, double p, double a, double b,
		     double (*falls)(double at, double a, double b))
{
	const int steps = 100;

	for (int i = 0; i < steps && high - low > 1e-12 * (fabs(low) + fabs(high)); i++) {
		double middle = low + (high - low) / 2;

		if (falls(middle, a, b) > p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

static double beyond_t(double t, double df, double unused)
{
	(void)unused;
	return student_two_sided(t, df);
}

double student_quantile(double p, double df)
{
	double high = 1;

	if (!(p > 0) || !(df >= 1))
		return INFINITY;
	if (p >= 1)
		return 0;
	while (student_two_sided(high, df) > p && isfinite(high))
		high *= 2;
	return bisect(0, high, p, df, 0, beyond_t);
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

static double satterthwaite(const struct statistics_mean *a, const struct statistics_mean *b)
{
	double error = a->error + b->error;
	/* Shares, for the squares of small errors would be 0. */
	double share_a = a->error / error, share_b = b->error / error;

	return 1 / (share_a * share_a / a->df + share_b * share_b / b->df);
}

double welch_of_means(const struct statistics_mean *a, const struct statistics_mean *b)
{
	double error = a->error + b->error;

	if (!(error > 0))
		return a->mean == b->mean ? 1 : 0;
	return student_two_sided((a->mean - b->mean) / sqrt(error), satterthwaite(a, b));
}

static struct statistics_mean mean_of(const struct statistics_sample *sample)
{
	return (struct statistics_mean){ .mean = sample->mean,
					 .error = sample->variance / (double)sample->count,
					 .df = (double)(sample->count - 1) };
}

double welch_p(const struct statistics_sample *a, const struct statistics_sample *b)
{
	struct statistics_mean mean_a, mean_b;

	if (!is_usable(a) || !is_usable(b))
		return 1;
	mean_a = mean_of(a);
	mean_b = mean_of(b);
	if (!(mean_a.error + mean_b.error > 0))
		return a->mean == b->mean ? 1 : least_p(a->count, b->count);
	return welch_of_means(&mean_a, &mean_b);
}

/* (b - r a)^2 = t^2 (error of b + r^2 error of a), solved for r. */
void ratio_interval(const struct statistics_mean *a, const struct statistics_mean *b, double level,
		    double *ret_low, double *ret_high)
{
	double t, square, front, middle, root;

	*ret_low = *ret_high = a->mean > 0 ? b->mean / a->mean : b->mean > 0 ? INFINITY : 1;
	if (!(a->error + b->error > 0))
		return;
	t = student_quantile(1 - level, satterthwaite(a, b));
	square = t * t;
	front = a->mean * a->mean - square * a->error;
	middle = a->mean * b->mean;
	root = sqrt(fmax(middle * middle - front * (b->mean * b->mean - square * b->error), 0));
	if (front > 0) {
		*ret_low = fmax((middle - root) / front, 0);
		*ret_high = (middle + root) / front;
	} else {
		/* What is left are two rays, or all: times are not negative. */
		*ret_low =
			middle + root > 0
				? fmax((b->mean * b->mean - square * b->error) / (middle + root), 0)
				: 0;
		*ret_high = INFINITY;
	}
}

/* --- two counts --- */

double counts_p(double a, double b)
{
	double more, less;

	if (!(a >= 0) || !(b >= 0) || !(a + b > 0))
		return 1;
	/* At least, and at most, b of a + b, each with probability 1/2. */
	more = b > 0 ? beta_share(0.5, b, a + 1) : 1;
	less = a > 0 ? beta_share(0.5, a, b + 1) : 1;
	return fmin(2 * fmin(more, less), 1);
}

static double below_share(double x, double a, double b)
{
	return 1 - beta_share(x, a, b);
}

static double odds(double share)
{
	return share < 1 ? share / (1 - share) : INFINITY;
}

void counts_interval(double a, double b, double level, double *ret_low, double *ret_high)
{
	double tail = (1 - level) / 2;

	*ret_low = b > 0 ? odds(bisect(0, 1, 1 - tail, b, a + 1, below_share)) : 0;
	*ret_high = a > 0 ? odds(bisect(0, 1, tail, b + 1, a, below_share)) : INFINITY;
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
	return benjamini_hochberg_smallest(p, count, count);
}

bool benjamini_hochberg_smallest(double *p, size_t count, size_t tests)
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
		least = fmin(least, *order[rank - 1] * ((double)tests / (double)rank));
		*order[rank - 1] = least;
	}
	return true;
}
