/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/markup.h"

#include <stdlib.h>

#include "report/assets.h"
#include "report/stream.h"
#include "unit/unit.h"

static char *escaped(struct text text)
{
	char *out = NULL;
	size_t length;
	FILE *memory = open_memstream(&out, &length);

	expect_ok(markup_text(memory, text));
	fclose(memory);
	return out;
}

TEST(text_has_no_markup)
{
	_cleanup_free_ char *plain = escaped(TEXT("a b\nc"));
	_cleanup_free_ char *marked = escaped(TEXT("<a href='x'>&amp;\"</a>"));
	_cleanup_free_ char *hostile =
		escaped(TEXT("\x01\xff\xef\xbf\xbe\xef\xbf\xbf\xe2\x80\xae"));
	_cleanup_free_ char *empty = escaped(TEXT(""));

	assert_string_equal(plain, "a b\nc");
	assert_string_equal(marked, "&lt;a href=&#39;x&#39;&gt;&amp;amp;&quot;&lt;/a&gt;");
	assert_string_equal(hostile, "\\x01\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\\u{202e}");
	assert_string_equal(empty, "");
}

static struct error *print_at(FILE *out, const void *context)
{
	fputs(context, out);
	return NULL;
}

static struct error *print_nothing(FILE *out, const void *context)
{
	(void)out;
	(void)context;
	return error_create("no");
}

/* What a slot prints is no template. */
TEST(slots_are_filled_once)
{
	static const struct slot slots[] = { { { "@A@", 3 }, print_at } };
	_cleanup_free_ char *out = NULL;
	size_t length;
	FILE *memory = open_memstream(&out, &length);

	expect_ok(markup_fill(memory, TEXT("1@A@2@A@3@B@@A"), slots, 1, "@A@"));
	fclose(memory);
	assert_string_equal(out, "1@A@2@A@3@B@@A");
}

TEST(a_slot_that_fails_ends_it)
{
	static const struct slot slots[] = { { { "@A@", 3 }, print_nothing } };
	struct sunk sunk = { 0 };
	struct stream stream;

	expect_ok(stream_open(&stream, sunk_write, &sunk));
	expect_error(markup_fill(stream.out, TEXT("1@A@2"), slots, 1, NULL), "no");
	expect_ok(stream_close(&stream));
	expect_text(sunk_text(&sunk), "1");
	array_deinit(&sunk);
}

TEST(a_stream_keeps_the_first_error)
{
	struct sunk sunk = { .refuse_after = 3 };
	struct stream stream;

	expect_ok(stream_open(&stream, sunk_write, &sunk));
	for (unsigned i = 0; i < 100000; i++)
		fputs("text", stream.out);
	expect_error(stream_close(&stream), "");
	array_deinit(&sunk);
}

/* Whole files, with nothing behind them. */
TEST(assets_are_in_the_program)
{
	for (enum asset i = 0; i < ASSET_COUNT; i++) {
		struct text text = asset_text(i);

		assert_true(text.length > 100);
		assert_int_equal(text.bytes[text.length - 1], '\n');
		assert_int_equal(text.bytes[text.length], '\0');
		assert_non_null(memmem(text.bytes, text.length, "SPDX", 4));
	}
	assert_true(text_starts(asset_text(ASSET_PAGE), TEXT("<!DOCTYPE html>\n")));
}

UNIT_TESTS(cmocka_unit_test(text_has_no_markup), cmocka_unit_test(slots_are_filled_once),
	   cmocka_unit_test(a_slot_that_fails_ends_it),
	   cmocka_unit_test(a_stream_keeps_the_first_error),
	   cmocka_unit_test(assets_are_in_the_program))
