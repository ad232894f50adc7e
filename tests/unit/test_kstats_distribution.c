/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/distribution.h"

#include <math.h>
#include <stdlib.h>

#include "unit/kstats_scene.h"

/* Beside the table, all values in their order: what is said of the one is asked of the other. */
#define VALUES_MAX 512

struct sample {
	struct kstats_table *table;
	struct kstats_distribution all;
	uint64_t values[VALUES_MAX];
	unsigned count;
};

static int compare_values(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Values of a few shapes: of all lengths, within few slots, often the same, next to bounds. */
static uint64_t shaped(unsigned shape, uint64_t *stream)
{
	uint64_t value = scene_kstats_value(stream);

	switch (shape % 4) {
	case 0:
		return value;
	case 1:
		return 900 + value % 300;
	case 2:
		return value % 8;
	default:
		return ((uint64_t)1 << value % 64) - value % 2;
	}
}

static void take_sample(struct sample *s, unsigned frac_bits, unsigned shape, uint64_t *stream)
{
	s->table = scene_kstats("sample", frac_bits);
	s->count = 1 + next_random(stream) % VALUES_MAX;
	for (unsigned i = 0; i < s->count; i++) {
		s->values[i] = shaped(shape, stream);
		scene_kstats_record(s->table, i % 3, NULL, s->values[i]);
	}
	qsort(s->values, s->count, sizeof(s->values[0]), compare_values);
	s->all = scene_kstats_all(s->table);
}

static void forget_sample(struct sample *s)
{
	kstats_distribution_clear(&s->all);
	kstats_table_destroy(s->table);
}

static void for_samples(void (*check)(const struct sample *s))
{
	uint64_t stream = 11;

	for (unsigned i = 0; i < 3000; i++) {
		struct sample s;

		take_sample(&s, i % (BUCKET_FRAC_BITS_MAX + 1), i / 6, &stream);
		check(&s);
		forget_sample(&s);
	}
}

/* --- percentiles --- */

/* In hundredths of a percent, so that the rank is found with whole numbers. */
static const unsigned shares[] = { 0,    1,    7,    100,  700,  1000, 2500, 3333,
				   5000, 7000, 9000, 9500, 9900, 9990, 9999, 10000 };

static void check_percentiles(const struct sample *s)
{
	for (size_t i = 0; i < array_length(shares); i++) {
		struct kstats_percentile p = kstats_percentile(&s->all, shares[i] / 10000.0);
		unsigned rank = (shares[i] * s->count + 9999) / 10000;
		uint64_t value = s->values[rank ? rank - 1 : 0];

		assert_true(p.low <= value && value <= p.high);
		/* No wider than the slot. */
		assert_int_equal(p.slot, bucket_slot(value, s->table->frac_bits));
		assert_true(p.low == bucket_low(p.slot, s->table->frac_bits));
		assert_true(p.high == bucket_high(p.slot, s->table->frac_bits));
		assert_true((double)p.low <= p.mean && p.mean <= (double)p.high);
	}
}

TEST(percentiles_hold_the_true_one)
{
	for_samples(check_percentiles);
}

static void check_ranks(const struct sample *s)
{
	for (unsigned rank = 1; rank <= s->count; rank += 7) {
		struct kstats_percentile p = kstats_ranked(&s->all, rank);

		assert_true(p.low <= s->values[rank - 1] && s->values[rank - 1] <= p.high);
	}
	/* There is none. */
	assert_int_equal(kstats_ranked(&s->all, 0).high, 0);
	assert_int_equal(kstats_ranked(&s->all, s->count + 1).high, 0);
}

TEST(ranks)
{
	for_samples(check_ranks);
}

/* `below` values of 10, one of 20: the rank of a decimal share is the whole one, not the next. */
static uint64_t percentile_of_counts(uint64_t below, uint64_t above, double fraction)
{
	struct kstats_slot slots[BUCKET_SLOTS(5)] = { [10] = { below, 0 }, [20] = { above, 0 } };
	struct kstats_distribution of = { 5, below + above, slots };

	return kstats_percentile(&of, fraction).low;
}

TEST(decimal_shares)
{
	/* Of every hundredth of a percent, of counts that it divides. */
	for (uint64_t share = 1; share < 10000; share++) {
		for (uint64_t count = 10000; count <= 1000000000000; count *= 100) {
			uint64_t rank = share * (count / 10000);

			assert_int_equal(
				percentile_of_counts(rank, count - rank, (double)share / 10000),
				10);
			assert_int_equal(percentile_of_counts(rank - 1, count - rank + 1,
							      (double)share / 10000),
					 20);
		}
	}
	/* As they are read from text: 99.9 / 100 is more than 0.999 in doubles. */
	assert_int_equal(percentile_of_counts(999, 1, 99.9 / 100), 10);
}

/* The last of very many is the last. */
TEST(the_largest_of_many)
{
	static const uint64_t counts[] = { 1000000000000, 10000000000000, (uint64_t)1 << 53,
					   UINT64_MAX - 1 };

	for (size_t i = 0; i < array_length(counts); i++) {
		assert_int_equal(percentile_of_counts(counts[i], 1, 1), 20);
		assert_int_equal(percentile_of_counts(1, counts[i], 0), 10);
		assert_int_equal(percentile_of_counts(counts[i], 1, 0.9999), 10);
	}
}

/* --- means --- */

/* The sum lacks less than a step of its scale for each value, and the means by slot are of these.
 */
static void check_means(const struct sample *s)
{
	unsigned frac = s->table->frac_bits;
	unsigned __int128 sum = 0, lost = 0;
	double mean = kstats_mean(&s->all);

	for (unsigned i = 0; i < s->count; i++) {
		sum += s->values[i];
		lost += ((uint64_t)1 << bucket_shift(bucket_slot(s->values[i], frac), frac)) - 1;
	}
	assert_true(kstats_sum(&s->all) <= sum && sum - kstats_sum(&s->all) <= lost);
	assert_true(mean <= (double)sum / s->count * (1 + 1e-15));
	assert_true(mean >= (double)(sum - lost) / s->count * (1 - 1e-15));
	if (!lost)
		assert_true(mean == (double)sum / s->count);
}

TEST(means)
{
	for_samples(check_means);
}

static void check_slot_means(const struct sample *s)
{
	unsigned frac = s->table->frac_bits;

	for (unsigned i = 0, end; i < s->count; i = end) {
		unsigned slot = bucket_slot(s->values[i], frac);
		double step = (double)(((uint64_t)1 << bucket_shift(slot, frac)) - 1);
		double mean = kstats_slot_mean(&s->all, slot);
		unsigned __int128 sum = 0;

		for (end = i; end < s->count && bucket_slot(s->values[end], frac) == slot; end++)
			sum += s->values[end];
		assert_true(mean <= (double)sum / (end - i) * (1 + 1e-15));
		assert_true(mean >= (double)sum / (end - i) * (1 - 1e-15) - step);
		assert_true(mean >= (double)bucket_low(slot, frac));
	}
}

TEST(means_of_slots)
{
	for_samples(check_slot_means);
}

/* Count and sum that were not read in one moment: the mean is in the slot all the same. */
TEST(torn_readings)
{
	struct kstats_slot slots[BUCKET_SLOTS(3)] = { [55] = { 10, 300 }, [56] = { 1, 60000 } };
	const struct kstats_distribution of = { 3, 11, slots };

	assert_true(kstats_slot_mean(&of, 55) == 480);
	assert_true(kstats_slot_mean(&of, 56) == 575);
	assert_true(kstats_slot_mean(&of, 57) == 576);
	assert_true(kstats_sum(&of) == 4800 + 575);
}

/* --- ends --- */

TEST(nothing)
{
	struct kstats_table *table = scene_kstats("empty", 3);
	struct kstats_distribution all = scene_kstats_all(table);
	struct kstats_percentile p = kstats_percentile(&all, 0.5);

	assert_int_equal(all.count, 0);
	assert_true(!p.slot && !p.low && !p.high && p.mean == 0);
	assert_true(!kstats_percentile(&all, 0).high && !kstats_percentile(&all, 1).high);
	assert_true(kstats_mean(&all) == 0);
	assert_true(kstats_sum(&all) == 0);
	assert_true(kstats_slot_mean(&all, 55) == 480);
	kstats_distribution_clear(&all);
	assert_null(all.slots);
	kstats_distribution_clear(&all);
	kstats_table_destroy(table);
}

static void check_alone(uint64_t value, unsigned frac_bits)
{
	struct kstats_table *table = scene_kstats("alone", frac_bits);
	struct kstats_distribution all;
	double low = (double)bucket_low(bucket_slot(value, frac_bits), frac_bits);

	scene_kstats_record(table, 0, NULL, value);
	all = scene_kstats_all(table);
	for (unsigned percent = 0; percent <= 100; percent++) {
		struct kstats_percentile p = kstats_percentile(&all, percent / 100.0);

		assert_true(p.low <= value && value <= p.high && p.high >= p.low);
	}
	assert_true(kstats_mean(&all) <= (double)value && kstats_mean(&all) >= low);
	kstats_distribution_clear(&all);
	kstats_table_destroy(table);
}

TEST(one_value)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++) {
		check_alone(0, frac);
		check_alone(1, frac);
		check_alone(480, frac);
		check_alone((uint64_t)1 << 63, frac);
		check_alone(UINT64_MAX, frac);
	}
}

TEST(one_row)
{
	struct kstats_table *table = scene_kstats("rows", 3);
	struct kstats_distribution of;

	scene_kstats_record(table, 1, NULL, 5);
	scene_kstats_record(table, 2, NULL, 500);
	scene_kstats_record(table, 2, NULL, 501);
	expect_ok(kstats_distribution_of(table, &table->rows.items[1], &of));
	assert_int_equal(of.count, 2);
	assert_int_equal(kstats_percentile(&of, 0).low, 480);
	assert_true(kstats_mean(&of) == 500.5);
	kstats_distribution_clear(&of);
	kstats_table_destroy(table);
}

UNIT_TESTS(cmocka_unit_test(percentiles_hold_the_true_one), cmocka_unit_test(ranks),
	   cmocka_unit_test(decimal_shares), cmocka_unit_test(the_largest_of_many),
	   cmocka_unit_test(means), cmocka_unit_test(means_of_slots),
	   cmocka_unit_test(torn_readings), cmocka_unit_test(nothing), cmocka_unit_test(one_value),
	   cmocka_unit_test(one_row))
