/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/pairs.h"

#include "unit/unit.h"

TEST(pairs_line_by_line)
{
	struct text rest = TEXT("Name:\tbash\nno separator\n\nUmask:   0022  \n:x\nlast:"), key,
		    value;

	assert_true(pairs_next(&rest, ':', &key, &value));
	expect_text(key, "Name");
	expect_text(value, "bash");
	assert_true(pairs_next(&rest, ':', &key, &value));
	expect_text(key, "Umask");
	expect_text(value, "0022");
	assert_true(pairs_next(&rest, ':', &key, &value));
	expect_text(key, "");
	expect_text(value, "x");
	assert_true(pairs_next(&rest, ':', &key, &value));
	expect_text(key, "last");
	expect_text(value, "");
	assert_false(pairs_next(&rest, ':', &key, &value));
}

TEST(the_first_separator_counts)
{
	struct text rest = TEXT("usage_usec 12 34\nkey-only\nx 1"), key, value;

	assert_true(pairs_next(&rest, ' ', &key, &value));
	expect_text(key, "usage_usec");
	expect_text(value, "12 34");
	assert_true(pairs_next(&rest, ' ', &key, &value));
	expect_text(key, "x");
}

TEST(find)
{
	static const char bytes[] = "a: 1\nab: 2\na: 3\n";
	struct text value = TEXT("untouched");

	assert_false(pairs_find(text_of(bytes), ':', TEXT("b"), &value));
	expect_text(value, "untouched");
	assert_true(pairs_find(text_of(bytes), ':', TEXT("a"), &value));
	expect_text(value, "1");
	assert_true(pairs_find(text_of(bytes), ':', TEXT("ab"), &value));
	expect_text(value, "2");
}

TEST(kib)
{
	static const char *const bad[] = { "",     "kB",    "12 MB",
					   "x kB", "-1 kB", "18446744073709551616" };
	uint64_t kib = 0;

	assert_true(pairs_kib(TEXT("123 kB"), &kib));
	assert_int_equal(kib, 123);
	assert_true(pairs_kib(TEXT("  45"), &kib));
	assert_int_equal(kib, 45);
	assert_true(pairs_kib(TEXT("18446744073709551615 kB"), &kib));
	assert_int_equal(kib, UINT64_MAX);
	for (size_t i = 0; i < array_length(bad); i++)
		assert_false(pairs_kib(text_of(bad[i]), &kib));
}

TEST(keys_of_every_age)
{
	static const char *const keys[][2] = {
		{ "se.statistics.wait_sum", "wait_sum" },
		{ "stats.wait_sum", "wait_sum" },
		{ "wait_sum", "wait_sum" },
		{ "se.nr_migrations", "nr_migrations" },
		{ "se.slice", "slice" },
		{ "ext.enabled", "ext.enabled" },
		{ "dl.enabled", "enabled" },
		{ "enabled", "enabled" },
		{ "trailing.", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < array_length(keys); i++) {
		struct text key = guarded(keys[i][0], strlen(keys[i][0]));

		expect_text(sched_key(key), keys[i][1]);
		unguard(key);
	}
}

TEST(the_body_of_a_sched_file)
{
	static const char head[] =
		"a\nb: 1 (7, #threads: 1)\n"
		"-------------------------------------------------------------------\n";
	char file[256];

	stpcpy(stpcpy(file, head), "se.exec_start : 1.0\n");
	expect_text(sched_body(text_of(file)), "se.exec_start : 1.0\n");
	expect_text(sched_body(text_of(head)), "");
	expect_text(sched_body(TEXT("x : 1\n")), "x : 1\n");
	expect_text(sched_body(TEXT("\n-----\nx : 1\n")), "\n-----\nx : 1\n");
	expect_text(sched_body(TEXT("")), "");
}

TEST(milliseconds_become_exact_nanoseconds)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "0.000000", 0 },
		{ "0.000001", 1 },
		{ "12.345678", 12345678 },
		{ "1.5", 1500000 },
		{ "1.50", 1500000 },
		{ "1.05", 1050000 },
		{ "1.123", 1123000 },
		{ "1.1234567", 1123456 },
		{ "1234567890.999999", 1234567890999999 },
		{ "18446744073709.551615", UINT64_MAX },
		{ "700000", 700000 }, /* without a point: nanoseconds already */
		{ "18446744073709551615", UINT64_MAX },
	};

	for (size_t i = 0; i < array_length(good); i++) {
		struct text text = guarded(good[i].text, strlen(good[i].text));
		uint64_t ns = 7;

		assert_int_equal(sched_ms_as_ns(text, &ns), SCHED_MS_OK);
		assert_int_equal(ns, good[i].ns);
		unguard(text);
	}
}

TEST(clocks_that_ran_backwards)
{
	static const char *const negative[] = { "-3.000000", "0.-000500", "-0.000001", "-5",
						"-1.-500000" };
	uint64_t ns = 7;

	for (size_t i = 0; i < array_length(negative); i++)
		assert_int_equal(sched_ms_as_ns(text_of(negative[i]), &ns), SCHED_MS_NEGATIVE);
	assert_int_equal(ns, 7);
}

TEST(not_a_time)
{
	static const char *const bad[] = { "",
					   "x",
					   ".5",
					   "1.x",
					   "1.12345x",
					   "1 .5",
					   "0x1.0",
					   "1.5 2",
					   "18446744073709.551616",
					   "18446744073709551616",
					   "99999999999999999.0" };
	uint64_t ns = 7;

	for (size_t i = 0; i < array_length(bad); i++)
		assert_int_equal(sched_ms_as_ns(text_of(bad[i]), &ns), SCHED_MS_BAD);
	assert_int_equal(ns, 7);
}

UNIT_TESTS(cmocka_unit_test(pairs_line_by_line), cmocka_unit_test(the_first_separator_counts),
	   cmocka_unit_test(find), cmocka_unit_test(kib), cmocka_unit_test(keys_of_every_age),
	   cmocka_unit_test(the_body_of_a_sched_file),
	   cmocka_unit_test(milliseconds_become_exact_nanoseconds),
	   cmocka_unit_test(clocks_that_ran_backwards), cmocka_unit_test(not_a_time))
