/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/inspect_row.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "top/top.h"

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

/* --- why it waits for a CPU --- */

/* What kept it from a CPU. */
struct cpu_reason {
	bool is_pinned;
	struct cpu_pinning pinning;
	char *remark; /* NULL: none; owned */
};

static void cpu_reason_deinit_guard(struct cpu_reason *reason)
{
	free(reason->remark);
}

/* The threads of the row that waited for a CPU, the one that waited longest first. */
static size_t list_waiters(const struct inspected_row *row, uint32_t ret[CPU_WAIT_THREADS])
{
	uint64_t most = 0;
	size_t known = 0;

	if (!row->count) {
		ret[0] = row->line.thread->tid;
		return 1;
	}
	for (size_t i = 0; i < row->count && known < CPU_WAIT_THREADS; i++) {
		const struct state_line *line = &row->members[i];
		const uint64_t ns = state_times_of(&line->times, STATE_RUNNABLE);

		if (!ns || line->thread->has_ended)
			continue;
		ret[known++] = line->thread->tid;
		if (ns <= most)
			continue;
		most = ns;
		ret[known - 1] = ret[0];
		ret[0] = line->thread->tid;
	}
	return known;
}

/* "burn (3 threads) ran instead for 62 % of its waits for a CPU; its nice value is 10, that of burn
 * 0". */
static char *say_rival(const struct leading_preemptor *rival, bool is_pinned, uint32_t waiter)
{
	const struct wait_host *host = wait_host();
	_cleanup_free_ char *priority =
		host ? cpu_wait_priority(host->proc, waiter, rival->tid, rival->name) : NULL;
	char threads[32];

	snprintf(threads, sizeof(threads), rival->threads > 1 ? "%" PRIu32 " threads" : "%" PRIu32,
		 rival->threads > 1 ? rival->threads : rival->tid);
	return text_print("%s (%s) ran %s for %.0f %% of its waits for a CPU%s%s", rival->name,
			  threads, is_pinned ? "there" : "instead", 100 * rival->share,
			  priority ? "; " : "", priority ? priority : "");
}

static char *say_others(const struct cpu_pinning *pinning)
{
	if (pinning->others == 1)
		return text_print("the other CPU was idle for %.0f %% of the time",
				  100 * pinning->idle);
	return text_print("the other %" PRIu32 " CPUs were idle for %.0f %% of the time",
			  pinning->others, 100 * pinning->idle);
}

/* The parts that are there, in this order; NULL: none, or no memory. */
static char *join(char *const parts[], size_t count)
{
	char *all = NULL;
	size_t length;
	FILE *out = open_memstream(&all, &length);

	if (!out)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (parts[i])
			fprintf(out, "%s%s", ftell(out) ? "; " : "", parts[i]);
	if (!file_close_memory(out, &all) || *all)
		return all;
	free(all);
	return NULL;
}

/* Read what is counted up to now; before, as of the window before. */
static void read_counters(struct top_inspector *inspector, const struct inspected_row *row,
			  struct throttle_reading *ret_throttle, struct cpu_loads *ret_loads)
{
	const struct wait_host *host = wait_host();
	const char *cgroup = row->line.thread->cgroup ? row->line.thread->cgroup->bytes : NULL;

	*ret_throttle = inspector->throttle;
	*ret_loads = inspector->loads;
	inspector->loads = (struct cpu_loads){ 0 };
	throttle_read(row->line.thread->tid, cgroup, &inspector->throttle);
	if (host)
		cpu_loads_read(host->proc, &inspector->loads);
}

/* As far as its time is spent on waits for a CPU. */
static void find_cpu_reason(struct top *top, const struct inspected_row *row,
			    struct cpu_reason *ret)
{
	const struct wait_host *host = wait_host();
	struct top_inspector *inspector = &top->inspector;
	struct throttle_reading throttle;
	struct cpu_loads loads;
	uint32_t waiters[CPU_WAIT_THREADS];
	const size_t count = list_waiters(row, waiters);
	struct thread_watch *watch = watch_of(top, row);
	struct leading_preemptor rival;
	char *parts[3] = { NULL };

	*ret = (struct cpu_reason){ .remark = NULL };
	read_counters(inspector, row, &throttle, &loads);
	if (count && state_line_share(&row->line, STATE_RUNNABLE) >= WAIT_RUNNABLE_LEAST) {
		parts[0] = throttle_say(&throttle, &inspector->throttle);
		/* What runs while a thread may not run does not keep it waiting. */
		if (!throttle_is_usual(&throttle, &inspector->throttle)) {
			ret->is_pinned = host && cpu_wait_pinned(host->proc, waiters, count, &loads,
								 &inspector->loads, &ret->pinning);
			if (watch && thread_watch_preemptor(watch, &rival))
				parts[1] = say_rival(&rival, ret->is_pinned, waiters[0]);
			if (ret->is_pinned)
				parts[2] = say_others(&ret->pinning);
		}
		ret->remark = join(parts, array_length(parts));
	}
	for (size_t i = 0; i < array_length(parts); i++)
		free(parts[i]);
	cpu_loads_deinit(&loads);
}

struct error *inspected_row_answer(struct top *top, const struct inspected_row *row,
				   struct wait_answer *ret)
{
	_cleanup_(cpu_reason_deinit) struct cpu_reason reason = { .remark = NULL };
	struct thread_watch *watch = top->replay ? NULL : watch_of(top, row);
	struct wait_remarks remarks = { .lock = NULL };
	_cleanup_free_ char *lock = watch ? thread_watch_lock(watch, &remarks.lock_share) : NULL;

	if (!top->replay)
		find_cpu_reason(top, row, &reason);
	remarks.lock = lock;
	remarks.pinning = reason.is_pinned ? &reason.pinning : NULL;
	remarks.remark = reason.remark;
	return wait_answer_find(top->replay ? NULL : wait_host(), &row->line, row->members,
				row->count, top->window.measured, &remarks, ret);
}
