/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table.h"

#include <stdlib.h>

#include "unit/unit.h"

static const struct table_column columns[] = { { "name", false },
					       { "value", true },
					       { "note", false } };

/* The table as it is printed; the caller frees it. */
static char *print(const struct table *table, size_t width, bool colour)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	expect_ok(table_print(table, out, width, colour));
	fclose(out);
	return text;
}

static char *printed_within(const struct text *cells, size_t count, size_t width, bool colour)
{
	struct table table;
	char *text;

	table_init(&table, columns, array_length(columns));
	for (size_t i = 0; i < count; i++)
		assert_true(table_add(&table, cells[i], TABLE_PLAIN));
	text = print(&table, width, colour);
	table_deinit(&table);
	return text;
}

static char *printed(const struct text *cells, size_t count, bool colour)
{
	return printed_within(cells, count, 0, colour);
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
	static const struct text cells[] = {
		{ "a", 1 },        { "1ns", 3 }, { "", 0 }, { "longer name", 11 },
		{ "12.345ms", 8 }, { "x", 1 },
	};
	_cleanup_free_ char *text = printed(cells, array_length(cells), false);

	assert_string_equal(text, " name            value  note \n"
				  " a                 1ns   \n"
				  " longer name  12.345ms  x \n");
}

TEST(a_character_is_one_column)
{
	static const struct text cells[] = {
		{ "\xc3\xa4\xe2\x82\xac", 5 },
		{ "1.500\xc2\xb5s", 8 },
		{ "", 0 },
		{ "abcd", 4 },
		{ "1.500ms", 7 },
		{ "", 0 },
	};
	_cleanup_free_ char *text = printed(cells, array_length(cells), false);

	assert_string_equal(text, " name    value  note \n"
				  " \xc3\xa4\xe2\x82\xac    1.500\xc2\xb5s   \n"
				  " abcd  1.500ms   \n");
}

TEST(no_rows)
{
	_cleanup_free_ char *text = printed(NULL, 0, false);

	assert_string_equal(text, " name  value  note \n");
}

TEST(plain_cells_have_no_colour)
{
	static const struct text cells[] = { { "a", 1 }, { "b", 1 }, { "c", 1 } };
	_cleanup_free_ char *plain = printed(cells, 3, false), *colour = printed(cells, 3, true);

	assert_null(strchr(plain, '\033'));
	assert_int_equal(strncmp(colour, " \033[36mname", 10), 0);
	assert_non_null(strstr(colour, "\n a         b  c \n"));
}

TEST(hostile_names_do_not_reach_the_terminal)
{
	static const struct {
		struct text raw;
		const char *visible;
	} names[] = {
		{ { "plain", 5 }, "plain" },
		{ { "\033[2J", 4 }, "\\x1b[2J" },
		{ { "a\nb\tc\r", 6 }, "a\\x0ab\\x09c\\x0d" },
		{ { "nul\0", 4 }, "nul\\x00" },
		{ { "\x7f", 1 }, "\\x7f" },
		{ { "\xe2\x80\xae"
		    "exe",
		    6 },
		  "\\u{202e}exe" },                     /* turns the line around */
		{ { "\xe2\x80\xa8", 3 }, "\\u{2028}" }, /* ends it */
		{ { "\xc2\x9b[31m", 6 }, "\\x9b[31m" }, /* CSI in one character */
		{ { "\xc2\xa0", 2 }, "\xc2\xa0" },
		{ { "\xff", 1 }, "\xef\xbf\xbd" },
		{ { "\xe2\x82", 2 }, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ { "", 0 }, "" },
	};

	for (size_t i = 0; i < array_length(names); i++) {
		_cleanup_free_ char *visible = text_visible(names[i].raw);

		assert_string_equal(visible, names[i].visible);
	}
}

TEST(cells_are_made_visible)
{
	static const struct text cells[] = { { "a\nb", 3 }, { "1", 1 }, { "", 0 } };
	_cleanup_free_ char *text = printed(cells, 3, false);

	assert_non_null(strstr(text, " a\\x0ab "));
}

/* --- widths --- */

TEST(widths_of_a_terminal)
{
	static const struct {
		const char *text;
		size_t width;
	} texts[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "\xc3\xa4", 1 },                 /* a with two dots, one character */
		{ "a\xcc\x88", 1 },                /* the same of two */
		{ "\xcc\x88", 0 },                 /* a mark alone */
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4 }, /* two Han characters */
		{ "\xe3\x81\x8b\xe3\x82\x99", 2 }, /* kana and its mark */
		{ "\xef\xbc\xa1", 2 },             /* a full-width A */
		{ "\xef\xbd\xb1", 1 },             /* a half-width kana */
		{ "\xf0\x9f\x98\x80", 2 },         /* a face */
		{ "\xe2\x80\x8b", 0 },             /* a space without width */
		{ "1.500\xc2\xb5s \xc2\xb1"
		  "2\xe2\x86\x92"
		  "3",
		  12 },
		{ "\xef\xbf\xbd", 1 },
	};

	for (size_t i = 0; i < array_length(texts); i++)
		if (text_width(texts[i].text) != texts[i].width)
			fail_msg("\"%s\" is %zu wide", texts[i].text, text_width(texts[i].text));
}

