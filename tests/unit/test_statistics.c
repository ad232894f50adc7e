/* SPDX-License-Identifier: BSD-2-Clause */
#include "statistics/statistics.h"

#include <math.h>

#include "unit/unit.h"

#define near(value, expected, tolerance) near_(value, expected, tolerance, __FILE__, __LINE__)

static void near_(double value, double expected, double tolerance, const char *file, int line)
{
	if (fabs(value - expected) <= tolerance)
		return;
	print_error("%.17g is not %.17g to %g\n", value, expected, tolerance);
	_fail(file, line);
}

static struct statistics_sample sample_of(const double *values, size_t count)
{
	struct statistics_sample sample = { 0 };

	for (size_t i = 0; i < count; i++)
		sample_add(&sample, values[i]);
	return sample;
}

#define SAMPLE(...)                                \
	sample_of((const double[]){ __VA_ARGS__ }, \
		  sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static double uniform(uint64_t *state)
{
	return (double)(next_random(state) >> 11) / 9007199254740992.0;
}

/* --- order --- */

TEST(medians)
{
	double odd[] = { 5, -1, 3 }, even[] = { 4, 1, 1e308, 1.5e308 }, one[] = { 7 };

	near(sort_for_median(odd, 3), 3, 0);
	assert_true(odd[0] == -1 && odd[1] == 3 && odd[2] == 5);
	near(sort_for_median(even, 4), 5e307, 1e292);
	near(sort_for_median(one, 1), 7, 0);
	assert_true(isnan(sort_for_median(NULL, 0)));
	sort_values(NULL, 0);
}

/* --- samples --- */

TEST(mean_and_variance)
{
	struct statistics_sample sample = { 0 };

	sample_add(&sample, 4);
	assert_true(sample.count == 1 && sample.mean == 4 && sample.variance == 0);
	/* of 2 4 4 4 5 5 7 9: mean 5, squares 9 1 1 1 0 0 4 16 */
	sample = SAMPLE(2, 4, 4, 4, 5, 5, 7, 9);
	assert_int_equal(sample.count, 8);
	near(sample.mean, 5, 1e-15);
	near(sample.variance, 32.0 / 7, 1e-14);
}

TEST(a_small_variance_far_from_zero)
{
	struct statistics_sample sample = SAMPLE(1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16);

	near(sample.mean, 1e9 + 10, 1e-6);
	near(sample.variance, 30, 1e-6);
}

TEST(equal_values_do_not_vary)
{
	struct statistics_sample sample = { 0 };

	for (int i = 0; i < 1000; i++)
		sample_add(&sample, 0.1);
	assert_true(sample.mean == 0.1 && sample.variance == 0);
}

/* --- Student's distribution --- */

/* Student's table as it is printed: t to three decimals, so p lies between those of their halves.
 */
TEST(the_table)
{
	static const struct {
		double t, df, p;
	} rows[] = {
		{ 12.706, 1, .05 }, { 63.657, 1, .01 },  { 4.303, 2, .05 },   { 9.925, 2, .01 },
		{ 3.182, 3, .05 },  { 2.776, 4, .05 },   { 2.571, 5, .05 },   { 4.032, 5, .01 },
		{ 2.228, 10, .05 }, { 3.169, 10, .01 },  { 1.812, 10, .1 },   { 2.086, 20, .05 },
		{ 2.042, 30, .05 }, { 1.984, 100, .05 }, { 2.626, 100, .01 }, { 1.962, 1000, .05 },
		{ 1.96, 1e6, .05 }, { 2.576, 1e6, .01 },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		double above = student_two_sided(rows[i].t - .0005, rows[i].df);
		double below = student_two_sided(rows[i].t + .0005, rows[i].df);

		assert_true(below <= rows[i].p && rows[i].p <= above);
	}
}

TEST(closed_forms)
{
	for (double t = 1e-9; t < 1e9; t *= 1.7) {
		near(student_two_sided(t, 1) / (2 / M_PI * atan(1 / t)), 1, 1e-12);
		near(student_two_sided(t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
		near(student_two_sided(t, 1e12), erfc(t / sqrt(2)), 1e-11);
		assert_true(student_two_sided(t, INFINITY) == student_two_sided(-t, INFINITY));
		near(student_two_sided(t, INFINITY), erfc(t / sqrt(2)), 1e-14);
	}
}

/*
 * The integral of sin^(df-1) from 0 to `end`, by the tanh-sinh rule. With t = sqrt(df) / tan(angle)
 * this is, up to a factor, the density of t: there is neither gamma nor beta in it.
 */
static double sine_power(double df, double end)
{
	const double step = 1.0 / 64;
	double sum = 0;

	for (int i = -300; i <= 300; i++) {
		double s = i * step, g = M_PI * sinh(s);
		double from_zero = end / (1 + exp(-g));
		double weight = end * M_PI * cosh(s) / ((1 + exp(-g)) * (1 + exp(g)));

		if (weight > 0)
			sum += weight * pow(sin(from_zero), df - 1);
	}
	return sum * step;
}

static double by_integral(double t, double df)
{
	return sine_power(df, atan2(sqrt(df), t)) / sine_power(df, M_PI / 2);
}

static void check_integral(double t, double df)
{
	double expected = by_integral(t, df), p = student_two_sided(t, df);

	near(p, expected, 1e-11 * expected + 1e-40);
	assert_true(student_two_sided(-t, df) == p);
}

TEST(the_integral_of_the_density)
{
	static const double dfs[] = { 1,    1.3,  2,     2.7,    3,     4.5,  5,      7.77, 10,
				      17.8, 29.5, 100.1, 333.25, 999.9, 1000, 1000.1, 4000, 20000 };
	static const double ts[] = { .001, .1,  .5,  .9, 1.05, 1.4, 1.7, 1.96,
				     2.2,  2.6, 3.3, 5,  8.1,  13,  40,  300 };

	for (size_t i = 0; i < array_length(dfs); i++)
		for (size_t j = 0; j < array_length(ts); j++)
			check_integral(ts[j], dfs[i]);
}

TEST(farther_out_is_less_probable)
{
	static const double dfs[] = { 1, 1.5, 3, 12.3, 250, 1000, 1001, 1e9 };

	for (size_t i = 0; i < array_length(dfs); i++) {
		double last = 1;

		for (double t = 0; t < 60; t += .0625) {
			double p = student_two_sided(t, dfs[i]);

			assert_true(p >= 0 && p <= last);
			last = p;
		}
	}
}

TEST(the_ends_of_the_distribution)
{
	static const double dfs[] = { 1, 2.5, 1000, 1001, 1e18, 1e300, INFINITY };

	for (size_t i = 0; i < array_length(dfs); i++) {
		assert_true(student_two_sided(0, dfs[i]) == 1);
		near(student_two_sided(5e-324, dfs[i]), 1, 1e-15);
		near(student_two_sided(1e-140, dfs[i]), 1, 1e-15);
		near(student_two_sided(1e300, dfs[i]), 0, 1e-15);
		assert_true(student_two_sided(INFINITY, dfs[i]) == 0);
		assert_true(student_two_sided(-INFINITY, dfs[i]) == 0);
		assert_true(student_two_sided(NAN, dfs[i]) == 1);
	}
	assert_true(student_two_sided(5, NAN) == 1);
	assert_true(student_two_sided(5, 0) == 1);
	assert_true(student_two_sided(5, -3) == 1);
	assert_true(student_two_sided(5, -INFINITY) == 1);
}

TEST(quantiles)
{
	static const double ps[] = { 0.9, 0.05, 0.01, 1e-9 }, dfs[] = { 1, 2.5, 30, 1e6 };

	near(student_quantile(0.05, 4), 2.7764451051977987, 1e-8);
	near(student_quantile(0.05, 1e9), 1.959963984540054, 1e-7);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++)
			near(student_two_sided(student_quantile(ps[i], dfs[j]), dfs[j]) / ps[i], 1,
			     1e-6);
	assert_true(student_quantile(1, 5) == 0);
	assert_true(isinf(student_quantile(0, 5)) && isinf(student_quantile(0.05, 0)));
	assert_true(isinf(student_quantile(NAN, 5)) && isinf(student_quantile(0.05, NAN)));
}

/* --- Welch's test --- */

/* R's `sleep`, the example of its t.test: t = -1.8608, df = 17.776, p-value = 0.07939. */
TEST(the_example_of_r)
{
	struct statistics_sample a = SAMPLE(0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0);
	struct statistics_sample b = SAMPLE(1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4);

	near(a.mean, 0.75, 1e-12);
	near(b.mean, 2.33, 1e-12);
	near(welch_p(&a, &b), 0.07939, 5e-6);
	assert_true(welch_p(&a, &b) == welch_p(&b, &a));
}

/*
 * By hand: 1 2 3 has mean 2 and variance 1, 4 6 8 has mean 6 and variance 4: t = -4 / sqrt(5/3),
 * df = (5/3)^2 / ((1/9)/2 + (16/9)/2) = 50/17.
 */
TEST(an_example_by_hand)
{
	struct statistics_sample a = SAMPLE(1, 2, 3), b = SAMPLE(4, 6, 8);

	near(welch_p(&a, &b), by_integral(4 / sqrt(5.0 / 3), 50.0 / 17), 1e-11);
	/* One side alone varies: its degrees of freedom, and the closed form for two. */
	b = SAMPLE(5, 5, 5, 5);
	near(welch_p(&a, &b), 1 - 3 / sqrt(1.0 / 3) / sqrt(2 + 27.0), 1e-12);
}

TEST(neither_the_unit_nor_the_origin_matters)
{
	static const double units[] = { 1e-160, 1e-30, 1e9, 1e150 };
	struct statistics_sample a = SAMPLE(1, 2, 4), b = SAMPLE(4, 6, 7, 9);
	double p = welch_p(&a, &b);

	for (size_t i = 0; i < array_length(units); i++) {
		double u = units[i];

		a = SAMPLE(1 * u, 2 * u, 4 * u);
		b = SAMPLE(4 * u, 6 * u, 7 * u, 9 * u);
		near(welch_p(&a, &b), p, u < 1e-150 ? 1e-2 : 1e-12);
	}
	a = SAMPLE(1e6 + 1, 1e6 + 2, 1e6 + 4);
	b = SAMPLE(1e6 + 4, 1e6 + 6, 1e6 + 7, 1e6 + 9);
	near(welch_p(&a, &b), p, 1e-9);
}

/* Of samples from one population, the share p has an error at most as often as it says. */
TEST(false_alarms_are_as_rare_as_p)
{
	uint64_t seed = 1;
	unsigned alarms = 0, repeats = 20000;

	for (unsigned i = 0; i < repeats; i++) {
		struct statistics_sample a = { 0 }, b = { 0 };

		for (int j = 0; j < 8; j++)
			sample_add(&a, uniform(&seed) + uniform(&seed) + uniform(&seed));
		for (int j = 0; j < 5; j++)
			sample_add(&b, uniform(&seed) + uniform(&seed) + uniform(&seed));
		alarms += welch_p(&a, &b) < .05;
	}
	near((double)alarms / repeats, .05, .01);
}

TEST(fewer_than_two_values_are_not_tested)
{
	struct statistics_sample none = { 0 }, one = SAMPLE(5), two = SAMPLE(1, 2);

	assert_true(welch_p(&none, &none) == 1);
	assert_true(welch_p(&one, &two) == 1);
	assert_true(welch_p(&two, &one) == 1);
	assert_true(welch_p(&two, &none) == 1);
	assert_true(welch_p(&two, &two) == 1);
}

TEST(without_spread_order_alone_is_evidence)
{
	struct statistics_sample two_a = SAMPLE(1, 1), two_b = SAMPLE(2, 2),
				 three_b = SAMPLE(7, 7, 7);
	struct statistics_sample five_a = SAMPLE(3, 3, 3, 3, 3), five_b = SAMPLE(4, 4, 4, 4, 4);
	struct statistics_sample many_a = { .count = SIZE_MAX, .mean = 1 };
	struct statistics_sample many_b = { .count = SIZE_MAX, .mean = 2 };

	near(welch_p(&two_a, &two_b), 2.0 / 6, 1e-15);
	near(welch_p(&two_a, &three_b), 2.0 / 10, 1e-15);
	near(welch_p(&three_b, &two_a), 2.0 / 10, 1e-15);
	near(welch_p(&five_a, &five_b), 2.0 / 252, 1e-15);
	assert_true(welch_p(&five_a, &five_a) == 1);
	assert_true(welch_p(&many_a, &many_b) < 1e-300);
	assert_true(welch_p(&many_a, &many_a) == 1);
}

TEST(nan_is_not_tested)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY };
	struct statistics_sample good = SAMPLE(1, 2, 3), wide = SAMPLE(-1.7e308, 1.7e308);

	for (size_t i = 0; i < array_length(bad); i++) {
		struct statistics_sample last = SAMPLE(1, 2, bad[i]), first = SAMPLE(bad[i], 1, 2);
		struct statistics_sample all = SAMPLE(bad[i], bad[i], bad[i]);

		assert_true(welch_p(&last, &good) == 1);
		assert_true(welch_p(&good, &first) == 1);
		assert_true(welch_p(&all, &all) == 1);
	}
	assert_true(welch_p(&wide, &good) == 1);
}

