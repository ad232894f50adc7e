/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as text: columns as wide as their widest cell, no borders. Rows are kept until the end,
 * for only then the widths are known.
 */
#include <stdlib.h>
#include <string.h>

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

/* --- widths --- */

static size_t *natural_widths(const struct table *table)
{
	size_t count = table->column_count, *widths = calloc(count, sizeof(*widths));

	for (size_t c = 0; widths && c < count; c++)
		widths[c] = text_width(table_heading(&table->columns[c]));
	for (size_t i = 0; widths && i < table->cells.count; i++) {
		size_t width = text_width(table->cells.items[i].text);

		if (width > widths[i % count])
			widths[i % count] = width;
	}
	return widths;
}

/* Narrower columns of text would be unreadable. */
#define NARROWEST 8
/* The least width of a heading. */
#define HEADING_NARROWEST 4
/* No number is wider; what a file calls one may be. */
#define NUMBER_WIDEST 32

static size_t longest_word(const char *text)
{
	size_t longest = 0;

	while (*text) {
		char *word = strndup(text, strcspn(text, " "));
		size_t width = word ? text_width(word) : 0;

		text += strcspn(text, " ");
		text += strspn(text, " ");
		if (width > longest)
			longest = width;
		free(word);
	}
	return longest;
}

/* The least widths of columns. Text and headings wrap to the next line. A number must not be cut,
 * as it would look like two numbers; only text after it wraps: "1.5ms (7 of 8 delays)". */
static size_t *least_widths(const struct table *table)
{
	size_t count = table->column_count, *least = calloc(count, sizeof(*least));

	for (size_t c = 0; least && c < count; c++) {
		size_t heading = text_width(table_heading(&table->columns[c]));

		least[c] = !table_is_right(&table->columns[c]) ? NARROWEST
			   : heading < HEADING_NARROWEST       ? heading
							       : HEADING_NARROWEST;
	}
	for (size_t i = 0; least && i < table->cells.count; i++) {
		size_t width = table_is_right(&table->columns[i % count])
				       ? longest_word(table->cells.items[i].text)
				       : 0;

		if (width > least[i % count])
			least[i % count] = width < NUMBER_WIDEST ? width : NUMBER_WIDEST;
	}
	return least;
}

/* Take from the widest until all fit, or cannot. */
static void squeeze(size_t *widths, const size_t *least, size_t count, size_t room)
{
	size_t total = 2 * count;

	for (size_t c = 0; c < count; c++)
		total += widths[c];
	for (; total > room; total--) {
		size_t widest = count;

		for (size_t c = 0; c < count; c++)
			if (widths[c] > least[c] && (widest == count || widths[c] > widths[widest]))
				widest = c;
		if (widest == count)
			return;
		widths[widest]--;
	}
}

/* --- printing --- */

static const char *const colours[] = {
	[TABLE_PLAIN] = "",           [TABLE_RISE] = "\033[33m",    [TABLE_FALL] = "\033[35m",
	[TABLE_DERIVED] = "\033[34m", [TABLE_HEADING] = "\033[36m",
};
#define BOLD  "\033[1m"
#define RESET "\033[0m"

struct style {
	size_t *widths;
	bool colour;
};

/* Print a line of a cell, with a blank on both sides. */
static void print_piece(FILE *out, const struct style *style, const struct table *table, size_t c,
			struct text piece, const struct table_text_cell *cell)
{
	char *copy = strndup(piece.bytes, piece.length);
	size_t own = copy ? text_width(copy) : 0, width = style->widths[c];
	int padding = own < width ? (int)(width - own) : 0;
	bool last = c + 1 == table->column_count, right = table_is_right(&table->columns[c]);
	bool marked = style->colour && (cell->colour || cell->bold);

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

/* The bytes that fit into a line; numbers are cut between words only. */
static size_t fitting_piece(const char *text, size_t length, size_t width, bool is_number)
{
	size_t taken = text_fitting(text, length, width), at = taken;

	if (taken == length || !is_number)
		return taken;
	while (at && text[at] != ' ')
		at--;
	return at ? at : taken;
}

static void print_cells(FILE *out, const struct style *style, const struct table *table,
			const struct table_text_cell *cells)
{
	size_t count = table->column_count, done[TABLE_COLUMNS_MAX] = { 0 };
	bool more = true;

	while (more) {
		more = false;
		for (size_t c = 0; c < count; c++) {
			const bool is_number = table_is_right(&table->columns[c]);
			const char *rest = cells[c].text + done[c];
			size_t length = strlen(rest), taken;

			if (is_number && done[c] && *rest == ' ') {
				done[c]++;
				rest++;
				length--;
			}
			taken = fitting_piece(rest, length, style->widths[c], is_number);

			print_piece(out, style, table, c, (struct text){ rest, taken }, &cells[c]);
			done[c] += taken;
			more |= taken < length;
		}
		fputc('\n', out);
	}
}

static void print_column_heading(FILE *out, const struct style *style, const struct table *table)
{
	struct table_text_cell cells[TABLE_COLUMNS_MAX];

	for (size_t c = 0; c < table->column_count; c++)
		cells[c] = (struct table_text_cell){
			.text = (char *)(uintptr_t)table_heading(&table->columns[c]),
			.colour = TABLE_HEADING,
		};
	print_cells(out, style, table, cells);
}

static bool text_end(struct table *table)
{
	const size_t rows = table->cells.count / table->column_count;
	_cleanup_free_ size_t *least = least_widths(table), *widths = natural_widths(table);
	const struct style style = { .widths = widths, .colour = table->options.colour };
	FILE *out = table->options.out;
	size_t line = 0;

	if (!widths || !least)
		return false;
	if (table->options.width)
		squeeze(widths, least, table->column_count, table->options.width);
	print_column_heading(out, &style, table);
	for (size_t row = 0; row <= rows; row++) {
		while (line < table->lines.count && table->lines.items[line].before == row)
			fprintf(out, "%s\n", table->lines.items[line++].text);
		if (row < rows)
			print_cells(out, &style, table,
				    &table->cells.items[row * table->column_count]);
	}
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
