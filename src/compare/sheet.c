/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/sheet_fill.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "compare/judge.h"

/* --- measures --- */

static bool make_measures(struct sheet *sheet)
{
	static const char *const pers[] = { [NORMALIZE_AGE] = "/s", [NORMALIZE_CPU] = "/CPU s" };
	const char *per = pers[sheet->view->normalize];

	sheet->measures = calloc(METRIC_COUNT + DERIVED_COUNT, sizeof(*sheet->measures));
	if (!sheet->measures)
		return false;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		/* Threads there are now are no total, though they add up. */
		bool is_total =
			metrics[i].kind == KIND_TOTAL && metrics[i].sources[0].id != SOURCE_ONE;

		sheet->measures[i] = (struct measure){
			.name = metrics[i].name,
			.number = (unsigned)i,
			.unit = metrics[i].unit,
			.section = metrics[i].section,
			.is_total = is_total,
			.per = is_total ? per : NULL,
			.metric = &metrics[i],
		};
	}
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		const struct derived *derived = &derived_metrics[i];
		bool is_total = derived->form == DERIVED_OFFCPU;

		sheet->measures[METRIC_COUNT + i] = (struct measure){
			.name = derived->name,
			.number = (unsigned)(METRIC_COUNT + i),
			.unit = derived->unit,
			.section = derived->section,
			.is_total = is_total,
			.is_ratio = derived->is_ratio,
			.per = is_total ? per : NULL,
		};
	}
	return true;
}

struct measure *sheet_measure_of(struct sheet *sheet, enum section section, unsigned kind,
				 struct text text)
{
	const struct name *name = names_intern(&sheet->names, text.bytes, text.length);
	struct measure *measure;
	uint32_t *number;

	if (!name)
		return NULL;
	number = word_map_at(&sheet->made, (struct words){ { (uintptr_t)name, section, kind } });
	if (!number)
		return NULL;
	if (*number != WORD_MAP_NEW)
		return sheet->more.items[*number];
	measure = arena_alloc(&sheet->arena, sizeof(*measure));
	if (!measure)
		return NULL;
	*number = (uint32_t)sheet->more.count;
	*measure = (struct measure){
		.name = name->bytes,
		.number = METRIC_COUNT + DERIVED_COUNT + *number,
		.section = section,
	};
	return array_push(&sheet->more, measure) ? measure : NULL;
}

/* --- rows --- */

/* What does not grow has no change per second. */
static void change_per_second(const struct sheet *sheet, struct row *row)
{
	if (!row->measure->is_total || !row->change.has_delta || !sheet->has_elapsed ||
	    sheet->elapsed_s == 0) {
		row->change.has_delta = row->change.has_share = false;
		return;
	}
	row->change.real = true;
	row->change.delta /= fabs(sheet->elapsed_s);
}

void sheet_change(const struct sheet *sheet, struct row *row)
{
	if (!sheet->comparing)
		return;
	datum_compare(&row->before, &row->after, &row->change);
	if (sheet->odd_ticks && row->measure->unit == UNIT_TICKS)
		row->change.has_delta = row->change.has_share = false;
	if (sheet->view->rate)
		change_per_second(sheet, row);
}

bool sheet_add(struct sheet *sheet, const struct measure *measure, const struct name *group,
	       uint32_t number, const struct datum *before, const struct datum *after)
{
	struct row row = { .measure = measure, .group = group, .number = number };

	if (before)
		row.before = *before;
	if (after)
		row.after = *after;
	sheet_change(sheet, &row);
	return part_add(&sheet->parts[measure->section], sheet->view, sheet->comparing, row);
}

void sheet_mark(struct sheet *sheet, const struct row *row)
{
	if (!row_is_impossible(row))
		return;
	selection_add(&sheet->marked, row->measure->number);
	sheet->marked_rows++;
}

bool sheet_note(struct sheet *sheet, const char *format, ...)
{
	va_list arguments;
	bool done;

	va_start(arguments, format);
	done = lines_add(&sheet->notes, format, arguments);
	va_end(arguments);
	return done;
}

/* Names of groups choose among what has names: the rest is left out, unless asked for. */
static bool is_about_groups(enum section section)
{
	return section_infos[section].subject != SUBJECT_HOST &&
	       section_infos[section].subject != SUBJECT_DEVICE;
}

bool sheet_has(const struct sheet *sheet, enum section section)
{
	const struct view *view = sheet->view;

	if (!(view->sections >> section & 1))
		return false;
	/* Nearly all snapshots are of none, and nobody who looks at them thinks of it. */
	if (section == SECTION_THREAD_STATES && !sheet->has_states)
		return view->sections_named || view->metrics_named;
	if (section_infos[section].subject == SUBJECT_CGROUP)
		return view->axis == &group_axes[AXIS_CGROUP];
	return view->sections_named || is_about_groups(section) ||
	       (!view->match.count && !view->not_match.count);
}

bool sheet_has_part(const struct sheet *sheet, enum section section)
{
	if (section == SECTION_TASKSTATS_DELAY)
		return false;
	if (section == SECTION_PRIMARY || section == SECTION_DERIVED)
		return sheet_has(sheet, section) || sheet_has(sheet, SECTION_TASKSTATS_DELAY);
	return sheet_has(sheet, section);
}