/* --- many p values --- */

/* R: p.adjust(p, "BH") by its definition, the least n p / rank of those that are no smaller. */
static double adjusted(const double *p, size_t count, size_t of)
{
	double least = 1;

	for (size_t i = 0; i < count; i++) {
		size_t rank = 0;

		for (size_t j = 0; j < count; j++)
			rank += p[j] <= p[i];
		if (p[i] >= p[of])
			least = fmin(least, p[i] * (double)count / (double)rank);
	}
	return least;
}

/* The worked example of the paper (section 3.2): fifteen hypotheses, four of them rejected. */
TEST(the_example_of_the_paper)
{
	double p[] = { .0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
		       .0459, .3240, .4262, .5719, .6528, .7590, 1.000 };
	size_t discoveries = 0;

	assert_true(benjamini_hochberg(p, array_length(p)));
	for (size_t i = 0; i < array_length(p); i++)
		discoveries += p[i] <= .05;
	assert_int_equal(discoveries, 4);
	near(p[0], .0015, 1e-15);
	near(p[1], .0030, 1e-15);
	near(p[2], .0095, 1e-15);
	near(p[3], .035625, 1e-15);
	near(p[14], 1, 0);
}

TEST(a_later_value_lowers_an_earlier)
{
	double p[] = { .05, .01, .04, .02, .03 }, q[] = { .9, .8, .95 };

	assert_true(benjamini_hochberg(p, array_length(p)));
	for (size_t i = 0; i < array_length(p); i++)
		near(p[i], .05, 1e-15);
	assert_true(benjamini_hochberg(q, array_length(q)));
	for (size_t i = 0; i < array_length(q); i++)
		near(q[i], .95, 1e-15);
}

