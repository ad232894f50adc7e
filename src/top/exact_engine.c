/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exact states, by the programs of sched/state_session.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/word_map.h"
#include "sched/interval.h"
#include "sched/state_session.h"
#include "top/engine.h"
#include "top/host_names.h"

struct exact {
	struct state_session *session;
	struct host_names names;
	struct word_map leaders; /* tgid to its place in the reading */
};

static void exact_close(void *self)
{
	struct exact *exact = self;

	if (!exact)
		return;
	state_session_close(exact->session);
	word_map_deinit(&exact->leaders);
	host_names_deinit(&exact->names);
	free(exact);
}

static struct error *exact_open(const struct engine_options *options, void **ret)
{
	struct exact *exact = calloc(1, sizeof(*exact));
	struct error *err;

	(void)options;
	if (!exact)
		return &error_no_memory;
	err = host_names_init(&exact->names);
	if (!err)
		err = state_session_open(&exact->session);
	if (err) {
		exact_close(exact);
		return err;
	}
	*ret = exact;
	return NULL;
}

/* --- reading --- */

struct visit {
	struct exact *exact;
	struct state_reading *reading;
	bool has_memory;
};

/* The number of a record is used again, but not at the same moment: 22 bits of it, and when the
 * thread began in units of 4 us. */
static uint64_t id_of(uint32_t number, const struct task_record *t)
{
	return (uint64_t)number << 42 | (t->begun >> 12 & ((1ull << 42) - 1));
}

/* Add the elapsed time of the state in progress. */
static void add_progress(struct state_thread *thread, const struct task_record *t, uint64_t now_ns)
{
	struct interval parts;

	if (thread->has_ended || now_ns <= t->since)
		return;
	if (t->state == STATE_EXEC) {
		thread->times.ns[STATE_EXEC] += now_ns - t->since;
		return;
	}
	parts = interval_divide(t->state == STATE_RUNNABLE, t->since, t->woken, now_ns);
	thread->times.ns[t->state] += parts.blocked_ns;
	thread->times.ns[STATE_RUNNABLE] += parts.runnable_ns;
	if (t->state != STATE_RUNNABLE && parts.runnable_ns) {
		thread->state = STATE_RUNNABLE;
		thread->since_ns = t->woken;
		thread->since_is_least = false;
	}
}

static bool take_task_record(void *context, uint32_t number, const struct task_record *t,
			     uint64_t now_ns)
{
	struct visit *visit = context;
	struct exact *exact = visit->exact;
	struct state_reading *reading = visit->reading;
	struct state_thread *thread;

	if (t->state >= STATE_COUNT)
		return true;
	if (!array_reserve(&reading->threads, 1)) {
		visit->has_memory = false;
		return false;
	}
	thread = &reading->threads.items[reading->threads.count++];
	*thread = (struct state_thread){
		.tid = t->tid,
		.tgid = t->tgid,
		.id = id_of(number, t),
		.uid = t->uid,
		.cpu = t->cpu,
		.is_kernel = t->flags & RECORD_KERNEL,
		.has_ended = t->flags & RECORD_ENDED,
		.name = host_names_of(&exact->names, t->name, sizeof(t->name)),
		.process = host_names_of(&exact->names, t->process, sizeof(t->process)),
		.cgroup = t->flags & RECORD_KERNEL
				  ? host_names_cgroup(&exact->names, t->cgroup)
				  : host_names_cgroup_of(&exact->names, t->cgroup, t->tgid,
							 t->tid == t->tgid ? t->begun : 0),
		.begun_ns = t->begun,
		.seen_ns = now_ns,
		.state = t->state,
		.since_ns = t->flags & RECORD_ENDED ? 0 : t->since,
		.since_is_least = t->flags & RECORD_FOUND && t->since == t->begun,
		.syscall = t->syscall,
		.has_exit_code = t->flags & RECORD_ENDED,
		.exit_code = t->exit_code,
		.switches = t->switches,
	};
	if (!thread->name || !thread->process) {
		visit->has_memory = false;
		return false;
	}
	for (int state = 0; state < STATE_COUNT; state++)
		thread->times.ns[state] = t->ns[states_places[state]];
	add_progress(thread, t, now_ns);
	return true;
}

/* A process has the name that its leader has now. */
static struct error *name_processes(struct exact *exact, struct state_reading *reading)
{
	word_map_deinit(&exact->leaders);
	exact->leaders = (struct word_map){ 0 };
	for (size_t i = 0; i < reading->threads.count; i++) {
		const struct state_thread *t = &reading->threads.items[i];
		uint32_t *place;

		if (t->tid != t->tgid)
			continue;
		place = word_map_at(&exact->leaders, (struct words){ { t->tgid } });
		if (!place)
			return &error_no_memory;
		*place = (uint32_t)i;
	}
	for (size_t i = 0; i < reading->threads.count; i++) {
		struct state_thread *t = &reading->threads.items[i];
		uint32_t place = word_map_find(&exact->leaders, (struct words){ { t->tgid } });

		if (place != WORD_MAP_NEW && reading->threads.items[place].begun_ns <= t->begun_ns)
			t->process = reading->threads.items[place].name;
	}
	return NULL;
}

static struct error *exact_read(void *self, struct state_reading *reading)
{
	struct exact *exact = self;
	struct visit visit = { .exact = exact, .reading = reading, .has_memory = true };
	struct error *err;
	/* Threads that are born after this time are not in this window. */
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	array_clear(&reading->threads);
	host_names_age(&exact->names);
	err = state_session_read(exact->session, take_task_record, &visit);
	if (!err && !visit.has_memory)
		err = &error_no_memory;
	if (!err)
		err = name_processes(exact, reading);
	if (err)
		return err;
	reading->at_ns = now;
	reading->at_unix_ns = clock_ns(CLOCK_REALTIME);
	reading->measured = engine_exact.measured;
	if (!state_session_facts(exact->session).has_locks)
		reading->measured &= ~(1u << STATE_LOCK_KERNEL);
	if (!state_session_facts(exact->session).has_paging)
		reading->measured &= ~(1u << STATE_PAGING);
	reading->cost = (struct state_cost){
		.program_ns = state_session_program_ns(exact->session),
		.own_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		.threads_lost = state_session_lost(exact->session),
		.threads_torn = state_session_torn(exact->session),
	};
	return NULL;
}

static struct error *exact_tick(void *self)
{
	struct exact *exact = self;

	return state_session_tick(exact->session);
}

const struct engine_methods engine_exact = {
	.open = exact_open,
	.read = exact_read,
	.tick = exact_tick,
	.close = exact_close,
	.measured = (1u << STATE_COUNT) - 1,
};
