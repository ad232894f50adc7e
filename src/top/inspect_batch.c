/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `ctprof top --inspect`: the inspector of one row without a screen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/terminal.h"
#include "report/stream.h"
#include "security/privileges.h"
#include "top/inspect_report.h"
#include "top/inspect_row.h"
#include "top/top.h"

/* --- the row --- */

/* The threads of the number: of a process all, else one. */
static bool is_inspected(const struct top *top, const struct state_thread *thread)
{
	const uint32_t number = top->arguments->inspect;

	return thread->tid == number || thread->tgid == number;
}

/* By what the inspected row is grouped. A process of one thread is that thread; --tid selects a
 * thread of several. */
static enum state_grouping grouping_of(const struct top *top, const struct state_thread **ret)
{
	const struct state_window *window = &top->window;
	const struct state_thread *thread, *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < window->deltas.count; i++) {
		thread = window->deltas.items[i].thread;
		if (!is_inspected(top, thread))
			continue;
		count++;
		if (!found || thread->tid == top->arguments->inspect)
			found = thread;
	}
	*ret = found;
	if (top->arguments->grouping != STATE_BY_THREAD)
		return top->arguments->grouping;
	return count > 1 ? STATE_BY_PROCESS : STATE_BY_THREAD;
}

/* The line of the group that the thread is in; false: the filter excludes it. */
static struct error *find_group(struct top *top, enum state_grouping grouping,
				const struct state_thread *thread, uint64_t *ret, bool *ret_found)
{
	struct state_view view = top->view;
	uint64_t group = 0;
	struct error *err;

	view.grouping = grouping;
	view.is_tree = view.no_folding = true;
	err = state_list_make(&top->list, &top->window, &view);
	for (size_t i = 0; !err && i < top->list.lines.count; i++) {
		const struct state_line *line = &top->list.lines.items[i];

		if (!line->depth)
			group = line->id;
		if (line->depth && line->thread->id == thread->id) {
			*ret = group;
			*ret_found = true;
			break;
		}
	}
	return err;
}

static struct error *find_subject(struct top *top, struct screen_subject *ret, bool *ret_found)
{
	const struct state_thread *thread;
	const enum state_grouping grouping = grouping_of(top, &thread);

	*ret_found = false;
	if (!thread)
		return NULL;
	*ret = (struct screen_subject){
		.grouping = grouping,
		.line = thread->id,
		.thread = *thread,
		.view = &top->view,
	};
	if (grouping != STATE_BY_THREAD)
		return find_group(top, grouping, thread, &ret->line, ret_found);
	*ret_found = true;
	return NULL;
}

/* --- as JSON --- */

static struct error *print_report(const struct inspect_report *report)
{
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	struct error *err = json_writer_init(&w, stream_to_file, stdout);

	if (err)
		return err;
	inspect_report_put(&w, report);
	err = json_writer_finish(&w);
	if (!err)
		fputc('\n', stdout);
	return err;
}

static struct error *print_json(struct top *top, const struct screen_subject *subject,
				size_t number)
{
	const bool has_limits = !top->replay && !subject->thread.has_ended;
	struct thread_limits limits = { 0 };
	struct wait_answer answer;
	struct inspected_row row;
	struct error *err = inspected_row_find(top, subject, &row);

	if (!err)
		err = inspected_row_answer(top, &row, &answer);
	if (err)
		return err;
	if (has_limits)
		thread_limits_read(subject->thread.tid, &top->inspector.throttle, &limits);
	err = print_report(&(struct inspect_report){
		.window = number,
		.at_unix_ns = top->window.at_unix_ns,
		.measured = top->window.measured,
		.grouping = subject->grouping,
		.thread = &subject->thread,
		.line = &row.line,
		.answer = &answer,
		.limits = has_limits ? &limits : NULL,
	});
	thread_limits_deinit(&limits);
	wait_answer_deinit(&answer);
	return err;
}

/* --- a window --- */

struct error *top_inspect_window(struct top *top, size_t number)
{
	const size_t width = isatty(STDOUT_FILENO) ? terminal_width() : 0;
	struct screen_subject subject;
	struct error *err;
	bool found;

	PRIVILEGES_RAISED;

	err = find_subject(top, &subject, &found);
	if (err)
		return err;
	if (!found) {
		if (top->inspector.has_found)
			fprintf(stderr, "ctprof: no row of %" PRIu32 " in this window\n",
				top->arguments->inspect);
		top->inspector.has_missed = true;
		return NULL;
	}
	top->inspector.has_found = true;
	if (top->inspector.is_watch_early)
		thread_watch_finish(top->inspector.watch, top_batch_is_over);
	if (top->arguments->format == STATES_FORMAT_JSON) {
		err = print_json(top, &subject, number);
	} else {
		if (number)
			fputc('\n', stdout);
		err = top_inspect(top, &subject, width, stdout);
	}
	fflush(stdout);
	return err;
}

struct error *top_inspect_end(const struct top *top)
{
	if (!top->inspector.has_missed || top->inspector.has_found)
		return NULL;
	return error_create("no row of %" PRIu32 "%s", top->arguments->inspect,
			    top->arguments->filter ? " that meets --filter" : "");
}

/* Nothing is printed until the first window ends. */
static void say_length(const struct top_arguments *a)
{
	char amount[UNITS_TEXT_MAX];

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "measuring %" PRIu32 " for %s...\n", a->inspect,
			units_format(amount, UNIT_NS, (__int128)a->interval_ns));
}

void top_inspect_begin(struct top *top)
{
	const struct top_arguments *a = top->arguments;
	const struct state_reading *reading = &top->readings[top->now];
	struct top_inspector *inspector = &top->inspector;
	const bool is_process = a->target.pids.count;
	const struct watch_target target = {
		.pid = is_process ? a->inspect : 0,
		.tids = &a->inspect,
		.tid_count = !is_process,
	};

	PRIVILEGES_RAISED;

	say_length(a);
	if (wait_host())
		cpu_loads_read(wait_host()->proc, &inspector->loads);
	for (size_t i = 0; i < reading->threads.count; i++)
		if (is_inspected(top, &reading->threads.items[i])) {
			const struct state_thread *thread = &reading->threads.items[i];

			throttle_read(thread->tid, thread->cgroup ? thread->cgroup->bytes : NULL,
				      &inspector->throttle);
		}
	if (a->format == STATES_FORMAT_JSON || (a->filter && *a->filter) ||
	    (a->grouping != STATE_BY_THREAD && a->grouping != STATE_BY_PROCESS))
		return;
	inspector->watch = thread_watch_start(&target);
	inspector->is_watch_early = inspector->watch != NULL;
}