TEST(few_and_none)
{
	double one = .03;

	assert_true(benjamini_hochberg(NULL, 0));
	assert_true(benjamini_hochberg(&one, 1));
	near(one, .03, 0);
}

TEST(invalid_probabilities)
{
	double p[] = { NAN, .01, -1, 2, INFINITY, -INFINITY };
	const double expected[] = { 1, .02, 0, 1, 1, 0 };

	assert_true(benjamini_hochberg(p, array_length(p)));
	for (size_t i = 0; i < array_length(p); i++)
		near(p[i], expected[i], 1e-15);
}

TEST(as_defined_whatever_the_order)
{
	uint64_t seed = 7;

	for (int round = 0; round < 300; round++) {
		size_t count = 1 + next_random(&seed) % 40;
		double p[40], q[40];

		/* Coarse, so that some are equal. */
		for (size_t i = 0; i < count; i++)
			p[i] = q[i] = floor(pow(uniform(&seed), 3) * 64) / 64;
		assert_true(benjamini_hochberg(q, count));
		for (size_t i = 0; i < count; i++) {
			near(q[i], adjusted(p, count, i), 1e-14);
			assert_true(q[i] >= p[i] && q[i] <= 1);
			for (size_t j = 0; j < count; j++)
				assert_true(p[i] != p[j] || q[i] == q[j]);
		}
	}
}

