/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/cell.h"

static const struct table_column columns[ROW_FIELD_COUNT] = {
#define FIELD(id, field_name, shown_when, ...) \
	[FIELD_ID_##id] = { field_name, .when = shown_when, .field = FIELD_ID_##id, __VA_ARGS__ },
	ROW_FIELDS(FIELD)
#undef FIELD
};

/* --- one field --- */

static void set_real(struct table_cell *ret, double real)
{
	if (isfinite(real))
		table_real(ret, TABLE_REAL, real);
}

static void set_digits(struct table_cell *ret)
{
	ret->value = (struct table_value){ TABLE_DIGITS, .text = text_of(ret->buffer) };
}

/* Hundredths of a percent are read in percent. */
static double real_in_unit(const struct measure *measure, double real)
{
	return measure->unit == UNIT_PERCENT ? real / 100 : real;
}

static void set_datum(struct table_cell *ret, const struct row *row, const struct datum *d)
{
	switch (d->kind) {
	case DATUM_NONE:
	case DATUM_NO_EVENTS:
		break;
	case DATUM_UNLIMITED:
		table_text(ret, TEXT("max"));
		break;
	case DATUM_NUMBER:
		units_digits(ret->buffer, row->measure->unit, d->number);
		set_digits(ret);
		break;
	case DATUM_REAL:
		set_real(ret, real_in_unit(row->measure, d->real));
		break;
	case DATUM_CATEGORY:
		table_text(ret, text_of(d->category.text));
		break;
	case DATUM_RANGE:
		ret->value = (struct table_value){ TABLE_RANGE, .range = { d->range.smallest,
									   d->range.largest } };
		break;
	case DATUM_CPUS:
		ret->value = (struct table_value){ TABLE_CPUS, .cpus = { .fewest = d->cpus.fewest,
									 .most = d->cpus.most } };
		if (d->cpus.set)
			ret->value.cpus.list =
				text_of(cell_cpus(ret->buffer, sizeof(ret->buffer), d->cpus.set));
		break;
	}
}

static void set_delta(struct table_cell *ret, const struct row *row)
{
	const struct datum_change *change = &row->change;
	__int128 whole = change->twice / 2;
	char digits[UNITS_TEXT_MAX];

	if (!change->has_delta)
		return;
	if (change->real) {
		set_real(ret, real_in_unit(row->measure, change->delta));
		return;
	}
	units_digits(digits, row->measure->unit, whole);
	snprintf(ret->buffer, sizeof(ret->buffer), "%s%s%s", !whole && change->twice < 0 ? "-" : "",
		 digits, change->twice % 2 ? ".5" : "");
	set_digits(ret);
}

/* The unit, and what the value is divided by: "ns", "ns/s". */
static void set_unit(struct table_cell *ret, const struct row *row)
{
	const char *name = row->measure->is_ratio && row->measure->unit == UNIT_NONE
				   ? "ratio"
				   : unit_name(row->measure->unit);

	table_printf(ret, "%s%s", name, row->measure->per ? row->measure->per : "");
}

/* Cgroups and processes count members of the name, and those that have the value. */
static void set_threads(struct table_cell *ret, const struct row *row, uint64_t threads,
			uint32_t members)
{
	enum section_subject subject = section_infos[row->measure->section].subject;

	if (subject == SUBJECT_GROUP)
		table_count(ret, threads);
	else if (subject == SUBJECT_CGROUP || subject == SUBJECT_PROCESS)
		table_count(ret, members);
}

static void set_significance(struct table_cell *ret, const struct row *row, enum row_field field)
{
	const struct significance *c = row->significance;

	if (!c)
		return;
	if (field == FIELD_ID_BASELINE_SPREAD)
		set_real(ret, real_in_unit(row->measure, c->before_spread));
	else if (field == FIELD_ID_CANDIDATE_SPREAD)
		set_real(ret, real_in_unit(row->measure, c->after_spread));
	else if (field == FIELD_ID_BASELINE_VALUES)
		table_count(ret, c->before_count);
	else if (field == FIELD_ID_CANDIDATE_VALUES)
		table_count(ret, c->after_count);
	else if (c->p <= 1)
		set_real(ret, c->p);
}

void row_field(const struct row *row, enum row_field field, struct table_cell *ret)
{
	const struct datum *d =
		field == FIELD_ID_BASELINE_DELAYS || field == FIELD_ID_BASELINE_AGREEING
			? &row->before
			: &row->after;

	switch (field) {
	case FIELD_ID_SECTION:
		table_text(ret, text_of(section_infos[row->measure->section].name));
		return;
	case FIELD_ID_GROUP:
		if (row->group)
			table_text(ret, name_text(row->group));
		return;
	case FIELD_ID_METRIC:
		table_text(ret, text_of(row->measure->name));
		return;
	case FIELD_ID_UNIT:
		set_unit(ret, row);
		return;
	case FIELD_ID_BASELINE:
		set_datum(ret, row, &row->before);
		return;
	case FIELD_ID_VALUE:
	case FIELD_ID_CANDIDATE:
		set_datum(ret, row, &row->after);
		return;
	case FIELD_ID_DELTA:
		set_delta(ret, row);
		return;
	case FIELD_ID_PERCENT:
		if (row->change.has_share && !row->measure->is_ratio)
			set_real(ret, row->change.share * 100);
		return;
	case FIELD_ID_SHARE:
		if (row->has_host_share)
			set_real(ret, row->host_share * 100);
		return;
	case FIELD_ID_RATE_BEFORE:
		if (row->has_rate_before)
			set_real(ret, real_in_unit(row->measure, row->rate_before));
		return;
	case FIELD_ID_BASELINE_THREADS:
		set_threads(ret, row, row->threads_before, row->before.threads);
		return;
	case FIELD_ID_BASELINE_MEASURED:
		set_threads(ret, row, row->before.measured, row->before.measured);
		return;
	case FIELD_ID_THREADS:
		set_threads(ret, row, row->threads_after, row->after.threads);
		return;
	case FIELD_ID_MEASURED:
		set_threads(ret, row, row->after.measured, row->after.measured);
		return;
	case FIELD_ID_BASELINE_IMPOSSIBLE:
		if (row->before.impossible)
			table_count(ret, row->before.impossible);
		return;
	case FIELD_ID_IMPOSSIBLE:
		if (row->after.impossible)
			table_count(ret, row->after.impossible);
		return;
	case FIELD_ID_BASELINE_DELAYS:
	case FIELD_ID_DELAYS:
		if (d->inputs)
			table_count(ret, (unsigned)__builtin_popcount(d->inputs));
		return;
	case FIELD_ID_BASELINE_AGREEING:
	case FIELD_ID_AGREEING:
		if (d->kind == DATUM_CATEGORY && d->threads)
			table_count(ret, d->category.agree);
		return;
	default:
		set_significance(ret, row, field);
	}
}

static bool has_unit(enum row_field field)
{
	return field == FIELD_ID_VALUE || field == FIELD_ID_BASELINE ||
	       field == FIELD_ID_CANDIDATE || field == FIELD_ID_DELTA;
}

static uint64_t exact_scale(const struct row *row, enum row_field field)
{
	const enum dimension dimension = unit_dimension(row->measure->unit);

	return has_unit(field) && (dimension == DIMENSION_TIME || dimension == DIMENSION_BYTES)
		       ? unit_scale(row->measure->unit)
		       : 1;
}

void row_exact(const struct row *row, enum row_field field, char ret[TABLE_DIGITS_MAX])
{
	const uint64_t scale = exact_scale(row, field);
	struct table_cell cell;

	cell.value.type = TABLE_UNKNOWN;
	cell.member_count = 0;
	row_field(row, field, &cell);
	*ret = '\0';
	if (table_digits(ret, &cell.value) && scale != 1)
		units_real_digits(ret, strtod(ret, NULL) * (double)scale);
}

/* --- all rows --- */

struct fields_row {
	const char *section;
	const struct row *row;
};

static void get_field_cell(const void *context, const void *row, const struct table_column *column,
			   struct table_cell *ret)
{
	const struct fields_row *of = row;

	(void)context;
	if (column->field == FIELD_ID_SECTION)
		table_string(ret, of->section);
	else
		row_field(of->row, column->field, ret);
}

static bool put_section(struct table *table, const struct report_section *section)
{
	for (size_t g = 0; g < ROW_GROUP_COUNT; g++)
		for (size_t i = 0; i < section->row_groups[g].count; i++) {
			const struct row *row = &section->row_groups[g].items[i];

			if (!table_row(table,
				       &(struct fields_row){
					       section_infos[row->measure->section].name, row }))
				return false;
		}
	return true;
}

static bool put_unmatched(struct table *table, const struct report *report,
			  const struct unmatched_group *group, bool before, struct group_sums *sums)
{
	struct selection wanted = { 0 };

	for (size_t i = 0; i < UNMATCHED_METRICS; i++)
		metric_set_add(&wanted.metrics, unmatched_metrics[i]);
	if (!group_sum(group->group, &wanted, &report->sides->waits.added, &report->impossible,
		       sums))
		return false;
	for (size_t i = 0; i < UNMATCHED_METRICS; i++) {
		enum metric_id id = unmatched_metrics[i];
		struct row row = {
			.measure = &report->measures[id],
			.group = report->sides->keys.items[group->key].label,
			.threads_before = before ? (uint32_t)group->group->count : 0,
			.threads_after = before ? 0 : (uint32_t)group->group->count,
		};

		*(before ? &row.before : &row.after) =
			aggregate_datum(&sums->metrics[id], &metrics[id]);
		if (!table_row(table, &(struct fields_row){
					      before ? "only-baseline" : "only-candidate", &row }))
			return false;
	}
	return true;
}

static bool put_report(struct table *table, const struct report *report)
{
	struct group_sums *sums = calloc(1, sizeof(*sums));
	bool done = sums != NULL;

	for (enum section i = 0; done && i < SECTION_COUNT; i++)
		if (report_has_section(report, i))
			done = put_section(table, &report->sections[i]);
	for (size_t i = 0; done && i < report->only_before.count; i++)
		done = put_unmatched(table, report, &report->only_before.items[i], true, sums);
	for (size_t i = 0; done && i < report->only_after.count; i++)
		done = put_unmatched(table, report, &report->only_after.items[i], false, sums);
	if (sums)
		group_sums_deinit(sums);
	free(sums);
	return done;
}

struct error *fields_print(const struct report *report, const struct report_section *section,
			   struct table_options options)
{
	struct table table;
	struct error *err;
	bool done;

	options.get = get_field_cell;
	options.when = (report->comparing ? FIELDS_COMPARE : FIELDS_SHOW) |
		       (report->view->shares ? FIELDS_SHARES : 0) |
		       (report->repeated ? FIELDS_REPEATS : 0) |
		       (report->has_rates ? FIELDS_RATES : 0);
	table_begin(&table, columns, ROW_FIELD_COUNT, options);
	done = section ? put_section(&table, section) : put_report(&table, report);
	err = table_end(&table);
	return err || done ? err : &error_no_memory;
}
