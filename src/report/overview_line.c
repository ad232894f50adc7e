/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/overview_line.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/visible.h"

bool line_add(struct overview_line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->length;
	va_list arguments;
	int added;

	va_start(arguments, format);
	added = vsnprintf(line->text + line->length, room, format, arguments);
	va_end(arguments);
	if (added >= 0 && (size_t)added < room &&
	    text_width(line->text) <= (line->columns ? line->columns : OVERVIEW_COLUMNS)) {
		line->length += (size_t)added;
		return true;
	}
	line->text[line->length] = '\0';
	return false;
}

void line_pad(struct overview_line *line, size_t column)
{
	size_t width = text_width(line->text);

	line_add(line, "%*s", (int)(column > width ? column - width : 0), "");
}

bool line_name(struct overview_line *line, struct text name, size_t width)
{
	_cleanup_free_ char *visible = text_visible(name);
	size_t length = visible ? strlen(visible) : 0, head, tail = length;

	if (!visible)
		return line_add(line, "?");
	if (text_width(visible) <= width)
		return line_add(line, "%s", visible);
	head = text_fitting(visible, length, width / 2);
	/* Characters without a width may be very many. */
	while (tail && length - tail < 4 * width &&
	       text_width(visible + tail - 1) <= width - width / 2 - 1)
		tail--;
	/* Not in the middle of a character. */
	while (((unsigned char)visible[tail] & 0xc0) == 0x80)
		tail++;
	return line_add(line, "%.*s…%s", (int)head, visible, visible + tail);
}
