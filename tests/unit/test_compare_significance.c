/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/significance.h"

#include <math.h>

#include "unit/unit.h"

static struct robust_spread spread_of(const double *values, size_t count)
{
	struct robust_spread spread;

	assert_true(robust_spread(values, count, &spread));
	return spread;
}

/* Computed by hand: the median is 2.45, the deviations are 0.05 twice, 0.15 four times, 0.35 twice,
 * 5.75 and 5.85, and their median is 0.15. */
TEST(modified_z_scores)
{
	static const double values[] = { 2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3 };
	struct robust_spread spread = spread_of(values, array_length(values));

	assert_int_equal(spread.count, 10);
	assert_float_equal(spread.median, 2.45, 1e-12);
	assert_float_equal(robust_score(&spread, 8.2), 0.6745 * 5.75 / 0.15, 1e-9);
	assert_float_equal(robust_score(&spread, 2.3), -0.6745, 1e-9);
	assert_float_equal(robust_certainty(&spread, 8.3), 1, 1e-12);
	assert_float_equal(robust_certainty(&spread, 2.45), CERTAINTY_LEAST, 1e-12);
	assert_true(robust_certainty(&spread, 2.1) < 0.6);
}

/* An outlier moves the mean and the standard deviation so far that it hides itself. */
TEST(outliers_do_not_mask_each_other)
{
	static const double values[] = { 1, 1.1, 0.9, 1, 1.05, 0.95, 1000, 1000 };
	struct robust_spread spread = spread_of(values, array_length(values));

	assert_true(robust_score(&spread, 1000) > 1000);
	assert_float_equal(robust_certainty(&spread, 1000), 1, 1e-12);
}

/* More than half are the same: the mean deviation of one in ten is 0.1. */
TEST(the_median_deviation_is_zero)
{
	static const double values[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	struct robust_spread spread = spread_of(values, array_length(values));

	assert_float_equal(robust_score(&spread, 1), 1 / (1.253314 * 0.1), 1e-6);
	assert_float_equal(robust_score(&spread, 0), 0, 0);
}

TEST(all_are_the_same)
{
	static const double values[] = { 3, 3, 3 };
	struct robust_spread spread = spread_of(values, array_length(values));

	assert_float_equal(robust_score(&spread, 3), 0, 0);
	assert_true(isinf(robust_score(&spread, 4)) && robust_score(&spread, 4) > 0);
	assert_true(robust_score(&spread, 2) < 0);
	assert_float_equal(robust_certainty(&spread, 4), 1, 0);
}

TEST(unmeasured_values_do_not_count)
{
	static const double values[] = { NAN, 1, NAN, 3, 2, NAN };
	struct robust_spread spread = spread_of(values, array_length(values));

	assert_int_equal(spread.count, 3);
	assert_float_equal(spread.median, 2, 0);
	spread = spread_of(values, 1);
	assert_int_equal(spread.count, 0);
	spread = spread_of(values, 0);
	assert_int_equal(spread.count, 0);
	assert_float_equal(robust_certainty(&spread, 0), CERTAINTY_LEAST, 0);
}

UNIT_TESTS(cmocka_unit_test(modified_z_scores), cmocka_unit_test(outliers_do_not_mask_each_other),
	   cmocka_unit_test(the_median_deviation_is_zero), cmocka_unit_test(all_are_the_same),
	   cmocka_unit_test(unmeasured_values_do_not_count))
