/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram/histogram.h"

#include <string.h>

#include "unit/unit.h"

static struct histogram *empty(unsigned frac_bits)
{
	struct histogram *histogram = histogram_create(frac_bits);

	assert_non_null(histogram);
	return histogram;
}

static void expect_percentile(const struct histogram *histogram, double fraction, uint64_t low,
			      uint64_t high)
{
	struct histogram_interval between = histogram_percentile(histogram, fraction);

	assert_true(between.low == low);
	assert_true(between.high == high);
}

TEST(nothing)
{
	struct histogram *h = empty(3);

	assert_int_equal(h->count, 0);
	assert_int_equal(h->sum, 0);
	expect_percentile(h, 0, 0, 0);
	expect_percentile(h, 1, 0, 0);
	histogram_destroy(h);
	histogram_destroy(NULL);
}

TEST(values)
{
	struct histogram *h = empty(3);

	histogram_record(h, 480, 814);
	histogram_record(h, 511, 1);
	histogram_record(h, 0, 2);
	histogram_record(h, UINT64_MAX, 0);
	assert_int_equal(h->slots[55], 815);
	assert_int_equal(h->slots[0], 2);
	assert_int_equal(h->count, 817);
	assert_int_equal(h->sum, 480 * 814 + 511);
	histogram_destroy(h);
}

TEST(sums_stop_at_their_largest)
{
	struct histogram *h = empty(0);

	histogram_record(h, (uint64_t)1 << 63, 1);
	assert_true(h->sum == (uint64_t)1 << 63);
	histogram_record(h, (uint64_t)1 << 63, 1);
	assert_true(h->sum == UINT64_MAX);
	histogram_record(h, 1, 1);
	assert_true(h->sum == UINT64_MAX);
	histogram_destroy(h);
	h = empty(0);
	histogram_record(h, 3, UINT64_MAX / 2);
	assert_true(h->sum == UINT64_MAX);
	histogram_destroy(h);
}

/* Against a sorted list: the value of that rank is between the bounds. */
TEST(percentiles)
{
	struct histogram *h = empty(3);

	for (uint64_t value = 1; value <= 1000; value++)
		histogram_record(h, value, 1);
	expect_percentile(h, 0, 1, 1);
	expect_percentile(h, 0.001, 1, 1);
	expect_percentile(h, 0.0011, 2, 2);
	expect_percentile(h, 0.5, 480, 511);
	expect_percentile(h, 0.99, 960, 1023);
	expect_percentile(h, 1, 960, 1023);
	for (unsigned rank = 1; rank <= 1000; rank++) {
		struct histogram_interval between = histogram_percentile(h, (rank - 0.5) / 1000);

		assert_true(between.low <= rank && rank <= between.high);
	}
	histogram_destroy(h);
}

TEST(percentiles_of_few)
{
	struct histogram *h = empty(3);

	histogram_record(h, 5, 1);
	histogram_record(h, 7, 1);
	histogram_record(h, 1000, 1);
	expect_percentile(h, 0.3, 5, 5);
	expect_percentile(h, 0.5, 7, 7);
	expect_percentile(h, 0.66, 7, 7);
	expect_percentile(h, 0.67, 960, 1023);
	expect_percentile(h, 1, 960, 1023);
	histogram_destroy(h);
}

/* What was recorded apart and merged is what was recorded together, also in coarser slots. */
TEST(merging)
{
	for (unsigned from = 0; from <= BUCKET_FRAC_BITS_MAX; from++)
		for (unsigned into = 0; into <= from; into++) {
			struct histogram *a = empty(into), *b = empty(from), *both = empty(into);
			uint64_t stream = 5;

			for (unsigned i = 0; i < 3000; i++) {
				uint64_t random = next_random(&stream);
				uint64_t value = random >> (8 + i % 56);

				histogram_record(i % 2 ? a : b, value, 1 + random % 3);
				histogram_record(both, value, 1 + random % 3);
			}
			histogram_merge(a, b);
			assert_int_equal(a->count, both->count);
			assert_true(a->sum == both->sum);
			assert_memory_equal(a->slots, both->slots,
					    BUCKET_SLOTS(into) * sizeof(a->slots[0]));
			histogram_destroy(a);
			histogram_destroy(b);
			histogram_destroy(both);
		}
}

/* A percentile takes one value above it: 1,000 for p99.9. Doubles do not make it 999 or 1,001. */
TEST(percentiles_that_are_known)
{
	static const struct {
		double fraction;
		uint64_t needs;
	} known[] = {
		{ 0, 1 },      { 0.5, 2 },      { 0.75, 4 },       { 0.9, 10 }, { 0.95, 20 },
		{ 0.99, 100 }, { 0.999, 1000 }, { 0.9999, 10000 }, { 1, 1 },    { 0.99999, 100000 },
	};

	for (size_t i = 0; i < array_length(known); i++) {
		assert_int_equal(percentile_needs(known[i].fraction), known[i].needs);
		assert_true(percentile_is_known(known[i].needs, known[i].fraction));
		assert_true(percentile_is_known(UINT64_MAX, known[i].fraction));
		assert_false(percentile_is_known(known[i].needs - 1, known[i].fraction));
	}
}

UNIT_TESTS(cmocka_unit_test(nothing), cmocka_unit_test(values),
	   cmocka_unit_test(sums_stop_at_their_largest), cmocka_unit_test(percentiles),
	   cmocka_unit_test(percentiles_of_few), cmocka_unit_test(percentiles_that_are_known),
	   cmocka_unit_test(merging))