TEST(wide_and_combining_names_keep_columns_in_line)
{
	static const struct text cells[] = {
		{ "\xe6\xbc\xa2\xe5\xad\x97", 6 },
		{ "1", 1 },
		{ "x", 1 },
		{ "a\xcc\x88o\xcc\x88", 6 },
		{ "2", 1 },
		{ "x", 1 },
		{ "abcde", 5 },
		{ "3", 1 },
		{ "x", 1 },
	};
	_cleanup_free_ char *text = printed(cells, array_length(cells), false);

	assert_string_equal(text, " name   value  note \n"
				  " \xe6\xbc\xa2\xe5\xad\x97       1  x \n"
				  " a\xcc\x88o\xcc\x88         2  x \n"
				  " abcde      3  x \n");
}

/* --- within a width --- */

/* No line is wider than it may be. */
static void expect_within(const char *text, size_t width)
{
	struct text rest = text_of(text), line;

	while (text_cut(&rest, '\n', &line)) {
		char *copy = strndup(line.bytes, line.length);

		if (text_width(copy) > width)
			fail_msg("\"%s\" is wider than %zu", copy, width);
		free(copy);
	}
}

static const struct text long_cells[] = {
	{ "abcdefghijklmnopqrstuvwxyz", 26 },
	{ "123456", 6 },
	{ "n", 1 },
};

TEST(cells_go_on_in_the_next_line)
{
	_cleanup_free_ char *text = printed_within(long_cells, 3, 30, false);

	/* 6 blanks beside columns, 6 for the value, 4 for the note: 14 for the name */
	assert_string_equal(text, " name             value  note \n"
				  " abcdefghijklmn  123456  n \n"
				  " opqrstuvwxyz             \n");
	expect_within(text, 30);
}

TEST(what_fits_is_not_touched)
{
	_cleanup_free_ char *wide = printed_within(long_cells, 3, 0, false);
	_cleanup_free_ char *just = printed_within(long_cells, 3, 42, false);
	_cleanup_free_ char *less = printed_within(long_cells, 3, 41, false);

	assert_string_equal(wide, just);
	assert_string_not_equal(wide, less);
	expect_within(less, 41);
}

/* Of two, the wider one gives first. */
TEST(the_widest_column_gives_way)
{
	static const struct text cells[] = { { "aaaaaaaaaaaaaaaaaaaa", 20 },
					     { "bbbbbbbbbb", 10 },
					     { "cccccccccccccccccccc", 20 } };

	for (size_t width = 36; width <= 56; width++) {
		_cleanup_free_ char *text = printed_within(cells, 3, width, false);

		expect_within(text, width);
		assert_non_null(strstr(text, " bbbbbbbbbb "));
	}
}

/* Every byte of every cell is there once, in its order. */
TEST(nothing_is_lost_in_wrapping)
{
	static const struct text cells[] = {
		{ "漢字漢字漢字", 18 },
		{ "1", 1 },
		{ "zz\xcc\x88zz\xcc\x88zz\xcc\x88zz\xcc\x88zz\xcc\x88", 20 },
	};

	for (size_t width = 1; width < 50; width++) {
		_cleanup_free_ char *text = printed_within(cells, 3, width, false);
		size_t han = 0, letters = 0, marks = 0;

		for (const char *p = text; *p; p++) {
			han += strncmp(p, "漢", 3) == 0 || strncmp(p, "字", 3) == 0;
			letters += *p == 'z';
			marks += strncmp(p, "\xcc\x88", 2) == 0;
			/* a mark stays with its letter */
			assert_false(strncmp(p, " \xcc\x88", 3) == 0);
		}
		assert_int_equal(han, 6);
		assert_int_equal(letters, 10);
		assert_int_equal(marks, 5);
		if (width >= 30)
			expect_within(text, width);
	}
}

/* However narrow it is: one that is cut in two reads as two. */
TEST(numbers_are_not_cut)
{
	static const struct text cells[] = {
		{ "abcdefghijklmnopqrstuvwxyz", 26 },
		{ "1234567.890ms (12 of 34 delays)", 31 },
		{ "nnnnnnnnnnnnnnnnnnnnnnnn", 24 },
	};

	for (size_t width = 1; width < 90; width++) {
		_cleanup_free_ char *text = printed_within(cells, 3, width, false);

		assert_non_null(strstr(text, " 1234567.890ms "));
		assert_non_null(strstr(text, "(12"));
		assert_non_null(strstr(text, "delays) "));
		if (width >= 35)
			expect_within(text, width);
	}
}

