/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several captures on each side: is a difference more than what varies anyway?
 *
 * A number is tested where its values are independent of each other. Captures of one boot follow
 * each other, and totals in them only grow; so from one capture to the next is one value: what was
 * added, per second, by the threads that both have and by those born in between. Quotients are
 * those of that time. Gauges, peaks and ordinals are carried from one such capture to the next and
 * are not tested. Captures of different boots (or hosts) are independent as they are.
 *
 * The test is Welch's, and what it says is adjusted for all rows together
 * (statistics/statistics.h).
 */
#include <math.h>
#include <stdlib.h>

#include "compare/condition.h"
#include "compare/report_fill.h"
#include "statistics/statistics.h"

/* Fewer values than this on a side leave the test next to nothing to find. */
#define VALUES_LEAST 4

struct series {
	const struct measure *measure;
	const struct name *group;
	uint32_t number;
	uint32_t threads[2], measured[2];    /* of the last capture */
	uint32_t impossible[2];              /* threads, of the capture that has most of them */
	struct statistics_sample samples[2]; /* baseline, candidate */
	bool tested;
};

struct repeats {
	struct report *report;
	struct view piece; /* the view of a piece of two captures */
	bool windows;      /* the captures of each side are of one boot */
	struct word_map numbers;
	ARRAY(struct series);
};

/* --- values --- */

/* The measure of a row of a piece, in the report as a whole. */
static const struct measure *measure_of(struct repeats *repeats, const struct measure *of_piece,
					bool per_second)
{
	struct report *report = repeats->report;
	struct measure *measure;

	if (measure_is_metric(of_piece))
		measure = &report->measures[of_piece->number];
	else
		measure = report_measure_of(report, of_piece->section, of_piece->kind,
					    text_of(of_piece->name));
	if (!measure)
		return NULL;
	measure->unit = of_piece->unit;
	measure->is_total = of_piece->is_total;
	measure->is_ratio = of_piece->is_ratio;
	if (per_second)
		measure->per = "/s";
	return measure;
}

/* Two groups of threads may have one name; their places in the order of names are the same in all
 * pieces. What else has a place has one of its own in each. */
static struct words series_words(const struct measure *measure, const struct name *group,
				 uint32_t place)
{
	bool is_group = section_infos[measure->section].subject == SUBJECT_GROUP;

	return (struct words){ { (uintptr_t)measure, (uintptr_t)group, is_group ? place : 0 } };
}

static struct series *series_of(struct repeats *repeats, const struct row *row, bool per_second)
{
	struct report *report = repeats->report;
	const struct measure *measure = measure_of(repeats, row->measure, per_second);
	const struct name *group = NULL;
	uint32_t *number;

	/* Names of some sections are of the piece alone. */
	if (row->group)
		group = names_intern(&report->names, row->group->bytes, row->group->length);
	if (!measure || (row->group && !group))
		return NULL;
	number = word_map_at(&repeats->numbers, series_words(measure, group, row->number));
	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)repeats->count;
		if (!array_push(repeats, (struct series){ .measure = measure,
							  .group = group,
							  .number = row->number,
							  .tested = true }))
			return NULL;
	}
	return &repeats->items[*number];
}

static bool take_row(struct repeats *repeats, const struct row *row, size_t side)
{
	bool window = repeats->windows;
	bool added = window && row->measure->is_total;
	uint32_t impossible = row->before.impossible > row->after.impossible
				      ? row->before.impossible
				      : row->after.impossible;
	struct series *series;
	double value;

	if (added ? !row->change.has_delta
		  : row->after.partial || !datum_magnitude(&row->after, &value))
		return true;
	if (added)
		value = row->change.delta;
	series = series_of(repeats, row, added);
	if (!series)
		return false;
	/* A quotient of a window is of that window alone. */
	series->tested &= !window || added || measure_is_derived(row->measure);
	series->threads[side] = row->threads_after;
	series->measured[side] = row->after.measured;
	if (impossible > series->impossible[side])
		series->impossible[side] = impossible;
	sample_add(&series->samples[side], value);
	return true;
}

