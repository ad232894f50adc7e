/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/state_session.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <states.skel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "bpf/libbpf_reason.h"
#include "bpf/program_cost.h"
#include "bpf/programs.h"
#include "sched/interval.h"
#include "sched/tracker.h"
#include "sched/wait_rules.h"

/* A thread that has run for so long without a switch has its time added by us. */
#define LONG_RUN_NS (NS_PER_S / 100)

/* Threads that ended since the last reading; more of them are lost. */
#define ENDED_MAX 100000

struct ended_thread {
	uint32_t number;
	struct task_record thread;
};

/*
 * The cost of the programs. The kernel's own count of it costs two reads of the clock a run, and
 * turning it on requires CAP_SYS_ADMIN, which is dropped once the session is open. So it is on for
 * the first second, which gives the cost of a switch; switches are counted in the records anyway.
 */
#define SAMPLE_NS NS_PER_S

struct cost_sample {
	int enabled;                  /* a descriptor while it is on, or -1 */
	uint64_t begun, ns, switches; /* as of the first tick; begun 0: before it */
	double ns_per_switch;
};

struct state_session {
	struct states_bpf *program;
	struct tracker tracker;
	struct state_session_facts facts;
	struct {
		ARRAY(struct ended_thread);
	} ended; /* since the last reading */
	uint64_t ended_lost, torn;
	bool has_looked_for_swap;
	uint64_t ended_switches; /* of threads whose records were given back */
	uint64_t switches;       /* of all, as of the last reading */
	struct cost_sample cost;
};

const unsigned char states_places[STATE_COUNT] = {
#define STATES_PLACE_ROW(id, ...) [STATE_##id] = STATES_PLACE(STATE_##id),
	THREAD_STATES(STATES_PLACE_ROW)
#undef STATES_PLACE_ROW
};

/* --- opening --- */

static void probe_kernel(struct state_session *session)
{
	struct states_bpf *program = session->program;
	struct btf *btf = btf__load_vmlinux_btf();

	session->facts.has_paging = true;
	tracker_configure((struct track_config *)&program->rodata->track_config, btf);
	session->facts.has_locks =
		wait_rules_configure((struct wait_config *)&program->rodata->wait_config, btf);
	btf__free(btf);
}

static struct error *load_tracker(struct state_session *session)
{
	struct states_bpf *program;
	struct states_config *config;
	struct error *err;
	int failed;

	libbpf_reason_begin();
	program = session->program = states_bpf__open();
	if (!program)
		return error_system(errno, "the BPF programs");
	config = (struct states_config *)&program->rodata->config;
	memcpy(config->places, states_places, sizeof(states_places));
	probe_kernel(session);
	bpf_program__set_autoload(program->progs.on_contention, session->facts.has_locks);
	bpf_program__set_autoload(program->progs.on_contended, session->facts.has_locks);
	failed = states_bpf__load(program);
	if (failed)
		return bpf_programs_load_error(-failed);
	err = wait_rules_probe(bpf_program__fd(program->progs.probe_environment));
	wait_rules_find_fifo(&program->bss->wait_state, NULL);
	return err ? err
		   : tracker_init(&session->tracker, &program->bss->track,
				  bpf_map__fd(program->maps.records), sizeof(struct task_record),
				  UINT64_MAX, NULL);
}

static struct error *attach_tracker(struct state_session *session)
{
	struct states_bpf *program = session->program;
#define PROGRAM(name)                                     \
	{                                                 \
		program->progs.name, &program->links.name \
	}
	const struct tracker_program programs[] = {
		PROGRAM(on_new_task),   PROGRAM(on_rename),    PROGRAM(on_exec),
		PROGRAM(on_contention), PROGRAM(on_contended), PROGRAM(on_wakeup),
		PROGRAM(on_switch),     PROGRAM(scan_task),
	};
#undef PROGRAM

	return tracker_start(&session->tracker, programs, array_length(programs));
}

struct error *state_session_open(struct state_session **ret)
{
	struct state_session *session = calloc(1, sizeof(*session));
	struct error *err;

	if (!session)
		return &error_no_memory;
	session->cost.enabled = -1;
	err = load_tracker(session);
	if (!err)
		err = attach_tracker(session);
	if (!err)
		session->cost.enabled = program_cost_enable();
	if (err) {
		state_session_close(session);
		return err;
	}
	*ret = session;
	return NULL;
}

void state_session_close(struct state_session *session)
{
	if (!session)
		return;
	if (session->cost.enabled >= 0)
		close(session->cost.enabled);
	tracker_deinit(&session->tracker);
	states_bpf__destroy(session->program);
	array_deinit(&session->ended);
	free(session);
}

struct state_session_facts state_session_facts(const struct state_session *session)
{
	return session->facts;
}

/* --- reading --- */

/* Since when it has been on a CPU; 0: it is not. */
static uint64_t runs_since(const volatile struct task_record *t)
{
	const uint64_t entered = t->entered;

	return t->state == STATE_EXEC || (entered && entered < t->since) ? t->since : entered;
}

/* The thread got a CPU, so its previous state has ended. The kernel adds that time when the thread
 * leaves its CPU. */
static void end_wait(struct task_record *t)
{
	const uint64_t from = runs_since(t);
	struct interval parts;

	if (t->state == STATE_EXEC || !from)
		return;
	parts = interval_divide(t->state == STATE_RUNNABLE, t->since, t->woken, from);
	t->ns[states_places[t->state]] += parts.blocked_ns;
	t->ns[STATES_AT_RUNNABLE] += parts.runnable_ns;
	t->since = from;
	t->state = STATE_EXEC;
}

