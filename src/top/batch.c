/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grid.h"
#include "base/interrupts.h"
#include "cli/display.h"
#include "cli/terminal.h"
#include "os/tasks.h"
#include "security/privileges.h"
#include "state/filter.h"
#include "top/top.h"
#include "tui/columns.h"

static volatile sig_atomic_t is_over;

static void on_signal(int number)
{
	(void)number;
	is_over = true;
}

bool top_batch_is_over(void)
{
	return is_over;
}

/* The interval at which an engine collects ended threads. */
#define TICK_NS (NS_PER_S / 4)

static struct error *tick_batch(const struct top *top)
{
	PRIVILEGES_RAISED;

	return engine_tick(top->engine);
}

/* Or until a signal ends it. */
static struct error *wait_for_tick(struct top *top, uint64_t until_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error *err = NULL;

	while (!err && !is_over && now < until_ns) {
		const uint64_t next = until_ns - now > TICK_NS ? now + TICK_NS : until_ns;
		const struct timespec at = clock_timespec(next);

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		if (next < until_ns)
			err = tick_batch(top);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	return err;
}

/* Print what this window lacks. */
static void print_incomplete(const struct top *top)
{
	const struct state_cost *cost = &top->window.cost;

	if (cost->threads_torn)
		fprintf(stderr,
			"ctprof: %" PRIu64 " thread%s omitted from this window: changed during "
			"every read\n",
			cost->threads_torn, plural(cost->threads_torn));
	if (cost->delays_impossible)
		fprintf(stderr,
			"ctprof: %" PRIu64 " delay%s omitted from this window: longer than the "
			"life of the thread\n",
			cost->delays_impossible, plural(cost->delays_impossible));
}

/* Once, for most of them stay. */
static void print_lost(struct top *top)
{
	const uint64_t lost = top->readings[top->now].cost.threads_lost;

	if (!lost || top->has_printed_lost)
		return;
	fprintf(stderr, "ctprof: %" PRIu64 " thread%s omitted: thread table full\n", lost,
		plural(lost));
	top->has_printed_lost = true;
}

/* Print the first failure at once; the rest is in the summary. */
static void print_recorder(struct top *top)
{
	struct top_recorder_status status = { 0 };

	if (!top->recorder || top->has_printed_recorder)
		return;
	top_recorder_look(top->recorder, &status);
	if (!status.failed)
		return;
	fprintf(stderr, "ctprof: cannot record a capture: %s\n", status.problem);
	top->has_printed_recorder = true;
}

/* People read the first rows; programs, and those who ask for it, get all. */
#define ROWS_DEFAULT 10

static size_t top_batch_limit(const struct top_arguments *a)
{
	if (a->limit)
		return a->limit;
	return a->all || a->format != STATES_FORMAT_TABLE ? 0 : ROWS_DEFAULT;
}

/* --- columns that were asked for --- */

/* So is what decides the order. */
static struct error *choose_columns(const struct top_arguments *a, struct state_sort sort,
				    struct top_batch *ret)
{
	struct column_choice choice;
	struct error *err;

	ret->facts = state_sort_facts(sort);
	ret->has_exits = state_sort_source(sort) == COLUMN_FROM_EXITS;
	if (!a->columns)
		return NULL;
	err = column_choice_parse(text_of(a->columns), &choice);
	if (err)
		return err;
	ret->facts |= column_choice_facts(&choice);
	ret->has_exits |= choice.is_on[TOP_COLUMN_EXIT];
	return NULL;
}

/* Read what was asked for of the rows that will be printed: of lines, by their places. */
static struct error *read_facts(struct top *top, unsigned facts, size_t limit)
{
	struct top_batch *batch = &top->batch;
	const size_t count = limit && limit < top->list.lines.count ? limit : top->list.lines.count;
	const unsigned wanted = facts & row_facts_by(top->view.grouping);

	batch->subjects.count = batch->rows.count = 0;
	if (!wanted || top->replay)
		return NULL;
	if (!array_reserve(&batch->subjects, count) || !array_reserve(&batch->rows, count))
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		batch->subjects.items[batch->subjects.count++] = row_subject_of(
			&top->list.lines.items[i], top->view.grouping == STATE_BY_THREAD);
	top_read_facts(top, wanted, batch->subjects.items, count, batch->rows.items);
	batch->rows.count = count;
	return NULL;
}

/* The rows of the window in their order, which may be by a fact of all of them. */
static struct error *list_rows(struct top *top)
{
	struct top_batch *batch = &top->batch;
	const unsigned order = state_sort_facts(top->view.sort);
	struct row_fact_set set = { .rows = { .count = 0 } };
	struct error *err;

	if (batch->has_exits)
		last_exits_take(&batch->exits, &top->window);
	top->view.exits = &batch->exits;
	err = state_list_make(&top->list, &top->window, &top->view);
	if (err || !order)
		return err;
	err = read_facts(top, order, 0);
	if (err)
		return err;
	row_fact_set_take(&set, batch->rows.items, batch->rows.count);
	batch->rows = (__typeof__(batch->rows)){ .count = 0 };
	top->view.facts = &set;
	err = state_list_make(&top->list, &top->window, &top->view);
	top->view.facts = NULL;
	row_fact_set_deinit(&set);
	return err;
}

/* Rates need a reading before the first window: of all that may be in it. */
static struct error *read_facts_first(struct top *top)
{
	const struct state_reading *reading = &top->readings[top->now];
	struct top_batch *batch = &top->batch;
	const bool by_thread = top->view.grouping == STATE_BY_THREAD;

	if (!(batch->facts & row_facts_by(top->view.grouping) & ROW_RATE_FACTS))
		return NULL;
	for (size_t i = 0; i < reading->threads.count; i++) {
		const struct state_thread *thread = &reading->threads.items[i];
		const struct row_subject subject = { .tid = thread->tid,
						     .tgid = thread->tgid,
						     .is_process = !by_thread,
						     .seen_ns = thread->seen_ns };

		if (!by_thread && thread->tid != thread->tgid)
			continue;
		if (!array_push(&batch->subjects, subject))
			return &error_no_memory;
	}
	if (!array_reserve(&batch->rows, batch->subjects.count))
		return &error_no_memory;
	top_read_facts(top, ROW_RATE_FACTS, batch->subjects.items, batch->subjects.count,
		       batch->rows.items);
	return NULL;
}

static struct error *print_window(struct top *top, size_t number)
{
	const struct top_arguments *a = top->arguments;
	struct states_report report = {
		.window = &top->window,
		.list = &top->list,
		.engine = top->replay ? replay_facts(top->replay)->engine : engine_names[top->kind],
		.number = number,
		.limit = top_batch_limit(a),
		.grouping = a->grouping,
		.format = a->format,
		.width = terminal_table_width(),
		.colour = terminal_wants_colour(),
		.has_time = top->replay,
		.has_hosts = top->replay && replay_has_hosts(top->replay),
		.user_name = top_user_name,
		.context = &top->users,
	};
	struct error *err;

	if (a->inspect)
		return top_inspect_window(top, number);
	err = list_rows(top);
	if (!err)
		err = read_facts(top, top->batch.facts, report.limit);
	report.facts = top->batch.facts;
	report.rows = top->batch.rows.items;
	report.row_count = top->batch.rows.count;
	report.exits = top->batch.has_exits ? &top->batch.exits : NULL;
	return err ? err : states_report_print(&report, stdout);
}

/* Of several numbers, the first that has no row: once. */
static void print_missing(struct top *top)
{
	struct error *err = NULL;
	uint32_t number;
	bool is_process;

	if (top->has_printed_missing)
		return;
	number = top_missing_target(top, &is_process);
	if (!number)
		return;
	top->has_printed_missing = true;
	if (task_is_alive(number))
		err = target_hidden_number(is_process, number);
	if (err)
		fprintf(stderr, "ctprof: %s\n", err->message);
	else
		fprintf(stderr, "ctprof: %s %" PRIu32 " has ended\n",
			is_process ? "process" : "thread", number);
	error_destroy(err);
}

static struct error *print_engine_window(struct top *top, size_t number)
{
	const struct top_arguments *a = top->arguments;
	struct error *err = top_is_target_hidden(top) ? target_hidden(&a->target, &a->tids) : NULL;

	if (err)
		return err;
	print_lost(top);
	print_missing(top);
	print_incomplete(top);
	print_recorder(top);
	return print_window(top, number);
}

/* Have all threads ended that were selected by number? Then there is nothing more to print. */
static bool have_ended(const struct top *top)
{
	if (!top_targets_have_ended(top))
		return false;
	fprintf(stderr, "ctprof: %s ended\n", top->target);
	return true;
}

static struct error *run_engine(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	struct error *err = top_read_first(top);
	uint64_t next = clock_ns(CLOCK_MONOTONIC);

	if (!err && a->inspect)
		top_inspect_begin(top);
	if (!err)
		err = read_facts_first(top);
	for (size_t number = 0; !err && !is_over && (!a->count || number < a->count); number++) {
		next = grid_next(next, a->interval_ns, top->readings[top->now].at_ns,
				 clock_ns(CLOCK_MONOTONIC));
		err = wait_for_tick(top, next);
		if (!err)
			err = top_read_window(top);
		if (!err)
			err = print_engine_window(top, number);
		if (!err && have_ended(top))
			break;
	}
	return err;
}

/* --- replays --- */

/* The filter without its terms for states: those say what threads did, the others which there are.
 */
static struct state_filter filter_of_names(const struct state_filter *filter)
{
	struct state_filter names = *filter;

	names.count = 0;
	for (size_t i = 0; i < filter->count; i++)
		if (filter->terms[i].kind != STATE_TERM_STATE)
			names.terms[names.count++] = filter->terms[i];
	return names;
}

/* Has the window a thread of those that were asked for, whatever it did? */
static bool has_requested(const struct top *top)
{
	const struct state_filter names = filter_of_names(&top->filter);
	struct state_view view = top->view;

	view.filter = &names;
	for (size_t i = 0; i < top->window.deltas.count; i++)
		if (state_view_shows(&view, &top->window.deltas.items[i]))
			return true;
	return false;
}

/* The error for a replay without any thread that was asked for: a misspelt name would look like an
 * idle one. */
static struct error *nothing_requested(const struct top *top, size_t windows)
{
	const struct state_filter names = filter_of_names(&top->filter);
	_cleanup_free_ char *filter =
		names.count ? text_safe_copy(text_of(top->arguments->filter)) : NULL;

	if (!filter && !*top->target)
		return NULL;
	return error_create("no thread%s%s%s%s%s in %zu window%s", *top->target ? " of " : "",
			    top->target, filter ? " matches --filter '" : "", filter ? filter : "",
			    filter ? "'" : "", windows, plural(windows));
}

/* Windows have the numbers that they have in the recording. */
static struct error *run_replay(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	const size_t first = replay_at(top->replay);
	const struct replay_facts *facts = replay_facts(top->replay);
	size_t told = 0, windows = 0;
	bool more = true, found = top->arguments->inspect;
	struct error *err = NULL;

	while (!err && !is_over && more) {
		err = top_read_window(top);
		if (facts->left_out > told)
			fprintf(stderr, "ctprof: %zu capture%s skipped: %s\n",
				facts->left_out - told, plural(facts->left_out - told),
				facts->problem);
		told = facts->left_out;
		if (!err)
			err = print_window(top, replay_at(top->replay));
		windows++;
		found = found || err || has_requested(top);
		more = (!a->count || replay_at(top->replay) - first + 1 < a->count) &&
		       replay_step(top->replay, 1);
	}
	return err || found || is_over ? err : nothing_requested(top, windows);
}

struct error *top_run_batch(struct top *top)
{
	const struct sigaction ending = { .sa_handler = on_signal };
	struct states_report report = {
		.format = top->arguments->format,
		.has_hosts = top->replay && replay_has_hosts(top->replay),
	};
	struct error *err = choose_columns(top->arguments, top->view.sort, &top->batch);

	report.facts = top->batch.facts;
	report.exits = top->batch.has_exits ? &top->batch.exits : NULL;
	if (!err && !top->arguments->inspect)
		err = states_report_begin(&report, stdout);

	if (!interrupts_is_ignored(SIGINT))
		sigaction(SIGINT, &ending, NULL);
	if (!interrupts_is_ignored(SIGTERM))
		sigaction(SIGTERM, &ending, NULL);
	if (err)
		return err;
	err = top->replay ? run_replay(top) : run_engine(top);
	if (!err && !top->replay && !top->arguments->inspect &&
	    top->arguments->format == STATES_FORMAT_TABLE)
		top_batch_next(top, stdout);
	return err ? err : top_inspect_end(top);
}
