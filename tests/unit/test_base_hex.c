/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hex.h"

#include "unit/unit.h"

TEST(numbers_are_cut_off_the_front)
{
	static const struct {
		const char *text;
		uint64_t value;
		const char *rest; /* NULL: no number */
	} rows[] = {
		{ "0", 0, "" },
		{ "ffffffffffffffff rest", UINT64_MAX, " rest" },
		{ "0xdeadBEEF-1", 0xdeadbeef, "-1" },
		{ "1g", 1, "g" },
		{ "", 0, NULL },
		{ "0x", 0, NULL },
		{ "g", 0, NULL },
		{ "-1", 0, NULL },
		{ "10000000000000000", 0, NULL }, /* 17 digits */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text rest = text_of(rows[i].text);
		uint64_t value = 77;

		assert_int_equal(hex_cut(&rest, &value), rows[i].rest != NULL);
		assert_int_equal(value, rows[i].rest ? rows[i].value : 77);
		assert_true(text_equal(rest, text_of(rows[i].rest ? rows[i].rest : rows[i].text)));
	}
}

TEST(bytes_are_written_and_read_back)
{
	uint8_t bytes[256], back[256];
	char text[2 * 256 + 1];

	for (unsigned i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	assert_ptr_equal(hex_write(text, bytes, 256), text + 512);
	assert_int_equal(text[512], '\0');
	assert_memory_equal(text, "000102", 6);
	assert_true(hex_read(text_of(text), back, sizeof(back)));
	assert_memory_equal(back, bytes, sizeof(bytes));
	assert_ptr_equal(hex_write(text, bytes, 0), text);
	assert_string_equal(text, "");
}

TEST(other_texts_are_no_bytes)
{
	uint8_t bytes[2];

	assert_true(hex_read(TEXT(""), bytes, sizeof(bytes)));
	assert_true(hex_read(TEXT("00ff"), bytes, sizeof(bytes)));
	assert_false(hex_read(TEXT("0"), bytes, sizeof(bytes)));
	assert_false(hex_read(TEXT("FF"), bytes, sizeof(bytes)));
	assert_false(hex_read(TEXT("0g"), bytes, sizeof(bytes)));
	assert_false(hex_read(TEXT("g0"), bytes, sizeof(bytes)));
	assert_false(hex_read(TEXT("000000"), bytes, sizeof(bytes)));
}

UNIT_TESTS(cmocka_unit_test(numbers_are_cut_off_the_front),
	   cmocka_unit_test(bytes_are_written_and_read_back),
	   cmocka_unit_test(other_texts_are_no_bytes))
