/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/inspect_row.h"

#include "top/top.h"

/* Waits for a CPU below this need no reason. */
#define RUNNABLE_LEAST 0.05

static void find_thread_row(const struct top *top, const struct screen_subject *subject,
			    struct inspected_row *ret)
{
	const struct state_window *window = &top->window;

	for (size_t i = 0; i < window->deltas.count && !ret->is_there; i++) {
		if (window->deltas.items[i].thread->id != subject->line)
			continue;
		ret->line = state_line_of(window, &window->deltas.items[i]);
		ret->is_there = true;
	}
}

static struct error *find_group_row(struct top *top, const struct screen_subject *subject,
				    struct inspected_row *ret)
{
	struct state_view view = *subject->view;
	const struct state_line *lines;
	struct error *err;
	size_t at = 0, count;

	view.grouping = subject->grouping;
	view.is_tree = view.no_folding = true;
	view.no_ended = false;
	top->inspector.members.count = 0;
	err = state_list_make(&top->list, &top->window, &view);
	if (err)
		return err;
	lines = top->list.lines.items;
	count = top->list.lines.count;
	while (at < count && (lines[at].depth || lines[at].id != subject->line))
		at++;
	if (at == count)
		return NULL;
	ret->is_there = true;
	ret->line = lines[at];
	ret->members = lines + at + 1;
	while (at + 1 + ret->count < count && ret->members[ret->count].depth)
		ret->count++;
	for (size_t i = 0; i < ret->count; i++)
		if (!array_push(&top->inspector.members, ret->members[i].thread->tid))
			return &error_no_memory;
	return NULL;
}

struct error *inspected_row_find(struct top *top, const struct screen_subject *subject,
				 struct inspected_row *ret)
{
	*ret = (struct inspected_row){ .id = subject->line };
	if (subject->grouping != STATE_BY_THREAD)
		return find_group_row(top, subject, ret);
	find_thread_row(top, subject, ret);
	return NULL;
}

/* The profile of the row; NULL: there is none. The row that was inspected before is watched until
 * this one is. */
static struct thread_watch *watch_of(const struct top *top, const struct inspected_row *row)
{
	const struct top_inspector *inspector = &top->inspector;

	return inspector->is_watch_early || inspector->id == row->id ? inspector->watch : NULL;
}

/* What kept it from a CPU, as far as its time is spent on that; NULL: nothing that is known.
 * Allocated. */
static char *preemption_remark(struct top *top, const struct inspected_row *row)
{
	struct top_inspector *inspector = &top->inspector;
	const struct throttle_reading before = inspector->throttle;
	const char *cgroup = row->line.thread->cgroup ? row->line.thread->cgroup->bytes : NULL;
	_cleanup_free_ char *quota = NULL, *runner = NULL;

	throttle_read(row->line.thread->tid, cgroup, &inspector->throttle);
	if (state_line_share(&row->line, STATE_RUNNABLE) < RUNNABLE_LEAST)
		return NULL;
	quota = throttle_say(&before, &inspector->throttle);
	/* What runs while a thread may not run does not keep it waiting. */
	if (throttle_is_usual(&before, &inspector->throttle))
		return take_ptr(quota);
	if (watch_of(top, row))
		runner = thread_watch_preemptor(watch_of(top, row));
	if (quota && runner)
		return text_print("%s; %s", quota, runner);
	return quota ? take_ptr(quota) : take_ptr(runner);
}

struct error *inspected_row_answer(struct top *top, const struct inspected_row *row,
				   struct wait_answer *ret)
{
	_cleanup_free_ char *remark = top->replay ? NULL : preemption_remark(top, row);
	struct thread_watch *watch = top->replay ? NULL : watch_of(top, row);
	double lock_share = 0;
	_cleanup_free_ char *lock = watch ? thread_watch_lock(watch, &lock_share) : NULL;

	return wait_answer_find(top->replay ? NULL : wait_host(), &row->line, row->members,
				row->count, top->window.measured, lock, lock_share, remark, ret);
}
