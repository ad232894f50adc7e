/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CSV (RFC 4180, with newlines for its line ends): a heading and a row for each row, fields as in
 * JSON. Ranges are "min..max", CPU sets the list or "min-max cpus", nulls are empty.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/cell.h"
#include "report/csv_text.h"
#include "report/fields.h"
#include "report/report.h"
#include "report/table.h"

struct rows {
	FILE *out;
	const struct report *report;
};

static void write_cpus(FILE *out, const struct datum *d)
{
	char list[CELL_MAX];

	if (d->cpus.set)
		csv_text(out, text_of(cell_cpus(list, sizeof(list), d->cpus.set)));
	else
		fprintf(out, "%" PRIu32 "-%" PRIu32 " cpus", d->cpus.fewest, d->cpus.most);
}

static void write_value(FILE *out, const struct field_value *value)
{
	char digits[UNITS_TEXT_MAX];

	switch (value->form) {
	case FORM_NULL:
		break;
	case FORM_DIGITS:
		fputs(value->digits, out);
		break;
	case FORM_REAL:
		fputs(units_real_digits(digits, value->real), out);
		break;
	case FORM_TEXT:
		csv_text(out, value->text);
		break;
	case FORM_RANGE_OF:
		fprintf(out, "%" PRId64 "..%" PRId64, value->datum->range.smallest,
			value->datum->range.largest);
		break;
	case FORM_CPUS:
		write_cpus(out, value->datum);
		break;
	}
}

static bool write_row(void *context, const char *section, const struct row *row)
{
	struct rows *rows = context;

	fputs(section, rows->out);
	for (enum row_field i = FIELD_ID_SECTION + 1; i < ROW_FIELD_COUNT; i++) {
		struct field_value value;

		if (!row_field_is_in(rows->report, i))
			continue;
		row_field(row, i, &value);
		fputc(',', rows->out);
		write_value(rows->out, &value);
	}
	fputc('\n', rows->out);
	return true;
}

struct error *report_csv(FILE *out, const struct report *report, const struct report_style *style)
{
	struct rows rows = { out, report };
	const char *comma = "";

	(void)style;
	for (enum row_field i = 0; i < ROW_FIELD_COUNT; i++) {
		if (!row_field_is_in(report, i))
			continue;
		fprintf(out, "%s%s", comma, row_field_name(i));
		comma = ",";
	}
	fputc('\n', out);
	return rows_each(report, write_row, &rows) ? NULL : &error_no_memory;
}