static struct error *take_piece(struct repeats *repeats, size_t before, size_t after, size_t side)
{
	_cleanup_(report_destroy) struct report *piece = NULL;
	struct error *err =
		report_of_two(repeats->report->sides, &repeats->piece, before, after, &piece);

	if (err)
		return err;
	for (enum section s = 0; s < SECTION_COUNT; s++)
		for (size_t b = 0; b < ROW_GROUP_COUNT; b++)
			for (size_t i = 0; i < piece->sections[s].row_groups[b].count; i++)
				if (!take_row(repeats, &piece->sections[s].row_groups[b].items[i],
					      side))
					return &error_no_memory;
	return NULL;
}

/* --- sides --- */

/* Sides are in the order of time. */
static bool is_one_boot(const struct sides *sides, size_t first, size_t end)
{
	for (size_t i = first + 1; i < end; i++)
		if (boots_of(sides->snapshots[i - 1], sides->snapshots[i]) != BOOTS_SAME)
			return false;
	return end - first > 1;
}

/* Two captures of one boot that are no window are one measurement, not two. */
static struct error *check_independent(const struct sides *sides, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		for (size_t k = first; k < i; k++)
			if (boots_of(sides->snapshots[k], sides->snapshots[i]) == BOOTS_SAME)
				return error_create(
					"%s and %s are of one boot, so they are not independent: "
					"take several captures of one boot on each side, or one "
					"of each boot",
					sides->items[k].name, sides->items[i].name);
	return NULL;
}

static struct error *check_distinct(const struct sides *sides, size_t first, size_t end)
{
	double seconds;

	for (size_t i = first + 1; i < end; i++)
		if (boots_of(sides->snapshots[i - 1], sides->snapshots[i]) == BOOTS_SAME &&
		    seconds_between(sides->snapshots[i - 1], sides->snapshots[i], &seconds) &&
		    seconds == 0)
			return error_create("%s and %s are the same capture",
					    sides->items[i - 1].name, sides->items[i].name);
	return NULL;
}

/* Both sides must be read in the same way, or their values would differ in kind. */
static struct error *take_sides(struct repeats *repeats)
{
	const struct sides *sides = repeats->report->sides;
	const size_t edges[] = { 0, sides->baselines, sides->count };
	bool windows =
		is_one_boot(sides, edges[0], edges[1]) && is_one_boot(sides, edges[1], edges[2]);
	struct error *err = NULL;

	if (windows && repeats->report->view->normalize != NORMALIZE_NOT)
		return error_create("--normalize: the totals of several captures of one boot are "
				    "compared per second already");
	if (!windows && (repeats->report->view->window || repeats->report->view->rate))
		return error_create("--window, --rate: the captures of each side are not of one "
				    "boot, in the order of time");
	for (size_t side = 0; side < 2 && !err; side++) {
		err = check_distinct(sides, edges[side], edges[side + 1]);
		if (!err && !windows)
			err = check_independent(sides, edges[side], edges[side + 1]);
	}
	if (err)
		return err;
	repeats->windows = windows;
	repeats->piece.window = repeats->piece.births = repeats->piece.rate = windows;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = edges[side] + windows; i < edges[side + 1] && !err; i++)
			err = take_piece(repeats, windows ? i - 1 : NO_BASELINE, i, side);
	return err;
}

/* --- rows --- */

static bool has_both(const struct series *series)
{
	return series->samples[0].count && series->samples[1].count;
}

/* Is it shown? What is only judged has a series, too. */
static bool is_shown(const struct report *report, const struct series *series)
{
	const struct selection *selection = &report->view->metrics;
	const struct measure *measure = series->measure;

	if (!report_has(report, measure->section) ||
	    (series->group && !view_matches(report->view, series->group)))
		return false;
	return !measure_is_metric(measure) || selection_has(selection, measure->number);
}

