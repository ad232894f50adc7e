/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/csv_text.h"

#include <string.h>

#include "base/digits.h"
#include "report/table.h"

/* Most names: nothing in them is hidden, or means something to CSV. */
static bool is_plain(struct text text)
{
	for (size_t i = 0; i < text.length; i++) {
		const char byte = text.bytes[i];

		if (byte < ' ' || byte > '~' || byte == ',' || byte == '"')
			return false;
	}
	return true;
}

static void put_visible(FILE *out, struct text text)
{
	_cleanup_free_ char *visible = text_visible(text);
	const char *quote = visible && strpbrk(visible, ",\"") ? "\"" : "";

	fputs(quote, out);
	for (const char *p = visible; p && *p; p++) {
		if (*p == '"')
			fputc('"', out);
		fputc(*p, out);
	}
	fputs(quote, out);
}

void csv_text(FILE *out, struct text text)
{
	if (is_plain(text))
		fwrite_unlocked(text.bytes, 1, text.length, out);
	else
		put_visible(out, text);
}

void csv_u64(FILE *out, uint64_t value)
{
	char digits[DIGITS_MAX];

	fwrite_unlocked(digits, 1, digits_u64(digits, value), out);
}
