/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/report_fill.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "compare/condition.h"
#include "compare/overview.h"

/* --- measures --- */

static bool make_measures(struct report *report)
{
	static const char *const pers[] = { [NORMALIZE_AGE] = "/s", [NORMALIZE_CPU] = "/CPU s" };
	const char *per = pers[report->view->normalize];

	report->measures = calloc(METRIC_COUNT + DERIVED_COUNT, sizeof(*report->measures));
	if (!report->measures)
		return false;
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		/* Threads there are now are no total, though they add up. */
		bool is_total =
			metrics[i].kind == KIND_TOTAL && metrics[i].sources[0].id != SOURCE_ONE;

		report->measures[i] = (struct measure){
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

		report->measures[METRIC_COUNT + i] = (struct measure){
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

struct measure *report_measure_of(struct report *report, enum section section, unsigned kind,
				  struct text text)
{
	const struct name *name = names_intern(&report->names, text.bytes, text.length);
	struct measure *measure;
	uint32_t *number;

	if (!name)
		return NULL;
	number = word_map_at(&report->made, (struct words){ { (uintptr_t)name, section, kind } });
	if (!number)
		return NULL;
	if (*number != WORD_MAP_NEW)
		return report->more.items[*number];
	measure = arena_alloc(&report->arena, sizeof(*measure));
	if (!measure)
		return NULL;
	*number = (uint32_t)report->more.count;
	*measure = (struct measure){
		.name = name->bytes,
		.number = METRIC_COUNT + DERIVED_COUNT + *number,
		.section = section,
	};
	return array_push(&report->more, measure) ? measure : NULL;
}

/* --- rows --- */

/* Only totals have a change per second. */
static void change_per_second(const struct report *report, struct row *row)
{
	if (!row->measure->is_total || !row->change.has_delta || report->rate_s == 0) {
		row->change.has_delta = row->change.has_share = false;
		return;
	}
	row->change.real = true;
	row->change.delta /= report->rate_s;
}

void report_change(const struct report *report, struct row *row)
{
	if (!report->comparing)
		return;
	datum_compare(&row->before, &row->after, &row->change);
	if (report->odd_ticks && row->measure->unit == UNIT_TICKS)
		row->change.has_delta = row->change.has_share = false;
	if (report->view->rate)
		change_per_second(report, row);
}

bool report_add(struct report *report, const struct measure *measure, const struct name *group,
		uint32_t number, const struct datum *before, const struct datum *after)
{
	struct row row = { .measure = measure, .group = group, .number = number };

	if (before)
		row.before = *before;
	if (after)
		row.after = *after;
	report_change(report, &row);
	report_rate_before(report, NULL, &row);
	return report_section_add(&report->sections[measure->section], report->view,
				  report->comparing, row);
}

void report_mark(struct report *report, const struct row *row)
{
	if (!row_is_impossible(row))
		return;
	selection_add(&report->marked, row->measure->number);
	report->marked_rows++;
}

bool report_note(struct report *report, const char *format, ...)
{
	va_list arguments;
	bool done;

	va_start(arguments, format);
	done = lines_add(&report->notes, format, arguments);
	va_end(arguments);
	return done;
}

/* Names of groups choose among what has names: the rest is left out, unless asked for. */
static bool is_about_groups(enum section section)
{
	return section_infos[section].subject != SUBJECT_HOST &&
	       section_infos[section].subject != SUBJECT_DEVICE;
}

bool report_has(const struct report *report, enum section section)
{
	const struct view *view = report->view;

	if (!(view->sections >> section & 1))
		return false;
	/* Nearly all snapshots have none, and their reports do not mention it. */
	if (section == SECTION_THREAD_STATES && !report->has_states)
		return view->sections_named || view->metrics_named;
	if (section_infos[section].subject == SUBJECT_CGROUP)
		return view->axis == &group_axes[AXIS_CGROUP];
	return view->sections_named || is_about_groups(section) ||
	       (!view->match.count && !view->not_match.count);
}

bool report_has_section(const struct report *report, enum section section)
{
	if (section == SECTION_TASKSTATS_DELAY)
		return false;
	if (section == SECTION_PRIMARY || section == SECTION_DERIVED)
		return report_has(report, section) || report_has(report, SECTION_TASKSTATS_DELAY);
	return report_has(report, section);
}

enum section report_section_of(const struct report *report, const struct measure *measure)
{
	const struct view *view = report->view;

	if (measure->section != SECTION_PRIMARY && measure->section != SECTION_TASKSTATS_DELAY &&
	    measure->section != SECTION_DERIVED)
		return measure->section;
	if (!measure_is_derived(measure) || (measure->is_total && view->people && view->window))
		return SECTION_PRIMARY;
	return SECTION_DERIVED;
}

/* --- the report --- */

/* A report on one snapshot, or with ranked groups, is in the order of groups. */
static void order_sections(struct report *report)
{
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		report->sections[i].id = i;
		report->sections[i].by_group =
			!report->comparing || (report->view->order == ORDER_GROUPS &&
					       (section_infos[i].subject == SUBJECT_GROUP ||
						section_infos[i].subject == SUBJECT_CGROUP));
	}
}

/* Unusual architectures have other ticks; units and words here assume 1/100 s. */
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

/* Totals of queries are made to be of times that are as long on both sides. */
static double rate_seconds(const struct report *report)
{
	if (report->candidate->observed_ns)
		return (double)report->candidate->longest_observed_ns / (double)NS_PER_S;
	return report->has_elapsed ? fabs(report->elapsed_s) : 0;
}

static struct error *start_report(const struct sides *sides, const struct view *view,
				  size_t baseline, size_t candidate, struct report **ret)
{
	_cleanup_(report_destroy) struct report *report = calloc(1, sizeof(*report));

	if (!report)
		return &error_no_memory;
	*report = (struct report){
		.view = view,
		.sides = sides,
		.candidate = sides->snapshots[candidate],
		.candidate_keys = sides->key_of[candidate],
		.comparing = baseline != NO_BASELINE,
		.has_states = any_has_states(sides),
	};
	arena_init(&report->arena, SIZE_MAX / 2);
	names_init(&report->names, &report->arena);
	if (report->comparing) {
		report->baseline = sides->snapshots[baseline];
		report->baseline_keys = sides->key_of[baseline];
		report->boots = boots_of(report->baseline, report->candidate);
		report->has_elapsed =
			seconds_between(report->baseline, report->candidate, &report->elapsed_s);
		report->rate_s = rate_seconds(report);
	}
	report->odd_ticks = has_odd_ticks(report->candidate) ||
			    (report->comparing && has_odd_ticks(report->baseline));
	report_find_rates(report);
	order_sections(report);
	if (!make_measures(report) || !condition_start(report))
		return &error_no_memory;
	*ret = take_ptr(report);
	return NULL;
}

static struct error *fill_report(struct report *report)
{
	struct error *err = report_fill_threads(report);

	if (!err)
		err = report_fill_cgroups(report);
	if (!err)
		err = report_fill_processes(report);
	return err ? err : report_fill_host(report);
}

struct error *report_of_two(const struct sides *sides, const struct view *view, size_t baseline,
			    size_t candidate, struct report **ret)
{
	_cleanup_(report_destroy) struct report *report = NULL;
	struct error *err = start_report(sides, view, baseline, candidate, &report);

	if (!err)
		err = fill_report(report);
	if (err)
		return err;
	*ret = take_ptr(report);
	return NULL;
}

struct error *report_create(const struct sides *sides, struct report **ret)
{
	_cleanup_(report_destroy) struct report *report = NULL;
	struct error *err = start_report(sides, sides->view, sides->baselines ? 0 : NO_BASELINE,
					 sides->count - 1, &report);

	if (err)
		return err;
	report->repeated = sides->count > 2;
	err = report->repeated ? report_fill_repeats(report) : fill_report(report);
	if (!err)
		err = report_fill_notes(report);
	if (err)
		return err;
	condition_finish(report);
	for (enum section i = 0; i < SECTION_COUNT; i++)
		report_section_finish(&report->sections[i], report->view);
	err = sides->view->overview ? overview_create(report, &report->overview) : NULL;
	if (err)
		return err;
	*ret = take_ptr(report);
	return NULL;
}

void report_destroy(struct report *report)
{
	if (!report)
		return;
	for (enum section i = 0; i < SECTION_COUNT; i++)
		report_section_deinit(&report->sections[i]);
	groups_deinit(&report->before);
	groups_deinit(&report->after);
	groups_deinit(&report->gone);
	groups_deinit(&report->born);
	impossible_deinit(&report->impossible);
	for (size_t i = 0; i < report->results.count; i++)
		report_section_deinit(&report->results.items[i].broken);
	array_deinit(&report->results);
	lines_deinit(&report->notes);
	overview_destroy(report->overview);
	array_deinit(&report->only_before);
	array_deinit(&report->only_after);
	array_deinit(&report->more);
	word_map_deinit(&report->made);
	free(report->measures);
	free(report->order);
	free(report->in_both);
	names_deinit(&report->names);
	arena_deinit(&report->arena);
	free(report);
}
