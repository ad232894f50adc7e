/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/state_bars.h"

#include <math.h>
#include <stdlib.h>

#include "report/amount.h"
#include "report/markup.h"
#include "report/overview_reason.h"
#include "report/visible.h"

/* Kinds of time, in the order of bars: PART(id, class of assets/report_page.css, words) */
#define BAR_PARTS(PART)                                    \
	PART(EXEC, "exec", "running")                      \
	PART(RUNNABLE, "runnable", "waiting for a CPU")    \
	PART(LOCK, "lock", "waiting for locks")            \
	PART(DISK, "disk", "waiting for storage")          \
	PART(BLOCKED, "blocked", "blocked in the kernel")  \
	PART(PAGING, "paging", "waiting for memory")       \
	PART(NETWORK, "network", "waiting at sockets")     \
	PART(PIPE, "pipe", "waiting at pipes")             \
	PART(TIMER, "timer", "sleeping for a time")        \
	PART(OTHER, "other", "waiting for something else") \
	PART(STOPPED, "stopped", "stopped")

enum bar_part {
#define PART(id, ...) PART_##id,
	BAR_PARTS(PART)
#undef PART
		PART_COUNT
};

static const struct {
	const char *class, *words;
} parts[PART_COUNT] = {
#define PART(id, ...) [PART_##id] = { __VA_ARGS__ },
	BAR_PARTS(PART)
#undef PART
};

/* Time of a group by kind, in seconds per second, on each side. */
struct bar {
	const struct overview_group *group;
	double after[PART_COUNT], before[PART_COUNT];
	bool has_before;
};

struct bars {
	const struct report *report;
	struct bar items[OVERVIEW_GROUPS];
	size_t count;
	double most;           /* the longest bar */
	bool used[PART_COUNT]; /* which kinds some bar has */
};

/* --- of the causes of an overview, which the kernel counts --- */

static const struct {
	enum overview_cause cause;
	enum bar_part part;
} cause_parts[] = {
	{ CAUSE_CPU, PART_EXEC },        { CAUSE_CPU_WAIT, PART_RUNNABLE },
	{ CAUSE_LOCK, PART_LOCK },       { CAUSE_STORAGE, PART_DISK },
	{ CAUSE_BLOCKED, PART_BLOCKED }, { CAUSE_SWAP, PART_PAGING },
	{ CAUSE_RECLAIM, PART_PAGING },  { CAUSE_COMPACT, PART_PAGING },
};

/* The kernel's block_sum includes iowait_sum (update_stats_enqueue_sleeper_fair()). */
static void take_storage_out(double times[PART_COUNT])
{
	times[PART_BLOCKED] = fmax(0, times[PART_BLOCKED] - times[PART_DISK]);
}

static void fill_from_causes(struct bar *bar, const struct overview_group *group)
{
	for (size_t i = 0; i < array_length(cause_parts); i++) {
		const struct overview_value *value = &group->values[cause_parts[i].cause];

		if (!value->measured)
			continue;
		bar->after[cause_parts[i].part] += value->after / (double)NS_PER_S;
		bar->before[cause_parts[i].part] += value->before / (double)NS_PER_S;
	}
	take_storage_out(bar->after);
	take_storage_out(bar->before);
}

/* --- of recordings of top, which know every state --- */

/* The time of a main state includes that of its parts, so rows of parts also subtract it there. */
static const struct {
	enum metric_id metric;
	enum bar_part part;
	double sign;
} state_parts[] = {
	{ METRIC_state_exec_ns, PART_EXEC, 1 },
	{ METRIC_state_runnable_ns, PART_RUNNABLE, 1 },
	{ METRIC_state_lock_ns, PART_LOCK, 1 },
	{ METRIC_state_paging_ns, PART_PAGING, 1 },
	{ METRIC_state_stopped_ns, PART_STOPPED, 1 },
	{ METRIC_state_sleep_ns, PART_OTHER, 1 },
	{ METRIC_state_sleep_disk_ns, PART_DISK, 1 },
	{ METRIC_state_sleep_disk_ns, PART_OTHER, -1 },
	{ METRIC_state_sleep_network_ns, PART_NETWORK, 1 },
	{ METRIC_state_sleep_network_ns, PART_OTHER, -1 },
	{ METRIC_state_sleep_pipe_ns, PART_PIPE, 1 },
	{ METRIC_state_sleep_pipe_ns, PART_OTHER, -1 },
	{ METRIC_state_sleep_timer_ns, PART_TIMER, 1 },
	{ METRIC_state_sleep_timer_ns, PART_OTHER, -1 },
};

