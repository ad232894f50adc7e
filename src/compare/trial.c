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
 * The test is Welch's, and what it says is adjusted for all rows together (statistics.h).
 */
#include <math.h>
#include <stdlib.h>

#include "compare/judge.h"
#include "compare/sheet_fill.h"
#include "compare/statistics.h"

/* Fewer values than this on a side leave the test next to nothing to find. */
#define VALUES_LEAST 4

struct series {
	const struct measure *measure;
	const struct name *group;
	uint32_t number;
	uint32_t threads[2], measured[2]; /* of the last capture */
	uint32_t impossible[2];           /* threads, of the capture that has most of them */
	struct sample samples[2];         /* baseline, candidate */
	bool tested;
};

struct trial {
	struct sheet *sheet;
	struct view piece; /* how a piece of two captures is looked at */
	bool windows;      /* the captures of each side are of one boot */
	struct word_map numbers;
	ARRAY(struct series);
};

/* --- values --- */

/* The measure of a row of a piece, in the sheet as a whole. */
static const struct measure *measure_of(struct trial *trial, const struct measure *of_piece,
					bool per_second)
{
	struct sheet *sheet = trial->sheet;
	struct measure *measure;

	if (measure_is_metric(of_piece))
		measure = &sheet->measures[of_piece->number];
	else
		measure = sheet_measure_of(sheet, of_piece->section, of_piece->kind,
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

static struct series *series_of(struct trial *trial, const struct row *row, bool per_second)
{
	struct sheet *sheet = trial->sheet;
	const struct measure *measure = measure_of(trial, row->measure, per_second);
	const struct name *group = NULL;
	uint32_t *number;

	/* Names of some sections are of the piece alone. */
	if (row->group)
		group = names_intern(&sheet->names, row->group->bytes, row->group->length);
	if (!measure || (row->group && !group))
		return NULL;
	number = word_map_at(&trial->numbers, series_words(measure, group, row->number));
	if (!number)
		return NULL;
	if (*number == WORD_MAP_NEW) {
		*number = (uint32_t)trial->count;
		if (!array_push(trial, (struct series){ .measure = measure,
							.group = group,
							.number = row->number,
							.tested = true }))
			return NULL;
	}
	return &trial->items[*number];
}

static bool take_row(struct trial *trial, const struct row *row, size_t side)
{
	bool window = trial->windows;
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
	series = series_of(trial, row, added);
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

static struct error *take_piece(struct trial *trial, size_t before, size_t after, size_t side)
{
	_cleanup_(sheet_destroy) struct sheet *piece = NULL;
	struct error *err = sheet_of_two(trial->sheet->sides, &trial->piece, before, after, &piece);

	if (err)
		return err;
	for (enum section s = 0; s < SECTION_COUNT; s++)
		for (size_t b = 0; b < BLOCK_COUNT; b++)
			for (size_t i = 0; i < piece->parts[s].blocks[b].count; i++)
				if (!take_row(trial, &piece->parts[s].blocks[b].items[i], side))
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

/* Both sides must be looked at in one way, or their values would not be of one kind. */
static struct error *take_sides(struct trial *trial)
{
	const struct sides *sides = trial->sheet->sides;
	const size_t edges[] = { 0, sides->baselines, sides->count };
	bool windows =
		is_one_boot(sides, edges[0], edges[1]) && is_one_boot(sides, edges[1], edges[2]);
	struct error *err = NULL;

	if (windows && trial->sheet->view->normalize != NORMALIZE_NOT)
		return error_create("--normalize: the totals of several captures of one boot are "
				    "compared per second already");
	if (!windows && (trial->sheet->view->window || trial->sheet->view->rate))
		return error_create("--window, --rate: the captures of each side are not of one "
				    "boot, in the order of time");
	for (size_t side = 0; side < 2 && !err; side++) {
		err = check_distinct(sides, edges[side], edges[side + 1]);
		if (!err && !windows)
			err = check_independent(sides, edges[side], edges[side + 1]);
	}
	if (err)
		return err;
	trial->windows = windows;
	trial->piece.window = trial->piece.births = trial->piece.rate = windows;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = edges[side] + windows; i < edges[side + 1] && !err; i++)
			err = take_piece(trial, windows ? i - 1 : NO_BASELINE, i, side);
	return err;
}

/* --- rows --- */

static bool has_both(const struct series *series)
{
	return series->samples[0].count && series->samples[1].count;
}

/* Is it shown? What is only judged has a series, too. */
static bool is_shown(const struct sheet *sheet, const struct series *series)
{
	const struct selection *selection = &sheet->view->metrics;
	const struct measure *measure = series->measure;

	if (!sheet_has(sheet, measure->section) ||
	    (series->group && !view_matches(sheet->view, series->group)))
		return false;
	return !measure_is_metric(measure) || selection_has(selection, measure->number);
}

/* Zero in all captures is no question that chance could answer wrongly. */
static bool is_all_zero(const struct sample *sample)
{
	return sample->mean == 0 && sample->variance == 0;
}

static bool is_tested(const struct trial *trial, const struct series *series)
{
	return has_both(series) && series->tested && is_shown(trial->sheet, series) &&
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

/* One value has no spread. */
static double spread_of(const struct sample *sample)
{
	return sample->count > 1 ? sqrt(sample->variance) : NAN;
}

static bool add_row(struct trial *trial, const struct series *series, double p)
{
	struct sheet *sheet = trial->sheet;
	struct certainty *certainty = arena_alloc(&sheet->arena, sizeof(*certainty));
	enum section section = sheet_section_of(series->measure);
	struct row row = {
		.measure = series->measure,
		.group = series->group,
		.number = series->number,
		.threads_before = series->threads[0],
		.threads_after = series->threads[1],
		.before = mean_datum(series, 0),
		.after = mean_datum(series, 1),
		.certainty = certainty,
	};

	if (!certainty)
		return false;
	*certainty = (struct certainty){ .before_count = series->samples[0].count,
					 .after_count = series->samples[1].count,
					 .before_spread = spread_of(&series->samples[0]),
					 .after_spread = spread_of(&series->samples[1]),
					 .p = p };
	datum_compare(&row.before, &row.after, &row.change);
	for (size_t i = 0; i < sheet->findings.count; i++)
		if (sheet->measures + sheet->findings.items[i].judgement->metric == row.measure &&
		    judge_is_about(sheet->findings.items[i].judgement, row.group) &&
		    !judge_row(&sheet->findings.items[i], &row))
			return false;
	if (!is_shown(sheet, series))
		return true;
	sheet_mark(sheet, &row);
	return part_add(&sheet->parts[section], sheet->view, true, row);
}

/* P values of the series that were tested, adjusted; the others get one above 1. */
static bool test_all(const struct trial *trial, double *p)
{
	_cleanup_free_ double *tested = calloc(trial->count + 1, sizeof(*tested));
	size_t count = 0;

	if (!tested)
		return false;
	for (size_t i = 0; i < trial->count; i++)
		if (is_tested(trial, &trial->items[i]))
			tested[count++] =
				welch_p(&trial->items[i].samples[0], &trial->items[i].samples[1]);
	if (!benjamini_hochberg(tested, count))
		return false;
	count = 0;
	for (size_t i = 0; i < trial->count; i++)
		p[i] = is_tested(trial, &trial->items[i]) ? tested[count++] : 2;
	return true;
}

static bool add_rows(struct trial *trial)
{
	_cleanup_free_ double *p = calloc(trial->count + 1, sizeof(*p));

	if (!p || !test_all(trial, p))
		return false;
	for (size_t i = 0; i < trial->count; i++)
		if (has_both(&trial->items[i]) && !add_row(trial, &trial->items[i], p[i]))
			return false;
	return true;
}

/* A group that both sides have, without values on both: its condition cannot be decided. */
static bool judge_unmeasured(struct trial *trial, struct finding *finding, uint32_t place)
{
	struct sheet *sheet = trial->sheet;
	uint32_t key = sheet->sides->by_name[place];
	const struct measure *measure = sheet->measures + finding->judgement->metric;
	const struct name *label = sheet->sides->keys.items[key].label, *group;
	struct row row = { .measure = measure };
	uint32_t number;

	if (!judge_is_about(finding->judgement, label))
		return true;
	group = names_intern(&sheet->names, label->bytes, label->length);
	if (!group)
		return false;
	number = word_map_find(&trial->numbers, series_words(measure, group, place));
	return (number != WORD_MAP_NEW && has_both(&trial->items[number])) ||
	       judge_row(finding, &row);
}

/* Which keys a side has in some capture. */
static void mark_keys(const struct sides *sides, size_t first, size_t end, bool *marks)
{
	for (size_t i = first; i < end; i++)
		for (size_t t = 0; t < sides->snapshots[i]->threads.count; t++)
			marks[sides->key_of[i][t]] = true;
}

/* Keys that both sides have in one of their captures. */
static bool find_in_both(struct sheet *sheet)
{
	const struct sides *sides = sheet->sides;
	size_t keys = sides->keys.count;
	_cleanup_free_ bool *before = calloc(keys + 1, sizeof(*before));

	sheet->in_both = calloc(keys + 1, sizeof(*sheet->in_both));
	if (!before || !sheet->in_both)
		return false;
	mark_keys(sides, 0, sides->baselines, before);
	mark_keys(sides, sides->baselines, sides->count, sheet->in_both);
	for (size_t key = 0; key < keys; key++)
		sheet->in_both[key] &= before[key];
	return true;
}

static bool judge_others(struct trial *trial)
{
	struct sheet *sheet = trial->sheet;

	for (size_t i = 0; i < sheet->findings.count; i++)
		for (uint32_t place = 0; place < sheet->sides->keys.count; place++)
			if (sheet->in_both[sheet->sides->by_name[place]] &&
			    !judge_unmeasured(trial, &sheet->findings.items[i], place))
				return false;
	return true;
}

static bool note_method(struct trial *trial)
{
	const struct sides *sides = trial->sheet->sides;
	size_t before = sides->baselines - trial->windows;
	size_t after = sides->count - sides->baselines - trial->windows;

	if (!sheet_note(trial->sheet,
			"%zu and %zu values of each row, %s; p is that of Welch's "
			"test, adjusted for all rows (Benjamini-Hochberg): below "
			"0.05 a difference is more than what varies anyway",
			before, after,
			trial->windows ? "from one capture to the next, totals per second"
				       : "one for each capture"))
		return false;
	return (before >= VALUES_LEAST && after >= VALUES_LEAST) ||
	       sheet_note(trial->sheet,
			  "fewer than %d values on a side can show next to nothing: take %d "
			  "captures of one boot on each side, or %d of different boots",
			  VALUES_LEAST, VALUES_LEAST + 1, VALUES_LEAST);
}

/* Nothing is hidden in a piece: what there is decides, not what one piece shows. */
static struct view view_of_piece(const struct sheet *sheet)
{
	const struct view *view = sheet->view;
	struct view piece = *view;

	piece.all_rows = true;
	piece.changed = false;
	piece.limit = 0;
	piece.min_percent = 0;
	for (size_t i = 0; i < array_length(piece.min_delta); i++)
		piece.min_delta[i] = 0;
	piece.order = ORDER_USUAL;
	/* What is judged may not be shown. */
	piece.match.count = piece.not_match.count = 0;
	for (size_t i = 0; i < view->judgements.count; i++) {
		unsigned metric = view->judgements.items[i].metric;

		selection_add(&piece.metrics, metric);
		piece.sections |= 1u << sheet->measures[metric].section;
	}
	piece.judgements.count = 0;
	return piece;
}

struct error *sheet_fill_trial(struct sheet *sheet)
{
	struct trial trial = { .sheet = sheet, .piece = view_of_piece(sheet) };
	struct error *err = take_sides(&trial);

	if (!err)
		err = add_rows(&trial) && find_in_both(sheet) && judge_others(&trial) &&
				      note_method(&trial)
			      ? NULL
			      : &error_no_memory;
	array_deinit(&trial);
	word_map_deinit(&trial.numbers);
	/* What the first and the last capture lack, and the groups that only they have. */
	return err ? err : sheet_fill_threads(sheet);
}
