/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/utf8.h"

void table_init(struct table *table, const struct table_column *columns, size_t count)
{
	*table = (struct table){ .columns = columns, .column_count = count };
}

/* Is it shown by its number? Control and format characters (which may turn the direction of a line
 * around), and separators of lines; not the two that join letters within words. */
static bool is_hidden(utf8proc_int32_t code)
{
	switch (utf8proc_category(code)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	case UTF8PROC_CATEGORY_CF:
		return code != 0x200c && code != 0x200d;
	default:
		return false;
	}
}

/* The most that one byte of a name becomes. */
#define VISIBLE_MAX 6

char *text_visible(struct text text)
{
	char *out = malloc(text.length * VISIBLE_MAX + 1), *end = out;

	if (!out)
		return NULL;
	for (size_t i = 0; i < text.length;) {
		size_t wide = utf8_sequence(text.bytes + i, text.length - i);
		utf8proc_int32_t code = 0;

		if (wide)
			utf8proc_iterate((const utf8proc_uint8_t *)text.bytes + i,
					 (utf8proc_ssize_t)wide, &code);
		if (!wide)
			end = stpcpy(end, UTF8_REPLACEMENT);
		else if (!is_hidden(code))
			end = mempcpy(end, text.bytes + i, wide);
		else
			end += sprintf(end, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
		i += wide ? wide : 1;
	}
	*end = '\0';
	return out;
}

void text_print_visible(FILE *out, struct text text, int columns)
{
	_cleanup_free_ char *visible = text_visible(text);

	fprintf(out, "%*s", columns, visible ? visible : "?");
}

bool table_add(struct table *table, struct text text, enum table_colour colour)
{
	struct table_cell cell = { .text = text_visible(text), .colour = colour };

	if (cell.text && array_push(&table->cells, cell))
		return true;
	free(cell.text);
	return false;
}

void table_bold(struct table *table)
{
	table->cells.items[table->cells.count - 1].bold = true;
}

bool table_add_line(struct table *table, const char *text)
{
	struct table_line line = { .before = table->cells.count / table->column_count,
				   .text = strdup(text) };

	if (line.text && array_push(&table->lines, line))
		return true;
	free(line.text);
	return false;
}

/* --- widths --- */

/* The character at `text`: how many bytes it has, and how many columns it takes. */
static size_t character(const char *text, size_t length, size_t *ret_width)
{
	utf8proc_int32_t code;
	utf8proc_ssize_t bytes =
		utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &code);

	if (bytes <= 0) {
		*ret_width = 1;
		return 1;
	}
	*ret_width = (size_t)utf8proc_charwidth(code);
	return (size_t)bytes;
}

size_t text_fitting(const char *text, size_t length, size_t width)
{
	size_t used = 0, taken = 0;

	while (taken < length) {
		size_t wide, bytes = character(text + taken, length - taken, &wide);

		if (used + wide > width && taken)
			break;
		used += wide;
		taken += bytes;
	}
	return taken;
}

size_t text_width(const char *text)
{
	size_t width = 0, length = strlen(text);

	for (size_t i = 0; i < length;) {
		size_t wide;

		i += character(text + i, length - i, &wide);
		width += wide;
	}
	return width;
}

static size_t *natural_widths(const struct table *table)
{
	size_t count = table->column_count, *widths = calloc(count, sizeof(*widths));

	for (size_t c = 0; widths && c < count; c++)
		widths[c] = text_width(table->columns[c].heading);
	for (size_t i = 0; widths && i < table->cells.count; i++) {
		size_t width = text_width(table->cells.items[i].text);

		if (width > widths[i % count])
			widths[i % count] = width;
	}
	return widths;
}

/* A column of text narrower than this says nothing. */
#define NARROWEST 8
/* So much of a heading stands in one line. */
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

/* How narrow each column may get. Text goes on in the next line, and so do headings; a number that
 * is cut in two reads as two numbers, so what is beside it goes on: "1.5ms (7 of 8 delays)". */
static size_t *least_widths(const struct table *table)
{
	size_t count = table->column_count, *least = calloc(count, sizeof(*least));

	for (size_t c = 0; least && c < count; c++) {
		size_t heading = text_width(table->columns[c].heading);

		least[c] = !table->columns[c].right      ? NARROWEST
			   : heading < HEADING_NARROWEST ? heading
							 : HEADING_NARROWEST;
	}
	for (size_t i = 0; least && i < table->cells.count; i++) {
		size_t width = table->columns[i % count].right
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

/* One line of a cell, with a blank on both sides. */
static void print_piece(FILE *out, const struct style *style, const struct table *table, size_t c,
			struct text piece, const struct table_cell *cell)
{
	char *copy = strndup(piece.bytes, piece.length);
	size_t own = copy ? text_width(copy) : 0, width = style->widths[c];
	int padding = own < width ? (int)(width - own) : 0;
	bool last = c + 1 == table->column_count, right = table->columns[c].right;
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

/* Of a number whole words. */
static size_t fitting_piece(const char *text, size_t length, size_t width, bool is_number)
{
	size_t taken = text_fitting(text, length, width), at = taken;

	if (taken == length || !is_number)
		return taken;
	while (at && text[at] != ' ')
		at--;
	return at ? at : taken;
}

static void print_row(FILE *out, const struct style *style, const struct table *table,
		      const struct table_cell *cells)
{
	size_t count = table->column_count, done[TABLE_COLUMNS_MAX] = { 0 };
	bool more = true;

	while (more) {
		more = false;
		for (size_t c = 0; c < count; c++) {
			const bool is_number = table->columns[c].right;
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

static void print_heading(FILE *out, const struct style *style, const struct table *table)
{
	struct table_cell cells[TABLE_COLUMNS_MAX];

	for (size_t c = 0; c < table->column_count; c++)
		cells[c] = (struct table_cell){
			.text = (char *)(uintptr_t)table->columns[c].heading,
			.colour = TABLE_HEADING,
		};
	print_row(out, style, table, cells);
}

struct error *table_print(const struct table *table, FILE *out, size_t width, bool colour)
{
	_cleanup_free_ size_t *least = least_widths(table);
	struct style style = { .widths = natural_widths(table), .colour = colour };
	size_t rows = table->cells.count / table->column_count, line = 0;

	if (!style.widths || !least) {
		free(style.widths);
		return &error_no_memory;
	}
	if (width)
		squeeze(style.widths, least, table->column_count, width);
	print_heading(out, &style, table);
	for (size_t row = 0; row <= rows; row++) {
		while (line < table->lines.count && table->lines.items[line].before == row)
			fprintf(out, "%s\n", table->lines.items[line++].text);
		if (row < rows)
			print_row(out, &style, table,
				  &table->cells.items[row * table->column_count]);
	}
	free(style.widths);
	return NULL;
}

void table_deinit(struct table *table)
{
	for (size_t i = 0; i < table->cells.count; i++)
		free(table->cells.items[i].text);
	for (size_t i = 0; i < table->lines.count; i++)
		free(table->lines.items[i].text);
	array_deinit(&table->cells);
	array_deinit(&table->lines);
}
