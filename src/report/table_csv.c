/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as CSV (RFC 4180, with newlines for its line ends). Ranges are "min..max", CPU sets the
 * list or "min-max cpus". Names are shown as on a terminal: what reads CSV may print it on one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/units.h"
#include "report/table_printer.h"

/* Most names: no byte of them is hidden, or has a meaning in CSV. */
static bool is_plain_cell(struct text text)
{
	for (size_t i = 0; i < text.length; i++) {
		const char byte = text.bytes[i];

		if (byte < ' ' || byte > '~' || byte == ',' || byte == '"')
			return false;
	}
	return true;
}

static bool put_text(FILE *out, struct text text)
{
	_cleanup_free_ char *visible = NULL;
	const char *quote;

	if (is_plain_cell(text)) {
		fwrite_unlocked(text.bytes, 1, text.length, out);
		return true;
	}
	visible = text_visible(text);
	if (!visible)
		return false;
	quote = strpbrk(visible, ",\"") ? "\"" : "";
	fputs(quote, out);
	for (const char *p = visible; *p; p++) {
		if (*p == '"')
			fputc('"', out);
		fputc(*p, out);
	}
	fputs(quote, out);
	return true;
}

static bool csv_begin(struct table *table)
{
	FILE *out = table->options.out;

	for (size_t i = 0; i < table->column_count && !table->options.no_heading; i++)
		fprintf(out, "%s%s", i ? "," : "", table_name(&table->columns[i]));
	if (!table->options.no_heading)
		fputc('\n', out);
	return true;
}

static bool csv_cell(struct table *table, size_t column, const struct table_cell *cell)
{
	const struct table_value *value = &cell->value;
	char digits[UNITS_TEXT_MAX], buffer[TABLE_CELL_MAX];
	FILE *out = table->options.out;

	if (column)
		putc_unlocked(',', out);
	switch (value->type) {
	case TABLE_UNKNOWN:
	case TABLE_OBJECT:
		return true;
	case TABLE_TEXT:
		return put_text(out, value->text);
	case TABLE_COUNT:
	case TABLE_NS:
	case TABLE_BYTES:
		fwrite_unlocked(digits, 1, digits_u64(digits, value->count), out);
		return true;
	case TABLE_PERCENT:
	case TABLE_REAL:
		if (isfinite(value->real))
			fputs(units_real_digits(digits, value->real), out);
		return true;
	case TABLE_BOOL:
		fputs(value->flag ? "true" : "false", out);
		return true;
	default:
		return put_text(out, table_value_text(buffer, &table->columns[column], value));
	}
}

static bool csv_row_end(struct table *table)
{
	putc_unlocked('\n', table->options.out);
	return true;
}

const struct table_printer table_csv_printer = {
	.begin = csv_begin,
	.cell = csv_cell,
	.row_end = csv_row_end,
};
