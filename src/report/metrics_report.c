/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/metrics_report.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "report/reasons.h"
#include "report/table.h"

void report_options_deinit(struct report_options *options)
{
	array_deinit(&options->match);
}

static bool is_wanted(const struct report_options *o, const struct metric *metric)
{
	return o->sections >> metric->section & 1 && metric_set_has(&o->metrics, metric_id(metric));
}

static bool is_derived_wanted(const struct report_options *o, const struct derived *derived)
{
	return o->sections >> derived->section & 1 && o->derived >> (derived - derived_metrics) & 1;
}

static bool matches(const struct report_options *o, const struct name *key)
{
	for (size_t i = 0; i < o->match.count; i++)
		if (fnmatch(o->match.items[i], key->bytes, 0) == 0)
			return true;
	return !o->match.count;
}

/* The wanted metrics in sections that are on. */
static struct metric_set wanted_set(const struct report_options *o)
{
	struct metric_set wanted = { 0 };

	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (is_wanted(o, &metrics[i]))
			metric_set_add(&wanted, (enum metric_id)i);
	return wanted;
}

/* A table under its heading; nothing at all when nothing was wanted in it. */
static struct error *print_table(FILE *out, const char *heading, const struct rows *rows,
				 bool comparing, const struct report_options *o)
{
	struct report_columns usual = report_columns_usual(comparing);

	fprintf(out, o->colour ? "\033[1m## %s\033[0m\n" : "## %s\n", heading);
	if (!rows->count) {
		fprintf(out, comparing ? " nothing changed\n\n" : " nothing measured\n\n");
		return NULL;
	}
	return rows_print(out, rows, o->columns.count ? &o->columns : &usual, o->axis->name,
			  o->colour);
}

/* --- show --- */

/* The rows of one group. Metrics that the whole snapshot lacks are named below the table, once. */
static bool show_metrics(struct rows *rows, const struct group *group,
			 const struct report_options *o, const struct metric_set *missing)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!is_wanted(o, &metrics[i]) || (!o->metrics_named && !o->all_rows &&
						   metric_set_has(missing, (enum metric_id)i)))
			continue;
		if (!rows_add(rows, (struct row){ .candidate = group, .metric = &metrics[i] }))
			return false;
	}
	return true;
}

static bool show_derived(struct rows *rows, const struct group *group,
			 const struct report_options *o)
{
	struct derived_value value;

	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *derived = &derived_metrics[i];

		if (!is_derived_wanted(o, derived) ||
		    (!o->metrics_named && !o->all_rows && !group_derived(group, derived, &value)))
			continue;
		if (!rows_add(rows, (struct row){ .candidate = group, .derived = derived }))
			return false;
	}
	return true;
}

static struct error *show_tables(FILE *out, const struct ctprof_snapshot *snapshot,
				 const struct groups *groups, const struct report_options *o)
{
	struct metric_set missing = metrics_missing(snapshot), wanted = wanted_set(o);
	struct rows primary = { .limit = o->limit }, derived = { .limit = o->limit };
	struct error *err = NULL;
	bool done = true;

	for (size_t g = 0; g < groups->count && done; g++)
		if (matches(o, groups->items[g].key))
			done = show_metrics(&primary, &groups->items[g], o, &missing) &&
			       show_derived(&derived, &groups->items[g], o);
	if (!done)
		err = &error_no_memory;
	if (!err && !metric_set_is_empty(&wanted))
		err = print_table(out, metric_sections[SECTION_PRIMARY].heading, &primary, false,
				  o);
	if (!err && derived.count && !metric_set_is_empty(&wanted))
		fputc('\n', out);
	if (!err && derived.count)
		err = print_table(out, metric_sections[SECTION_DERIVED].heading, &derived, false,
				  o);
	array_deinit(&primary);
	array_deinit(&derived);
	return err;
}

struct error *report_show(FILE *out, const struct ctprof_snapshot *snapshot,
			  const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);
	struct groups groups;
	struct error *err = groups_init(&groups, snapshot, o->axis);

	if (err)
		return err;
	err = show_tables(out, snapshot, &groups, o);
	if (!err)
		reasons_print(out, "", snapshot, &wanted);
	groups_deinit(&groups);
	return err;
}

/* --- compare --- */

/* Rows that say nothing new are left out; what was named and not measured is not. */
static bool is_left_out(const struct row *row, const struct report_options *o)
{
	return !o->all_rows && row_is_unchanged(row) && !(o->metrics_named && !row->has_delta);
}