bool state_session_copy(const struct task_record *t, struct task_record *ret)
{
	if (!tracker_copy(t, ret, sizeof(*ret)))
		return false;
	if (ret->state < STATE_COUNT)
		end_wait(ret);
	return true;
}

/* False: no memory. Where the number cannot be given back now, the thread is taken later. */
static bool take_ended(struct state_session *session, uint32_t number, struct task_record *t)
{
	const struct task_record ended = *t;

	if (session->ended.count < ENDED_MAX && !array_reserve(&session->ended, 1))
		return false;
	if (!tracker_give_back(&session->tracker, number))
		return true;
	if (session->ended.count < ENDED_MAX)
		session->ended.items[session->ended.count++] =
			(struct ended_thread){ .number = number, .thread = ended };
	else
		session->ended_lost++;
	session->ended_switches += ended.switches;
	return true;
}

static void look_at_swap(struct state_session *session)
{
	if (!session->has_looked_for_swap)
		session->has_looked_for_swap = wait_rules_look_at_swap(
			&session->program->bss->wait_state, NULL, &session->facts.has_paging);
}

static uint64_t count_switches(const struct state_session *session)
{
	const uint32_t count = tracker_count(&session->tracker);
	uint64_t switches = session->ended_switches;

	for (uint32_t number = 1; number < count; number++) {
		const struct task_record *t = tracker_record(&session->tracker, number);

		if (t->tid)
			switches += t->switches;
	}
	return switches;
}

static void sample_cost(struct state_session *session)
{
	struct cost_sample *cost = &session->cost;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t runs, ns, switches;

	if (cost->enabled < 0)
		return;
	bpf_programs_cost(session->program->obj, &runs, &ns);
	switches = count_switches(session);
	if (!cost->begun) {
		cost->begun = now;
		cost->ns = ns;
		cost->switches = switches;
		return;
	}
	if (switches > cost->switches)
		cost->ns_per_switch = (double)(ns - cost->ns) / (double)(switches - cost->switches);
	if (now - cost->begun < SAMPLE_NS)
		return;
	close(cost->enabled);
	cost->enabled = -1;
}

struct error *state_session_tick(struct state_session *session)
{
	const uint32_t count = tracker_count(&session->tracker);

	for (uint32_t number = 1; number < count; number++) {
		struct task_record *t = tracker_record(&session->tracker, number);

		if (__atomic_load_n(&t->flags, __ATOMIC_ACQUIRE) & RECORD_ENDED &&
		    !(t->sequence & 1) && !take_ended(session, number, t))
			return &error_no_memory;
	}
	look_at_swap(session);
	sample_cost(session);
	tracker_scan_again(&session->tracker);
	return tracker_grow(&session->tracker, RECORD_CHUNKS_MAX);
}

static bool is_record_hidden(const struct task_record *t)
{
	return t->hidden_since && runs_since(t) == t->hidden_since;
}

/* Add the time of a thread that appears to run for long. If it is not on its CPU, its switch was
 * missed (some kernels run no programs for some threads): hide it until its next event. */
static void book_long_run(struct state_session *session, struct task_record *t)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = t->cpu);
	const volatile struct task_record *now = t;
	const uint64_t since = runs_since(now);

	if (bpf_prog_test_run_opts(bpf_program__fd(session->program->progs.book_here), &run))
		return;
	if (runs_since(now) == since && !(now->flags & RECORD_ENDED))
		t->hidden_since = since;
}

struct error *state_session_read(struct state_session *session, state_visit *visit, void *context)
{
	struct error *err = state_session_tick(session);
	const uint32_t count = tracker_count(&session->tracker);
	struct task_record thread;
	bool goes_on = true;

	session->switches = session->ended_switches;

	for (size_t i = 0; !err && goes_on && i < session->ended.count; i++)
		goes_on = visit(context, session->ended.items[i].number,
				&session->ended.items[i].thread,
				session->ended.items[i].thread.ended);
	array_clear(&session->ended);
	for (uint32_t number = 1; !err && goes_on && number < count; number++) {
		struct task_record *t = tracker_record(&session->tracker, number);
		uint64_t now, since;

		if (!t->tid || is_record_hidden(t))
			continue;
		since = runs_since(t);
		now = clock_ns(CLOCK_MONOTONIC);
		if (since && !(t->flags & RECORD_ENDED) && now > since && now - since > LONG_RUN_NS)
			book_long_run(session, t);
		/* We may lose our CPU in between: what is not over by now is not over in the copy.
		 */
		now = clock_ns(CLOCK_MONOTONIC);
		if (!state_session_copy(t, &thread)) {
			session->torn++;
			continue;
		}
		if (!thread.tid || thread.state >= STATE_COUNT)
			continue;
		session->switches += thread.switches;
		if (is_record_hidden(&thread))
			continue;
		/* The thread has ended, but its number is not freed yet: report it again. */
		if (thread.flags & RECORD_ENDED)
			now = thread.ended;
		goes_on = visit(context, number, &thread, now > thread.since ? now : thread.since);
	}
	return err;
}

uint64_t state_session_lost(const struct state_session *session)
{
	return session->tracker.state->lost + session->ended_lost;
}

uint64_t state_session_torn(const struct state_session *session)
{
	return session->torn;
}

uint64_t state_session_program_ns(const struct state_session *session)
{
	return (uint64_t)((double)session->switches * session->cost.ns_per_switch);
}
