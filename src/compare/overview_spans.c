/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rates of all groups over each span that a report has, and what the host did meanwhile.
 */
#include <math.h>
#include <stdlib.h>

#include "compare/overview_fill.h"
#include "compare/past_rate.h"
#include "compare/report_fill.h"
#include "compare/survivors.h"

/* --- rates of all groups over one span --- */

static struct overview_rates *add_rates(struct overview_work *work, size_t side)
{
	const size_t columns = work->columns.count;
	double *of = malloc((work->keys * columns + 1) * sizeof(*of));

	for (size_t i = 0; of && i < work->keys * columns; i++)
		of[i] = NAN;
	if (of &&
	    array_push(&work->sides[side], (struct overview_rates){ .of = of, .columns = columns }))
		return &work->sides[side].items[work->sides[side].count - 1];
	free(of);
	return NULL;
}

static void add_rate(struct overview_rates *rates, uint32_t key, size_t column, double rate)
{
	double *of = overview_rate(rates, key, column);

	*of = (isnan(*of) ? 0 : *of) + rate;
	rates->measured[column] = true;
}

/* A group without threads did nothing of what others were measured for. */
static void fill_absent(const struct overview_work *work, struct overview_rates *rates,
			const bool *has_threads)
{
	for (uint32_t key = 0; key < work->keys; key++)
		for (size_t c = 0; c < rates->columns && !has_threads[key]; c++)
			if (rates->measured[c])
				*overview_rate(rates, key, c) = 0;
}

/* --- the life of threads before a capture --- */

static double age_of(const struct ctprof_snapshot *s)
{
	const struct reading ticks = snapshot_age_ticks(s);

	return ticks.measured ? (double)ticks.value / TICKS_PER_S : 0;
}

/* `seconds` not 0: all is divided by that. */
static void add_thread(struct overview_work *work, struct overview_rates *rates,
		       const struct ctprof_thread *thread, uint32_t key, double seconds,
		       const struct past *past)
{
	const struct metric_set *impossible = impossible_of(&work->report->impossible, thread);
	const struct metric_set *with_waits = &work->report->sides->waits.added;

	for (size_t c = 0; c < work->columns.count; c++) {
		enum metric_id id = work->columns.items[c].metric;
		double divisor;

		if (id == METRIC_COUNT || !metric_set_has(&thread->record.measured, id) ||
		    (impossible && metric_set_has(impossible, id)))
			continue;
		divisor = seconds > 0 ? seconds : past_seconds(past, thread, id);
		if (divisor > 0)
			add_rate(rates, key, c,
				 past_total(thread, &metrics[id], with_waits) / divisor);
	}
}

/* `seconds` not 0: the divisor of all threads. */
static bool take_lives(struct overview_work *work, size_t side, size_t number, double least,
		       double seconds)
{
	const struct ctprof_snapshot *s = work->report->sides->snapshots[number];
	const uint32_t *key_of = work->report->sides->key_of[number];
	_cleanup_free_ bool *has_threads = calloc(work->keys + 1, sizeof(*has_threads));
	struct overview_rates *rates = add_rates(work, side);
	const struct past past = { report_now_ticks(s), least };

	if (!has_threads || !rates)
		return false;
	/* A thread of a query is a program: the time for which its states were known is the sum of
	 * that of its threads. */
	if (s->observed_ns)
		seconds = age_of(s);
	for (size_t i = 0; i < s->threads.count; i++) {
		if (key_of[i] == NO_KEY || !work->wanted[key_of[i]])
			continue;
		has_threads[key_of[i]] = true;
		add_thread(work, rates, snapshot_thread(s, i), key_of[i], seconds, &past);
	}
	fill_absent(work, rates, has_threads);
	return !work->report->comparing || overview_take_memory(work, rates, number);
}

/* --- from one capture to another --- */

