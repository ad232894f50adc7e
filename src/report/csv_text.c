/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/csv_text.h"

#include <string.h>

#include "report/table.h"

void csv_text(FILE *out, struct text text)
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