/* A name that a file gives to a number is no reason to be wider. */
TEST(what_is_no_number_is_cut)
{
	static char large[1000];
	const struct text cells[] = { { "a", 1 }, { large, sizeof(large) }, { "n", 1 } };
	_cleanup_free_ char *text = NULL;

	memset(large, 'x', sizeof(large));
	text = printed_within(cells, 3, 80, false);
	expect_within(text, 80);
}

/* A heading is no reason to be wider than the terminal, nor to stand out of line. */
TEST(long_headings_wrap_too)
{
	static const struct table_column axis[] = { { "cgroup > process > thread", false },
						    { "value", true } };
	struct table table;
	_cleanup_free_ char *text = NULL;

	table_init(&table, axis, 2);
	assert_true(table_add(&table, TEXT("/a > b > c"), TABLE_PLAIN));
	assert_true(table_add(&table, TEXT("1"), TABLE_PLAIN));
	text = print(&table, 24, false);
	table_deinit(&table);
	expect_within(text, 24);
}

/* --- lines between rows, colours --- */

TEST(lines_of_their_own)
{
	static const struct table_column one[] = { { "name", false } };
	struct table table;
	_cleanup_free_ char *text = NULL;

	table_init(&table, one, 1);
	assert_true(table_add_line(&table, "first"));
	assert_true(table_add(&table, TEXT("a"), TABLE_PLAIN));
	assert_true(table_add_line(&table, ""));
	assert_true(table_add(&table, TEXT("b"), TABLE_PLAIN));
	assert_true(table_add_line(&table, "... 1 more row"));
	assert_true(table_add_line(&table, "last"));
	text = print(&table, 0, false);
	table_deinit(&table);
	assert_string_equal(text, " name \nfirst\n a \n\n b \n... 1 more row\nlast\n");
}

TEST(cells_are_coloured_where_there_are_colours)
{
	struct table table;
	_cleanup_free_ char *plain = NULL, *colour = NULL;

	table_init(&table, columns, array_length(columns));
	assert_true(table_add(&table, TEXT("a"), TABLE_DERIVED));
	assert_true(table_add(&table, TEXT("+1"), TABLE_RISE));
	table_bold(&table);
	assert_true(table_add(&table, TEXT("-1"), TABLE_FALL));
	plain = print(&table, 0, false);
	colour = print(&table, 0, true);
	table_deinit(&table);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strstr(colour, "\033[34ma\033[0m"));
	assert_non_null(strstr(colour, "\033[33m\033[1m+1\033[0m"));
	assert_non_null(strstr(colour, "\033[35m-1\033[0m"));
}

/* Without its escapes the coloured table is the plain one. */
TEST(colours_take_no_room)
{
	struct table table;
	_cleanup_free_ char *plain = NULL, *colour = NULL;
	char *end;

	table_init(&table, columns, array_length(columns));
	for (int i = 0; i < 9; i++) {
		assert_true(table_add(&table, i % 2 ? TEXT("ab") : TEXT("abcdefghijklmnopq"),
				      (enum table_colour)(i % 4)));
		if (i % 3 == 0)
			table_bold(&table);
	}
	plain = print(&table, 40, false);
	colour = print(&table, 40, true);
	table_deinit(&table);
	end = colour;
	for (const char *p = colour; *p; p++) {
		if (*p == '\033')
			p = strchr(p, 'm');
		else
			*end++ = *p;
	}
	*end = '\0';
	assert_string_equal(plain, colour);
}

UNIT_TESTS(cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
	   cmocka_unit_test(a_character_is_one_column), cmocka_unit_test(no_rows),
	   cmocka_unit_test(plain_cells_have_no_colour),
	   cmocka_unit_test(hostile_names_do_not_reach_the_terminal),
	   cmocka_unit_test(cells_are_made_visible), cmocka_unit_test(widths_of_a_terminal),
	   cmocka_unit_test(wide_and_combining_names_keep_columns_in_line),
	   cmocka_unit_test(cells_go_on_in_the_next_line),
	   cmocka_unit_test(what_fits_is_not_touched),
	   cmocka_unit_test(the_widest_column_gives_way),
	   cmocka_unit_test(nothing_is_lost_in_wrapping), cmocka_unit_test(numbers_are_not_cut),
	   cmocka_unit_test(what_is_no_number_is_cut), cmocka_unit_test(long_headings_wrap_too),
	   cmocka_unit_test(lines_of_their_own),
	   cmocka_unit_test(cells_are_coloured_where_there_are_colours),
	   cmocka_unit_test(colours_take_no_room))
