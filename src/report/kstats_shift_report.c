/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_shift_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/kstats_values.h"
#include "report/percentiles.h"
#include "report/table.h"

/* Both sides of a comparison, evaluated. */
struct shift_sides {
	const struct kstats_table *before, *after;
	struct kstats_distribution old, new;
	char *title;
};

static void sides_guard(struct shift_sides *sides)
{
	kstats_distribution_clear(&sides->old);
	kstats_distribution_clear(&sides->new);
	free(sides->title);
}

static bool texts_differ(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") != 0;
}

char *kstats_shift_title(const struct kstats_table *before, const struct kstats_table *after)
{
	_cleanup_free_ char *old = kstats_table_title(before);
	_cleanup_free_ char *new = kstats_table_title(after);

	if (!old || !new)
		return NULL;
	return texts_differ(old, new) ? text_print("%s -> %s", old, new) : take_ptr(new);
}

/* To be cleared, also after an error. */
static struct error *evaluate(const struct kstats_table *before, const struct kstats_table *after,
			      struct shift_sides *ret)
{
	struct error *err;

	*ret = (struct shift_sides){ .before = before, .after = after };
	err = kstats_distribution_of(before, NULL, &ret->old);
	if (!err)
		err = kstats_distribution_of(after, NULL, &ret->new);
	ret->title = kstats_shift_title(before, after);
	return err || ret->title ? err : &error_no_memory;
}

/* --- rows --- */

struct shift_row {
	const struct shift_sides *of;
	const char *quantity;
	struct {
		double low, high;
	} before, after, shift;
	struct kstats_shares shares;
	const struct verdict *verdict; /* NULL: none */
};

static const struct verdict {
	const char *name, *shown; /* for programs, and for people */
} verdicts[] = {
	[KSTATS_SAME] = { "same bucket", "same" },
	[KSTATS_UNSURE] = { "may be chance", "unsure" },
	[KSTATS_SLOWER] = { "larger for sure", "larger" },
	[KSTATS_FASTER] = { "smaller for sure", "smaller" },
};

static struct shift_row percentile_row(const struct shift_sides *of,
				       const struct percentile_row *percentile)
{
	const struct kstats_shift shift = kstats_shift(&of->old, &of->new, percentile->fraction);

	return (struct shift_row){
		of,
		percentile->name,
		{ (double)shift.before.low, (double)shift.before.high },
		{ (double)shift.after.low, (double)shift.after.high },
		{ shift.least, shift.most },
		kstats_shift_shares(&shift),
		&verdicts[shift.sureness],
	};
}

static struct shift_row mean_row(const struct shift_sides *of)
{
	const double old = kstats_mean(&of->old), new = kstats_mean(&of->new);
	const double share = old > 0 ? new / old - 1 : new > 0 ? (double)INFINITY : 0;

	return (struct shift_row){
		of,  "mean", { old, old }, { new, new }, { new - old, new - old }, { share, share },
		NULL
	};
}

/* No rows if one side recorded nothing. Returns the percentile that has too few values; NULL: none.
 */
static const struct percentile_row *add_rows(const struct shift_sides *of, struct table *table)
{
	const uint64_t least = of->old.count < of->new.count ? of->old.count : of->new.count;
	const struct percentile_row *missing = NULL;
	struct shift_row row;

	for (size_t i = 0; least && i < PERCENTILES; i++) {
		if (!percentile_is_known(least, percentile_rows[i].fraction)) {
			missing = missing ? missing : &percentile_rows[i];
			continue;
		}
		row = percentile_row(of, &percentile_rows[i]);
		table_row(table, &row);
	}
	row = mean_row(of);
	if (least)
		table_row(table, &row);
	return missing;
}

/* --- cells --- */

enum field {
	NAME,
	QUANTITY,
	BEFORE_COUNT,
	AFTER_COUNT,
	BEFORE_LOW,
	BEFORE_HIGH,
	AFTER_LOW,
	AFTER_HIGH,
	SHIFT_LOW,
	SHIFT_HIGH,
	VERDICT,
	BEFORE,
	AFTER,
	SHIFT,
	CHANGE,
};

