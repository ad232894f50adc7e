/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/line_edit.h"

#include "base/utf8.h"
#include "unit/unit.h"

static void type(struct line_edit *edit, const char *text)
{
	while (*text) {
		size_t length = utf8_sequence(text, strlen(text));

		line_edit_insert(edit, (struct text){ text, length });
		text += length;
	}
}

static void move(struct line_edit *edit, enum line_edit_move move, unsigned times)
{
	while (times--)
		line_edit_move(edit, move);
}

TEST(characters_go_where_the_cursor_is)
{
	struct line_edit edit = { .length = 0 };

	type(&edit, "nix");
	move(&edit, LINE_LEFT, 2);
	type(&edit, "g");
	assert_string_equal(edit.bytes, "ngix");
	move(&edit, LINE_RIGHT, 9);
	type(&edit, "!");
	move(&edit, LINE_START, 1);
	type(&edit, "\u00e9");
	assert_string_equal(edit.bytes, "\u00e9ngix!");
	assert_int_equal(edit.cursor, 2);
}

TEST(whole_characters_are_erased)
{
	struct line_edit edit = { .length = 0 };

	type(&edit, "a\u540db");
	move(&edit, LINE_LEFT, 1);
	move(&edit, LINE_ERASE_BEFORE, 1);
	assert_string_equal(edit.bytes, "ab");
	move(&edit, LINE_ERASE_AT, 2);
	assert_string_equal(edit.bytes, "a");
	move(&edit, LINE_ERASE_BEFORE, 3);
	assert_int_equal(edit.length, 0);
	assert_int_equal(edit.cursor, 0);
}

TEST(words_and_ends_are_erased)
{
	struct line_edit edit = { .length = 0 };

	line_edit_set(&edit, TEXT("user:root state:lock  "));
	move(&edit, LINE_ERASE_WORD, 1);
	assert_string_equal(edit.bytes, "user:root ");
	move(&edit, LINE_LEFT, 5);
	move(&edit, LINE_ERASE_END, 1);
	assert_string_equal(edit.bytes, "user:");
	move(&edit, LINE_LEFT, 2);
	move(&edit, LINE_ERASE_START, 1);
	assert_string_equal(edit.bytes, "r:");
	assert_int_equal(edit.cursor, 0);
	move(&edit, LINE_END, 1);
	assert_int_equal(edit.cursor, 2);
}

TEST(only_text_is_inserted)
{
	struct line_edit edit = { .length = 0 };

	line_edit_set(&edit, TEXT("a\xff\xc3z"));
	assert_string_equal(edit.bytes, "az");
	line_edit_insert(&edit, (struct text){ "\xc3", 1 });
	line_edit_insert(&edit, (struct text){ "", 0 });
	assert_string_equal(edit.bytes, "az");
}

TEST(it_is_full_when_it_is_full)
{
	struct line_edit edit = { .length = 0 };

	for (unsigned i = 0; i < 1000; i++)
		type(&edit, "\u540d");
	assert_int_equal(edit.length, 255);
	assert_true(utf8_is_valid(line_edit_text(&edit)));
	type(&edit, "x");
	assert_int_equal(edit.length, 255);
	assert_int_equal(strlen(edit.bytes), 255);
}

UNIT_TESTS(cmocka_unit_test(characters_go_where_the_cursor_is),
	   cmocka_unit_test(whole_characters_are_erased),
	   cmocka_unit_test(words_and_ends_are_erased), cmocka_unit_test(only_text_is_inserted),
	   cmocka_unit_test(it_is_full_when_it_is_full))
