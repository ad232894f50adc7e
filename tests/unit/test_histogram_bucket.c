/* SPDX-License-Identifier: BSD-2-Clause */
#include "histogram/bucket.h"

#include "unit/bucket_vectors.h"
#include "unit/unit.h"

#define MAX UINT64_MAX

TEST(slots_of_values)
{
	for (size_t i = 0; i < array_length(bucket_vectors); i++)
		for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++)
			assert_int_equal(bucket_slot(bucket_vectors[i].value, frac),
					 bucket_vectors[i].slots[frac]);
}

TEST(bounds_of_slots)
{
	for (size_t i = 0; i < array_length(bucket_vectors); i++) {
		assert_true(bucket_low(bucket_vectors[i].slots[3], 3) == bucket_vectors[i].low);
		assert_true(bucket_high(bucket_vectors[i].slots[3], 3) == bucket_vectors[i].high);
	}
}

/* One after the other, without holes: the last value is in the last slot but the spare one. */
TEST(slots_are_all_numbers)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++) {
		unsigned last = BUCKET_SLOTS(frac) - 2;

		assert_int_equal(bucket_slot(MAX, frac), last);
		assert_true(bucket_low(0, frac) == 0);
		assert_true(bucket_high(last, frac) == MAX);
		for (unsigned slot = 0; slot < last; slot++)
			assert_true(bucket_high(slot, frac) + 1 == bucket_low(slot + 1, frac));
	}
	assert_int_equal(BUCKET_SLOTS(3), 497);
}

TEST(values_are_in_their_slots)
{
	uint64_t stream = 7;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t value = next_random(&stream) >> (i % 64);

		for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++) {
			unsigned slot = bucket_slot(value, frac);
			uint64_t low = bucket_low(slot, frac), high = bucket_high(slot, frac);

			assert_true(low <= value && value <= high);
			/* The width against what the values are. */
			assert_true(high - low <= low >> frac);
		}
	}
}

static void check_rest(uint64_t value)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++) {
		unsigned rest = bucket_rest(value, frac);
		unsigned slot = bucket_slot(value, frac);

		assert_int_equal(bucket_slot_of_rest(value, frac, rest), slot);
		assert_int_equal(bucket_shift_of_rest(rest), bucket_shift(slot, frac));
	}
}

TEST(the_rest_agrees)
{
	uint64_t stream = 11;

	for (size_t i = 0; i < array_length(bucket_vectors); i++)
		check_rest(bucket_vectors[i].value);
	for (unsigned i = 0; i < 20000; i++)
		check_rest(next_random(&stream) >> (i % 64));
	for (unsigned bit = 0; bit < 64; bit++) {
		check_rest((uint64_t)1 << bit);
		check_rest(((uint64_t)1 << bit) - 1);
	}
}

/* A slot of a finer histogram falls whole into one of a coarser. */
TEST(finer_slots_fall_whole)
{
	for (unsigned frac = 1; frac <= BUCKET_FRAC_BITS_MAX; frac++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(frac) - 1; slot++)
			assert_int_equal(bucket_slot(bucket_low(slot, frac), frac - 1),
					 bucket_slot(bucket_high(slot, frac), frac - 1));
}

TEST(how_many_bits)
{
	assert_int_equal(bucket_bits(0), 0);
	for (unsigned bits = 1; bits <= 64; bits++) {
		assert_int_equal(bucket_bits((uint64_t)1 << (bits - 1)), bits);
		assert_int_equal(bucket_bits(MAX >> (64 - bits)), bits);
	}
}

/* Without shifts: each power of two from 2^frac_bits on is cut into as many equal parts. */
TEST(slots_by_counting)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++) {
		uint64_t parts = (uint64_t)1 << frac, next = 0;
		unsigned slot = 0;

		for (; next < parts; next++)
			assert_int_equal(bucket_slot(next, frac), slot++);
		for (uint64_t octave = parts; octave < 100000; octave *= 2)
			for (uint64_t part = 0; part < parts; part++, slot++) {
				uint64_t width = octave / parts;

				assert_int_equal(bucket_low(slot, frac), next);
				assert_int_equal(bucket_high(slot, frac), next + width - 1);
				for (uint64_t end = next + width; next < end; next++)
					assert_int_equal(bucket_slot(next, frac), slot);
			}
	}
}

/* What is added to the sum of the slot, with 3 fractional bits. */
static const struct {
	uint64_t value, added;
} scaled[] = {
	{ 0, 0 },
	{ 1, 1 },
	{ 511, 511 },
	{ 1000000, 1000000 },
	{ 4194303, 4194303 },
	{ 4194304, 4194304 },
	{ 8388607, 8388607 },
	{ 8388608, 4194304 },
	{ 8388609, 4194304 },
	{ 1000000000, 7812500 },
	{ 1000000000000, 7629394 },
	{ 4294967295, 8388607 },
	{ 4294967296, 4194304 },
	{ (uint64_t)1 << 63, 4194304 },
	{ MAX, 8388607 },
};

TEST(scaled_sums)
{
	for (size_t i = 0; i < array_length(scaled); i++)
		assert_int_equal(scaled[i].value >>
					 bucket_shift(bucket_slot(scaled[i].value, 3), 3),
				 scaled[i].added);
}

/* What is added has at most 20 bits and the fractional ones, so 2^(44 - frac_bits) values fit; and
 * as long as a value has no more bits than these, all of it is added. */
TEST(sums_hold_as_many_as_said)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++)
		for (unsigned slot = 0; slot < BUCKET_SLOTS(frac) - 1; slot++) {
			unsigned shift = bucket_shift(slot, frac);
			uint64_t largest = bucket_high(slot, frac) >> shift;

			assert_true(largest < (uint64_t)1 << (20 + frac));
			assert_int_equal(shift > 0, bucket_high(slot, frac) >> (20 + frac) > 0);
			/* No more is lost than must be. */
			if (shift)
				assert_true(largest >= (uint64_t)1 << (19 + frac));
		}
}

TEST(the_slot_that_no_value_reaches)
{
	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++) {
		assert_true(bucket_low(BUCKET_SLOTS(frac) - 1, frac) == MAX);
		assert_true(bucket_high(BUCKET_SLOTS(frac) - 1, frac) == MAX);
	}
}

TEST(how_many_slots)
{
	static const unsigned slots[] = { 66, 129, 253, 497, 977, 1921 };

	for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++)
		assert_int_equal(BUCKET_SLOTS(frac), slots[frac]);
}

UNIT_TESTS(cmocka_unit_test(slots_by_counting), cmocka_unit_test(scaled_sums),
	   cmocka_unit_test(sums_hold_as_many_as_said),
	   cmocka_unit_test(the_slot_that_no_value_reaches), cmocka_unit_test(how_many_slots),
	   cmocka_unit_test(slots_of_values), cmocka_unit_test(bounds_of_slots),
	   cmocka_unit_test(slots_are_all_numbers), cmocka_unit_test(values_are_in_their_slots),
	   cmocka_unit_test(finer_slots_fall_whole), cmocka_unit_test(how_many_bits),
	   cmocka_unit_test(the_rest_agrees))
