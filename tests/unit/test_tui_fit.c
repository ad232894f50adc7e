/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/fit.h"

#include <locale.h>
#include <stdlib.h>
#include <wchar.h>

#include "base/utf8.h"
#include "unit/unit.h"

static void expect_fit_(const char *text, size_t length, unsigned width, enum fit_end end,
			bool utf8, const char *wanted, unsigned columns)
{
	struct text given = guarded(text, length);
	char *out = malloc(FIT_ROOM(width));

	assert_int_equal(fit_text(given, width, end, utf8, out), columns);
	assert_string_equal(out, wanted);
	free(out);
	unguard(given);
}
#define expect_fit(text, ...) expect_fit_(text, sizeof(text) - 1, __VA_ARGS__)

TEST(fitting_text_is_unchanged)
{
	expect_fit("nginx", 5, FIT_START, true, "nginx", 5);
	expect_fit("nginx", 9, FIT_TAIL, true, "nginx", 5);
	expect_fit("", 3, FIT_START, true, "", 0);
	expect_fit("nginx", 0, FIT_START, true, "", 0);
}

TEST(cut_text_is_marked)
{
	expect_fit("postgres", 5, FIT_START, true, "post\u2026", 5);
	expect_fit("postgres", 5, FIT_START, false, "post~", 5);
	expect_fit("/system.slice/ssh.service", 12, FIT_TAIL, true, "\u2026ssh.service", 12);
	expect_fit("abc", 1, FIT_TAIL, false, "~", 1);
}

TEST(wide_characters_take_two_columns)
{
	expect_fit("\u540d\u524d", 4, FIT_START, true, "\u540d\u524d", 4);
	expect_fit("\u540d\u524d\u540d", 4, FIT_START, true, "\u540d\u2026", 3);
	expect_fit("\u540d\u524d\u540d", 4, FIT_TAIL, true, "\u2026\u540d", 3);
	expect_fit("\u540d\u524d", 4, FIT_START, false, "??", 2);
}

TEST(microseconds_are_us_without_utf8)
{
	expect_fit("25.016\u00b5s", 9, FIT_START, true, "25.016\u00b5s", 8);
	expect_fit("25.016\u00b5s", 9, FIT_START, false, "25.016us", 8);
}

TEST(control_bytes_are_removed)
{
	expect_fit("a\x1b[2J\x7f\n", 9, FIT_START, true, "a?[2J??", 7);
	expect_fit("\xff\xc0z", 9, FIT_START, true, "??z", 3);
	/* A second control character, in C1; the direction of text turned around; a mark on a
	 * letter. */
	expect_fit("a\xc2\x9b"
		   "b",
		   9, FIT_START, true, "a?b", 3);
	expect_fit("a\u202eb", 9, FIT_START, true, "ab", 2);
	expect_fit("e\u0301x", 9, FIT_START, true, "ex", 2);
}

TEST(no_bytes_break_out)
{
	uint64_t seed = 3;

	for (unsigned round = 0; round < 5000; round++) {
		unsigned width = (unsigned)(next_random(&seed) % 12);
		bool utf8 = round % 2;
		char bytes[24], out[FIT_ROOM(12)];
		size_t length = next_random(&seed) % sizeof(bytes);
		struct text text;

		for (size_t i = 0; i < length; i++)
			bytes[i] = (char)(next_random(&seed) >> (next_random(&seed) % 4));
		text = guarded(bytes, length);
		assert_true(fit_text(text, width, round % 3 ? FIT_TAIL : FIT_START, utf8, out) <=
			    width);
		unguard(text);
		assert_true(utf8_is_valid(text_of(out)));
		for (const char *p = out; *p; p++)
			assert_true((unsigned char)*p >= ' ' && *p != 0x7f &&
				    (utf8 || (unsigned char)*p < 0x80));
	}
}

TEST(numbers_have_five_columns)
{
	char buffer[FIT_NUMBER_MAX];

	assert_string_equal(fit_percent(buffer, 0), "0.0");
	assert_string_equal(fit_percent(buffer, 0.1234), "12.3");
	assert_string_equal(fit_percent(buffer, 1), "100.0");
	assert_string_equal(fit_percent(buffer, 9.9996), "1000");
	assert_string_equal(fit_percent(buffer, 1e9), "99999");
	assert_string_equal(fit_rate(buffer, 0.25), "0.2");
	assert_string_equal(fit_rate(buffer, 9.96), "10");
	assert_string_equal(fit_rate(buffer, 99999), "99999");
	assert_string_equal(fit_rate(buffer, 99999.6), "100k");
	assert_string_equal(fit_rate(buffer, 12345678), "12M");
}

TEST(durations_have_five_columns)
{
	const uint64_t s = 1000000000;
	char buffer[FIT_NUMBER_MAX];

	assert_string_equal(fit_duration(buffer, 999), "0us");
	assert_string_equal(fit_duration(buffer, 12000), "12us");
	assert_string_equal(fit_duration(buffer, 340000000), "340ms");
	assert_string_equal(fit_duration(buffer, 12345678901), "12.3s");
	assert_string_equal(fit_duration(buffer, 125 * s), "2m05");
	assert_string_equal(fit_duration(buffer, 5999 * s), "99m59");
	assert_string_equal(fit_duration(buffer, 6000 * s), "1h40");
	assert_string_equal(fit_duration(buffer, 100 * 3600 * s), "4d4h");
	assert_string_equal(fit_duration(buffer, 400 * 86400 * s), "400d");
	for (uint64_t ns = 1; ns < UINT64_MAX / 3; ns = ns * 3 / 2 + 1)
		assert_true(strlen(fit_duration(buffer, ns)) <= 6);
}

TEST(bytes_fit_into_five_columns)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1.0K" },
		{ 1024, "1.0K" },
		{ 10137, "9.9K" },
		{ 10240, "10K" },
		{ 1 << 20, "1.0M" },
		{ UINT64_C(1023) << 20, "1.0G" },
		{ UINT64_C(5) << 40, "5.0T" },
		{ UINT64_MAX, "16E" },
	};
	char buffer[FIT_NUMBER_MAX];

	for (size_t i = 0; i < array_length(rows); i++)
		assert_string_equal(fit_bytes(buffer, rows[i].bytes), rows[i].text);
	for (uint64_t bytes = 1; bytes < UINT64_MAX / 4; bytes = bytes * 3 + 1)
		assert_in_range(strlen(fit_bytes(buffer, bytes)), 1, 5);
}

static int set_locale(void **state)
{
	(void)state;
	return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fitting_text_is_unchanged),
		cmocka_unit_test(cut_text_is_marked),
		cmocka_unit_test(wide_characters_take_two_columns),
		cmocka_unit_test(microseconds_are_us_without_utf8),
		cmocka_unit_test(control_bytes_are_removed),
		cmocka_unit_test(no_bytes_break_out),
		cmocka_unit_test(numbers_have_five_columns),
		cmocka_unit_test(durations_have_five_columns),
		cmocka_unit_test(bytes_fit_into_five_columns),
	};
	int failed = cmocka_run_group_tests(tests, set_locale, NULL);

	if (failed)
		_exit(1);
	return 0;
}
