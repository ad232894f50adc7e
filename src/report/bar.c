/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/bar.h"

#include <string.h>

#include "report/visible.h"

void bar_print(FILE *out, double share, unsigned width, bool utf8)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	unsigned parts = (unsigned)(share * width * 8 + 0.5);

	if (!parts || (!utf8 && parts < 8))
		parts = utf8 ? 1 : 8;
	for (unsigned i = 0; i < parts / 8; i++)
		fputs(utf8 ? "█" : "#", out);
	if (utf8)
		fputs(eighths[parts % 8], out);
}

void bar_label(FILE *out, const char *text, int columns)
{
	fprintf(out, "%*s", columns + (int)(strlen(text) - text_width(text)), text);
}