/* --- intervals --- */

TEST(the_incomplete_beta_function)
{
	near(beta_share(0.5, 2, 2), 0.5, 1e-14);
	/* I_x(1, b) = 1 - (1 - x)^b */
	near(beta_share(0.3, 1, 5), 1 - pow(0.7, 5), 1e-14);
	assert_true(beta_share(0, 2, 3) == 0 && beta_share(1, 2, 3) == 1);
}

/* Of 30 tosses, 20 heads or more, or 10 or fewer: 2 * 53009102 / 2^30. */
TEST(two_counts)
{
	near(counts_p(10, 20), 2 * 53009102 / 1073741824.0, 1e-12);
	near(counts_p(20, 10), counts_p(10, 20), 1e-14);
	near(counts_p(0, 10), 2.0 / 1024, 1e-15);
	assert_true(counts_p(7, 7) == 1 && counts_p(0, 0) == 1 && counts_p(NAN, 3) == 1);
}

TEST(the_interval_of_clopper_and_pearson)
{
	double low, high;

	/* binom.test(20, 30) of R: 0.4718800, 0.8271258 */
	counts_interval(10, 20, 0.95, &low, &high);
	near(low / (1 + low), 0.4718800, 1e-6);
	near(high / (1 + high), 0.8271258, 1e-6);
	counts_interval(0, 8, 0.95, &low, &high);
	assert_true(low > 1 && isinf(high));
	counts_interval(8, 0, 0.95, &low, &high);
	assert_true(low == 0 && high < 1);
}

