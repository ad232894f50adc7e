/* SPDX-License-Identifier: BSD-2-Clause */
#include "hist/bucket.h"

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

UNIT_TESTS(cmocka_unit_test(slots_of_values), cmocka_unit_test(bounds_of_slots),
	   cmocka_unit_test(slots_are_all_numbers), cmocka_unit_test(values_are_in_their_slots),
	   cmocka_unit_test(finer_slots_fall_whole), cmocka_unit_test(how_many_bits))
