/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables that are shortened to the width of a terminal. Numbers and names that tell rows apart stay
 * whole at any width. */
#include "report/table.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_fit.h"
#include "report/visible.h"
#include "unit/unit.h"

enum { NAME, METRIC, BEFORE, DELTA, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[NAME] = { "process", .type = TABLE_TEXT, .field = NAME },
	[METRIC] = { "metric", .type = TABLE_TEXT, .field = METRIC, .whole = true },
	[BEFORE] = { "baseline_value", .type = TABLE_TEXT, .right = true, .field = BEFORE },
	[DELTA] = { "delta", .type = TABLE_TEXT, .right = true, .field = DELTA, .minor = 1 },
};

static const char *const rows[][COLUMNS] = {
	{ "kworker/u8:3-events_unbound", "voluntary_csw", "1234567.890ms (12 of 34 delays)",
	  "+12.345ms" },
	{ "sh", "run_time_ns", "1.0ms", "-1ns" },
};

static void get(const void *context, const void *row, const struct table_column *column,
		struct table_cell *ret)
{
	(void)context;
	table_string(ret, ((const char *const *)row)[column->field]);
}

static char *printed(size_t width)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct table table;

	setlocale(LC_CTYPE, "C.UTF-8");
	table_begin(&table, columns, COLUMNS,
		    (struct table_options){
			    .format = TABLE_AS_TEXT, .out = out, .get = get, .width = width });
	for (size_t i = 0; i < array_length(rows); i++)
		assert_true(table_row(&table, rows[i]));
	expect_ok(table_end(&table));
	fclose(out);
	return text;
}

static size_t widest_line(const char *text)
{
	struct text rest = text_of(text), line;
	size_t widest = 0;

	while (text_cut(&rest, '\n', &line)) {
		char *copy = strndup(line.bytes, line.length);
		size_t width = text_width(copy);

		widest = width > widest ? width : widest;
		free(copy);
	}
	return widest;
}

TEST(a_table_that_fits_is_unchanged)
{
	_cleanup_free_ char *whole = printed(0), *fits = printed(widest_line(whole));

	assert_string_equal(whole, fits);
	assert_non_null(strstr(whole, "kworker/u8:3-events_unbound"));
	assert_non_null(strstr(whole, "(12 of 34 delays)"));
}

TEST(a_remark_and_a_name_are_shortened_first)
{
	_cleanup_free_ char *text = printed(70);

	assert_string_equal(
		text, " process               metric               baseline_value      delta \n"
		      " kworker/u8…s_unbound  voluntary_csw       1234567.890ms …  +12.345ms \n"
		      " sh                    run_time_ns                   1.0ms       -1ns \n");
}

TEST(no_width_cuts_a_number_or_a_metric)
{
	for (size_t width = 1; width < 120; width++) {
		_cleanup_free_ char *text = printed(width);

		assert_non_null(strstr(text, " 1234567.890ms"));
		assert_non_null(strstr(text, " 1.0ms"));
		if (width >= 46) {
			assert_non_null(strstr(text, " voluntary_csw "));
			assert_true(widest_line(text) <= width);
		}
	}
}

TEST(a_minor_column_is_left_out_last_and_named)
{
	_cleanup_free_ char *just = printed(56), *less = printed(54);

	assert_non_null(strstr(just, " +12.345ms "));
	assert_null(strstr(just, "did not fit"));
	assert_null(strstr(less, "+12.345ms"));
	assert_non_null(strstr(less, "\n columns that did not fit (--wide): delta\n"));
}

TEST(a_name_keeps_both_ends)
{
	static const struct {
		const char *whole, *shortened;
		size_t width;
	} names[] = {
		{ "abcdefghij", "abcdefghij", 10 }, { "abcdefghij", "abcd…ghij", 9 },
		{ "abcdefghij", "abc…hij", 7 },     { "abcdefghij", "abc…ij", 6 },
		{ "漢字漢字漢字", "漢…字", 7 },     { "漢字漢字漢字", "漢字…漢字", 9 },
		{ "漢字漢字漢字", "漢…字", 6 },     { "", "", 3 },
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < array_length(names); i++) {
		_cleanup_free_ char *text = text_shortened(names[i].whole, names[i].width);

		assert_string_equal(text, names[i].shortened);
	}
}

TEST(an_ascii_locale_has_dots)
{
	_cleanup_free_ char *text = NULL;

	setlocale(LC_CTYPE, "C");
	text = text_shortened("abcdefghij", 7);
	assert_string_equal(text, "abc..ij");
}

TEST(a_call_keeps_its_arrow)
{
	static const struct table_column where = { "where", .type = TABLE_TEXT };
	static const struct {
		const char *text, *shortened;
		size_t width;
	} cases[] = {
		{ "x86_64_start_thread → wait4", "x86_…ead → wait4", 16 },
		{ "read → a_very_long_system_call", "read → a_ver…call", 17 },
		{ "find_host_of → getaddrinfo", "find…_of → geta…nfo", 19 },
		{ "find_host_of -> getaddrinfo", "find…_of -> geta…nfo", 20 },
		{ "f → g", "f → g", 10 },
		{ "deployer (24095)", "de…r (24095)", 12 },
		{ "deployer (24095)", "d…r (24095)", 11 },
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < array_length(cases); i++) {
		_cleanup_free_ char *text = table_shortened(&where, cases[i].text, cases[i].width);

		assert_string_equal(text, cases[i].shortened);
	}
	for (size_t width = 3; width < 30; width++) {
		_cleanup_free_ char *text =
			table_shortened(&where, " → function → 漢字漢字漢字漢字", width);

		assert_true(text_width(text) <= width);
	}
}

TEST(any_name_fits_any_width)
{
	static const char *const names[] = { "a", "abcdefghij", "漢字漢字漢字",
					     "zz\xcc\x88zz\xcc\x88zz\xcc\x88zz\xcc\x88zz\xcc\x88" };

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < array_length(names); i++)
		for (size_t width = 3; width < 20; width++) {
			_cleanup_free_ char *text = text_shortened(names[i], width);

			assert_true(text_width(text) <= width);
		}
}

UNIT_TESTS(cmocka_unit_test(a_table_that_fits_is_unchanged),
	   cmocka_unit_test(a_remark_and_a_name_are_shortened_first),
	   cmocka_unit_test(no_width_cuts_a_number_or_a_metric),
	   cmocka_unit_test(a_minor_column_is_left_out_last_and_named),
	   cmocka_unit_test(a_name_keeps_both_ends), cmocka_unit_test(an_ascii_locale_has_dots),
	   cmocka_unit_test(a_call_keeps_its_arrow), cmocka_unit_test(any_name_fits_any_width))
