/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "report/bar.h"
#include "report/kstats_histogram.h"
#include "report/kstats_values.h"
#include "report/percentiles.h"
#include "report/table.h"

/* --- heading --- */

static void print_scope(FILE *out, const struct kstats_table *table)
{
	_cleanup_free_ char *scope = kstats_scope_text(&table->scope);

	if (table->by != KSTATS_BY_CPU)
		fprintf(out, ", rows by %s", kstats_bys[table->by].name);
	text_print_visible(out, text_of(scope ? scope : ", ?"), 0);
}

/* "4711:requests{path=/api}" */
static void print_title(FILE *out, const struct kstats_table *table)
{
	_cleanup_free_ char *title = kstats_table_title(table);

	text_print_visible(out, text_of(title ? title : "?"), 0);
	if (!table->labels)
		return;
	fputc('{', out);
	text_print_visible(out, text_of(table->labels), 0);
	fputc('}', out);
}

/* Times have their unit at each value. */
static void print_unit(FILE *out, const struct kstats_table *table)
{
	if (!*table->unit || strcmp(table->unit, unit_name(UNIT_NS)) == 0)
		return;
	fputs(", in ", out);
	text_print_visible(out, text_of(table->unit), 0);
}

static void print_table_heading(FILE *out, const struct kstats_table *table)
{
	print_title(out, table);
	if (table->start) {
		fputs(": ", out);
		text_print_visible(out, text_of(table->start), 0);
	}
	if (table->end) {
		fputs(" to ", out);
		text_print_visible(out, text_of(table->end), 0);
	}
	if (table->recorder) {
		fputs(", by ", out);
		text_print_visible(out, text_of(table->recorder), 0);
	}
	if (table->how) {
		fputs(" (", out);
		text_print_visible(out, text_of(table->how), 0);
		fputc(')', out);
	}
	print_scope(out, table);
	print_unit(out, table);
	fprintf(out, ", %u bit%s%s\n", table->frac_bits, plural(table->frac_bits),
		table->is_active ? "" : ", stopped");
}

/* --- percentiles --- */

struct percentiles_of {
	const struct kstats_table *table;
	const struct kstats_distribution *of;
};

static struct percentile_value percentile_at(const void *of, double fraction)
{
	const struct percentiles_of *percentiles = of;
	const struct kstats_percentile p = kstats_percentile(percentiles->of, fraction);

	return (struct percentile_value){ p.low, p.high, true, kstats_rounded(p.mean) };
}

static char *format_bound(char *buffer, const void *of, uint64_t value)
{
	const struct percentiles_of *percentiles = of;

	return kstats_format_exact(buffer, percentiles->table, value);
}

static struct percentile_source percentile_source_of(const struct percentiles_of *of)
{
	return (struct percentile_source){ of, of->of->count, percentile_at, format_bound };
}

/* --- numbers --- */

/* `rate`: values per second; NAN: unknown. */
static void print_numbers(FILE *out, const struct kstats_table *table,
			  const struct kstats_distribution *of, double rate)
{
	const struct percentiles_of numbers = { table, of };
	const struct percentile_source source = percentile_source_of(&numbers);
	char mean[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX];

	fprintf(out, "  count %" PRIu64, of->count);
	if (!of->count) {
		fputs(": nothing was recorded yet\n", out);
		return;
	}
	fprintf(out, ", mean %s", kstats_format(mean, table, kstats_mean(of)));
	if (isfinite(rate))
		fprintf(out, ", %s", kstats_format_rate(text, rate));
	fputs("\n\n", out);
	percentiles_print(out, &source);
}

static struct error *print_histogram(FILE *out, const struct kstats_table *table,
				     const struct kstats_distribution *of,
				     const struct kstats_style *style)
{
	if (!of->count)
		return NULL;
	fputc('\n', out);
	return kstats_histogram_print(out, table, of, style);
}