static bool add_states(const struct report *report, const struct groups *groups, uint32_t key,
		       double sign, struct group_sums *sums, double times[PART_COUNT])
{
	struct selection wanted = { 0 };

	if (!groups->items || !groups->items[key].count)
		return true;
	for (size_t i = 0; i < array_length(state_parts); i++)
		metric_set_add(&wanted.metrics, state_parts[i].metric);
	if (!group_sum(&groups->items[key], &wanted, &report->sides->waits.added,
		       &report->impossible, sums))
		return false;
	for (size_t i = 0; i < array_length(state_parts); i++) {
		const enum metric_id id = state_parts[i].metric;
		const struct datum datum = aggregate_datum(&sums->metrics[id], &metrics[id]);

		if (datum.kind == DATUM_NUMBER)
			times[state_parts[i].part] += sign * state_parts[i].sign *
						      (double)datum.number / (double)NS_PER_S;
	}
	return true;
}

static void divide(double times[PART_COUNT], double seconds)
{
	for (size_t i = 0; i < PART_COUNT; i++)
		times[i] = fmax(0, times[i] / seconds);
}

/* Totals of a query are those of its time, which is as long on both sides. */
static bool fill_from_queries(struct bar *bar, const struct report *report,
			      const struct overview_group *group, struct group_sums *sums)
{
	const double seconds = (double)report->candidate->longest_observed_ns / (double)NS_PER_S;

	if (!add_states(report, &report->after, group->key, 1, sums, bar->after) ||
	    (report->comparing &&
	     !add_states(report, &report->before, group->key, 1, sums, bar->before)))
		return false;
	divide(bar->after, seconds);
	divide(bar->before, seconds);
	return true;
}

/* Recordings have totals since their begin, so the times of a window are differences of two. */
static bool fill_from_states(struct bar *bar, const struct report *report,
			     const struct overview_group *group, struct group_sums *sums)
{
	const double seconds = report->overview->window_s > 0 ? report->overview->window_s : 1;
	/* `after` has only threads that both sides have; a new group's threads are in `born`. */
	const struct groups *after = group->presence == PRESENCE_NEW && report->born.items
					     ? &report->born
					     : &report->after;

	if (!add_states(report, after, group->key, 1, sums, bar->after) ||
	    (report->comparing &&
	     !add_states(report, &report->before, group->key, -1, sums, bar->after)))
		return false;
	divide(bar->after, seconds);
	return true;
}

/* --- measuring --- */

static double sum_of(const double times[PART_COUNT])
{
	double sum = 0;

	for (size_t i = 0; i < PART_COUNT; i++)
		sum += times[i];
	return sum;
}

static void add_bar(struct bars *bars, const struct bar *bar)
{
	const double longest = fmax(sum_of(bar->after), sum_of(bar->before));

	if (!(longest > 0) || bars->count == OVERVIEW_GROUPS)
		return;
	for (size_t i = 0; i < PART_COUNT; i++)
		bars->used[i] |= bar->after[i] > 0 || bar->before[i] > 0;
	bars->most = fmax(bars->most, longest);
	bars->items[bars->count++] = *bar;
}

static struct error *measure_bars(const struct report *report, struct bars *ret)
{
	const struct overview *overview = report->overview;
	struct group_sums *sums = calloc(1, sizeof(*sums));
	bool done = sums != NULL;

	*ret = (struct bars){ .report = report };
	for (size_t i = 0; done && i < overview_shown(overview); i++) {
		const struct overview_group *group = &overview->groups.items[i];
		struct bar bar = { .group = group };

		if (report->has_states && report->candidate->longest_observed_ns)
			done = fill_from_queries(&bar, report, group, sums);
		else if (report->has_states)
			done = fill_from_states(&bar, report, group, sums);
		else
			fill_from_causes(&bar, group);
		bar.has_before = report->comparing && sum_of(bar.before) > 0;
		add_bar(ret, &bar);
	}
	if (sums)
		group_sums_deinit(sums);
	free(sums);
	return done ? NULL : &error_no_memory;
}

/* --- drawing --- */

#define LABEL_WIDTH   210
#define BARS_WIDTH    560
#define WIDTH         920
#define BAR_HEIGHT    13
#define BEFORE        5 /* height of the bar of the side before */
#define ROW_HEIGHT    (BAR_HEIGHT + BEFORE + 8)
#define LABEL_LETTERS 30
/* Narrower parts are not drawn. */
#define LEAST_WIDTH 0.3

