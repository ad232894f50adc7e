/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/openmetrics_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* False for control characters, which the formats cannot escape, and for invalid UTF-8. */
static bool is_printable(const char *character, size_t wide)
{
	const unsigned char first = (unsigned char)character[0],
			    second = wide > 1 ? (unsigned char)character[1] : 0;

	if (wide == 1)
		return first == '\n' || (first >= ' ' && first != 0x7f);
	return wide && !(first == 0xc2 && second < 0xa0);
}

char *openmetrics_clean(struct text text)
{
	char *cleaned = malloc(text.length * UTF8_REPLACEMENT_LENGTH + 1), *end = cleaned;
	size_t wide;

	if (!cleaned)
		return NULL;
	for (size_t i = 0; i < text.length; i += wide ? wide : 1) {
		wide = utf8_sequence(text.bytes + i, text.length - i);
		if (is_printable(text.bytes + i, wide))
			end = mempcpy(end, text.bytes + i, wide);
		else
			end = stpcpy(end, UTF8_REPLACEMENT);
	}
	*end = '\0';
	return cleaned;
}

void openmetrics_print_escaped(FILE *out, const char *cleaned)
{
	for (const char *text = cleaned; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', out);
		if (*text == '\n')
			fputs("\\n", out);
		else
			fputc(*text, out);
	}
}
