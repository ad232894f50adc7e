/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/overview_fill.h"
#include "compare/report_fill.h"
#include "compare/significance.h"
#include "compare/survivors.h"

const struct overview_cause_info overview_causes[CAUSE_COUNT] = {
#define CAUSE(id, price, fall, a, b, c) \
	[CAUSE_##id] = { price, fall, { METRIC_##a, METRIC_##b, METRIC_##c } },
	OVERVIEW_CAUSES(CAUSE)
#undef CAUSE
};

/* What a group does as it always did counts so much beside what changed. */
#define LEVEL_WEIGHT    0.1

#define THREADS_UNKNOWN UINT32_MAX

/* With so many spans on a side, a change is weighed by how much that varies over time. */
#define SPANS_LEAST 3

static void find_columns(struct overview_columns *ret)
{
	for (size_t cause = 0; cause < CAUSE_COUNT; cause++) {
		const enum metric_id *ids = overview_causes[cause].metrics;

		ret->first[cause] = ret->count;
		for (size_t i = 0; i < CAUSE_METRICS && (!i || ids[i] != METRIC_COUNT); i++)
			ret->items[ret->count++] =
				(struct overview_column){ (enum overview_cause)cause, ids[i] };
	}
	ret->first[CAUSE_COUNT] = ret->count;
}

/* --- groups --- */

static bool is_named_ctprof(const struct ctprof_thread *thread)
{
	return text_equal(name_text(thread->pcomm), TEXT("ctprof"));
}

/* A thread of a query stands for all threads of a program. Sums do not tell how many these are:
 * then no number of seconds is too many for them. */
static size_t threads_of(const struct ctprof_snapshot *s, const struct ctprof_thread *thread)
{
	const uint64_t count = thread->record.values.thread_count.v;

	if (!s->observed_ns)
		return 1;
	if (!metric_set_has(&thread->record.measured, METRIC_thread_count))
		return THREADS_UNKNOWN;
	return count > THREADS_UNKNOWN ? THREADS_UNKNOWN : (size_t)count;
}

/* The number of threads of each key on each side, in its last capture. A report on ctprof itself is
 * asked for by name. */
static bool find_keys(struct overview_work *work)
{
	const struct sides *sides = work->report->sides;
	const struct view *view = work->report->view;
	const bool asked = view->match.count || view->keys.filter.count;

	work->keys = sides->keys.count;
	work->wanted = calloc(work->keys + 1, sizeof(*work->wanted));
	work->own = calloc(work->keys + 1, sizeof(*work->own));
	work->kernel = calloc(work->keys + 1, sizeof(*work->kernel));
	for (size_t side = 0; side < 2; side++)
		work->threads[side] = calloc(work->keys + 1, sizeof(*work->threads[side]));
	if (!work->wanted || !work->own || !work->kernel || !work->threads[0] || !work->threads[1])
		return false;
	for (size_t key = 0; key < work->keys; key++) {
		work->wanted[key] = view_matches(view, sides->keys.items[key].label);
		work->own[key] = !asked;
		work->kernel[key] = true;
	}
	for (size_t i = 0; i < sides->count; i++)
		for (size_t t = 0; t < sides->snapshots[i]->threads.count; t++) {
			const struct ctprof_snapshot *s = sides->snapshots[i];
			uint32_t key = sides->key_of[i][t];

			if (key == NO_KEY)
				continue;
			work->own[key] = work->own[key] && is_named_ctprof(snapshot_thread(s, t));
			work->kernel[key] =
				work->kernel[key] && is_kernel_thread(s, snapshot_thread(s, t));
			if (i + 1 == sides->count)
				work->threads[1][key] += threads_of(s, snapshot_thread(s, t));
			else if (i + 1 == sides->baselines)
				work->threads[0][key] += threads_of(s, snapshot_thread(s, t));
		}
	return true;
}

/* The median rate over the spans of a side; NaN: not measured. */
static double median_rate(const struct overview_work *work, size_t side, uint32_t key,
			  size_t column)
{
	double values[64];
	size_t count = work->sides[side].count;
	struct robust_spread spread;

	if (count == 1)
		return *overview_rate(&work->sides[side].items[0], key, column);
	/* The last of very many say it as well. */
	for (size_t i = 0; i < count && i < array_length(values); i++)
		values[i] = *overview_rate(&work->sides[side].items[count - 1 - i], key, column);
	if (!robust_spread(values, count < array_length(values) ? count : array_length(values),
			   &spread) ||
	    !spread.count)
		return NAN;
	return spread.median;
}

static bool is_state(enum metric_id id)
{
	return id != METRIC_COUNT && metrics[id].section == SECTION_THREAD_STATES;
}

static void fill_value(const struct overview_work *work, const struct overview_group *group,
		       enum overview_cause cause, struct overview_value *ret)
{
	const struct overview_columns *columns = &work->columns;

	for (size_t column = columns->first[cause];
	     column < columns->first[cause + 1] && !ret->measured; column++) {
		const enum metric_id metric = columns->items[column].metric;
		double before = 0, after;

		after = median_rate(work, 1, group->key, column);
		if (isnan(after))
			continue;
		if (work->sides[0].count)
			before = median_rate(work, 0, group->key, column);
		*ret = (struct overview_value){
			.measured = true,
			.metric = metric,
			/* What was not measured before did not change; but a recording of states
			 * often begins with the first capture. */
			.before = !isnan(before)     ? before
				  : is_state(metric) ? 0
						     : after,
			.after = after,
			.is_first = isnan(before),
		};
	}
}

/* What is in another cause already: blocked threads include those that wait for storage, and bytes
 * passed to write calls those that become dirty pages. */
static void subtract(struct overview_value *from, const struct overview_value *part)
{
	if (!from->measured || !part->measured)
		return;
	from->before = fmax(from->before - part->before, 0);
	from->after = fmax(from->after - part->after, 0);
}

static bool add_groups(struct overview_work *work)
{
	const struct sides *sides = work->report->sides;

	for (uint32_t n = 0; n < work->keys; n++) {
		uint32_t key = sides->by_name[n];
		struct overview_group group = {
			.label = sides->keys.items[key].label,
			.key = key,
			.threads_before = work->threads[0][key],
			.threads_after = work->threads[1][key],
		};

		if (!work->wanted[key])
			continue;
		if (work->report->comparing && !group.threads_before)
			group.presence = PRESENCE_NEW;
		if (work->report->comparing && !group.threads_after)
			group.presence = PRESENCE_ENDED;
		for (enum overview_cause i = 0; i < CAUSE_COUNT; i++) {
			fill_value(work, &group, i, &group.values[i]);
			work->overview->measured[i] |= group.values[i].measured;
		}
		/* Files of older versions count the idle time of kernel threads as blocked. */
		if (work->kernel[key])
			group.values[CAUSE_BLOCKED].measured = false;
		subtract(&group.values[CAUSE_BLOCKED], &group.values[CAUSE_STORAGE]);
		subtract(&group.values[CAUSE_WRITE_CALL], &group.values[CAUSE_WRITE]);
		if (!array_push(&work->overview->groups, group))
			return false;
	}
	return true;
}

/* --- scores --- */

/* How unusual a value is over time, by the spans of the baseline. */
static bool certainty_over_time(const struct overview_work *work,
				const struct overview_group *group,
				const struct overview_value *value, enum overview_cause cause,
				double *ret)
{
	size_t count = work->sides[0].count;
	_cleanup_free_ double *values = malloc((count + 1) * sizeof(*values));
	struct robust_spread spread;
	size_t column = work->columns.first[cause];

	if (!values)
		return false;
	while (work->columns.items[column].metric != value->metric)
		column++;
	for (size_t s = 0; s < count; s++)
		values[s] = *overview_rate(&work->sides[0].items[s], group->key, column);
	if (!robust_spread(values, count, &spread))
		return false;
	*ret = robust_certainty(&spread, spread.median + value->after - value->before);
	return true;
}

/* Of all groups: how they changed, and with the same before nothing, what they did. */
static bool spread_of(const struct overview_work *work, enum overview_cause cause, bool level,
		      struct robust_spread *ret)
{
	const struct overview *overview = work->overview;
	_cleanup_free_ double *values = malloc((overview->groups.count + 1) * sizeof(*values));

	if (!values)
		return false;
	for (size_t i = 0; i < overview->groups.count; i++) {
		const struct overview_value *value = &overview->groups.items[i].values[cause];

		values[i] = value->measured ? value->after - (level ? 0 : value->before) : NAN;
	}
	return robust_spread(values, overview->groups.count, ret);
}

/* The seconds per second that a rate counts for. No time passes faster than a second per second of
 * each thread. (A wait is accounted when it ends, also the part of it that was before; and bytes
 * that stay in memory may be faster than any disk.) */
static double seconds_of(enum overview_cause cause, double rate, size_t threads)
{
	return fmin(rate * overview_causes[cause].ns / (double)NS_PER_S, (double)threads);
}

/* How much it changed, in seconds per second. A level may count for more than all threads can do,
 * and its change for less. */
static double change_seconds(const struct overview_group *group, enum overview_cause cause)
{
	const struct overview_value *value = &group->values[cause];

	if (cause == CAUSE_MEMORY)
		return seconds_of(cause, fabs(value->after - value->before),
				  group->threads_after ? group->threads_after
						       : group->threads_before);
	return fabs(seconds_of(cause, value->after, group->threads_after) -
		    seconds_of(cause, value->before, group->threads_before));
}

/* It used a CPU, hardly does any more, and is there. */
static bool stands_still(const struct overview_group *group)
{
	const struct overview_value *cpu = &group->values[CAUSE_CPU];

	return group->presence == PRESENCE_BOTH && cpu->measured &&
	       cpu->before > 0.01 * (double)NS_PER_S && cpu->after < cpu->before / 4;
}

/* Causes other than CPU time that are measured in nanoseconds. */
static bool is_wait(enum overview_cause cause)
{
	return cause != CAUSE_CPU && overview_causes[cause].ns == 1;
}

/* What a fall counts for against a life. */
static double fall_weight(const struct overview_group *group, enum overview_cause cause)
{
	if (cause == CAUSE_CPU_WAIT && stands_still(group))
		cause = CAUSE_CPU;
	return overview_causes[cause].fall;
}

static bool score_cause(struct overview_work *work, enum overview_cause cause)
{
	struct overview *overview = work->overview;
	const bool of_one_life = work->report->comparing && overview->window_s > 0;
	struct robust_spread changes, levels;

	if (!spread_of(work, cause, false, &changes) || !spread_of(work, cause, true, &levels))
		return false;
	for (size_t i = 0; i < overview->groups.count; i++) {
		struct overview_group *group = &overview->groups.items[i];
		struct overview_value *value = &group->values[cause];
		double change = change_seconds(group, cause), certainty, level = 0;

		if (!value->measured)
			continue;
		if (of_one_life && cause != CAUSE_MEMORY)
			level = seconds_of(cause, value->after, group->threads_after) *
				LEVEL_WEIGHT;
		certainty = robust_certainty(&changes, value->after - value->before);
		if (work->sides[0].count >= SPANS_LEAST &&
		    !certainty_over_time(work, group, value, cause, &certainty))
			return false;
		if (of_one_life && value->after < value->before)
			change *= fall_weight(group, cause);
		value->seconds = change + level;
		value->score = change * certainty + level * robust_certainty(&levels, value->after);
		group->seconds += value->seconds;
		group->score += value->score;
	}
	return true;
}

static void order_causes(struct overview_group *group)
{
	for (size_t i = 0; i < CAUSE_COUNT; i++) {
		size_t k = i;

		for (; k && group->values[group->order[k - 1]].score < group->values[i].score; k--)
			group->order[k] = group->order[k - 1];
		group->order[k] = (enum overview_cause)i;
	}
}

static int by_score(const void *a, const void *b)
{
	const struct overview_group *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return name_compare(x->label, y->label);
}

/* Keep those that matter, in order; ctprof's own count apart. */
static void choose_groups(struct overview_work *work)
{
	struct overview *overview = work->overview;
	const bool is_named = !work->report->comparing && work->report->view->match.count;
	size_t kept = 0;

	for (size_t i = 0; is_named && i < work->report->candidate->threads.count; i++) {
		const uint32_t key = work->report->candidate_keys[i];

		overview->named_threads += key != NO_KEY && work->wanted[key];
	}
	for (size_t i = 0; i < overview->groups.count; i++) {
		struct overview_group *group = &overview->groups.items[i];

		if (work->own[group->key]) {
			overview->own++;
			overview->own_cpu += group->values[CAUSE_CPU].after;
		} else if (group->seconds >= OVERVIEW_SECONDS_LEAST ||
			   (overview->named_threads && group->threads_after)) {
			order_causes(group);
			overview->groups.items[kept++] = *group;
		}
	}
	overview->groups.count = kept;
	if (kept)
		qsort(overview->groups.items, kept, sizeof(*overview->groups.items), by_score);
}

/* --- the process of a group to look at --- */

/* The value of a metric in a thread, or with METRIC_COUNT its memory in bytes. */
static uint64_t metric_value(const struct ctprof_thread *thread, enum metric_id id)
{
	if (id == METRIC_COUNT)
		return (uint64_t)fmax(overview_memory_of(thread), 0);
	return metric_set_has(&thread->record.measured, id)
		       ? metric_load_u64(&thread->record.values, &metrics[id])
		       : 0;
}

static double age_of(const struct ctprof_thread *thread, uint64_t now)
{
	const struct reading start = thread->start_time_clock_ticks;

	return start.measured && start.value < now ? (double)(now - start.value) / TICKS_PER_S : 0;
}

/* Threads of a process follow each other. */
static void find_pid(const struct report *report, const struct survivors *survivors,
		     struct overview_group *group)
{
	const struct ctprof_snapshot *s = report->candidate;
	const uint64_t now = report_now_ticks(s);
	enum metric_id id = group->values[group->order[0]].metric;
	uint64_t most = 0, sum = 0;
	uint32_t pid = 0;

	for (size_t i = 0; i < s->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(s, i);
		uint64_t value, before = 0;

		if (report->candidate_keys[i] != group->key)
			continue;
		if (survivors->before && survivors->before[i] != NO_THREAD)
			before = metric_value(
				snapshot_thread(report->baseline, survivors->before[i]), id);
		group->age_s = fmax(group->age_s, age_of(thread, now));
		value = metric_value(thread, id);
		sum = (thread->tgid == pid ? sum : 0) + (value > before ? value - before : 0);
		pid = thread->tgid;
		if (sum > most || !group->pid) {
			most = sum;
			group->pid = pid;
		}
	}
}

static struct error *find_pids(struct overview_work *work)
{
	struct report *report = work->report;
	struct overview *overview = work->overview;
	struct survivors survivors = { 0 };
	struct error *err = NULL;

	if (report->comparing)
		err = survivors_init(&survivors, report->baseline, report->candidate);
	for (size_t i = 0; !err && i < overview->groups.count && i < OVERVIEW_GROUPS; i++)
		find_pid(report, &survivors, &overview->groups.items[i]);
	survivors_deinit(&survivors);
	return err;
}

/* --- all of it --- */

static struct error *rank(struct overview_work *work)
{
	if (!work->sides[1].count)
		return NULL;
	if (!add_groups(work))
		return &error_no_memory;
	for (enum overview_cause i = 0; i < CAUSE_COUNT; i++)
		if (!score_cause(work, i))
			return &error_no_memory;
	choose_groups(work);
	return find_pids(work);
}

static void work_deinit(struct overview_work *work)
{
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < work->sides[side].count; i++)
			free(work->sides[side].items[i].of);
		array_deinit(&work->sides[side]);
		free(work->threads[side]);
	}
	free(work->wanted);
	free(work->own);
	free(work->kernel);
}

