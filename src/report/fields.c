/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name;
	bool in_show, in_compare, in_repeats;
} infos[ROW_FIELD_COUNT] = {
#define FIELD(id, name, show, compare, repeats) [FIELD_ID_##id] = { name, show, compare, repeats },
	ROW_FIELDS(FIELD)
#undef FIELD
};

const char *row_field_name(enum row_field field)
{
	return infos[field].name;
}

bool row_field_is_in(const struct report *report, enum row_field field)
{
	if (field == FIELD_ID_SHARE)
		return report->view->shares;
	if (infos[field].in_repeats)
		return report->repeated;
	return report->comparing ? infos[field].in_compare : infos[field].in_show;
}

static void set_count(struct field_value *ret, uint64_t count)
{
	ret->form = FORM_DIGITS;
	snprintf(ret->digits, sizeof(ret->digits), "%" PRIu64, count);
}

static void set_real(struct field_value *ret, double real)
{
	ret->form = isfinite(real) ? FORM_REAL : FORM_NULL;
	ret->real = real;
}

static void set_text(struct field_value *ret, struct text text)
{
	ret->form = FORM_TEXT;
	ret->text = text;
}

/* Hundredths of a percent are read in percent. */
static double real_in_unit(const struct measure *measure, double real)
{
	return measure->unit == UNIT_PERCENT ? real / 100 : real;
}

static void set_datum(struct field_value *ret, const struct row *row, const struct datum *d)
{
	switch (d->kind) {
	case DATUM_NONE:
	case DATUM_NO_EVENTS:
		break;
	case DATUM_UNLIMITED:
		set_text(ret, TEXT("max"));
		break;
	case DATUM_NUMBER:
		ret->form = FORM_DIGITS;
		units_digits(ret->digits, row->measure->unit, d->number);
		break;
	case DATUM_REAL:
		set_real(ret, real_in_unit(row->measure, d->real));
		break;
	case DATUM_CATEGORY:
		set_text(ret, text_of(d->category.text));
		break;
	case DATUM_RANGE:
		ret->form = FORM_RANGE_OF;
		break;
	case DATUM_CPUS:
		ret->form = FORM_CPUS;
		break;
	}
	ret->datum = d;
}

static void set_delta(struct field_value *ret, const struct row *row)
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
	ret->form = FORM_DIGITS;
	units_digits(digits, row->measure->unit, whole);
	snprintf(ret->digits, sizeof(ret->digits), "%s%s%s", !whole && change->twice < 0 ? "-" : "",
		 digits, change->twice % 2 ? ".5" : "");
}

/* The unit, and what the value is divided by: "ns", "ns/s". */
static void set_unit(struct field_value *ret, const struct row *row)
{
	const char *name = row->measure->is_ratio && row->measure->unit == UNIT_NONE
				   ? "ratio"
				   : unit_name(row->measure->unit);

	snprintf(ret->digits, sizeof(ret->digits), "%s%s", name,
		 row->measure->per ? row->measure->per : "");
	set_text(ret, text_of(ret->digits));
}

/* Of cgroups and processes: how many go by the name, and how many of these have the value. */
static void set_threads(struct field_value *ret, const struct row *row, uint64_t threads,
			uint32_t members)
{
	enum section_subject subject = section_infos[row->measure->section].subject;

	if (subject == SUBJECT_GROUP)
		set_count(ret, threads);
	else if (subject == SUBJECT_CGROUP || subject == SUBJECT_PROCESS)
		set_count(ret, members);
}

static void set_significance(struct field_value *ret, const struct row *row, enum row_field field)
{
	const struct significance *c = row->significance;

	if (!c)
		return;
	if (field == FIELD_ID_BASELINE_SPREAD)
		set_real(ret, real_in_unit(row->measure, c->before_spread));
	else if (field == FIELD_ID_CANDIDATE_SPREAD)
		set_real(ret, real_in_unit(row->measure, c->after_spread));
	else if (field == FIELD_ID_BASELINE_VALUES)
		set_count(ret, c->before_count);
	else if (field == FIELD_ID_CANDIDATE_VALUES)
		set_count(ret, c->after_count);
	else if (c->p <= 1)
		set_real(ret, c->p);
}

void row_field(const struct row *row, enum row_field field, struct field_value *ret)
{
	*ret = (struct field_value){ .form = FORM_NULL };
	switch (field) {
	case FIELD_ID_SECTION:
		set_text(ret, text_of(section_infos[row->measure->section].name));
		return;
	case FIELD_ID_GROUP:
		if (row->group)
			set_text(ret, name_text(row->group));
		return;
	case FIELD_ID_METRIC:
		set_text(ret, text_of(row->measure->name));
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
			set_count(ret, row->before.impossible);
		return;
	case FIELD_ID_IMPOSSIBLE:
		if (row->after.impossible)
			set_count(ret, row->after.impossible);
		return;
	default:
		set_significance(ret, row, field);
	}
}

/* --- all rows --- */

bool report_section_each(const struct report_section *section, row_take take, void *context)
{
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++)
		for (size_t i = 0; i < section->row_groups[b].count; i++) {
			const struct row *row = &section->row_groups[b].items[i];

			if (!take(context, section_infos[row->measure->section].name, row))
				return false;
		}
	return true;
}

static bool each_of_unmatched(const struct report *report, const struct unmatched_group *group,
			      bool before, struct group_sums *sums, row_take take, void *context)
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
		if (!take(context, before ? "only-baseline" : "only-candidate", &row))
			return false;
	}
	return true;
}

bool rows_each(const struct report *report, row_take take, void *context)
{
	struct group_sums *sums = calloc(1, sizeof(*sums));
	bool done = sums != NULL;

	for (enum section i = 0; done && i < SECTION_COUNT; i++)
		if (report_has_section(report, i))
			done = report_section_each(&report->sections[i], take, context);
	for (size_t i = 0; done && i < report->only_before.count; i++)
		done = each_of_unmatched(report, &report->only_before.items[i], true, sums, take,
					 context);
	for (size_t i = 0; done && i < report->only_after.count; i++)
		done = each_of_unmatched(report, &report->only_after.items[i], false, sums, take,
					 context);
	if (sums)
		group_sums_deinit(sums);
	free(sums);
	return done;
}
