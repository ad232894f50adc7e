/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/table.h"

#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "report/table_printer.h"

static const struct table_printer *const printers[TABLE_FORMAT_COUNT] = {
#define FORMAT(id, printer) [TABLE_AS_##id] = &printer,
	TABLE_FORMATS(FORMAT)
#undef FORMAT
};

static bool note_failure(struct table *table, bool done)
{
	if (!done && !table->error)
		table->error = &error_no_memory;
	return !table->error;
}

static bool is_shown(const struct table_column *column, const struct table_options *options)
{
	return (!column->formats || column->formats >> options->format & 1) &&
	       (!column->when || column->when & options->when);
}

void table_begin(struct table *table, const struct table_column *columns, size_t count,
		 struct table_options options)
{
	*table = (struct table){ .options = options, .printer = printers[options.format] };
	for (size_t i = 0; i < count; i++)
		if (is_shown(&columns[i], &options) && table->column_count < TABLE_COLUMNS_MAX)
			table->columns[table->column_count++] = columns[i];
	for (size_t i = 0; i < table->column_count; i++)
		table->columns[i].exact &= options.format == TABLE_AS_HTML;
	if (table->printer->begin)
		note_failure(table, table->printer->begin(table));
}

bool table_row(struct table *table, const void *row)
{
	const struct table_printer *printer = table->printer;
	struct table_cell cell;
	bool done = !table->error;

	if (done && printer->row_begin)
		done = printer->row_begin(table);
	for (size_t i = 0; i < table->column_count && done; i++) {
		const struct table_column *column = &table->columns[i];

		cell.value.type = TABLE_UNKNOWN;
		cell.shown.length = 0;
		*cell.exact = '\0';
		cell.colour = TABLE_PLAIN;
		cell.bold = false;
		cell.owned = NULL;
		cell.failed = false;
		cell.member_count = 0;
		table->options.get(table->options.context, row, column, &cell);
		done = !cell.failed && printer->cell(table, i, &cell);
		free(cell.owned);
	}
	if (done && printer->row_end)
		done = printer->row_end(table);
	return note_failure(table, done);
}

bool table_line(struct table *table, const char *text)
{
	return note_failure(table, table->error || !table->printer->line ||
					   table->printer->line(table, text));
}

struct error *table_end(struct table *table)
{
	if (!table->error && table->printer->end)
		note_failure(table, table->printer->end(table));
	if (table->printer->clear)
		table->printer->clear(table);
	return take_ptr(table->error);
}

/* --- cells --- */

struct table_member *table_member(struct table_cell *cell, const char *name)
{
	struct table_member *member = &cell->members[cell->member_count];

	/* Columns of ours have fewer; a bug is seen in the last one, and not in other memory. */
	cell->member_count += cell->member_count + 1 < TABLE_MEMBERS_MAX;
	cell->value.type = TABLE_OBJECT;
	*member = (struct table_member){ .name = name };
	return member;
}

void table_printf(struct table_cell *cell, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(cell->buffer, sizeof(cell->buffer), format, values);
	va_end(values);
	table_text(cell, text_of(cell->buffer));
}

bool table_digits(char buffer[TABLE_DIGITS_MAX], const struct table_value *value)
{
	switch (value->type) {
	case TABLE_DIGITS:
		snprintf(buffer, TABLE_DIGITS_MAX, "%.*s", (int)value->text.length,
			 value->text.bytes);
		return true;
	case TABLE_COUNT:
	case TABLE_NS:
	case TABLE_BYTES:
		snprintf(buffer, TABLE_DIGITS_MAX, "%" PRIu64, value->count);
		return true;
	case TABLE_SIGNED:
		snprintf(buffer, TABLE_DIGITS_MAX, "%" PRId64, value->integer);
		return true;
	case TABLE_PERCENT:
	case TABLE_REAL:
		if (isfinite(value->real))
			units_real_digits(buffer, value->real);
		return isfinite(value->real);
	default:
		return false;
	}
}

struct text table_value_text(char buffer[TABLE_CELL_MAX], const struct table_column *column,
			     const struct table_value *value)
{
	const int decimals = (int)column->decimals;

	switch (value->type) {
	case TABLE_UNKNOWN:
	case TABLE_OBJECT:
		return TEXT("-");
	case TABLE_TEXT:
	case TABLE_DIGITS:
		return value->text;
	case TABLE_COUNT:
		snprintf(buffer, TABLE_CELL_MAX, "%" PRIu64, value->count);
		break;
	case TABLE_SIGNED:
		snprintf(buffer, TABLE_CELL_MAX, "%" PRId64, value->integer);
		break;
	case TABLE_NS:
		units_format(buffer, UNIT_NS, value->count);
		break;
	case TABLE_BYTES:
		units_format(buffer, UNIT_BYTES, value->count);
		break;
	case TABLE_PERCENT:
		snprintf(buffer, TABLE_CELL_MAX, "%.*f%%", decimals, value->real);
		break;
	case TABLE_REAL:
		snprintf(buffer, TABLE_CELL_MAX, "%.*f", decimals, value->real);
		break;
	case TABLE_BOOL:
		return value->flag ? TEXT("yes") : TEXT("no");
	case TABLE_RANGE:
		snprintf(buffer, TABLE_CELL_MAX, "%" PRId64 "..%" PRId64, value->range.least,
			 value->range.most);
		break;
	case TABLE_CPUS:
		if (value->cpus.list.bytes)
			return value->cpus.list;
		snprintf(buffer, TABLE_CELL_MAX, "%" PRIu32 "-%" PRIu32 " cpus", value->cpus.fewest,
			 value->cpus.most);
		break;
	}
	return text_of(buffer);
}