static bool add_unless_left_out(struct rows *rows, struct row row, const struct report_options *o)
{
	if (!row_find_change(&row))
		return false;
	return is_left_out(&row, o) || rows_add_by_change(rows, row);
}

static bool compare_pair(struct rows *primary, struct rows *derived, const struct group_pair *pair,
			 const struct report_options *o)
{
	struct row row = { .baseline = pair->baseline, .candidate = pair->candidate };

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		row.metric = &metrics[i];
		if (is_wanted(o, row.metric) && !add_unless_left_out(primary, row, o))
			return false;
	}
	row.metric = NULL;
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		row.derived = &derived_metrics[i];
		if (is_derived_wanted(o, row.derived) && !add_unless_left_out(derived, row, o))
			return false;
	}
	return true;
}

static struct error *compare_tables(FILE *out, const struct group_pairs *pairs,
				    const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);
	struct rows primary = { .limit = o->limit }, derived = { .limit = o->limit };
	struct error *err = NULL;
	bool done = true;

	for (size_t p = 0; p < pairs->count && done; p++) {
		const struct group_pair *pair = &pairs->items[p];

		if (pair->baseline && pair->candidate && matches(o, group_pair_key(pair)))
			done = compare_pair(&primary, &derived, pair, o);
	}
	if (!done)
		err = &error_no_memory;
	rows_sort_by_change(&primary);
	rows_sort_by_change(&derived);
	if (!err && !metric_set_is_empty(&wanted))
		err = print_table(out, metric_sections[SECTION_PRIMARY].heading, &primary, true, o);
	if (!err && derived.count && !metric_set_is_empty(&wanted))
		fputc('\n', out);
	if (!err && derived.count)
		err = print_table(out, metric_sections[SECTION_DERIVED].heading, &derived, true, o);
	array_deinit(&primary);
	array_deinit(&derived);
	return err;
}

enum side { BASELINE, CANDIDATE };

/* Is the pair on this side only, and of interest? */
static bool is_alone(const struct group_pair *pair, enum side side, const struct report_options *o)
{
	return !(side == BASELINE ? pair->candidate : pair->baseline) &&
	       matches(o, group_pair_key(pair));
}

static void print_alone(FILE *out, const struct group_pairs *pairs, enum side side,
			const char *file, const struct report_options *o)
{
	size_t count = 0, shown = 0;

	for (size_t p = 0; p < pairs->count; p++)
		count += is_alone(&pairs->items[p], side, o);
	if (!count)
		return;
	fprintf(out, "\n%zu group%s only in %s (%s):\n", count, count == 1 ? "" : "s",
		side == BASELINE ? "baseline" : "candidate", file);
	for (size_t p = 0; p < pairs->count; p++) {
		char *key;

		if (!is_alone(&pairs->items[p], side, o))
			continue;
		if (o->limit && shown++ == o->limit) {
			fprintf(out, "  ... %zu more (--limit 0 shows all)\n", count - o->limit);
			return;
		}
		key = text_visible(name_text(group_pair_key(&pairs->items[p])));
		fprintf(out, "  %s\n", key ? key : "");
		free(key);
	}
}

/* What the candidate lacks, and then what only the baseline lacks. */
static void print_reasons(FILE *out, struct report_side baseline, struct report_side candidate,
			  const struct report_options *o)
{
	struct metric_set missing = metrics_missing(candidate.snapshot), wanted = wanted_set(o);

	reasons_print(out, "", candidate.snapshot, &wanted);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(&missing, (enum metric_id)i))
			metric_set_remove(&wanted, (enum metric_id)i);
	reasons_print(out, "baseline: ", baseline.snapshot, &wanted);
}

struct error *report_compare(FILE *out, struct report_side baseline, struct report_side candidate,
			     const struct report_options *o)
{
	struct groups before, after = { 0 };
	struct group_pairs pairs = { 0 };
	struct error *err = groups_init(&before, baseline.snapshot, o->axis);

	if (!err)
		err = groups_init(&after, candidate.snapshot, o->axis);
	if (!err)
		err = groups_join(&before, &after, &pairs);
	if (!err)
		err = compare_tables(out, &pairs, o);
	if (!err) {
		print_reasons(out, baseline, candidate, o);
		print_alone(out, &pairs, BASELINE, baseline.name, o);
		print_alone(out, &pairs, CANDIDATE, candidate.name, o);
	}
	array_deinit(&pairs);
	groups_deinit(&after);
	groups_deinit(&before);
	return err;
}