/* A number of a metric that was added in the span, by a group. */
static void take_amount(struct overview_work *work, struct overview_rates *rates, uint32_t key,
			unsigned metric, __int128 amount, bool impossible, double seconds)
{
	struct overview *overview = work->overview;

	for (size_t c = 0; c < work->columns.count; c++) {
		enum metric_id *total = &overview->total_metrics[work->columns.items[c].cause];

		if (work->columns.items[c].metric != metric)
			continue;
		if (*total == METRIC_COUNT)
			*total = work->columns.items[c].metric;
		if (*total == metric)
			overview->totals[work->columns.items[c].cause] += amount;
		if (!impossible)
			add_rate(rates, key, c, (double)amount / seconds);
	}
}

static void forget_amount(const struct overview_work *work, struct overview_rates *rates,
			  uint32_t key, unsigned metric)
{
	for (size_t c = 0; c < work->columns.count; c++)
		if (work->columns.items[c].metric == metric)
			*overview_rate(rates, key, c) = NAN;
}

/* Without a row, a group did nothing of what others were measured for. */
static void start_span(struct overview_work *work, struct overview_rates *rates,
		       const struct metric_set *measured)
{
	for (size_t c = 0; c < work->columns.count; c++) {
		enum metric_id id = work->columns.items[c].metric;
		enum metric_id *total =
			&work->overview->total_metrics[work->columns.items[c].cause];

		rates->measured[c] = id < METRIC_COUNT && metric_set_has(measured, id);
		if (rates->measured[c] && *total == METRIC_COUNT)
			*total = id;
	}
	for (uint32_t key = 0; key < work->keys; key++)
		for (size_t c = 0; c < work->columns.count; c++)
			if (rates->measured[c])
				*overview_rate(rates, key, c) = 0;
}

/* What threads did that lived all the time. A row without a number is of a group that was measured
 * in part. */
static void take_rows(struct overview_work *work, struct overview_rates *rates,
		      const struct report_section *section, const struct report *piece)
{
	for (size_t g = 0; g < ROW_GROUP_COUNT; g++)
		for (size_t i = 0; i < section->row_groups[g].count; i++) {
			const struct row *row = &section->row_groups[g].items[i];
			uint32_t key = piece->sides->by_name[row->number];

			if (row->change.has_delta)
				take_amount(work, rates, key, row->measure->number,
					    row->change.twice / 2, row_is_impossible(row),
					    piece->elapsed_s);
			else
				forget_amount(work, rates, key, row->measure->number);
		}
}

/* What those did that began in the span. */
static bool take_born(struct overview_work *work, struct overview_rates *rates,
		      const struct report *piece)
{
	struct group_sums *sums = calloc(1, sizeof(*sums));
	bool done = sums != NULL;

	for (uint32_t key = 0; done && key < work->keys; key++) {
		const struct group *born = &piece->born.items[key];

		if (!born->count || !work->wanted[key])
			continue;
		done = group_sum(born, &work->piece.metrics, &piece->sides->waits.added,
				 &piece->impossible, sums);
		for (enum metric_id id = 0; done && id < METRIC_COUNT; id++) {
			const struct datum datum =
				metric_set_has(&work->piece.metrics.metrics, id)
					? aggregate_datum(&sums->metrics[id], &metrics[id])
					: (struct datum){ 0 };

			if (datum.kind == DATUM_NUMBER)
				take_amount(work, rates, key, id, datum.number, datum.impossible,
					    piece->elapsed_s);
		}
	}
	if (sums)
		group_sums_deinit(sums);
	free(sums);
	return done;
}

static struct error *take_span(struct overview_work *work, size_t side, size_t from, size_t to)
{
	_cleanup_(report_destroy) struct report *piece = NULL;
	struct error *err = report_of_two(work->report->sides, &work->piece, from, to, &piece);
	struct overview_rates *rates;