TEST(intervals_have_1_where_the_test_rejects_nothing)
{
	uint64_t seed = 11;

	for (int round = 0; round < 2000; round++) {
		const struct statistics_mean a = { 10 * uniform(&seed), uniform(&seed) + 0.01,
						   1 + 20 * uniform(&seed) };
		const struct statistics_mean b = { 10 * uniform(&seed), uniform(&seed) + 0.01,
						   1 + 20 * uniform(&seed) };
		const double p = welch_of_means(&a, &b);
		double low, high;

		ratio_interval(&a, &b, 0.95, &low, &high);
		assert_true(low >= 0 && low <= high);
		if (fabs(p - 0.05) > 1e-6)
			assert_int_equal(p >= 0.05, low <= 1 && high >= 1);
		if (fabs(counts_p(a.mean, b.mean) - 0.05) < 1e-6)
			continue;
		counts_interval(a.mean, b.mean, 0.95, &low, &high);
		assert_int_equal(counts_p(a.mean, b.mean) >= 0.05, low <= 1 && high >= 1);
	}
}

TEST(an_interval_has_the_quotient_as_often_as_it_says)
{
	uint64_t seed = 5;
	int within = 0;

	for (int round = 0; round < 4000; round++) {
		struct statistics_sample sides[2] = { 0 };
		struct statistics_mean means[2];
		double low, high;

		for (size_t side = 0; side < 2; side++) {
			for (int i = 0; i < 6; i++)
				sample_add(&sides[side], (side ? 12 : 10) + uniform(&seed) +
								 uniform(&seed) + uniform(&seed));
			means[side] = (struct statistics_mean){ sides[side].mean,
								sides[side].variance / 6, 5 };
		}
		ratio_interval(&means[0], &means[1], 0.95, &low, &high);
		within += low <= 13.5 / 11.5 && 13.5 / 11.5 <= high;
	}
	assert_true(within >= 0.94 * 4000 && within <= 0.965 * 4000);
}

UNIT_TESTS(cmocka_unit_test(medians), cmocka_unit_test(mean_and_variance),
	   cmocka_unit_test(a_small_variance_far_from_zero),
	   cmocka_unit_test(equal_values_do_not_vary), cmocka_unit_test(the_table),
	   cmocka_unit_test(quantiles), cmocka_unit_test(closed_forms),
	   cmocka_unit_test(the_integral_of_the_density),
	   cmocka_unit_test(farther_out_is_less_probable),
	   cmocka_unit_test(the_ends_of_the_distribution), cmocka_unit_test(the_example_of_r),
	   cmocka_unit_test(an_example_by_hand),
	   cmocka_unit_test(neither_the_unit_nor_the_origin_matters),
	   cmocka_unit_test(false_alarms_are_as_rare_as_p),
	   cmocka_unit_test(fewer_than_two_values_are_not_tested),
	   cmocka_unit_test(without_spread_order_alone_is_evidence),
	   cmocka_unit_test(nan_is_not_tested), cmocka_unit_test(the_example_of_the_paper),
	   cmocka_unit_test(a_later_value_lowers_an_earlier), cmocka_unit_test(few_and_none),
	   cmocka_unit_test(invalid_probabilities), cmocka_unit_test(as_defined_whatever_the_order),
	   cmocka_unit_test(the_incomplete_beta_function), cmocka_unit_test(two_counts),
	   cmocka_unit_test(the_interval_of_clopper_and_pearson),
	   cmocka_unit_test(intervals_have_1_where_the_test_rejects_nothing),
	   cmocka_unit_test(an_interval_has_the_quotient_as_often_as_it_says))
