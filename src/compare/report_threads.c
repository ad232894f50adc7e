/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of threads: in which order, their rows, and what is judged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/condition.h"
#include "compare/report_fill.h"

/* The divisor of totals: so much of it is a second; 0: there is none. */
struct divisor {
	uint64_t amount, per_s;
};

/* The state of filling a report, group by group. */
struct work {
	struct report *report;
	struct selection rows;   /* shown */
	struct selection needed; /* shown, judged, ranked by, or divided by */
	struct group_sums before, after;
	uint64_t before_now, after_now;               /* ticks since boot; for ages */
	struct divisor before_divisor, after_divisor; /* of totals */
	double host_change[METRIC_COUNT + DERIVED_COUNT];
	bool has_host_change[METRIC_COUNT + DERIVED_COUNT];
};

/* --- what is needed --- */

static void select_all(struct work *work)
{
	const struct report *report = work->report;
	const struct view *view = report->view;

	/* Rows of several captures are made of pieces of two. */
	for (unsigned i = 0; !report->repeated && i < METRIC_COUNT + DERIVED_COUNT; i++)
		if (report_has(report, report->measures[i].section) &&
		    selection_has(&view->metrics, i))
			selection_add(&work->rows, i);
	work->needed = work->rows;
	for (size_t i = 0; i < view->sort_count; i++)
		selection_add(&work->needed, view->sort[i].metric);
	for (size_t i = 0; i < view->conditions.count; i++)
		selection_add(&work->needed, view->conditions.items[i].metric);
	if (view->normalize == NORMALIZE_CPU)
		selection_add(&work->needed, METRIC_run_time_ns);
}

/* --- what totals are divided by --- */

uint64_t report_now_ticks(const struct ctprof_snapshot *s)
{
	const struct reading age = snapshot_age_ticks(s);
	uint64_t latest = 0;

	if (age.measured)
		return age.value;
	for (size_t i = 0; i < s->threads.count; i++)
		if (snapshot_thread(s, i)->start_time_clock_ticks.value > latest)
			latest = snapshot_thread(s, i)->start_time_clock_ticks.value;
	return latest;
}

/* Ticks that the threads of a group lived, together; 0 when one does not say. */
static uint64_t age_of(const struct group *group, uint64_t now)
{
	uint64_t ticks = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct reading *start = &group->threads[i]->start_time_clock_ticks;

		if (!start->measured)
			return 0;
		/* Born while the capture was under way. */
		if (start->value < now)
			ticks += now - start->value;
	}
	return ticks;
}

static struct divisor divisor_of(const struct report *report, uint64_t now,
				 const struct group *group, const struct group_sums *sums)
{
	const struct aggregate *ran = &sums->metrics[METRIC_run_time_ns];

	if (report->view->normalize == NORMALIZE_AGE && !report->odd_ticks)
		return (struct divisor){ age_of(group, now), TICKS_PER_S };
	if (report->view->normalize == NORMALIZE_CPU &&
	    aggregate_is_complete(ran, &metrics[METRIC_run_time_ns]))
		return (struct divisor){ ran->total, NS_PER_S };
	return (struct divisor){ 0 };
}

static void divide(struct datum *datum, const struct divisor *divisor)
{
	__int128 scaled;

	if (datum->kind != DATUM_NUMBER)
		return;
	if (!divisor->amount) {
		datum->kind = DATUM_NONE;
		return;
	}
	/* In whole numbers as far as they go: a CPU second of CPU time is a second then, and all
	 * machines say the same, however long their long double. */
	scaled = datum->number * divisor->per_s;
	datum->real = (double)(scaled / divisor->amount) +
		      (double)(scaled % divisor->amount) / (double)divisor->amount;
	datum->kind = DATUM_REAL;
}

/* --- one row --- */

/* The sums of both sides of a group. */
static bool sum_sides(struct work *work, const struct group *before, const struct group *after)
{
	struct report *report = work->report;
	const struct metric_set *with_waits = &report->sides->waits.added;

	if (before &&
	    !group_sum(before, &work->needed, with_waits, &report->impossible, &work->before))
		return false;
	if (!group_sum(after, &work->needed, with_waits, &report->impossible, &work->after))
		return false;
	if (report->view->normalize == NORMALIZE_NOT)
		return true;
	if (before)
		work->before_divisor = divisor_of(report, work->before_now, before, &work->before);
	work->after_divisor = divisor_of(report, work->after_now, after, &work->after);
	return true;
}

