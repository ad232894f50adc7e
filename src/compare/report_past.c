/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the totals of a window are compared with: the same threads' average rate before it, since
 * each began, and the host's since boot. A share of a total would say how old a thread is: what
 * took a second in ten, as ever, adds 1 % to a life of a thousand seconds and 100 % to one of ten.
 */
#include <math.h>

#include "compare/report_fill.h"

void report_find_rates(struct report *report)
{
	const struct view *view = report->view;

	report->has_rates = report->comparing && view->rates && view->window &&
			    !report->odd_ticks && report->has_elapsed && report->elapsed_s > 0;
	/* Conditions are about shares of totals, and tables say what was judged. */
	report->against_rates = report->has_rates && view->people && !view->conditions.count;
	if (report->has_rates)
		report->past =
			(struct past){ report_now_ticks(report->baseline), report->elapsed_s };
}

/* --- of threads --- */

static double derived_total(const struct report *report, const struct ctprof_thread *thread,
			    const struct derived *derived)
{
	struct derived_sum sum = { 0 };
	struct datum datum;

	derived_add(&sum, derived, &thread->record, &report->sides->waits.added, NULL);
	datum = derived_datum(&sum, derived);
	return datum.kind == DATUM_NUMBER ? (double)datum.number : 0;
}

/* Impossible values (impossible.h) count as 0. */
static double metric_total(const struct report *report, const struct ctprof_thread *thread,
			   enum metric_id id)
{
	const struct metric_set *impossible = impossible_of(&report->impossible, thread);

	if (!metric_set_has(&thread->record.measured, id) ||
	    (impossible && metric_set_has(impossible, id)))
		return 0;
	return past_total(thread, &metrics[id], &report->sides->waits.added);
}

/* Per second; NaN: not known. Threads of different ages each have their own rate. */
static double rate_of_group(const struct report *report, const struct group *group, unsigned number)
{
	const enum metric_id id =
		number < METRIC_COUNT ? (enum metric_id)number : METRIC_run_time_ns;
	double rate = 0;

	for (size_t i = 0; i < group->count; i++) {
		const struct ctprof_thread *thread = group->threads[i];
		double seconds = past_seconds(&report->past, thread, id);

		if (!(seconds > 0))
			return NAN;
		rate += (number < METRIC_COUNT
				 ? metric_total(report, thread, id)
				 : derived_total(report, thread,
						 &derived_metrics[number - METRIC_COUNT])) /
			seconds;
	}
	return rate;
}

/* --- of the host --- */

/* Files do not say when a cgroup was made: only what has counted nothing so far has a rate. */
static double rate_of_others(const struct report *report, const struct row *row)
{
	const enum section_subject subject = section_infos[row->measure->section].subject;
	const struct reading age = snapshot_age_ticks(report->baseline);

	if (row->before.number == 0)
		return 0;
	if ((subject != SUBJECT_HOST && subject != SUBJECT_DEVICE) || !age.measured || !age.value)
		return NAN;
	return (double)row->before.number / ((double)age.value / TICKS_PER_S);
}

/* --- a row --- */

/* Two clocks may tell that a wait in progress shrank: no rate is below none. */
static void take_share_of_rate(const struct report *report, struct row *row)
{
	struct datum_change *change = &row->change;
	double rate = report->view->rate ? change->delta : change->delta / report->elapsed_s;

	change->has_share = row->has_rate_before && (row->rate_before > 0 || rate > 0);
	if (change->has_share)
		change->share =
			row->rate_before > 0 ? fmax(rate / row->rate_before - 1, -1) : HUGE_VAL;
}

void report_rate_before(const struct report *report, const struct group *before, struct row *row)
{
	if (!report->has_rates || !row->measure->is_total || !row->change.has_delta ||
	    row->before.kind != DATUM_NUMBER)
		return;
	row->rate_before = before ? rate_of_group(report, before, row->measure->number)
				  : rate_of_others(report, row);
	row->has_rate_before = !isnan(row->rate_before);
	if (report->against_rates)
		take_share_of_rate(report, row);
}
