/* SPDX-License-Identifier: BSD-2-Clause */
#include "hist/bucket.h"

#include "unit/unit.h"

#define MAX UINT64_MAX

/* Slots of values by fractional bits 0 to 5, worked out apart from this code. */
static const struct {
	uint64_t value;
	unsigned slots[BUCKET_FRAC_BITS_MAX + 1];
	uint64_t low, high; /* of the slot with 3 fractional bits */
} vectors[] = {
	{ 0, { 0, 0, 0, 0, 0, 0 }, 0, 0 },
	{ 1, { 1, 1, 1, 1, 1, 1 }, 1, 1 },
	{ 3, { 2, 3, 3, 3, 3, 3 }, 3, 3 },
	{ 4, { 3, 4, 4, 4, 4, 4 }, 4, 4 },
	{ 7, { 3, 5, 7, 7, 7, 7 }, 7, 7 },
	{ 8, { 4, 6, 8, 8, 8, 8 }, 8, 8 },
	{ 9, { 4, 6, 8, 9, 9, 9 }, 9, 9 },
	{ 15, { 4, 7, 11, 15, 15, 15 }, 15, 15 },
	{ 16, { 5, 8, 12, 16, 16, 16 }, 16, 17 },
	{ 17, { 5, 8, 12, 16, 17, 17 }, 16, 17 },
	{ 31, { 5, 9, 15, 23, 31, 31 }, 30, 31 },
	{ 32, { 6, 10, 16, 24, 32, 32 }, 32, 35 },
	{ 63, { 6, 11, 19, 31, 47, 63 }, 60, 63 },
	{ 64, { 7, 12, 20, 32, 48, 64 }, 64, 71 },
	{ 100, { 7, 13, 22, 36, 57, 82 }, 96, 103 },
	{ 480, { 9, 17, 31, 55, 94, 156 }, 480, 511 },
	{ 511, { 9, 17, 31, 55, 95, 159 }, 480, 511 },
	{ 512, { 10, 18, 32, 56, 96, 160 }, 512, 575 },
	{ 1000, { 10, 19, 35, 63, 111, 190 }, 960, 1023 },
	{ 1024, { 11, 20, 36, 64, 112, 192 }, 1024, 1151 },
	{ 18432, { 15, 28, 52, 97, 178, 324 }, 18432, 20479 },
	{ 20130, { 15, 28, 52, 97, 179, 327 }, 18432, 20479 },
	{ 20480, { 15, 28, 53, 98, 180, 328 }, 20480, 22527 },
	{ 1000000, { 20, 39, 75, 143, 270, 509 }, 983040, 1048575 },
	{ 1061896, { 21, 40, 76, 144, 272, 512 }, 1048576, 1179647 },
	{ 1313664, { 21, 40, 77, 146, 276, 520 }, 1310720, 1441791 },
	{ 4194303, { 22, 43, 83, 159, 303, 575 }, 3932160, 4194303 },
	{ 4194304, { 23, 44, 84, 160, 304, 576 }, 4194304, 4718591 },
	{ 8388608, { 24, 46, 88, 168, 320, 608 }, 8388608, 9437183 },
	{ 1000000000, { 30, 59, 115, 222, 429, 827 }, 939524096, 1006632959 },
	{ 1000000000000, { 40, 79, 155, 302, 589, 1146 }, 962072674304, 1030792151039 },
	{ 4294967295, { 32, 63, 123, 239, 463, 895 }, 4026531840, 4294967295 },
	{ 4294967296, { 33, 64, 124, 240, 464, 896 }, 4294967296, 4831838207 },
	{ (uint64_t)1 << 63,
	  { 64, 126, 248, 488, 960, 1888 },
	  9223372036854775808u,
	  10376293541461622783u },
	{ MAX, { 64, 127, 251, 495, 975, 1919 }, 17293822569102704640u, MAX },
};

TEST(slots_of_values)
{
	for (size_t i = 0; i < array_length(vectors); i++)
		for (unsigned frac = 0; frac <= BUCKET_FRAC_BITS_MAX; frac++)
			assert_int_equal(bucket_slot(vectors[i].value, frac),
					 vectors[i].slots[frac]);
}

TEST(bounds_of_slots)
{
	for (size_t i = 0; i < array_length(vectors); i++) {
		assert_true(bucket_low(vectors[i].slots[3], 3) == vectors[i].low);
		assert_true(bucket_high(vectors[i].slots[3], 3) == vectors[i].high);
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

TEST(the_rest_says_the_same)
{
	uint64_t stream = 11;

	for (size_t i = 0; i < array_length(vectors); i++)
		check_rest(vectors[i].value);
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

TEST(what_is_added_to_sums)
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

UNIT_TESTS(cmocka_unit_test(slots_by_counting), cmocka_unit_test(what_is_added_to_sums),
	   cmocka_unit_test(sums_hold_as_many_as_said),
	   cmocka_unit_test(the_slot_that_no_value_reaches), cmocka_unit_test(how_many_slots),
	   cmocka_unit_test(slots_of_values), cmocka_unit_test(bounds_of_slots),
	   cmocka_unit_test(slots_are_all_numbers), cmocka_unit_test(values_are_in_their_slots),
	   cmocka_unit_test(finer_slots_fall_whole), cmocka_unit_test(how_many_bits),
	   cmocka_unit_test(the_rest_says_the_same))
