/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of text: columns as wide as their widest cell, no borders.
 *
 *	struct table table;
 *	table_init(&table, columns, 2);
 *	done = table_add(&table, name, TABLE_PLAIN) && table_add(&table, number, TABLE_RISE);
 *	...
 *	err = table_print(&table, stdout, width, colour);
 *	table_deinit(&table);
 *
 * Widths are those of a terminal: wide characters take two columns, combining ones none. Cells may
 * hold names that others chose: control characters are shown as \xNN, characters that turn or break
 * lines as \u{NNNN}, and bytes that are not UTF-8 as U+FFFD. None of them reaches the terminal.
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

/* How a cell looks where there are colours. */
enum table_colour { TABLE_PLAIN, TABLE_RISE, TABLE_FALL, TABLE_DERIVED, TABLE_HEADING };

struct table_cell {
	char *text;
	enum table_colour colour;
	bool bold;
};

/* A line between rows. */
struct table_line {
	size_t before; /* the row; or after the last */
	char *text;    /* "" for an empty one */
};

struct table {
	const struct table_column *columns;
	size_t column_count;
	struct {
		ARRAY(struct table_cell);
	} cells; /* row after row */
	struct {
		ARRAY(struct table_line);
	} lines;
};

/* At most TABLE_COLUMNS_MAX `columns`, which stay the caller's and must live as long as the table.
 */
#define TABLE_COLUMNS_MAX 32
void table_init(struct table *table, const struct table_column *columns, size_t count);

/* The next cell. False without memory. */
bool table_add(struct table *table, struct text text, enum table_colour colour);

/* The cell just added stands out. */
void table_bold(struct table *table);

/* A line of its own, below the rows so far. False without memory. */
bool table_add_line(struct table *table, const char *text);

/* Print the heading and the rows. In `width` columns of a terminal, cells go on in the next line
 * where they must; 0: as wide as it gets. */
struct error *table_print(const struct table *table, FILE *out, size_t width,
			  bool colour) MUST_CHECK;

void table_deinit(struct table *table);

/* Text that is safe on a terminal, allocated; NULL without memory. */
char *text_visible(struct text text);

/* Print it, at least `columns` wide as printf(3) counts them (negative: at the left). Prints "?"
 * without memory. */
void text_print_visible(FILE *out, struct text text, int columns);

/* How many columns of a terminal a visible text takes. */
size_t text_width(const char *text);

/* The bytes at the start of a visible text that fit into `width` columns: at least one character.
 */
size_t text_fitting(const char *text, size_t length, size_t width);

#endif
