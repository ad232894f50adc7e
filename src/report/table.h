/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of text: columns as wide as their widest cell, no borders.
 *
 * Cells may hold names that others chose: control characters are shown as \xNN and never reach the
 * terminal, and bytes that are not UTF-8 as U+FFFD.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

struct table_column {
	const char *heading;
	bool right; /* numbers stand at the right */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	struct {
		ARRAY(char *);
	} cells; /* row after row */
};

/* `columns` stay the caller's, and must live as long as the table. */
void table_init(struct table *table, const struct table_column *columns, size_t count);

/* The next cell. False without memory. */
bool table_add(struct table *table, struct text text);

/* Print the heading and the rows; with `colour`, the heading is coloured. */
struct error *table_print(const struct table *table, FILE *out, bool colour) MUST_CHECK;

void table_deinit(struct table *table);

/* Text that is safe on a terminal, allocated; NULL without memory. */
char *text_visible(struct text text);

#endif