static void print_losses(FILE *out, const struct kstats_table *table)
{
	char overhead[UNITS_TEXT_MAX];
	const char *separator = "  unknown   not counted here: ";
	bool any = false;

	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (table->losses[loss]) {
			fprintf(out, "  %-9s %" PRIu64 ": %s\n", kstats_losses[loss].name,
				table->losses[loss], kstats_losses[loss].prose);
			any = true;
		}
	if (!any)
		fputs("  lost      0\n", out);
	for (unsigned loss = 0; loss < KSTATS_LOSS_COUNT; loss++)
		if (!(table->losses_known & 1u << loss)) {
			fprintf(out, "%s%s", separator, kstats_losses[loss].name);
			separator = ", ";
		}
	if (*separator == ',')
		fputc('\n', out);
	if (table->earlier)
		fprintf(out, "  earlier   %" PRIu64 ": " KSTATS_EARLIER "\n", table->earlier);
	if (!table->earlier_known && table->losses[KSTATS_LOSS_unmatched])
		fputs("  earlier   unknown: some of the unmatched may have begun before "
		      "recording\n",
		      out);
	if (table->overhead_ns)
		fprintf(out, "  overhead  about %s, included in every value\n",
			kstats_format(overhead, table, (double)table->overhead_ns));
}

/* --- rows --- */

static void print_row_name(FILE *out, const struct kstats_table *table,
			   const struct kstats_row *row)
{
	const char *meaning = row->label;

	/* A returned value may be negative: mostly an errno. */
	if (table->by == KSTATS_BY_RETVAL) {
		int64_t value = (int64_t)row->id;

		fprintf(out, "%" PRId64, value);
		meaning = value < 0 && value > -4096 ? strerrorname_np((int)-value) : NULL;
	} else {
		fprintf(out, "%" PRIu64, row->id);
	}
	if (meaning) {
		fputc(' ', out);
		text_print_visible(out, text_of(meaning), 0);
	}
}

static struct error *print_table_row(FILE *out, const struct kstats_table *table,
				     const struct kstats_row *row, const struct kstats_style *style)
{
	struct kstats_distribution of = { 0 };
	struct error *err = kstats_distribution_of(table, row, &of);

	if (!err && of.count) {
		fprintf(out, "\n%s ", kstats_bys[table->by].heading);
		print_row_name(out, table, row);
		fputc('\n', out);
		print_numbers(out, table, &of, (double)NAN);
		err = print_histogram(out, table, &of, style);
	}
	kstats_distribution_clear(&of);
	return err;
}

struct line {
	const struct kstats_row *row;
	struct kstats_distribution of;
};

static int by_count(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->of.count != y->of.count)
		return x->of.count < y->of.count ? 1 : -1;
	return (x->row->id > y->row->id) - (x->row->id < y->row->id);
}

static void print_bucket_line(FILE *out, const struct kstats_table *table, const struct line *line)
{
	static const double shown[] = { 0.5, 0.99, 1 };
	char text[UNITS_TEXT_MAX];

	fprintf(out, "  %12" PRIu64, line->of.count);
	bar_label(out, kstats_format(text, table, kstats_mean(&line->of)), 12);
	/* The upper ends of their slots. */
	for (size_t i = 0; i < array_length(shown); i++)
		bar_label(out, kstats_format_percentile(text, table, &line->of, shown[i]), 12);
	fputs("  ", out);
	print_row_name(out, table, line->row);
	fputc('\n', out);
}

/* Rows of a table that are shown, unless all are asked for. */
#define ROWS_SHOWN 10

static struct error *print_lines(FILE *out, const struct kstats_table *table,
				 const struct kstats_style *style)
{
	struct line *lines = calloc(table->rows.count + 1, sizeof(*lines));
	struct error *err = lines ? NULL : &error_no_memory;
	size_t counted = 0;

	for (size_t i = 0; !err && i < table->rows.count; i++) {
		lines[i].row = &table->rows.items[i];
		err = kstats_distribution_of(table, lines[i].row, &lines[i].of);
	}
	if (!err) {
		qsort(lines, table->rows.count, sizeof(*lines), by_count);
		fprintf(out, "\n  %12s%12s%12s%12s%12s  %s\n", "count", "mean", "p50 up to",
			"p99 up to", "max up to", kstats_bys[table->by].heading);
	}
	for (size_t i = 0; i < table->rows.count && lines; i++) {
		if (!err && lines[i].of.count &&
		    counted++ < (style->all_rows ? SIZE_MAX : ROWS_SHOWN))
			print_bucket_line(out, table, &lines[i]);
		kstats_distribution_clear(&lines[i].of);
	}
	if (!style->all_rows && counted > ROWS_SHOWN)
		fprintf(out, "  ... %zu more row%s (--all)\n", counted - ROWS_SHOWN,
			plural(counted - ROWS_SHOWN));
	free(lines);
	return err;
}

