/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/amount.h"

#include "unit/unit.h"

TEST(times)
{
	char text[AMOUNT_MAX];

	assert_string_equal(amount_time(text, 0), "0 ms");
	assert_string_equal(amount_time(text, 0.00031), "0.31 ms");
	assert_string_equal(amount_time(text, 0.012), "12 ms");
	assert_string_equal(amount_time(text, 3.0612), "3.06 s");
	assert_string_equal(amount_time(text, 43.53), "43.5 s");
	assert_string_equal(amount_time(text, 725), "12 min 5 s");
	assert_string_equal(amount_time(text, 11520), "3 h 12 min");
	assert_string_equal(amount_time(text, 273600), "3 d 4 h");
	/* The largest that a counter holds. */
	assert_string_equal(amount_time(text, 18446744073.709), "213503 d 23 h");
}

TEST(bytes)
{
	char text[AMOUNT_MAX];

	assert_string_equal(amount_bytes(text, 0), "0 B");
	assert_string_equal(amount_bytes(text, 512), "512 B");
	assert_string_equal(amount_bytes(text, 45298483.2), "43.2 MiB");
	assert_string_equal(amount_bytes(text, 536870912), "512 MiB");
	assert_string_equal(amount_bytes(text, 18446744073709551616.0), "16384 PiB");
}

TEST(counts)
{
	char text[AMOUNT_MAX];

	assert_string_equal(amount_count(text, 0), "0");
	assert_string_equal(amount_count(text, 999), "999");
	assert_string_equal(amount_count(text, 43534), "43,534");
	assert_string_equal(amount_count(text, 1234567), "1,234,567");
	assert_string_equal(amount_count(text, 1e30), "1,000,000,000,000,000,000");
}

UNIT_TESTS(cmocka_unit_test(times), cmocka_unit_test(bytes), cmocka_unit_test(counts))
