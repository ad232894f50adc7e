/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as Markdown (GitHub's). No line can be between rows, so a line ends a table, and the rows
 * behind it are one more.
 */
#include <string.h>

#include "report/table_printer.h"

void table_markdown_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<') {
			fputs("&lt;", out);
		} else if (*text == '&') {
			fputs("&amp;", out);
		} else {
			if (strchr("\\`*_|[]~", *text))
				fputc('\\', out);
			fputc(*text, out);
		}
	}
}

static void print_markdown_heading(const struct table *table)
{
	FILE *out = table->options.out;

	fputs("\n|", out);
	for (size_t i = 0; i < table->column_count; i++)
		fprintf(out, " %s |", table_heading(&table->columns[i]));
	fputs("\n|", out);
	for (size_t i = 0; i < table->column_count; i++)
		fputs(table_is_right(&table->columns[i]) ? " ---: |" : " --- |", out);
	fputc('\n', out);
}

static bool markdown_row_begin(struct table *table)
{
	if (!table->is_open)
		print_markdown_heading(table);
	table->is_open = true;
	fputc('|', table->options.out);
	return true;
}

static bool markdown_cell(struct table *table, size_t column, const struct table_cell *cell)
{
	char buffer[TABLE_CELL_MAX];
	_cleanup_free_ char *visible =
		text_visible(table_cell_text(buffer, &table->columns[column], cell));

	if (!visible)
		return false;
	fputc(' ', table->options.out);
	table_markdown_text(table->options.out, visible);
	fputs(" |", table->options.out);
	return true;
}

static bool markdown_row_end(struct table *table)
{
	fputc('\n', table->options.out);
	return true;
}

static bool markdown_line(struct table *table, const char *text)
{
	table->is_open = false;
	if (*text)
		fprintf(table->options.out, "\n%s\n", text);
	return true;
}

const struct table_printer table_markdown_printer = {
	.row_begin = markdown_row_begin,
	.cell = markdown_cell,
	.row_end = markdown_row_end,
	.line = markdown_line,
};