static const struct table_column columns[] = {
	{ "name", .type = TABLE_TEXT, .formats = TABLE_FOR_CSV, .field = NAME },
	{ "quantity", "", .type = TABLE_TEXT, .field = QUANTITY },
	{ "before_count", .type = TABLE_COUNT, .formats = TABLE_FOR_CSV, .field = BEFORE_COUNT },
	{ "after_count", .type = TABLE_COUNT, .formats = TABLE_FOR_CSV, .field = AFTER_COUNT },
	{ "before_low", .type = TABLE_DIGITS, .formats = TABLE_FOR_PROGRAMS, .field = BEFORE_LOW },
	{ "before_high", .type = TABLE_DIGITS, .formats = TABLE_FOR_PROGRAMS,
	  .field = BEFORE_HIGH },
	{ "after_low", .type = TABLE_DIGITS, .formats = TABLE_FOR_PROGRAMS, .field = AFTER_LOW },
	{ "after_high", .type = TABLE_DIGITS, .formats = TABLE_FOR_PROGRAMS, .field = AFTER_HIGH },
	{ "shift_low", .type = TABLE_DIGITS, .formats = TABLE_FOR_PROGRAMS, .field = SHIFT_LOW },
	{ "shift_high", .type = TABLE_DIGITS, .formats = TABLE_FOR_PROGRAMS, .field = SHIFT_HIGH },
	{ NULL, "before", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = BEFORE },
	{ NULL, "after", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = AFTER },
	{ NULL, "shift", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = SHIFT, .minor = 1 },
	{ NULL, "change", .type = TABLE_TEXT, .right = true, .formats = TABLE_FOR_PEOPLE,
	  .field = CHANGE },
	{ "verdict", "", .type = TABLE_TEXT, .field = VERDICT },
};

/* Bounds of values that are whole are whole, however large; means need not be. */
static void digits_cell(struct table_cell *cell, double value)
{
	const bool is_whole = value == nearbyint(value);

	if (is_whole)
		units_digits(cell->buffer, UNIT_COUNT, (__int128)value);
	else
		units_real_digits(cell->buffer, value);
	cell->value = (struct table_value){ .type = TABLE_DIGITS, .text = text_of(cell->buffer) };
}

typedef char *format_value(char *buffer, const struct kstats_table *table, double value);

/* The length of the digits before a unit. */
static size_t digits_length(const char *value)
{
	size_t length = strlen(value);

	while (length && (value[length - 1] < '0' || value[length - 1] > '9'))
		length--;
	return length;
}

/* "480..511ns", "960ns..1.023µs", "739ns". */
static void range_cell(struct table_cell *cell, const struct kstats_table *table,
		       format_value *format, double low, double high)
{
	char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];
	size_t digits;

	format(from, table, low);
	format(to, table, high);
	digits = digits_length(from);
	if (strcmp(from, to) == 0)
		*from = '\0';
	else if (strcmp(from + digits, to + digits_length(to)) == 0)
		from[digits] = '\0';
	snprintf(cell->buffer, sizeof(cell->buffer), "%s%s%s", from, *from ? ".." : "", to);
	table_text(cell, text_of(cell->buffer));
}

static void get_cell(const void *context, const void *row, const struct table_column *column,
		     struct table_cell *ret)
{
	const struct shift_row *r = row;
	const struct kstats_table *table = r->of->after;

	(void)context;
	switch ((enum field)column->field) {
	case NAME:
		table_string(ret, r->of->title);
		return;
	case QUANTITY:
		table_string(ret, r->quantity);
		return;
	case BEFORE_COUNT:
		table_count(ret, r->of->old.count);
		return;
	case AFTER_COUNT:
		table_count(ret, r->of->new.count);
		return;
	case BEFORE_LOW:
		digits_cell(ret, r->before.low);
		return;
	case BEFORE_HIGH:
		digits_cell(ret, r->before.high);
		return;
	case AFTER_LOW:
		digits_cell(ret, r->after.low);
		return;
	case AFTER_HIGH:
		digits_cell(ret, r->after.high);
		return;
	case SHIFT_LOW:
		digits_cell(ret, r->shift.low);
		return;
	case SHIFT_HIGH:
		digits_cell(ret, r->shift.high);
		return;
	case VERDICT:
		/* Of the mean: nothing for people, null for programs. */
		table_string(ret, r->verdict ? r->verdict->name : NULL);
		ret->shown = r->verdict ? text_of(r->verdict->shown) : TEXT(" ");
		return;
	case BEFORE:
		range_cell(ret, table, kstats_format, r->before.low, r->before.high);
		return;
	case AFTER:
		range_cell(ret, table, kstats_format, r->after.low, r->after.high);
		return;
	case SHIFT:
		range_cell(ret, table, kstats_format_signed, r->shift.low, r->shift.high);
		return;
	case CHANGE:
		table_text(ret, text_of(kstats_format_shares(ret->buffer, r->shares)));
		return;
	}
}

/* --- text --- */

/* A place that one side does not know is no difference; metrics of programs have their name as
 * place. */
static bool is_elsewhere(const struct kstats_table *before, const struct kstats_table *after)
{
	if (!before->start && !after->start)
		return texts_differ(before->name, after->name);
	if (!before->start || !after->start)
		return false;
	return texts_differ(before->start, after->start) || texts_differ(before->end, after->end) ||
	       (before->scope.key && after->scope.key &&
		texts_differ(before->scope.key, after->scope.key));
}