static char *time_text(char buffer[AMOUNT_MAX], const struct bars *bars, double rate)
{
	return overview_amount_in_window(buffer, bars->report->overview, METRIC_run_time_ns,
					 rate * (double)NS_PER_S);
}

static void draw_parts(FILE *out, const struct bars *bars, const double times[PART_COUNT], double y,
		       int height, const char *suffix, const char *when)
{
	double x = LABEL_WIDTH;
	char text[AMOUNT_MAX];

	for (size_t i = 0; i < PART_COUNT; i++) {
		const double width = BARS_WIDTH * times[i] / bars->most;

		if (width >= LEAST_WIDTH)
			fprintf(out,
				"<rect class=\"%s%s\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
				"height=\"%d\"><title>%s%s: %s</title></rect>\n",
				parts[i].class, suffix, x, y, width, height, when, parts[i].words,
				time_text(text, bars, times[i]));
		x += width;
	}
}

static struct error *draw_label(FILE *out, const struct overview_group *group, double y)
{
	_cleanup_free_ char *visible = text_visible(name_text(group->label));
	_cleanup_free_ char *label = visible ? text_shortened(visible, LABEL_LETTERS) : NULL;
	struct error *err;

	if (!label)
		return &error_no_memory;
	fprintf(out, "<text class=\"end\" x=\"%d\" y=\"%.1f\">", LABEL_WIDTH - 8, y);
	err = markup_text(out, text_of(label));
	if (!err) {
		fputs("<title>", out);
		err = markup_text(out, text_of(visible));
		fputs("</title>", out);
	}
	fputs("</text>\n", out);
	return err;
}

static struct error *draw_bar(FILE *out, const struct bars *bars, const struct bar *bar, double y)
{
	char text[AMOUNT_MAX];
	struct error *err = draw_label(out, bar->group, y + BAR_HEIGHT - 2);

	draw_parts(out, bars, bar->after, y, BAR_HEIGHT, "", "");
	if (bar->has_before)
		draw_parts(out, bars, bar->before, y + BAR_HEIGHT + 1, BEFORE, " before",
			   "before, ");
	fprintf(out, "<text class=\"faint\" x=\"%d\" y=\"%.1f\">%s</text>\n",
		LABEL_WIDTH + BARS_WIDTH + 8, y + BAR_HEIGHT - 2,
		time_text(text, bars, sum_of(bar->after)));
	return err;
}

static void draw_key(FILE *out, const struct bars *bars)
{
	fputs("<p class=\"key\">", out);
	for (size_t i = 0; i < PART_COUNT; i++)
		if (bars->used[i])
			fprintf(out,
				"<span><svg width=\"10\" height=\"10\"><rect class=\"%s\" "
				"width=\"10\" height=\"10\"/></svg> %s</span>",
				parts[i].class, parts[i].words);
	fputs("</p>\n", out);
}

static void draw_heading(FILE *out, const struct bars *bars)
{
	const struct overview *overview = bars->report->overview;
	bool any_before = false;
	char time[AMOUNT_MAX];

	for (size_t i = 0; i < bars->count; i++)
		any_before |= bars->items[i].has_before;
	fputs("<h3>What the threads did with their time</h3>\n<p class=\"faint\">", out);
	if (overview->window_s > 0)
		fprintf(out, "Time of all threads of a group in %s.",
			amount_time(time, overview->window_s));
	else
		fputs("Time of all threads of a group, per second.", out);
	fputs(any_before ? " The thin bar below is the time before, at the same scale.</p>\n"
			 : "</p>\n",
	      out);
}

struct error *state_bars_print(FILE *out, const struct report *report)
{
	struct error *err;
	struct bars bars;

	if (!report->overview || report->overview->why_not)
		return NULL;
	err = measure_bars(report, &bars);
	if (err || !bars.count)
		return err;
	draw_heading(out, &bars);
	draw_key(out, &bars);
	fprintf(out,
		"<svg class=\"bars\" role=\"img\" aria-label=\"Time of each group, by kind\" "
		"viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\">\n",
		WIDTH, bars.count * ROW_HEIGHT, WIDTH, bars.count * ROW_HEIGHT);
	for (size_t i = 0; !err && i < bars.count; i++)
		err = draw_bar(out, &bars, &bars.items[i], (double)(i * ROW_HEIGHT) + 2);
	fputs("</svg>\n", out);
	return err;
}
