/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups of threads: in which order, their rows, and what is judged.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/judge.h"
#include "compare/sheet_fill.h"

/* What totals are divided by: an amount of which so much is a second; 0: there is none. */
struct divisor {
	uint64_t amount, per_s;
};

/* What one group of a sheet is worked on with. */
struct work {
	struct sheet *sheet;
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
	const struct sheet *sheet = work->sheet;
	const struct view *view = sheet->view;

	/* Rows of several captures are made of pieces of two. */
	for (unsigned i = 0; !sheet->trial && i < METRIC_COUNT + DERIVED_COUNT; i++)
		if (sheet_has(sheet, sheet->measures[i].section) &&
		    selection_has(&view->metrics, i))
			selection_add(&work->rows, i);
	work->needed = work->rows;
	for (size_t i = 0; i < view->sort_count; i++)
		selection_add(&work->needed, view->sort[i].metric);
	for (size_t i = 0; i < view->judgements.count; i++)
		selection_add(&work->needed, view->judgements.items[i].metric);
	if (view->normalize == NORMALIZE_CPU)
		selection_add(&work->needed, METRIC_run_time_ns);
}

/* --- what totals are divided by --- */

/* When the capture was made, in ticks since boot; the birth of its youngest thread is close. */
static uint64_t now_ticks(const struct ctprof_snapshot *s)
{
	uint64_t latest = 0;

	if (s->host && s->host->uptime_clock_ticks.measured)
		return s->host->uptime_clock_ticks.value;
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

static struct divisor divisor_of(const struct sheet *sheet, uint64_t now, const struct group *group,
				 const struct group_sums *sums)
{
	const struct aggregate *ran = &sums->metrics[METRIC_run_time_ns];

	if (sheet->view->normalize == NORMALIZE_AGE && !sheet->odd_ticks)
		return (struct divisor){ age_of(group, now), TICKS_PER_S };
	if (sheet->view->normalize == NORMALIZE_CPU &&
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
	struct sheet *sheet = work->sheet;
	const struct metric_set *with_waits = &sheet->sides->waits.added;

	if (before &&
	    !group_sum(before, &work->needed, with_waits, &sheet->impossible, &work->before))
		return false;
	if (!group_sum(after, &work->needed, with_waits, &sheet->impossible, &work->after))
		return false;
	if (sheet->view->normalize == NORMALIZE_NOT)
		return true;
	if (before)
		work->before_divisor = divisor_of(sheet, work->before_now, before, &work->before);
	work->after_divisor = divisor_of(sheet, work->after_now, after, &work->after);
	return true;
}

static void fill_derived(const struct work *work, enum derived_id id, struct row *row)
{
	const struct derived *derived = &derived_metrics[id];
	const struct derived_sum *before = &work->before.derived[id];
	const struct derived_sum *after = &work->after.derived[id];
	struct derived_sum between;

	if (work->sheet->comparing)
		row->before = derived_datum(before, derived);
	if (work->sheet->comparing && work->sheet->view->window) {
		between = derived_between(before, after, derived);
		after = &between;
	}
	row->after = derived_datum(after, derived);
	if (work->sheet->view->births && row->measure->is_total && !row->threads_before) {
		row->before = datum_number(0);
		row->before.inputs = row->after.inputs;
	}
}

static void fill_values(const struct work *work, unsigned number, struct row *row)
{
	const struct view *view = work->sheet->view;

	if (number >= METRIC_COUNT) {
		fill_derived(work, (enum derived_id)(number - METRIC_COUNT), row);
		return;
	}
	if (work->sheet->comparing)
		row->before = aggregate_datum(&work->before.metrics[number], &metrics[number]);
	row->after = aggregate_datum(&work->after.metrics[number], &metrics[number]);
	/* A group that was born in the window had nothing before it. */
	if (view->births && row->measure->is_total && !row->threads_before)
		row->before = datum_number(0);
}

static struct row make_row(const struct work *work, const struct name *label, uint32_t place,
			   const struct group *before, const struct group *after, unsigned number)
{
	struct sheet *sheet = work->sheet;
	struct row row = {
		.measure = &sheet->measures[number],
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
	sheet_change(sheet, &row);
	if (work->has_host_change[number] && work->host_change[number] != 0 &&
	    row.change.has_delta) {
		row.has_host_share = true;
		row.host_share = row.change.delta / work->host_change[number];
	}
	return row;
}

/* --- the groups of a sheet --- */

static const struct name *label_of(const struct sheet *sheet, uint32_t key)
{
	return sheet->sides->keys.items[key].label;
}

static bool is_shared(const struct sheet *sheet, uint32_t key)
{
	if (!sheet->after.items[key].count)
		return false;
	return !sheet->comparing || sheet->view->births || sheet->before.items[key].count;
}

static const struct group *before_of(const struct sheet *sheet, uint32_t key)
{
	return sheet->comparing ? &sheet->before.items[key] : NULL;
}

/* What began in a window changed the host as well, by all it did. */
static bool add_births(struct work *work)
{
	struct sheet *sheet = work->sheet;
	double scale = sheet->view->rate && sheet->has_elapsed ? fabs(sheet->elapsed_s) : 1;
	struct group born = { .threads = sheet->born.threads };

	for (size_t k = 0; k < sheet->sides->keys.count; k++)
		born.count += sheet->born.items[k].count;
	if (!group_sum(&born, &work->needed, &sheet->sides->waits.added, &sheet->impossible,
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
	struct sheet *sheet = work->sheet;
	struct group before = { 0 }, after = { 0 };

	if (!sheet->comparing || !sheet->view->shares)
		return true;
	before.threads = sheet->before.threads;
	after.threads = sheet->after.threads;
	for (size_t k = 0; k < sheet->sides->keys.count; k++) {
		before.count += sheet->before.items[k].count;
		after.count += sheet->after.items[k].count;
	}
	if (!sum_sides(work, &before, &after))
		return false;
	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		struct row row;

		if (!sheet->measures[i].is_total || sheet->measures[i].per ||
		    !selection_has(&work->needed, i))
			continue;
		row = make_row(work, NULL, 0, &before, &after, i);
		work->host_change[i] = row.change.delta;
		work->has_host_change[i] = row.change.has_delta && !row_is_impossible(&row);
	}
	return !sheet->view->window || add_births(work);
}

/* --- the order of groups --- */

struct ranked {
	uint32_t key, place; /* place in the order of names */
	bool has[SORT_KEYS_MAX];
	double value[SORT_KEYS_MAX];
};

/* What has no value, or one that cannot be, comes last in either direction; equals stay in the
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
	struct sheet *sheet = work->sheet;
	const struct view *view = sheet->view;
	const struct group *before = before_of(sheet, ranked->key);
	const struct group *after = &sheet->after.items[ranked->key];

	if (!is_shared(sheet, ranked->key))
		return true;
	if (!sum_sides(work, before, after))
		return false;
	for (size_t i = 0; i < view->sort_count; i++) {
		struct row row = make_row(work, NULL, 0, before, after, view->sort[i].metric);

		ranked->has[i] = sheet->comparing ? row.change.has_delta
						  : datum_magnitude(&row.after, &ranked->value[i]);
		ranked->has[i] &= !row_is_impossible(&row);
		if (sheet->comparing)
			ranked->value[i] = row.change.delta;
	}
	return true;
}

static bool rank_groups(struct work *work)
{
	struct sheet *sheet = work->sheet;
	size_t count = sheet->sides->keys.count;
	_cleanup_free_ struct ranked *ranked = calloc(count + 1, sizeof(*ranked));

	if (!ranked)
		return false;
	for (size_t i = 0; i < count; i++) {
		ranked[i].key = sheet->order[i];
		ranked[i].place = (uint32_t)i;
		if (!rank_group(work, &ranked[i]))
			return false;
	}
	qsort_r(ranked, count, sizeof(*ranked), by_rank, (void *)(uintptr_t)sheet->view);
	for (size_t i = 0; i < count; i++)
		sheet->order[i] = ranked[i].key;
	return true;
}

static bool order_groups(struct work *work)
{
	struct sheet *sheet = work->sheet;
	size_t count = sheet->sides->keys.count;

	sheet->order = malloc(count * sizeof(*sheet->order) + 1);
	if (!sheet->order)
		return false;
	if (count)
		memcpy(sheet->order, sheet->sides->by_name, count * sizeof(*sheet->order));
	return sheet->view->order != ORDER_GROUPS || rank_groups(work);
}

/* Only what somebody judges is looked at. */
static bool judge_group(struct work *work, uint32_t place, uint32_t key)
{
	struct sheet *sheet = work->sheet;
	const struct name *label = label_of(sheet, key);

	for (size_t i = 0; i < sheet->findings.count; i++) {
		struct finding *finding = &sheet->findings.items[i];
		struct row row;

		if (!judge_is_about(finding->judgement, label))
			continue;
		row = make_row(work, label, place, before_of(sheet, key), &sheet->after.items[key],
			       finding->judgement->metric);
		if (!judge_row(finding, &row))
			return false;
	}
	return true;
}

/* --- rows --- */

/* Which groups were looked at, and what they lack. */
static void take_coverage(struct sheet *sheet, uint32_t key)
{
	coverage_add(&sheet->coverage_after, &sheet->after.items[key]);
	if (sheet->comparing)
		coverage_add(&sheet->coverage_before, &sheet->before.items[key]);
}

static bool add_rows(struct work *work, uint32_t place, uint32_t key)
{
	struct sheet *sheet = work->sheet;
	const struct group *before = before_of(sheet, key), *after = &sheet->after.items[key];

	for (unsigned i = 0; i < METRIC_COUNT + DERIVED_COUNT; i++) {
		enum section table = sheet_section_of(&sheet->measures[i]);
		struct row row;

		if (!selection_has(&work->rows, i))
			continue;
		row = make_row(work, label_of(sheet, key), place, before, after, i);
		sheet_mark(sheet, &row);
		if (!part_add(&sheet->parts[table], sheet->view, sheet->comparing, row))
			return false;
	}
	return true;
}

/* On either side; of a window also those that began or ended in it. */
static bool has_threads(const struct sheet *sheet, uint32_t key)
{
	return sheet->after.items[key].count ||
	       (sheet->comparing && sheet->before.items[key].count) ||
	       (sheet->born.items && sheet->born.items[key].count) ||
	       (sheet->gone.items && sheet->gone.items[key].count);
}

/* Its rows are made of pieces, and judged there. */
static void take_group_of_trial(struct sheet *sheet, uint32_t key, bool wanted)
{
	sheet->matching += wanted && (sheet->in_both[key] || has_threads(sheet, key));
	sheet->shared += wanted && sheet->in_both[key];
	if (wanted && is_shared(sheet, key))
		take_coverage(sheet, key);
}

static bool take_group(struct work *work, uint32_t place, uint32_t key)
{
	struct sheet *sheet = work->sheet;
	bool wanted = view_matches(sheet->view, label_of(sheet, key));

	if (sheet->trial) {
		take_group_of_trial(sheet, key, wanted);
		return true;
	}
	sheet->matching += wanted && has_threads(sheet, key);
	if (!is_shared(sheet, key) || (!wanted && !sheet->findings.count))
		return true;
	if (!sum_sides(work, before_of(sheet, key), &sheet->after.items[key]) ||
	    !judge_group(work, place, key))
		return false;
	if (!wanted)
		return true;
	sheet->shared++;
	take_coverage(sheet, key);
	return add_rows(work, place, key);
}

static bool run(struct work *work)
{
	struct sheet *sheet = work->sheet;
	bool done = find_host_change(work) && order_groups(work);

	for (uint32_t n = 0; done && n < sheet->sides->keys.count; n++)
		done = take_group(work, n, sheet->order[n]);
	return done && sheet_find_alones(sheet);
}

static bool find_impossible(struct sheet *sheet)
{
	const struct metric_set *with_waits = &sheet->sides->waits.added;
	struct impossible *impossible = &sheet->impossible;

	return impossible_by_age(impossible, sheet->candidate, with_waits) &&
	       (!sheet->comparing ||
		(impossible_by_age(impossible, sheet->baseline, with_waits) &&
		 impossible_by_window(impossible, sheet->baseline, sheet->candidate, with_waits)));
}

struct error *sheet_fill_threads(struct sheet *sheet)
{
	struct error *err = sheet_make_groups(sheet);
	struct work *work = err ? NULL : calloc(1, sizeof(*work));

	if (err)
		return err;
	if (!work)
		return &error_no_memory;
	work->sheet = sheet;
	work->before_now = sheet->comparing ? now_ticks(sheet->baseline) : 0;
	work->after_now = now_ticks(sheet->candidate);
	select_all(work);
	err = find_impossible(sheet) && run(work) ? NULL : &error_no_memory;
	group_sums_deinit(&work->before);
	group_sums_deinit(&work->after);
	free(work);
	return err;
}
