/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "unit/unit.h"

static char *folded(const char *text, size_t width)
{
	char *out = NULL;
	size_t length;
	FILE *memory = open_memstream(&out, &length), *fold = fold_open(memory, width);

	/* In two pieces: lines do not end where writes do. */
	fwrite(text, 1, strlen(text) / 2, fold);
	fflush(fold);
	fputs(text + strlen(text) / 2, fold);
	assert_int_equal(fclose(fold), 0);
	fclose(memory);
	return out;
}

TEST(lines)
{
	static const struct {
		const char *given, *expected;
	} lines[] = {
		{ "", "" },
		{ "\n\n", "\n\n" },
		{ "1234567890\n", "1234567890\n" },
		{ "no end", "no end" },
		{ "not measured: x\n", "not\n  measured:\n  x\n" },
		{ "ab cd efg hij\n", "ab cd efg\n  hij\n" },
		{ "  ab cd efg h\n", "  ab cd\n    efg h\n" },
		/* A number and its unit. */
		{ "ab cd 12 ms\n", "ab cd\n  12 ms\n" },
		/* A list: its last column that begins in the left half. */
		{ "ab  cd efg h\n", "ab  cd efg\n    h\n" },
		/* Blanks at the end take no room, and a path stays whole. */
		{ "12345678          \n", "12345678          \n" },
		{ "see /a/very/long/path here\n", "see\n  /a/very/long/path\n  here\n" },
		{ "/a/very/long/path\n", "/a/very/long/path\n" },
		/* A command to copy. */
		{ "see ctprof x\n", "see\n  ctprof x\n" },
		{ "a ctprof x y\n", "a ctprof x\n  y\n" },
		{ "c (ctprof a)\n", "c (ctprof\n  a)\n" },
		/* Colours take none, wide characters take two columns. */
		{ "\033[1mab\033[0m \033[33mcd\033[0m efg\n",
		  "\033[1mab\033[0m \033[33mcd\033[0m efg\n" },
		{ "漢字漢字漢\n", "漢字漢字漢\n" },
		{ "漢字 漢字 漢\n", "漢字 漢字\n  漢\n" },
	};

	for (size_t i = 0; i < array_length(lines); i++) {
		_cleanup_free_ char *text = folded(lines[i].given, 10);

		assert_string_equal(text, lines[i].expected);
	}
}

TEST(flush)
{
	char *out = NULL;
	size_t length;
	FILE *memory = open_memstream(&out, &length), *fold = fold_open(memory, 10);

	/* The end of a line that is not complete may yet be folded. */
	fputs("a line\nand more", fold);
	fflush(fold);
	assert_string_equal(out, "a line\n");
	assert_int_equal(fclose(fold), 0);
	fclose(memory);
	assert_string_equal(out, "a line\nand more");
	free(out);
}

UNIT_TESTS(cmocka_unit_test(lines), cmocka_unit_test(flush))
