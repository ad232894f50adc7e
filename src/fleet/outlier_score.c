/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/outlier_score.h"

#include <math.h>
#include <stdlib.h>

#include "fleet/scale.h"
#include "statistics/statistics.h"

/* The level of Rosner's procedure, of all values together. */
#define ROSNER_LEVEL 0.05

/* Fewer values say nothing about their tails. */
#define TAILS_COUNT_LEAST 8

/* --- sums, from which one value can be taken away --- */

struct score_sums {
	double count, sum, squares; /* about a middle value, so that little is cancelled */
};

static void take_away(struct score_sums *sums, double value)
{
	sums->count--;
	sums->sum -= value;
	sums->squares -= value * value;
}

static double mean_of(const struct score_sums *sums)
{
	return sums->sum / sums->count;
}

/* Of at least two values. What is left of equal values by rounding counts as 0. */
static double deviation_of(const struct score_sums *sums)
{
	const double about_mean = sums->squares - sums->sum * mean_of(sums);

	return about_mean > 1e-12 * sums->squares ? sqrt(about_mean / (sums->count - 1)) : 0;
}

/* Infinite where the peers do not vary, the value differs, and its own error is 0. */
static double t_of(double distance, double deviation, double peers, double error)
{
	if (distance == 0)
		return 0;
	return distance / hypot(deviation * sqrt(1 + 1 / peers), error);
}

/* --- tails --- */

/* Values in order, without the outliers at both ends. */
struct inliers {
	double *sorted;
	size_t from, to;
	double middle; /* has been subtracted from the sums */
	struct score_sums sums;
};

static struct score_sums sums_of(const struct inliers *inliers)
{
	struct score_sums sums = { 0 };

	for (size_t i = inliers->from; i < inliers->to; i++) {
		const double value = inliers->sorted[i] - inliers->middle;

		sums.count++;
		sums.sum += value;
		sums.squares += value * value;
	}
	return sums;
}

/* All values; `sorted` must be freed. */
static bool sort_all(const double *values, size_t count, struct inliers *ret)
{
	struct inliers all = { .sorted = malloc((count + 1) * sizeof(double)), .to = count };

	if (!all.sorted)
		return false;
	memcpy(all.sorted, values, count * sizeof(double));
	sort_values(all.sorted, count);
	all.middle = count ? all.sorted[count / 2] : 0;
	all.sums = sums_of(&all);
	*ret = all;
	return true;
}

/* G2 of D. N. Joanes and C. A. Gill, "Comparing measures of sample skewness and kurtosis", The
 * Statistician 47, 1998. */
static double excess_of(const struct inliers *inliers)
{
	const double n = inliers->sums.count, mean = mean_of(&inliers->sums);
	double m2 = 0, m4 = 0;

	for (size_t i = inliers->from; i < inliers->to; i++) {
		const double d = inliers->sorted[i] - inliers->middle - mean;

		m2 += d * d;
		m4 += d * d * d * d;
	}
	if (!(m2 > 0))
		return 0;
	m2 /= n;
	return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (m4 / n / (m2 * m2) - 3) + 6);
}

bool fleet_excess(const double *values, size_t count, double *ret)
{
	struct inliers all;

	*ret = NAN;
	if (count < TAILS_COUNT_LEAST)
		return true;
	if (!sort_all(values, count, &all))
		return false;
	*ret = excess_of(&all);
	free(all.sorted);
	return true;
}

static double df_of(double excess, double peers)
{
	return excess > 0 ? fmin(peers - 1, 4 + 6 / excess) : peers - 1;
}

/* By how much a variable of Student's distribution of that excess is wider than one whose standard
 * deviation is 1. */
static double width_of(double excess)
{
	const double df = 4 + 6 / excess;

	return excess > 0 ? sqrt(df / (df - 2)) : 1;
}

/* What many sets have in common; or that of this one, where it is too much for chance: its standard
 * error is about sqrt(24 / n). */
