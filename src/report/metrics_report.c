/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/metrics_report.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <time.h>

#include "report/reasons.h"
#include "report/table.h"

#define NS_PER_S 1000000000u

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

/* --- what stands above and below the tables --- */

/* "2026-11-20 05:57:10 UTC, 392 threads, before.ctprof.zst", and the note. */
static void print_side(FILE *out, const char *what, struct report_side side)
{
	time_t seconds = (time_t)(side.snapshot->captured_at_unix_ns.value / NS_PER_S);
	char stamp[32] = "?", *note = text_visible(name_text(side.snapshot->note));
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(out, "%s: %s UTC, %zu thread%s, %s", what, stamp, side.snapshot->threads.count,
		plural(side.snapshot->threads.count), side.name);
	fprintf(out, side.snapshot->note && note ? " (%s)\n" : "\n", note);
	free(note);
}

/* What makes two snapshots of little use side by side. */
static void print_distance(FILE *out, const struct ctprof_snapshot *a,
			   const struct ctprof_snapshot *b)
{
	double seconds =
		((double)b->captured_at_unix_ns.value - (double)a->captured_at_unix_ns.value) /
		NS_PER_S;

	fprintf(out, "%.1f s apart", seconds < 0 ? -seconds : seconds);
	if (seconds < 0)
		fprintf(out, ", the candidate is the older one");
	if (a->host && b->host && a->host->boot_id && b->host->boot_id)
		fprintf(out, ", %s",
			name_compare(a->host->boot_id, b->host->boot_id) == 0
				? "same boot"
				: "different boots: totals are of different lives");
	if (a->capture && b->capture && a->capture->redacted != b->capture->redacted)
		fprintf(out, ", one of them redacted: names differ");
	fputc('\n', out);
}

/* The groups that were looked at, of one snapshot: what they lack, wholly and in part. */
static void print_coverage(FILE *out, const char *prefix, const struct ctprof_snapshot *snapshot,
			   const struct coverage *coverage, const struct metric_set *wanted)
{
	struct metric_set none = *wanted, part = *wanted;
	char what[64];

	if (!coverage->any_group)
		return;
	for (size_t i = 0; i < array_length(none.words); i++) {
		none.words[i] &= ~coverage->some.words[i];
		part.words[i] &= coverage->some.words[i] & ~coverage->every.words[i];
	}
	snprintf(what, sizeof(what), "%snot measured", prefix);
	reasons_print(out, what, snapshot, &none);
	snprintf(what, sizeof(what), "%smeasured in some threads only", prefix);
	reasons_print(out, what, snapshot, &part);
}

/* False, after saying so, when the options contradict each other. */
static bool says_something(FILE *out, const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);

	for (size_t i = 0; i < DERIVED_COUNT; i++)
		if (is_derived_wanted(o, &derived_metrics[i]))
			return true;
	if (!metric_set_is_empty(&wanted))
		return true;
	fprintf(out, "no metric is in both --metrics and --sections\n");
	return false;
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

/* --- rows of one snapshot --- */

/* The rows of one group. Metrics that no group has are named below the table, once. */
static bool show_metrics(struct rows *rows, const struct group *group,
			 const struct report_options *o, const struct coverage *coverage)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (!is_wanted(o, &metrics[i]) ||
		    (!o->metrics_named && !o->all_rows &&
		     !metric_set_has(&coverage->some, (enum metric_id)i)))
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

/* Both tables, with a line between them when there are both. */
static struct error *print_tables(FILE *out, const struct rows *primary, const struct rows *derived,
				  bool comparing, const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);
	bool has_primary = !metric_set_is_empty(&wanted);
	struct error *err = NULL;

	if (has_primary)
		err = print_table(out, metric_sections[SECTION_PRIMARY].heading, primary, comparing,
				  o);
	if (!err && has_primary && derived->count)
		fputc('\n', out);
	if (!err && (derived->count || !has_primary))
		err = print_table(out, metric_sections[SECTION_DERIVED].heading, derived, comparing,
				  o);
	return err;
}

static struct error *show_groups(FILE *out, const struct groups *groups,
				 const struct coverage *coverage, const struct report_options *o)
{
	struct rows primary = { .limit = o->limit }, derived = { .limit = o->limit };
	struct error *err;
	bool done = true;

	for (size_t g = 0; g < groups->count && done; g++)
		if (matches(o, groups->items[g].key))
			done = show_metrics(&primary, &groups->items[g], o, coverage) &&
			       show_derived(&derived, &groups->items[g], o);
	err = done ? print_tables(out, &primary, &derived, false, o) : &error_no_memory;
	array_deinit(&primary);
	array_deinit(&derived);
	return err;
}

struct error *report_show(FILE *out, struct report_side side, const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);
	struct coverage coverage = { 0 };
	struct groups groups;
	struct error *err = groups_init(&groups, side.snapshot, o->axis);

	if (err)
		return err;
	print_side(out, "snapshot", side);
	for (size_t g = 0; g < groups.count; g++)
		if (matches(o, groups.items[g].key))
			coverage_add(&coverage, &groups.items[g]);
	if (!coverage.any_group)
		fprintf(out, o->match.count ? "no group matches\n" : "no threads\n");
	else if (says_something(out, o))
		err = show_groups(out, &groups, &coverage, o);
	if (!err)
		print_coverage(out, "", side.snapshot, &coverage, &wanted);
	groups_deinit(&groups);
	return err;
}