static void fill_derived(const struct work *work, enum derived_id id, struct row *row)
{
	const struct derived *derived = &derived_metrics[id];
	const struct derived_sum *before = &work->before.derived[id];
	const struct derived_sum *after = &work->after.derived[id];
	struct derived_sum between;

	if (work->report->comparing)
		row->before = derived_datum(before, derived);
	if (work->report->comparing && work->report->view->window) {
		between = derived_between(before, after, derived);
		after = &between;
	}
	row->after = derived_datum(after, derived);
	if (work->report->view->births && row->measure->is_total && !row->threads_before) {
		row->before = datum_number(0);
		row->before.inputs = row->after.inputs;
	}
}

static void fill_values(const struct work *work, unsigned number, struct row *row)
{
	const struct view *view = work->report->view;

	if (number >= METRIC_COUNT) {
		fill_derived(work, (enum derived_id)(number - METRIC_COUNT), row);
		return;
	}
	if (work->report->comparing)
		row->before = aggregate_datum(&work->before.metrics[number], &metrics[number]);
	row->after = aggregate_datum(&work->after.metrics[number], &metrics[number]);
	/* A group that was born in the window had nothing before it. */
	if (view->births && row->measure->is_total && !row->threads_before)
		row->before = datum_number(0);
}

static struct row make_row(const struct work *work, const struct name *label, uint32_t place,
			   const struct group *before, const struct group *after, unsigned number)
{
	struct report *report = work->report;
	struct row row = {
		.measure = &report->measures[number],
		.group = label,
		.number = place,
		.threads_before = before ? (uint32_t)before->count : 0,
		.threads_after = (uint32_t)after->count,
	};

	fill_values(work, number, &row);
	if (row.measure->per) {
		divide(&row.before, &work->before_divisor);
		divide(&row.after, &work->after_divisor);
	}
	report_change(report, &row);
	if (work->has_host_change[number] && work->host_change[number] != 0 &&
	    row.change.has_delta) {
		row.has_host_share = true;
		row.host_share = row.change.delta / work->host_change[number];
	}
	return row;
}

/* --- the groups of a report --- */

static const struct name *label_of(const struct report *report, uint32_t key)
{
	return report->sides->keys.items[key].label;
}

static bool is_shared(const struct report *report, uint32_t key)
{
	if (!report->after.items[key].count)
		return false;
	return !report->comparing || report->view->births || report->before.items[key].count;
}

static const struct group *before_of(const struct report *report, uint32_t key)
{
	return report->comparing ? &report->before.items[key] : NULL;
}

/* Threads that began in a window changed the host by all that they did. */
static bool add_births(struct work *work)
{
	struct report *report = work->report;
	double scale = report->view->rate && report->rate_s > 0 ? report->rate_s : 1;
	struct group born = { .threads = report->born.threads };

	for (size_t k = 0; k < report->sides->keys.count; k++)
		born.count += report->born.items[k].count;
	if (!group_sum(&born, &work->needed, &report->sides->waits.added, &report->impossible,
		       &work->after))
		return false;
	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		struct datum datum = i < METRIC_COUNT
					     ? aggregate_datum(&work->after.metrics[i], &metrics[i])
					     : derived_datum(&work->after.derived[i - METRIC_COUNT],
							     &derived_metrics[i - METRIC_COUNT]);

		if (datum.kind == DATUM_NUMBER && !datum.partial && !datum.impossible)
			work->host_change[i] += (double)datum.number / scale;
		else if (born.count)
			work->has_host_change[i] = false;
	}
	return true;
}

/* The change of the whole host: that of all groups, also of those that one side has. */
static bool find_host_change(struct work *work)
{
	struct report *report = work->report;
	struct group before = { 0 }, after = { 0 };

	if (!report->comparing || !report->view->shares)
		return true;
	before.threads = report->before.threads;
	after.threads = report->after.threads;
	for (size_t k = 0; k < report->sides->keys.count; k++) {
		before.count += report->before.items[k].count;
		after.count += report->after.items[k].count;
	}
	if (!sum_sides(work, &before, &after))
		return false;
	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		struct row row;

		if (!report->measures[i].is_total || report->measures[i].per ||
		    !selection_has(&work->needed, i))
			continue;
		row = make_row(work, NULL, 0, &before, &after, i);
		work->host_change[i] = row.change.delta;
		work->has_host_change[i] = row.change.has_delta && !row_is_impossible(&row);
	}
	return !report->view->window || add_births(work);
}