enum section sheet_section_of(const struct measure *measure)
{
	if (measure->section != SECTION_PRIMARY && measure->section != SECTION_TASKSTATS_DELAY &&
	    measure->section != SECTION_DERIVED)
		return measure->section;
	return measure_is_derived(measure) ? SECTION_DERIVED : SECTION_PRIMARY;
}

/* --- the sheet --- */

/* One snapshot, or a user who ranks groups, is shown group by group. */
static void order_parts(struct sheet *sheet)
{
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		sheet->parts[i].section = i;
		sheet->parts[i].by_group =
			!sheet->comparing || (sheet->view->order == ORDER_GROUPS &&
					      (section_infos[i].subject == SUBJECT_GROUP ||
					       section_infos[i].subject == SUBJECT_CGROUP));
	}
}

/* Of an unusual architecture; all of what we say of ticks is of 1/100 s. */
static bool has_odd_ticks(const struct ctprof_snapshot *s)
{
	return s->host && s->host->clock_ticks_per_s.measured &&
	       s->host->clock_ticks_per_s.value != TICKS_PER_S;
}

static bool any_has_states(const struct sides *sides)
{
	struct metric_set any = { 0 };
	bool found = false;

	for (size_t i = 0; i < sides->count; i++)
		for (size_t t = 0; t < sides->snapshots[i]->threads.count; t++)
			for (size_t w = 0; w < array_length(any.words); w++)
				any.words[w] |= snapshot_thread(sides->snapshots[i], t)
							->record.measured.words[w];
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		found |= metrics[i].section == SECTION_THREAD_STATES && metric_set_has(&any, i);
	return found;
}

static struct error *start(const struct sides *sides, const struct view *view, size_t baseline,
			   size_t candidate, struct sheet **ret)
{
	_cleanup_(sheet_destroy) struct sheet *sheet = calloc(1, sizeof(*sheet));

	if (!sheet)
		return &error_no_memory;
	*sheet = (struct sheet){
		.view = view,
		.sides = sides,
		.candidate = sides->snapshots[candidate],
		.candidate_keys = sides->key_of[candidate],
		.comparing = baseline != NO_BASELINE,
		.has_states = any_has_states(sides),
	};
	arena_init(&sheet->arena, SIZE_MAX / 2);
	names_init(&sheet->names, &sheet->arena);
	if (sheet->comparing) {
		sheet->baseline = sides->snapshots[baseline];
		sheet->baseline_keys = sides->key_of[baseline];
		sheet->boots = boots_of(sheet->baseline, sheet->candidate);
		sheet->has_elapsed =
			seconds_between(sheet->baseline, sheet->candidate, &sheet->elapsed_s);
	}
	sheet->odd_ticks = has_odd_ticks(sheet->candidate) ||
			   (sheet->comparing && has_odd_ticks(sheet->baseline));
	order_parts(sheet);
	if (!make_measures(sheet) || !judge_start(sheet))
		return &error_no_memory;
	*ret = take_ptr(sheet);
	return NULL;
}

static struct error *fill(struct sheet *sheet)
{
	struct error *err = sheet_fill_threads(sheet);

	if (!err)
		err = sheet_fill_cgroups(sheet);
	if (!err)
		err = sheet_fill_processes(sheet);
	return err ? err : sheet_fill_host(sheet);
}

struct error *sheet_of_two(const struct sides *sides, const struct view *view, size_t baseline,
			   size_t candidate, struct sheet **ret)
{
	_cleanup_(sheet_destroy) struct sheet *sheet = NULL;
	struct error *err = start(sides, view, baseline, candidate, &sheet);

	if (!err)
		err = fill(sheet);
	if (err)
		return err;
	*ret = take_ptr(sheet);
	return NULL;
}

struct error *sheet_create(const struct sides *sides, struct sheet **ret)
{
	_cleanup_(sheet_destroy) struct sheet *sheet = NULL;
	struct error *err = start(sides, sides->view, sides->baselines ? 0 : NO_BASELINE,
				  sides->count - 1, &sheet);

	if (err)
		return err;
	sheet->trial = sides->count > 2;
	err = sheet->trial ? sheet_fill_trial(sheet) : fill(sheet);
	if (!err)
		err = sheet_fill_notes(sheet);
	if (err)
		return err;
	judge_finish(sheet);
	for (enum section i = 0; i < SECTION_COUNT; i++)
		part_finish(&sheet->parts[i], sheet->view);
	*ret = take_ptr(sheet);
	return NULL;
}

void sheet_destroy(struct sheet *sheet)
{
	if (!sheet)
		return;
	for (enum section i = 0; i < SECTION_COUNT; i++)
		part_deinit(&sheet->parts[i]);
	groups_deinit(&sheet->before);
	groups_deinit(&sheet->after);
	groups_deinit(&sheet->gone);
	groups_deinit(&sheet->born);
	impossible_deinit(&sheet->impossible);
	for (size_t i = 0; i < sheet->findings.count; i++)
		part_deinit(&sheet->findings.items[i].broken);
	array_deinit(&sheet->findings);
	lines_deinit(&sheet->notes);
	array_deinit(&sheet->only_before);
	array_deinit(&sheet->only_after);
	array_deinit(&sheet->more);
	word_map_deinit(&sheet->made);
	free(sheet->measures);
	free(sheet->order);
	free(sheet->in_both);
	names_deinit(&sheet->names);
	arena_deinit(&sheet->arena);
	free(sheet);
}
