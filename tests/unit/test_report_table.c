/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table.h"

#include <stdlib.h>

#include "unit/unit.h"

static const struct table_column columns[] = { { "name", false },
					       { "value", true },
					       { "note", false } };

/* The table of these cells as it is printed; the caller frees it. */
static char *printed(const struct text *cells, size_t count, bool colour)
{
	struct table table;
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	table_init(&table, columns, array_length(columns));
	for (size_t i = 0; i < count; i++)
		assert_true(table_add(&table, cells[i]));
	expect_ok(table_print(&table, out, colour));
	table_deinit(&table);
	fclose(out);
	return text;
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

TEST(colour_is_for_the_heading_only)
{
	static const struct text cells[] = { { "a", 1 }, { "b", 1 }, { "c", 1 } };
	_cleanup_free_ char *plain = printed(cells, 3, false), *colour = printed(cells, 3, true);

	assert_null(strchr(plain, '\033'));
	assert_int_equal(strncmp(colour, "\033[36m name", 10), 0);
	assert_non_null(strstr(colour, "\033[0m\n a         b  c \n"));
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

UNIT_TESTS(cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
	   cmocka_unit_test(a_character_is_one_column), cmocka_unit_test(no_rows),
	   cmocka_unit_test(colour_is_for_the_heading_only),
	   cmocka_unit_test(hostile_names_do_not_reach_the_terminal),
	   cmocka_unit_test(cells_are_made_visible))