/* --- the order of groups --- */

struct ranked {
	uint32_t key, place; /* place in the order of names */
	bool has[SORT_KEYS_MAX];
	double value[SORT_KEYS_MAX];
};

/* Unmeasured and impossible values come last in either direction; equals stay in the
 * order of their names. */
static int by_rank(const void *a, const void *b, void *context)
{
	const struct ranked *x = a, *y = b;
	const struct view *view = context;

	for (size_t i = 0; i < view->sort_count; i++) {
		int less = view->sort[i].ascending ? -1 : 1;

		if (x->has[i] != y->has[i])
			return x->has[i] ? -1 : 1;
		if (x->has[i] && x->value[i] != y->value[i])
			return x->value[i] < y->value[i] ? less : -less;
	}
	return x->place < y->place ? -1 : 1;
}

static bool rank_group(struct work *work, struct ranked *ranked)
{
	struct report *report = work->report;
	const struct view *view = report->view;
	const struct group *before = before_of(report, ranked->key);
	const struct group *after = &report->after.items[ranked->key];

	if (!is_shared(report, ranked->key))
		return true;
	if (!sum_sides(work, before, after))
		return false;
	for (size_t i = 0; i < view->sort_count; i++) {
		struct row row = make_row(work, NULL, 0, before, after, view->sort[i].metric);

		ranked->has[i] = report->comparing ? row.change.has_delta
						   : datum_magnitude(&row.after, &ranked->value[i]);
		ranked->has[i] &= !row_is_impossible(&row);
		if (report->comparing)
			ranked->value[i] = row.change.delta;
	}
	return true;
}

static bool rank_groups(struct work *work)
{
	struct report *report = work->report;
	size_t count = report->sides->keys.count;
	_cleanup_free_ struct ranked *ranked = calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		return false;
	for (size_t i = 0; i < count; i++) {
		ranked[i].key = report->order[i];
		ranked[i].place = (uint32_t)i;
		if (!rank_group(work, &ranked[i]))
			return false;
	}
	qsort_r(ranked, count, sizeof(*ranked), by_rank, (void *)(uintptr_t)report->view);
	for (size_t i = 0; i < count; i++)
		report->order[i] = ranked[i].key;
	return true;
}

static bool order_groups(struct work *work)
{
	struct report *report = work->report;
	size_t count = report->sides->keys.count;

	report->order = malloc(count * sizeof(*report->order) + 1);
	if (!report->order)
		return false;
	if (count)
		memcpy(report->order, report->sides->by_name, count * sizeof(*report->order));
	return report->view->order != ORDER_GROUPS || rank_groups(work);
}

/* Judge a group by the conditions of --fail-if that are about it. */
static bool judge_group(struct work *work, uint32_t place, uint32_t key)
{
	struct report *report = work->report;
	const struct name *label = label_of(report, key);

	for (size_t i = 0; i < report->results.count; i++) {
		struct condition_result *result = &report->results.items[i];
		struct row row;

		if (!condition_is_about(result->condition, label))
			continue;
		row = make_row(work, label, place, before_of(report, key),
			       &report->after.items[key], result->condition->metric);
		if (!condition_judge(result, &row))
			return false;
	}
	return true;
}

/* --- rows --- */

/* Add the groups of a key to the metrics that were measured, and to those that are missing. */
static void take_coverage(struct report *report, uint32_t key)
{
	coverage_add(&report->coverage_after, &report->after.items[key]);
	if (report->comparing)
		coverage_add(&report->coverage_before, &report->before.items[key]);
}

static bool is_same_fact(const struct datum *x, const struct datum *y)
{
	return x->kind != DATUM_NONE && datum_equal(x, y) && x->measured == y->measured &&
	       x->threads == y->threads && x->impossible == y->impossible;
}

#define NONE_REPEATED (METRIC_COUNT + DERIVED_COUNT)

/* The metric whose values this row may repeat. The sum of delays equals the delay for CPUs if a
 * group waited for nothing else, or nothing else was measured. The table of delays shows both all
 * the same. */
static unsigned repeated_by(const struct report *report, unsigned number)
{
	const struct metric_twin *twin = metric_twin_of(number);

	if (number == METRIC_COUNT + DERIVED_ID_total_offcpu_delay_ns &&
	    report_section_of(report, &report->measures[number]) == SECTION_PRIMARY)
		return METRIC_wait_time_ns;
	return twin ? twin->shown : NONE_REPEATED;
}