static struct error *print_table_rows(FILE *out, const struct kstats_table *table,
				      const struct kstats_style *style)
{
	struct error *err = NULL;

	if (style->lines)
		return print_lines(out, table, style);
	for (size_t i = 0; !err && i < table->rows.count; i++)
		err = print_table_row(out, table, &table->rows.items[i], style);
	return err;
}

struct error *kstats_report_text(FILE *out, const struct kstats_table *table,
				 const struct kstats_style *style)
{
	struct kstats_distribution all = { 0 };
	struct error *err = kstats_distribution_of(table, NULL, &all);

	print_table_heading(out, table);
	if (!err)
		print_numbers(out, table, &all, kstats_table_rate(table));
	print_losses(out, table);
	if (!err)
		err = print_histogram(out, table, &all, style);
	if (style->rows && !err && all.count)
		err = print_table_rows(out, table, style);
	kstats_distribution_clear(&all);
	return err;
}

/* --- CSV --- */

enum csv_field { AT, WINDOW, NAME, BY, ID, LABEL, SLOT, LOW, HIGH, COUNT, MEAN };

/* When columns are shown. */
enum { OF_INTERVALS = 1 };

static const struct table_column csv_columns[] = {
	{ "at_unix_ns", .type = TABLE_COUNT, .when = OF_INTERVALS, .field = AT },
	{ "window_ns", .type = TABLE_NS, .when = OF_INTERVALS, .field = WINDOW },
	{ "name", .type = TABLE_TEXT, .field = NAME },
	{ "by", .type = TABLE_TEXT, .field = BY },
	{ "id", .type = TABLE_COUNT, .field = ID },
	{ "label", .type = TABLE_TEXT, .field = LABEL },
	{ "slot", .type = TABLE_COUNT, .field = SLOT },
	{ "low", .type = TABLE_COUNT, .field = LOW },
	{ "high", .type = TABLE_COUNT, .field = HIGH },
	{ "count", .type = TABLE_COUNT, .field = COUNT },
	{ "mean", .type = TABLE_REAL, .field = MEAN },
};

struct csv_row {
	const char *title;
	const struct kstats_table *table;
	const struct kstats_row *row;
	unsigned slot;
};

static void get_csv_cell(const void *context, const void *row, const struct table_column *column,
			 struct table_cell *ret)
{
	const struct csv_row *r = row;
	const unsigned frac_bits = r->table->frac_bits;
	const struct kstats_distribution of = { frac_bits, 0, r->row->slots };

	(void)context;
	switch ((enum csv_field)column->field) {
	case AT:
		table_count(ret, r->table->taken_ns);
		return;
	case WINDOW:
		table_ns(ret, r->table->window_ns);
		return;
	case NAME:
		table_string(ret, r->title);
		return;
	case BY:
		table_string(ret, kstats_bys[r->table->by].name);
		return;
	case ID:
		table_count(ret, r->row->id);
		return;
	case LABEL:
		table_string(ret, r->row->label);
		return;
	case SLOT:
		table_count(ret, r->slot);
		return;
	case LOW:
		table_count(ret, bucket_low(r->slot, frac_bits));
		return;
	case HIGH:
		table_count(ret, bucket_high(r->slot, frac_bits));
		return;
	case COUNT:
		table_count(ret, r->row->slots[r->slot].count);
		return;
	case MEAN:
		table_real(ret, TABLE_REAL, kstats_slot_mean(&of, r->slot));
		return;
	}
}

static void begin_csv(struct table *table, FILE *out, bool of_intervals, bool no_heading)
{
	table_begin(table, csv_columns, array_length(csv_columns),
		    (struct table_options){ .format = TABLE_AS_CSV,
					    .out = out,
					    .get = get_csv_cell,
					    .when = of_intervals ? OF_INTERVALS : 0,
					    .no_heading = no_heading });
}

struct error *kstats_report_csv_heading(FILE *out, bool of_intervals)
{
	struct table table;

	begin_csv(&table, out, of_intervals, false);
	return table_end(&table);
}

struct error *kstats_report_csv(FILE *out, const struct kstats_table *table)
{
	_cleanup_free_ char *title = kstats_table_title(table);
	struct table rows;

	if (!title)
		return &error_no_memory;
	begin_csv(&rows, out, table->window_ns != 0, true);
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct kstats_row *row = &table->rows.items[i];

		for (unsigned slot = 0; slot < BUCKET_SLOTS(table->frac_bits); slot++)
			if (row->slots[slot].count)
				table_row(&rows, &(struct csv_row){ title, table, row, slot });
	}
	return table_end(&rows);
}