/* Zero in all captures is no question that chance could answer wrongly. */
static bool is_all_zero(const struct statistics_sample *sample)
{
	return sample->mean == 0 && sample->variance == 0;
}

static bool is_tested(const struct repeats *repeats, const struct series *series)
{
	return has_both(series) && series->tested && is_shown(repeats->report, series) &&
	       !(is_all_zero(&series->samples[0]) && is_all_zero(&series->samples[1]));
}

static struct datum mean_datum(const struct series *series, size_t side)
{
	return (struct datum){ .kind = DATUM_REAL,
			       .measured = series->measured[side],
			       .threads = series->threads[side],
			       .impossible = series->impossible[side],
			       .real = series->samples[side].mean };
}

/* A single value has no spread. */
static double spread_of(const struct statistics_sample *sample)
{
	return sample->count > 1 ? sqrt(sample->variance) : NAN;
}

static bool add_series_row(struct repeats *repeats, const struct series *series, double p)
{
	struct report *report = repeats->report;
	struct significance *significance = arena_alloc(&report->arena, sizeof(*significance));
	enum section section = report_section_of(report, series->measure);
	struct row row = {
		.measure = series->measure,
		.group = series->group,
		.number = series->number,
		.threads_before = series->threads[0],
		.threads_after = series->threads[1],
		.before = mean_datum(series, 0),
		.after = mean_datum(series, 1),
		.significance = significance,
	};

	if (!significance)
		return false;
	*significance = (struct significance){ .before_count = series->samples[0].count,
					       .after_count = series->samples[1].count,
					       .before_spread = spread_of(&series->samples[0]),
					       .after_spread = spread_of(&series->samples[1]),
					       .p = p };
	datum_compare(&row.before, &row.after, &row.change);
	for (size_t i = 0; i < report->results.count; i++)
		if (report->measures + report->results.items[i].condition->metric == row.measure &&
		    condition_is_about(report->results.items[i].condition, row.group) &&
		    !condition_judge(&report->results.items[i], &row))
			return false;
	if (!is_shown(report, series) || (report->view->people && measure_is_label(row.measure)))
		return true;
	report_mark(report, &row);
	return report_section_add(&report->sections[section], report->view, true, row);
}

/* P values of the series that were tested, adjusted; the others get one above 1. */
static bool test_all(const struct repeats *repeats, double *p)
{
	_cleanup_free_ double *tested = calloc(repeats->count + 1, sizeof(*tested));
	size_t count = 0;

	if (!tested)
		return false;
	for (size_t i = 0; i < repeats->count; i++)
		if (is_tested(repeats, &repeats->items[i]))
			tested[count++] = welch_p(&repeats->items[i].samples[0],
						  &repeats->items[i].samples[1]);
	if (!benjamini_hochberg(tested, count))
		return false;
	count = 0;
	for (size_t i = 0; i < repeats->count; i++)
		p[i] = is_tested(repeats, &repeats->items[i]) ? tested[count++] : 2;
	return true;
}

static bool add_series_rows(struct repeats *repeats)
{
	_cleanup_free_ double *p = calloc(repeats->count + 1, sizeof(*p));

	if (!p || !test_all(repeats, p))
		return false;
	for (size_t i = 0; i < repeats->count; i++)
		if (has_both(&repeats->items[i]) &&
		    !add_series_row(repeats, &repeats->items[i], p[i]))
			return false;
	return true;
}

/* A group that both sides have, without values on both: its condition cannot be decided. */
static bool condition_unmeasured(struct repeats *repeats, struct condition_result *result,
				 uint32_t place)
{
	struct report *report = repeats->report;
	uint32_t key = report->sides->by_name[place];
	const struct measure *measure = report->measures + result->condition->metric;
	const struct name *label = report->sides->keys.items[key].label, *group;
	struct row row = { .measure = measure };
	uint32_t number;

	if (!condition_is_about(result->condition, label))
		return true;
	group = names_intern(&report->names, label->bytes, label->length);
	if (!group)
		return false;
	number = word_map_find(&repeats->numbers, series_words(measure, group, place));
	return (number != WORD_MAP_NEW && has_both(&repeats->items[number])) ||
	       condition_judge(result, &row);
}

