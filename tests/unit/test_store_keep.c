/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/keep.h"

#include "unit/unit.h"

TEST(days)
{
	unsigned days[STORE_KEEP_COUNT] = { 0 };

	expect_ok(store_keep_parse("hour=1000d,raw=7d", days));
	assert_int_equal(days[STORE_KEEP_RAW], 7);
	assert_int_equal(days[STORE_KEEP_MINUTE], 0);
	assert_int_equal(days[STORE_KEEP_HOUR], 1000);
}

/* What is not given is known only to the server. */
TEST(one_alone)
{
	unsigned raw[STORE_KEEP_COUNT] = { 0 }, hour[STORE_KEEP_COUNT] = { 0 };

	expect_ok(store_keep_parse("raw=500d", raw));
	expect_ok(store_keep_parse("hour=5d", hour));
}

static void refuse(const char *text, const char *message)
{
	unsigned days[STORE_KEEP_COUNT] = { 0 };

	expect_error(store_keep_parse(text, days), message);
}

TEST(what_is_refused)
{
	refuse("", "'': expected e.g. raw=14d,minute=90d,hour=400d, in days");
	refuse("raw=7", "'raw=7': expected");
	refuse("raw=0d", "expected");
	refuse("raw=20001d", "expected");
	refuse("raw=99999999999d", "expected");
	refuse("raw=-1d", "expected");
	refuse("raw=d", "expected");
	refuse("raw=7d,,hour=9d", "expected");
	refuse("raws=7d", "expected");
	refuse("raw=7d,raw=8d", "'raw' is given twice");
	refuse("minute=401d,hour=400d", "'minute' (401 days) is longer than 'hour' (400 days)");
	refuse("hour=50d,raw=51d", "'raw' (51 days) is longer than 'hour' (50 days)");
}

UNIT_TESTS(cmocka_unit_test(days), cmocka_unit_test(one_alone), cmocka_unit_test(what_is_refused))
