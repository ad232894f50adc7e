/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as HTML, which assets/table.js can sort and filter. A cell that shows a number with a unit
 * has the exact value in its attribute data-v. A line without text begins another tbody.
 */
#include "report/markup.h"
#include "report/table_printer.h"

static const char *const colour_classes[] = {
	[TABLE_PLAIN] = "",           [TABLE_RISE] = "rise ",      [TABLE_FALL] = "fall ",
	[TABLE_DERIVED] = "derived ", [TABLE_HEADING] = "strong ",
};

/* Print text on one line: newlines in names are made visible, as in all tables. */
static bool html_text(struct table *table, struct text text)
{
	_cleanup_free_ char *visible = text_visible(text);
	struct error *err;

	if (!visible)
		return false;
	err = markup_text(table->options.out, text_of(visible));
	error_destroy(err);
	return !err;
}

static bool html_begin(struct table *table)
{
	FILE *out = table->options.out;

	fputs("<div class=\"wide\"><table class=\"data\">\n<thead><tr>", out);
	for (size_t i = 0; i < table->column_count; i++) {
		fputs(table_is_right(&table->columns[i]) ? "<th scope=\"col\" class=\"n\">"
							 : "<th scope=\"col\">",
		      out);
		if (!html_text(table, text_of(table_heading(&table->columns[i]))))
			return false;
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	return true;
}

static bool html_row_begin(struct table *table)
{
	fputs("<tr>", table->options.out);
	return true;
}

static bool html_cell(struct table *table, size_t column, const struct table_cell *cell)
{
	const struct table_column *c = &table->columns[column];
	FILE *out = table->options.out;
	char buffer[TABLE_CELL_MAX], digits[TABLE_DIGITS_MAX];
	const bool is_plain = cell->colour == TABLE_PLAIN && !cell->bold && !table_is_right(c);
	bool done;

	fputs("<td", out);
	if (!is_plain)
		fprintf(out, " class=\"%s%s%s\"", colour_classes[cell->colour],
			cell->bold ? "strong " : "", table_is_right(c) ? "n" : "");
	if (*cell->exact || table_digits(digits, &cell->value))
		fprintf(out, " data-v=\"%s\"", *cell->exact ? cell->exact : digits);
	fputc('>', out);
	done = html_text(table, table_cell_text(buffer, c, cell));
	fputs("</td>", out);
	return done;
}

static bool html_row_end(struct table *table)
{
	fputs("</tr>\n", table->options.out);
	return true;
}

static bool html_line(struct table *table, const char *text)
{
	FILE *out = table->options.out;
	bool done;

	if (!*text) {
		fputs("</tbody>\n<tbody>\n", out);
		return true;
	}
	fprintf(out, "<tr class=\"line\"><td colspan=\"%zu\">", table->column_count);
	done = html_text(table, text_of(text));
	fputs("</td></tr>\n", out);
	return done;
}

static bool html_end(struct table *table)
{
	fputs("</tbody></table></div>\n", table->options.out);
	return true;
}

const struct table_printer table_html_printer = {
	.begin = html_begin,
	.row_begin = html_row_begin,
	.cell = html_cell,
	.row_end = html_row_end,
	.line = html_line,
	.end = html_end,
};