static double larger_excess(const struct inliers *inliers, double excess)
{
	const double count = (double)(inliers->to - inliers->from);

	if (count < TAILS_COUNT_LEAST)
		return excess;
	return fmax(excess, excess_of(inliers) - 2 * sqrt(24 / count));
}

/* --- outliers --- */

static void take_most_extreme(struct inliers *inliers, double *ret_value)
{
	const double mean = mean_of(&inliers->sums) + inliers->middle;
	const double low = inliers->sorted[inliers->from], high = inliers->sorted[inliers->to - 1];

	if (mean - low > high - mean) {
		*ret_value = low;
		inliers->from++;
	} else {
		*ret_value = high;
		inliers->to--;
	}
	take_away(&inliers->sums, *ret_value - inliers->middle);
}

static bool is_outlier(const struct inliers *left, double value, double excess)
{
	const double n = left->sums.count;
	const double distance = value - left->middle - mean_of(&left->sums);
	const double t = t_of(distance, deviation_of(&left->sums), n, 0);

	/* One of n + 1 values, the most extreme. */
	return student_two_sided(t * width_of(excess), df_of(excess, n)) * (n + 1) <= ROSNER_LEVEL;
}

/* `sorted` must be freed. */
static bool find_inliers(const double *values, size_t count, double excess, struct inliers *ret)
{
	const size_t most = count >= 20 ? count / 10 : count > OUTLIER_PEERS_LEAST + 1;
	struct inliers at, last;

	if (!sort_all(values, count, &at))
		return false;
	last = at;
	for (size_t i = 0; i < most; i++) {
		double value;

		take_most_extreme(&at, &value);
		if (is_outlier(&at, value, excess))
			last = at;
	}
	/* Exact, for subtracting what was far away has rounded. */
	last.sums = sums_of(&last);
	*ret = last;
	return true;
}

static bool is_inlier(const struct inliers *inliers, double value)
{
	return inliers->to > inliers->from && value >= inliers->sorted[inliers->from] &&
	       value <= inliers->sorted[inliers->to - 1];
}

bool fleet_rosner_outliers(const double *values, size_t count, bool *ret)
{
	struct inliers inliers;

	if (!find_inliers(values, count, 0, &inliers))
		return false;
	for (size_t i = 0; i < count; i++)
		ret[i] = !is_inlier(&inliers, values[i]);
	free(inliers.sorted);
	return true;
}

/* --- each value --- */

static void compare_one(const struct inliers *inliers, double excess, double value, double error,
			struct outlier_score *ret)
{
	struct score_sums peers = inliers->sums;
	double distance;

	if (is_inlier(inliers, value))
		take_away(&peers, value - inliers->middle);
	*ret = (struct outlier_score){ .peers = (size_t)peers.count, .p = 1 };
	if (peers.count < OUTLIER_PEERS_LEAST)
		return;
	ret->mean = mean_of(&peers) + inliers->middle;
	ret->deviation = deviation_of(&peers) / width_of(excess);
	ret->df = df_of(excess, peers.count);
	distance = fleet_scale_beyond(value - ret->mean);
	ret->p = student_two_sided(t_of(distance, ret->deviation, peers.count, error), ret->df);
}

bool fleet_outlier_scores(const double *values, const double *errors, size_t count, double excess,
			  struct outlier_score *ret)
{
	struct inliers inliers;

	if (!find_inliers(values, count, excess, &inliers))
		return false;
	excess = larger_excess(&inliers, excess);
	for (size_t i = 0; i < count; i++)
		compare_one(&inliers, excess, values[i], errors ? errors[i] : 0, &ret[i]);
	free(inliers.sorted);
	return true;
}

double fleet_prediction_half_width(const struct outlier_score *score)
{
	if (score->peers < OUTLIER_PEERS_LEAST)
		return INFINITY;
	return student_quantile(0.05, score->df) * score->deviation *
	       sqrt(1 + 1 / (double)score->peers);
}
