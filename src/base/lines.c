/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/lines.h"

#include <stdio.h>

bool lines_add(struct lines *lines, const char *format, va_list arguments)
{
	char *line;

	if (vasprintf(&line, format, arguments) < 0)
		return false;
	if (array_push(lines, line))
		return true;
	free(line);
	return false;
}

void lines_deinit(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->items[i]);
	array_deinit(lines);
}