/* Does the row have the same values as the metric that it may repeat, so that reports for people
 * leave it out? Metrics that the user named are always shown. */
static bool is_folded(struct work *work, const struct row *row)
{
	struct report *report = work->report;
	const unsigned number = row->measure->number, shown = repeated_by(report, number);
	struct row other = { 0 };

	if (!report->view->people || report->view->metrics_named || report->view->all_rows ||
	    shown == NONE_REPEATED || !selection_has(&work->rows, shown))
		return false;
	other.measure = &report->measures[shown];
	other.threads_before = row->threads_before;
	fill_values(work, shown, &other);
	if (!is_same_fact(&other.after, &row->after) ||
	    (report->comparing && !is_same_fact(&other.before, &row->before)))
		return false;
	if (number < METRIC_COUNT)
		metric_set_add(&report->folded, (enum metric_id)number);
	return true;
}

static bool add_group_rows(struct work *work, uint32_t place, uint32_t key)
{
	struct report *report = work->report;
	const struct group *before = before_of(report, key), *after = &report->after.items[key];

	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		enum section table = report_section_of(report, &report->measures[i]);
		struct row row;

		if (!selection_has(&work->rows, i))
			continue;
		row = make_row(work, label_of(report, key), place, before, after, i);
		report_rate_before(report, before, &row);
		/* Names differ by no amount, nor are they ordered by one. */
		if (report->view->people && measure_is_label(row.measure)) {
			row.change.has_delta = row.change.has_share = false;
			row.change.delta = 0;
		}
		if (is_folded(work, &row))
			continue;
		report_mark(report, &row);
		if (!report_section_add(&report->sections[table], report->view, report->comparing,
					row))
			return false;
	}
	return true;
}

/* On either side; of a window also those that began or ended in it. */
static bool has_threads(const struct report *report, uint32_t key)
{
	return report->after.items[key].count ||
	       (report->comparing && report->before.items[key].count) ||
	       (report->born.items && report->born.items[key].count) ||
	       (report->gone.items && report->gone.items[key].count);
}

/* Rows of repeated captures are computed from pieces, and judged there. */
static void take_group_of_repeats(struct report *report, uint32_t key, bool wanted)
{
	report->matching += wanted && (report->in_both[key] || has_threads(report, key));
	report->shared += wanted && report->in_both[key];
	if (wanted && is_shared(report, key))
		take_coverage(report, key);
}

static bool take_group(struct work *work, uint32_t place, uint32_t key)
{
	struct report *report = work->report;
	bool wanted = view_matches(report->view, label_of(report, key));

	if (report->repeated) {
		take_group_of_repeats(report, key, wanted);
		return true;
	}
	report->matching += wanted && has_threads(report, key);
	if (!is_shared(report, key) || (!wanted && !report->results.count))
		return true;
	if (!sum_sides(work, before_of(report, key), &report->after.items[key]) ||
	    !judge_group(work, place, key))
		return false;
	if (!wanted)
		return true;
	report->shared++;
	take_coverage(report, key);
	return add_group_rows(work, place, key);
}

static bool run_work(struct work *work)
{
	struct report *report = work->report;
	bool done = find_host_change(work) && order_groups(work);

	for (uint32_t n = 0; done && n < report->sides->keys.count; n++)
		done = take_group(work, n, report->order[n]);
	return done && report_find_unmatched(report);
}

static bool find_impossible(struct report *report)
{
	const struct metric_set *with_waits = &report->sides->waits.added;
	struct impossible *impossible = &report->impossible;

	return impossible_by_age(impossible, report->candidate, with_waits) &&
	       (!report->comparing ||
		(impossible_by_age(impossible, report->baseline, with_waits) &&
		 impossible_by_window(impossible, report->baseline, report->candidate,
				      with_waits)));
}

struct error *report_fill_threads(struct report *report)
{
	struct error *err = report_make_groups(report);
	struct work *work = err ? NULL : calloc(1, sizeof(*work));

	if (err)
		return err;
	if (!work)
		return &error_no_memory;
	work->report = report;
	work->before_now = report->comparing ? report_now_ticks(report->baseline) : 0;
	work->after_now = report_now_ticks(report->candidate);
	select_all(work);
	err = find_impossible(report) && run_work(work) ? NULL : &error_no_memory;
	group_sums_deinit(&work->before);
	group_sums_deinit(&work->after);
	free(work);
	return err;
}
