/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the columns of a table of text fit the width of a terminal.
 *
 * Columns are as wide as their widest cell where there is room. Otherwise, in this order: headings
 * go on in further lines, words after numbers are left out and long names are shortened; names are
 * shortened more; the columns that the report calls minor are left out. Never shortened are
 * numbers, which would look like others, and columns that the report calls whole: where even that
 * does not fit, cells wrap. Of "function → call", both names are shortened and the arrow stays.
 */
#ifndef REPORT_TABLE_FIT_H
#define REPORT_TABLE_FIT_H

#include "report/table.h"

struct table_fit {
	size_t widths[TABLE_COLUMNS_MAX];
	size_t shown[TABLE_COLUMNS_MAX]; /* the columns, in order */
	size_t shown_count;
	bool wraps; /* cells go on in the next line; otherwise they are shortened */
};

/* By the options of the table; its cells are complete. */
void table_fit(const struct table *table, struct table_fit *ret);

/* The text of a cell in a column so wide, allocated; NULL without memory. */
char *table_shortened(const struct table_column *column, const char *text, size_t width);

#endif