	if (err || !piece->has_elapsed || piece->elapsed_s <= 0)
		return err;
	rates = add_rates(work, side);
	if (!rates)
		return &error_no_memory;
	start_span(work, rates, &piece->coverage_after.some);
	for (enum section s = 0; s < SECTION_COUNT; s++)
		take_rows(work, rates, &piece->sections[s], piece);
	return take_born(work, rates, piece) && overview_take_memory(work, rates, to)
		       ? NULL
		       : &error_no_memory;
}

/* Every change of the metrics of causes, of the groups that the report is about. */
static struct view view_of_piece(const struct overview_work *work)
{
	struct view piece = *work->report->view;

	piece.metrics = (struct selection){ 0 };
	piece.sections =
		1u << SECTION_PRIMARY | 1u << SECTION_TASKSTATS_DELAY | 1u << SECTION_THREAD_STATES;
	piece.metrics_named = piece.sections_named = true;
	piece.overview = piece.rates = piece.people = false;
	piece.window = piece.changed = true;
	piece.births = piece.all_rows = piece.rate = piece.shares = false;
	piece.normalize = NORMALIZE_NOT;
	piece.order = ORDER_USUAL;
	piece.limit = piece.sort_count = piece.conditions.count = 0;
	piece.min_percent = 0;
	for (size_t i = 0; i < DIMENSIONS; i++)
		piece.min_delta[i] = 0;
	for (size_t c = 0; c < work->columns.count; c++)
		if (work->columns.items[c].metric < METRIC_COUNT)
			selection_add(&piece.metrics, work->columns.items[c].metric);
	return piece;
}

/* --- which spans there are --- */

/* A file without a boot is of the same as another whose threads it mostly has. */
static struct error *is_one_boot(const struct report *report, bool *ret)
{
	size_t shared = 0, count = report->baseline->threads.count;
	struct survivors survivors;
	struct error *err;

	*ret = report->boots == BOOTS_SAME ||
	       (report->boots != BOOTS_DIFFERENT && report->view->window);
	if (*ret || report->boots == BOOTS_DIFFERENT)
		return NULL;
	err = survivors_init(&survivors, report->baseline, report->candidate);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++)
		shared += survivors.after[i] != NO_THREAD;
	survivors_deinit(&survivors);
	*ret = shared > count / 2;
	return NULL;
}

/* Of both sides, are all captures of one boot, each with one after it? */
static bool are_windows(const struct sides *sides)
{
	for (size_t i = 0; i + 1 < sides->count; i++)
		if (i + 1 != sides->baselines &&
		    boots_of(sides->snapshots[i], sides->snapshots[i + 1]) != BOOTS_SAME)
			return false;
	return sides->baselines > 1 && sides->count - sides->baselines > 1;
}

static void fill_host(struct overview_work *work, const struct ctprof_snapshot *before_from,
		      const struct ctprof_snapshot *before_to,
		      const struct ctprof_snapshot *after_from,
		      const struct ctprof_snapshot *after_to)
{
	struct overview_span before = { before_from, before_to, 0 };
	struct overview_span after = { after_from, after_to, age_of(after_to) };

	if (before_to)
		before.seconds = age_of(before_to);
	if (before_from && !seconds_between(before_from, before_to, &before.seconds))
		before.seconds = 0;
	if (after_from && !seconds_between(after_from, after_to, &after.seconds))
		after.seconds = 0;
	overview_fill_host(&work->overview->host, &before, &after);
}

/* What all threads of the snapshot have, as the rows of its groups add up. */
static void add_totals(struct overview_work *work)
{
	const struct report *report = work->report;
	struct overview *overview = work->overview;

	for (size_t i = 0; i < report->candidate->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(report->candidate, i);
		uint32_t key = report->candidate_keys[i];

		for (size_t c = 0; c < work->columns.count && key != NO_KEY && work->wanted[key];
		     c++) {
			enum metric_id
				id = work->columns.items[c].metric,
				*total = &overview->total_metrics[work->columns.items[c].cause];

			if (id == METRIC_COUNT || !metric_set_has(&thread->record.measured, id) ||
			    (*total != METRIC_COUNT && *total != id))
				continue;
			*total = id;
			overview->totals[work->columns.items[c].cause] +=
				metric_load_u64(&thread->record.values, &metrics[id]);
			if (metric_set_has(&report->sides->waits.added, id))
				overview->totals[work->columns.items[c].cause] +=
					metric_unaccounted(&thread->record, &metrics[id]);
		}
	}
}

