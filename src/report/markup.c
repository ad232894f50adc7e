/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/markup.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "report/visible.h"

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* U+FFFE and U+FFFF: the last that XML 1.0 (2.2, Char) does not have and UTF-8 does. */
static bool is_no_character(const char *at)
{
	return at[0] == '\xef' && at[1] == '\xbf' && (at[2] == '\xbe' || at[2] == '\xbf');
}

static void put_line(FILE *out, const char *visible)
{
	for (const char *at = visible; *at; at++) {
		const char *instead = entity(*at);

		if (instead) {
			fputs(instead, out);
		} else if (is_no_character(at)) {
			fputs(UTF8_REPLACEMENT, out);
			at += 2;
		} else {
			fputc(*at, out);
		}
	}
}

struct error *markup_text(FILE *out, struct text text)
{
	const char *newline = "";
	struct text line;

	while (text_cut(&text, '\n', &line)) {
		_cleanup_free_ char *visible = text_visible(line);

		if (!visible)
			return &error_no_memory;
		fputs(newline, out);
		put_line(out, visible);
		newline = "\n";
	}
	return NULL;
}

static const struct slot *slot_at(struct text rest, const struct slot *slots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_starts(rest, slots[i].name))
			return &slots[i];
	return NULL;
}

struct error *markup_fill(FILE *out, struct text template, const struct slot *slots, size_t count,
			  const void *context)
{
	while (template.length) {
		const struct slot *slot =
			*template.bytes == '@' ? slot_at(template, slots, count) : NULL;
		size_t length = slot ? slot->name.length : 1;
		struct error *err = NULL;

		if (slot)
			err = slot->print(out, context);
		else
			fputc(*template.bytes, out);
		if (err)
			return err;
		template.bytes += length;
		template.length -= length;
	}
	return NULL;
}
