/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/varint.h"

#include <string.h>

#include "unit/unit.h"

/* The bytes of 624485 are those of the example of DWARF 5, table 7.7 and appendix C; those of 150
 * of the guide to the encoding of protobuf. */
static const struct {
	uint64_t number;
	struct text bytes;
} rows[] = {
	{ 0, { "\0", 1 } },
	{ 127, { "\x7f", 1 } },
	{ 128, { "\x80\x01", 2 } },
	{ 150, { "\x96\x01", 2 } },
	{ 624485, { "\xe5\x8e\x26", 3 } },
	{ UINT32_MAX, { "\xff\xff\xff\xff\x0f", 5 } },
	{ UINT64_C(1) << 63, { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10 } },
	{ UINT64_MAX, { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10 } },
};

TEST(numbers_come_back)
{
	char bytes[VARINT_MAX];

	for (size_t i = 0; i < array_length(rows); i++) {
		struct text rest = rows[i].bytes;
		uint64_t number;

		assert_int_equal(varint_write(bytes, rows[i].number) - bytes, rest.length);
		assert_memory_equal(bytes, rest.bytes, rest.length);
		assert_true(varint_cut(&rest, VARINT_MAX, &number));
		assert_int_equal(number, rows[i].number);
		assert_int_equal(rest.length, 0);
	}
}

/* Neither the text nor the limit is passed. */
TEST(parts_of_numbers_are_none)
{
	for (size_t i = 0; i < array_length(rows); i++) {
		struct text part = rows[i].bytes, whole = part;
		uint64_t number;

		part.length--;
		assert_false(varint_cut(&part, VARINT_MAX, &number));
		assert_int_equal(part.length, whole.length - 1);
		assert_false(varint_cut(&whole, whole.length - 1, &number));
		assert_ptr_equal(whole.bytes, rows[i].bytes.bytes);
	}
}

TEST(more_than_64_bits)
{
	struct text padded = { "\x81\x80\x00g", 4 };
	struct text large = { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 10 };
	struct text endless = { "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11 };
	uint64_t number;

	assert_true(varint_cut(&padded, VARINT_MAX, &number));
	assert_int_equal(number, 1);
	assert_int_equal(padded.length, 1);
	assert_true(varint_cut(&large, VARINT_MAX, &number));
	assert_true(number == UINT64_MAX);
	assert_false(varint_cut(&endless, VARINT_MAX, &number));
}

UNIT_TESTS(cmocka_unit_test(numbers_come_back), cmocka_unit_test(parts_of_numbers_are_none),
	   cmocka_unit_test(more_than_64_bits))
