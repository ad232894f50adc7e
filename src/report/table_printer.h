/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of printers of tables, one for each format.
 *
 * Functions may be NULL. They return false without memory. `column` counts the columns that the
 * format shows.
 */
#ifndef REPORT_TABLE_PRINTER_H
#define REPORT_TABLE_PRINTER_H

#include "report/table.h"

struct table_printer {
	bool (*begin)(struct table *table);
	bool (*row_begin)(struct table *table);
	bool (*cell)(struct table *table, size_t column, const struct table_cell *cell);
	bool (*row_end)(struct table *table);
	bool (*line)(struct table *table, const char *text);
	bool (*end)(struct table *table);
	void (*clear)(struct table *table);
};

#define FORMAT(id, printer) extern const struct table_printer printer;
TABLE_FORMATS(FORMAT)
#undef FORMAT

struct table_text_cell {
	char *text; /* visible */
	enum table_colour colour;
	bool bold;
};

struct table_text_line {
	size_t before; /* the row; or after the last */
	char *text;    /* "" for an empty one */
};

static inline const char *table_heading(const struct table_column *column)
{
	return column->heading ? column->heading : column->name;
}

static inline const char *table_name(const struct table_column *column)
{
	return column->name ? column->name : column->heading;
}

static inline bool table_is_right(const struct table_column *column)
{
	return column->right || (!column->left && column->type != TABLE_TEXT);
}

/* A value for people; may point into `buffer` or into the value. Not visible yet. */
struct text table_value_text(char buffer[TABLE_CELL_MAX], const struct table_column *column,
			     const struct table_value *value);

static inline struct text table_cell_text(char buffer[TABLE_CELL_MAX],
					  const struct table_column *column,
					  const struct table_cell *cell)
{
	return cell->shown.length ? cell->shown : table_value_text(buffer, column, &cell->value);
}

/* Visible text with the characters escaped that mean something to Markdown: it stays a text,
 * whatever is in it. */
void table_markdown_text(FILE *out, const char *text);

#endif