/* Mark the keys that a side has in some capture. */
static void mark_keys(const struct sides *sides, size_t first, size_t end, bool *marks)
{
	for (size_t i = first; i < end; i++)
		for (size_t t = 0; t < sides->snapshots[i]->threads.count; t++)
			if (sides->key_of[i][t] != NO_KEY)
				marks[sides->key_of[i][t]] = true;
}

/* Keys that both sides have in one of their captures. */
static bool find_in_both(struct report *report)
{
	const struct sides *sides = report->sides;
	size_t keys = sides->keys.count;
	_cleanup_free_ bool *before = calloc(keys + 1, sizeof(*before));

	report->in_both = calloc(keys + 1, sizeof(*report->in_both));
	if (!before || !report->in_both)
		return false;
	mark_keys(sides, 0, sides->baselines, before);
	mark_keys(sides, sides->baselines, sides->count, report->in_both);
	for (size_t key = 0; key < keys; key++)
		report->in_both[key] &= before[key];
	return true;
}

static bool condition_others(struct repeats *repeats)
{
	struct report *report = repeats->report;

	for (size_t i = 0; i < report->results.count; i++)
		for (uint32_t place = 0; place < report->sides->keys.count; place++)
			if (report->in_both[report->sides->by_name[place]] &&
			    !condition_unmeasured(repeats, &report->results.items[i], place))
				return false;
	return true;
}

static bool note_method(struct repeats *repeats)
{
	const struct sides *sides = repeats->report->sides;
	size_t before = sides->baselines - repeats->windows;
	size_t after = sides->count - sides->baselines - repeats->windows;

	if (!report_note(repeats->report,
			 "%zu and %zu values of each row, %s; p is that of Welch's "
			 "test, adjusted for all rows (Benjamini-Hochberg): below "
			 "0.05, a difference exceeds the usual variation",
			 before, after,
			 repeats->windows ? "from one capture to the next, totals per second"
					  : "one for each capture"))
		return false;
	return (before >= VALUES_LEAST && after >= VALUES_LEAST) ||
	       report_note(repeats->report,
			   "fewer than %d values on a side rarely show a difference: take %d "
			   "captures of one boot on each side, or %d of different boots",
			   VALUES_LEAST, VALUES_LEAST + 1, VALUES_LEAST);
}

/* Show all rows of a piece: what is hidden is decided over all pieces. */
static struct view view_of_piece(const struct report *report)
{
	const struct view *view = report->view;
	struct view piece = *view;

	piece.all_rows = true;
	piece.changed = false;
	piece.people = false;
	piece.limit = 0;
	piece.min_percent = 0;
	for (size_t i = 0; i < array_length(piece.min_delta); i++)
		piece.min_delta[i] = 0;
	piece.order = ORDER_USUAL;
	/* Conditions also test rows that are not shown. */
	piece.match.count = piece.not_match.count = 0;
	for (size_t i = 0; i < view->conditions.count; i++) {
		unsigned metric = view->conditions.items[i].metric;

		selection_add(&piece.metrics, metric);
		piece.sections |= 1u << report->measures[metric].section;
	}
	piece.conditions.count = 0;
	return piece;
}

struct error *report_fill_repeats(struct report *report)
{
	struct repeats repeats = { .report = report, .piece = view_of_piece(report) };
	struct error *err = take_sides(&repeats);

	if (!err)
		err = add_series_rows(&repeats) && find_in_both(report) &&
				      condition_others(&repeats) && note_method(&repeats)
			      ? NULL
			      : &error_no_memory;
	array_deinit(&repeats);
	word_map_deinit(&repeats.numbers);
	/* Adds gaps of the first and the last capture, and groups that only they have. */
	return err ? err : report_fill_threads(report);
}