static struct error *take_one(struct overview_work *work)
{
	const struct ctprof_snapshot *s = work->report->candidate;
	double uptime = age_of(s);

	fill_host(work, NULL, NULL, NULL, s);
	add_totals(work);
	/* Any divisor leaves the totals and their order as they are. */
	work->overview->has_uptime = uptime > 0;
	work->overview->window_s = uptime > 0 ? uptime : 1;
	return take_lives(work, 1, 0, 0, work->overview->window_s) ? NULL : &error_no_memory;
}

/* What the CPUs did for threads that ended, and for interrupts; not where it is next to nothing, as
 * the CPUs count in ticks. */
static void find_unseen(struct overview_work *work)
{
	const struct report *report = work->report;
	struct overview *overview = work->overview;
	const struct overview_host *host = &overview->host;
	double busy = host->after[FACT_CPU_BUSY] * (double)host->cpus * overview->window_s;
	double seen = (double)overview->totals[CAUSE_CPU] / (double)NS_PER_S;

	if (report_is_of_host(report->baseline) && report_is_of_host(report->candidate) &&
	    overview->total_metrics[CAUSE_CPU] != METRIC_COUNT && !report->view->match.count &&
	    !report->view->not_match.count && !report->view->keys.filter.count &&
	    busy - seen > fmax(busy / 10, 0.1))
		overview->unseen_s = busy - seen;
}

static struct error *take_two(struct overview_work *work)
{
	struct report *report = work->report;
	bool one_boot = false;
	struct error *err = is_one_boot(report, &one_boot);

	if (err)
		return err;
	fill_host(work, NULL, report->baseline, one_boot ? report->baseline : NULL,
		  report->candidate);
	if (report->odd_ticks)
		work->overview->why_not = "the ages of threads are not known";
	else if (one_boot && !report->has_elapsed)
		work->overview->why_not = "the time between the captures is not known";
	else if (one_boot && report->elapsed_s < 0)
		work->overview->why_not = "the candidate is the older one";
	if (work->overview->why_not || (one_boot && report->elapsed_s == 0))
		return NULL;
	if (!take_lives(work, 0, 0, one_boot ? report->elapsed_s : 1, 0))
		return &error_no_memory;
	if (!one_boot)
		return take_lives(work, 1, 1, 1, 0) ? NULL : &error_no_memory;
	work->overview->window_s = report->elapsed_s;
	err = take_span(work, 1, 0, 1);
	if (!err)
		find_unseen(work);
	return err;
}

static struct error *take_several(struct overview_work *work)
{
	const struct sides *sides = work->report->sides;
	const bool windows = are_windows(sides);
	const size_t edges[] = { 0, sides->baselines, sides->count };
	struct error *err = NULL;

	fill_host(work, windows ? sides->snapshots[0] : NULL, sides->snapshots[edges[1] - 1],
		  windows ? sides->snapshots[edges[1]] : NULL, sides->snapshots[edges[2] - 1]);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = edges[side] + windows; i < edges[side + 1] && !err; i++)
			if (windows)
				err = take_span(work, side, i - 1, i);
			else if (!take_lives(work, side, i, 1, 0))
				err = &error_no_memory;
	/* Spans do not add up to a window. */
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		work->overview->total_metrics[i] = METRIC_COUNT;
	return err;
}

struct error *overview_take_spans(struct overview_work *work)
{
	const struct report *report = work->report;

	work->piece = view_of_piece(work);
	return !report->comparing ? take_one(work)
	       : report->repeated ? take_several(work)
				  : take_two(work);
}
