/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/visible.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* Is it shown by its number? Control and format characters (which may turn the direction of a line
 * around), and separators of lines; not the two that join letters within words. */
static bool is_shown_by_number(utf8proc_int32_t code)
{
	switch (utf8proc_category(code)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	case UTF8PROC_CATEGORY_CF:
		return code != 0x200c && code != 0x200d;
	default:
		return false;
	}
}

/* The most that one byte of a name becomes. */
#define VISIBLE_MAX 6

char *text_visible(struct text text)
{
	char *out = malloc(text.length * VISIBLE_MAX + 1), *end = out;

	if (!out)
		return NULL;
	for (size_t i = 0; i < text.length;) {
		size_t wide = utf8_sequence(text.bytes + i, text.length - i);
		utf8proc_int32_t code = 0;

		if (wide)
			utf8proc_iterate((const utf8proc_uint8_t *)text.bytes + i,
					 (utf8proc_ssize_t)wide, &code);
		if (!wide)
			end = stpcpy(end, UTF8_REPLACEMENT);
		else if (!is_shown_by_number(code))
			end = mempcpy(end, text.bytes + i, wide);
		else
			end += sprintf(end, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
		i += wide ? wide : 1;
	}
	*end = '\0';
	return out;
}

void text_print_visible(FILE *out, struct text text, int columns)
{
	_cleanup_free_ char *visible = text_visible(text);

	fprintf(out, "%*s", columns, visible ? visible : "?");
}

/* --- widths --- */

/* The character at `text`: how many bytes it has, and how many columns it takes. */
static size_t character(const char *text, size_t length, size_t *ret_width)
{
	utf8proc_int32_t code;
	utf8proc_ssize_t bytes =
		utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &code);

	if (bytes <= 0) {
		*ret_width = 1;
		return 1;
	}
	*ret_width = (size_t)utf8proc_charwidth(code);
	return (size_t)bytes;
}

size_t text_fitting(const char *text, size_t length, size_t width)
{
	size_t used = 0, taken = 0;

	while (taken < length) {
		size_t wide, bytes = character(text + taken, length - taken, &wide);

		if (used + wide > width && taken)
			break;
		used += wide;
		taken += bytes;
	}
	return taken;
}

size_t text_width(const char *text)
{
	size_t width = 0, length = strlen(text);

	for (size_t i = 0; i < length;) {
		size_t wide;

		i += character(text + i, length - i, &wide);
		width += wide;
	}
	return width;
}

const char *text_ellipsis(void)
{
	return utf8_is_locale() ? "…" : "..";
}

char *text_shortened(const char *text, size_t width)
{
	const char *ellipsis = text_ellipsis();
	const size_t all = text_width(text), mark = text_width(ellipsis), length = strlen(text);
	size_t head, tail = 0, left = all;
	char *out;

	if (all <= width || width <= mark)
		return strdup(text);
	head = text_fitting(text, length, (width - mark + 1) / 2);
	/* The end gets what the begin left, and begins with a character that takes room. */
	while (tail < length && left > (width - mark) / 2) {
		size_t wide, bytes = character(text + tail, length - tail, &wide);

		tail += bytes;
		left -= wide;
	}
	return asprintf(&out, "%.*s%s%s", (int)head, text, ellipsis, text + tail) < 0 ? NULL : out;
}