/* --- rows of two snapshots --- */

static bool is_shared(const struct group_pair *pair, const struct report_options *o)
{
	return pair->baseline && pair->candidate && matches(o, group_pair_key(pair));
}

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

/* The groups of both sides. */
static struct error *compare_groups(FILE *out, const struct group_pairs *pairs,
				    const struct report_options *o)
{
	struct rows primary = { .limit = o->limit }, derived = { .limit = o->limit };
	struct error *err;
	bool done = true;

	for (size_t p = 0; p < pairs->count && done; p++)
		if (is_shared(&pairs->items[p], o))
			done = compare_pair(&primary, &derived, &pairs->items[p], o);
	rows_sort_by_change(&primary);
	rows_sort_by_change(&derived);
	err = done ? print_tables(out, &primary, &derived, true, o) : &error_no_memory;
	array_deinit(&primary);
	array_deinit(&derived);
	return err;
}

/* --- groups of one side --- */

struct alone {
	const struct group *group;
	uint64_t run_time_ns; /* 0 when it was not measured */
	bool measured;
};

struct alones {
	ARRAY(struct alone);
};

static int by_run_time(const void *a, const void *b)
{
	const struct alone *x = a, *y = b;

	if (x->run_time_ns != y->run_time_ns)
		return x->run_time_ns < y->run_time_ns ? 1 : -1;
	return name_compare(x->group->key, y->group->key);
}

static bool find_alone(struct alones *alones, const struct group_pairs *pairs, bool of_baseline,
		       const struct report_options *o)
{
	const struct metric *run_time = &metrics[METRIC_run_time_ns];

	for (size_t p = 0; p < pairs->count; p++) {
		const struct group_pair *pair = &pairs->items[p];
		const struct group *group = of_baseline ? pair->baseline : pair->candidate;
		struct aggregate sum;

		if ((pair->baseline && pair->candidate) || !group || !matches(o, group->key))
			continue;
		if (!group_aggregate(group, run_time, &sum) ||
		    !array_push(alones, (struct alone){ group, sum.total, sum.measured }))
			return false;
	}
	if (alones->count)
		qsort(alones->items, alones->count, sizeof(*alones->items), by_run_time);
	return true;
}

static void print_one(FILE *out, const struct alone *alone)
{
	char time[UNITS_TEXT_MAX], *key = text_visible(name_text(alone->group->key));

	fprintf(out, "  %s  (%zu thread%s, ran %s)\n", key ? key : "", alone->group->count,
		plural(alone->group->count),
		alone->measured ? units_format(time, UNIT_NS, alone->run_time_ns) : "-");
	free(key);
}

/* Absent is not zero: these are listed, not compared; those that ran longest first. */
static struct error *print_alone(FILE *out, const struct group_pairs *pairs, bool of_baseline,
				 const char *file, const struct report_options *o)
{
	struct alones alones = { 0 };
	bool done = find_alone(&alones, pairs, of_baseline, o);
	size_t shown = o->limit && o->limit < alones.count ? o->limit : alones.count;

	if (done && alones.count)
		fprintf(out, "\n%zu group%s only in %s (%s):\n", alones.count, plural(alones.count),
			of_baseline ? "baseline" : "candidate", file);
	for (size_t i = 0; done && i < shown; i++)
		print_one(out, &alones.items[i]);
	if (done && shown < alones.count)
		fprintf(out, "  ... %zu more (--limit 0 shows all)\n", alones.count - shown);
	array_deinit(&alones);
	return done ? NULL : &error_no_memory;
}

/* --- compare --- */

static struct error *print_comparison(FILE *out, struct report_side baseline,
				      struct report_side candidate, const struct group_pairs *pairs,
				      const struct report_options *o)
{
	struct metric_set wanted = wanted_set(o);
	struct coverage before = { 0 }, after = { 0 };
	struct error *err = NULL;
	size_t matching = 0;

	print_side(out, "baseline", baseline);
	print_side(out, "candidate", candidate);
	print_distance(out, baseline.snapshot, candidate.snapshot);
	for (size_t p = 0; p < pairs->count; p++) {
		matching += matches(o, group_pair_key(&pairs->items[p]));
		if (!is_shared(&pairs->items[p], o))
			continue;
		coverage_add(&before, pairs->items[p].baseline);
		coverage_add(&after, pairs->items[p].candidate);
	}
	if (!matching)
		fprintf(out, o->match.count ? "no group matches\n" : "no threads\n");
	else if (!after.any_group)
		fprintf(out, "no group is in both\n");
	else if (says_something(out, o))
		err = compare_groups(out, pairs, o);
	if (err)
		return err;
	print_coverage(out, "", candidate.snapshot, &after, &wanted);
	/* Of the baseline, only what the candidate has. */
	for (size_t i = 0; i < array_length(wanted.words); i++)
		wanted.words[i] &= after.every.words[i];
	print_coverage(out, "baseline: ", baseline.snapshot, &before, &wanted);
	err = print_alone(out, pairs, true, baseline.name, o);
	return err ? err : print_alone(out, pairs, false, candidate.name, o);
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
		err = print_comparison(out, baseline, candidate, &pairs, o);
	array_deinit(&pairs);
	groups_deinit(&after);
	groups_deinit(&before);
	return err;
}