static void print_place(FILE *out, const struct kstats_table *table)
{
	text_print_visible(out, text_of(table->start ? table->start : table->name), 0);
	if (table->end) {
		fputs(" to ", out);
		text_print_visible(out, text_of(table->end), 0);
	}
	if (table->scope.key) {
		fputs(" by ", out);
		text_print_visible(out, text_of(table->scope.key), 0);
	}
}

static void print_heading(FILE *out, const struct shift_sides *sides)
{
	text_print_visible(out, text_of(sides->title), 0);
	fprintf(out, ": %" PRIu64 " values before, %" PRIu64 " after\n", sides->old.count,
		sides->new.count);
	if (!is_elsewhere(sides->before, sides->after))
		return;
	fputs("  the probes differ: ", out);
	print_place(out, sides->before);
	fputs(" -> ", out);
	print_place(out, sides->after);
	fputc('\n', out);
}

static void print_distance(FILE *out, const struct shift_sides *sides)
{
	const struct kstats_distance d = kstats_distance(&sides->old, &sides->new);

	fprintf(out, "Kolmogorov-Smirnov distance %.4f, p %s %.3g\n", d.distance,
		d.probability < 1e-6 ? "<" : "=", d.probability < 1e-6 ? 1e-6 : d.probability);
}

static struct error *print_rows(FILE *out, const struct shift_sides *sides, size_t width)
{
	const struct percentile_row *missing;
	struct table table;
	struct error *err;
	char needs[UNITS_TEXT_MAX];

	table_begin(&table, columns, array_length(columns),
		    (struct table_options){
			    .format = TABLE_AS_TEXT, .out = out, .get = get_cell, .width = width });
	missing = add_rows(sides, &table);
	err = table_end(&table);
	if (missing)
		fprintf(out, "%s needs %s values on each side\n", missing->name,
			units_grouped(needs, percentile_needs(missing->fraction), ""));
	return err;
}

struct error *kstats_shift_text(FILE *out, const struct kstats_table *before,
				const struct kstats_table *after, size_t width)
{
	_cleanup_(sides) struct shift_sides sides;
	struct error *err = evaluate(before, after, &sides);

	if (err)
		return err;
	print_heading(out, &sides);
	if (!sides.old.count || !sides.new.count) {
		fputs("  one side recorded nothing: there is nothing to compare\n", out);
		return NULL;
	}
	err = print_rows(out, &sides, width);
	print_distance(out, &sides);
	return err;
}

/* --- for programs --- */

struct error *kstats_shift_csv(FILE *out, const struct kstats_table *before,
			       const struct kstats_table *after, bool no_heading)
{
	_cleanup_(sides) struct shift_sides sides;
	struct error *err = evaluate(before, after, &sides);
	struct table table;

	if (err)
		return err;
	table_begin(&table, columns, array_length(columns),
		    (struct table_options){ .format = TABLE_AS_CSV,
					    .out = out,
					    .get = get_cell,
					    .no_heading = no_heading });
	add_rows(&sides, &table);
	return table_end(&table);
}

static void write_side(struct json_writer *w, const char *key, const struct kstats_table *table,
		       const struct kstats_distribution *of)
{
	json_key(w, key);
	json_object_begin(w);
	json_key(w, "name");
	json_string(w, table->name);
	json_key(w, "instance");
	json_string(w, table->instance);
	json_key(w, "count");
	json_u64(w, of->count);
	json_object_end(w);
}

struct error *kstats_shift_json(struct json_writer *w, const struct kstats_table *before,
				const struct kstats_table *after)
{
	_cleanup_(sides) struct shift_sides sides;
	struct error *err = evaluate(before, after, &sides);
	struct kstats_distance distance;
	struct table table;

	if (err)
		return err;
	distance = kstats_distance(&sides.old, &sides.new);
	json_line(w);
	json_object_begin(w);
	json_key(w, "name");
	json_string(w, sides.title);
	json_key(w, "unit");
	json_string(w, after->unit);
	write_side(w, "before", before, &sides.old);
	write_side(w, "after", after, &sides.new);
	json_key(w, "distance");
	json_real(w, distance.distance);
	json_key(w, "probability");
	json_real(w, distance.probability);
	json_key(w, "rows");
	json_array_begin(w);
	table_begin(&table, columns, array_length(columns),
		    (struct table_options){ .format = TABLE_AS_JSON, .json = w, .get = get_cell });
	add_rows(&sides, &table);
	err = table_end(&table);
	json_array_end(w);
	json_object_end(w);
	return err;
}
