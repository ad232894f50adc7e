/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of an overview: it grows by parts, as long as they fit.
 *
 *	struct overview_line line = { 0 };
 *
 *	line_name(&line, name, 20);
 *	line_add(&line, ": %s", what);
 *	puts(line.text);
 */
#ifndef REPORT_OVERVIEW_LINE_H
#define REPORT_OVERVIEW_LINE_H

#include "report/overview_report.h"

struct overview_line {
	char text[4 * OVERVIEW_COLUMNS + 1];
	size_t length;
	size_t columns; /* 0: OVERVIEW_COLUMNS */
};

/* False: it does not fit any more, and the line is as it was. */
bool line_add(struct overview_line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Blanks up to a column. */
void line_pad(struct overview_line *line, size_t column);

/* A name that is safe on a terminal and at most `width` columns wide: of a long one, its begin and
 * its end. */
bool line_name(struct overview_line *line, struct text name, size_t width);

#endif