struct error *overview_create(struct report *report, struct overview **ret)
{
	_cleanup_(overview_destroy) struct overview *overview = calloc(1, sizeof(*overview));
	struct overview_work work = { .report = report, .overview = overview };
	struct error *err = NULL;

	if (!overview)
		return &error_no_memory;
	for (size_t i = 0; i < CAUSE_COUNT; i++)
		overview->total_metrics[i] = METRIC_COUNT;
	find_columns(&work.columns);
	if (!find_keys(&work))
		err = &error_no_memory;
	if (!err)
		err = overview_take_spans(&work);
	if (!err)
		err = rank(&work);
	work_deinit(&work);
	if (!err)
		*ret = take_ptr(overview);
	return err;
}

void overview_destroy(struct overview *overview)
{
	if (!overview)
		return;
	array_deinit(&overview->groups);
	free(overview);
}

/* --- reading it --- */

size_t overview_shown(const struct overview *overview)
{
	return overview->groups.count < OVERVIEW_GROUPS ? overview->groups.count : OVERVIEW_GROUPS;
}

bool overview_is_missing(const struct overview *overview, enum overview_cause cause)
{
	return overview->measured[CAUSE_CPU] && !overview->measured[cause];
}

/* Further reasons are told if they weigh at least this share of the first, or, since a cause of the
 * others is often cheap itself, if they multiplied and weigh this little. */
#define REASON_SHARE      0.05
#define REASON_MULTIPLIED 10
#define REASON_SHARE_LOW  0.002

static bool has_multiplied(const struct overview_value *value)
{
	return value->before > 0 && value->after > value->before * REASON_MULTIPLIED;
}

bool overview_is_reason(const struct overview_group *group, size_t i)
{
	const struct overview_value *value = &group->values[group->order[i]];
	const struct overview_value *first = &group->values[group->order[0]];

	return value->measured && value->score > 0 &&
	       value->score >=
		       first->score * (has_multiplied(value) ? REASON_SHARE_LOW : REASON_SHARE);
}

bool overview_is_idle(const struct overview_group *group)
{
	const enum overview_cause first = group->order[0];
	const struct overview_value *value = &group->values[first];

	return stands_still(group) && !(is_wait(first) && value->after > value->before);
}

bool overview_unseen_leads(const struct overview *overview)
{
	return overview->unseen_s > 0 &&
	       (!overview->groups.count ||
		overview->unseen_s / overview->window_s > overview->groups.items[0].score);
}
