/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as text, without borders. Rows are kept until the end, for only then the widths of the
 * columns are known.
 */
#include <stdlib.h>
#include <string.h>

#include "report/table_fit.h"
#include "report/table_printer.h"
#include "report/visible.h"

static bool text_cell(struct table *table, size_t column, const struct table_cell *cell)
{
	char buffer[TABLE_CELL_MAX];
	struct table_text_cell kept = {
		.text = text_visible(table_cell_text(buffer, &table->columns[column], cell)),
		.colour = cell->colour,
		.bold = cell->bold,
	};

	if (kept.text && array_push(&table->cells, kept))
		return true;
	free(kept.text);
	return false;
}

static bool text_line(struct table *table, const char *text)
{
	struct table_text_line line = { .before = table->cells.count / table->column_count,
					.text = strdup(text) };

	if (line.text && array_push(&table->lines, line))
		return true;
	free(line.text);
	return false;
}

/* --- printing --- */

static const char *const colours[] = {
	[TABLE_PLAIN] = "",           [TABLE_RISE] = "\033[33m",    [TABLE_FALL] = "\033[35m",
	[TABLE_DERIVED] = "\033[34m", [TABLE_HEADING] = "\033[36m",
};
#define BOLD  "\033[1m"
#define RESET "\033[0m"

struct cell_lines {
	FILE *out;
	const struct table *table;
	struct table_fit fit;
};

/* Print a line of a cell, with a blank on both sides. */
static void print_piece(const struct cell_lines *lines, size_t c, struct text piece,
			const struct table_text_cell *cell)
{
	const struct table_fit *fit = &lines->fit;
	FILE *out = lines->out;
	char *copy = strndup(piece.bytes, piece.length);
	size_t own = copy ? text_width(copy) : 0, width = fit->widths[c];
	int padding = own < width ? (int)(width - own) : 0;
	bool last = c == fit->shown[fit->shown_count - 1];
	bool right = table_is_right(&lines->table->columns[c]);
	bool marked = lines->table->options.colour && (cell->colour || cell->bold);

	fprintf(out, " %*s", right ? padding : 0, "");
	if (marked)
		fprintf(out, "%s%s", colours[cell->colour], cell->bold ? BOLD : "");
	fwrite(piece.bytes, 1, piece.length, out);
	if (marked)
		fputs(RESET, out);
	fprintf(out, "%*s", right || last ? 0 : padding, "");
	fputc(' ', out);
	free(copy);
}

/* The bytes that fit into a line: to the end of a word, if there is one. Names are cut anywhere,
 * but for headings. */
static size_t fitting_piece(const char *text, size_t length, size_t width, bool by_words)
{
	size_t taken = text_fitting(text, length, width), at = taken;

	if (taken == length || !by_words)
		return taken;
	while (at && text[at] != ' ' && !strchr("_-", text[at - 1]))
		at--;
	return at ? at : taken;
}

/* As many lines as it takes. */
static void print_cells(const struct cell_lines *lines, const struct table_text_cell *cells,
			bool is_heading)
{
	size_t done[TABLE_COLUMNS_MAX] = { 0 };
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < lines->fit.shown_count; i++) {
			const size_t c = lines->fit.shown[i];
			const bool by_words =
				is_heading || table_is_right(&lines->table->columns[c]);
			const char *rest = cells[c].text + done[c];
			size_t length = strlen(rest), taken;

			if (by_words && done[c] && *rest == ' ') {
				done[c]++;
				rest++;
				length--;
			}
			taken = fitting_piece(rest, length, lines->fit.widths[c], by_words);

			print_piece(lines, c, (struct text){ rest, taken }, &cells[c]);
			done[c] += taken;
			more |= taken < length;
		}
		fputc('\n', lines->out);
	}
}

static void print_column_heading(const struct cell_lines *lines)
{
	struct table_text_cell cells[TABLE_COLUMNS_MAX];

	for (size_t c = 0; c < lines->table->column_count; c++)
		cells[c] = (struct table_text_cell){
			.text = (char *)(uintptr_t)table_heading(&lines->table->columns[c]),
			.colour = TABLE_HEADING,
		};
	print_cells(lines, cells, true);
}

/* False without memory. */
static bool shorten_cells(const struct cell_lines *lines, struct table_text_cell *cells)
{
	for (size_t i = 0; i < lines->fit.shown_count; i++) {
		const size_t c = lines->fit.shown[i];
		char *text = table_shortened(&lines->table->columns[c], cells[c].text,
					     lines->fit.widths[c]);

		if (!text)
			return false;
		free(cells[c].text);
		cells[c].text = text;
	}
	return true;
}

static bool is_shown(const struct table_fit *fit, size_t column)
{
	for (size_t i = 0; i < fit->shown_count; i++)
		if (fit->shown[i] == column)
			return true;
	return false;
}

static void print_left_out(const struct cell_lines *lines)
{
	const char *before = " columns that did not fit (--wide): ";

	for (size_t c = 0; c < lines->table->column_count; c++)
		if (!is_shown(&lines->fit, c)) {
			fprintf(lines->out, "%s%s", before,
				table_heading(&lines->table->columns[c]));
			before = ", ";
		}
	if (lines->fit.shown_count < lines->table->column_count)
		fputc('\n', lines->out);
}

static bool text_end(struct table *table)
{
	const size_t rows = table->cells.count / table->column_count;
	struct cell_lines lines = { .out = table->options.out, .table = table };
	const bool shortens = table->options.width && !table->options.wrap;
	size_t line = 0;

	table_fit(table, &lines.fit);
	print_column_heading(&lines);
	for (size_t row = 0; row <= rows; row++) {
		struct table_text_cell *cells = table->cells.items + row * table->column_count;

		while (line < table->lines.count && table->lines.items[line].before == row)
			fprintf(lines.out, "%s\n", table->lines.items[line++].text);
		if (row == rows)
			break;
		if (shortens && !lines.fit.wraps && !shorten_cells(&lines, cells))
			return false;
		print_cells(&lines, cells, false);
	}
	print_left_out(&lines);
	return true;
}

static void text_clear(struct table *table)
{
	for (size_t i = 0; i < table->cells.count; i++)
		free(table->cells.items[i].text);
	for (size_t i = 0; i < table->lines.count; i++)
		free(table->lines.items[i].text);
	array_deinit(&table->cells);
	array_deinit(&table->lines);
}

const struct table_printer table_text_printer = {
	.cell = text_cell,
	.line = text_line,
	.end = text_end,
	.clear = text_clear,
};
