/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/counter_times.h"

#include <string.h>

#include "base/array.h"
#include "os/stat.h"

/* --- what it does now --- */

/* Bits of task_struct.__state (include/linux/sched.h). */
#define BIT_INTERRUPTIBLE 0x1u
#define BIT_STOPPED       0x4u
#define BIT_TRACED        0x8u
#define BIT_DEAD          0x80u
#define BIT_WAKING        0x200u
#define BIT_NEW           0x800u
#define BIT_FROZEN        0x8000u
#define BITS_IDLE         0x402u

/* The letters of /proc (fs/proc/array.c, task_state_array) and what they stand for. */
static const struct {
	char letter;
	uint32_t state, exit_state;
} letters[] = {
	{ 'R', 0x0, 0 },   { 'S', 0x1, 0 },     { 'D', 0x2, 0 },
	{ 'T', 0x4, 0 },   { 't', 0x8, 0 },     { 'P', 0x40, 0 },
	{ 'I', 0x402, 0 }, { 'X', 0x80, 0x10 }, { 'Z', 0x80, 0x20 },
};

void counter_times_set_letter(struct iterator_record *record, char letter)
{
	record->state = 0x1;
	for (size_t i = 0; i < array_length(letters); i++)
		if (letters[i].letter == letter) {
			record->state = letters[i].state;
			record->exit_state = letters[i].exit_state;
		}
}

bool counter_times_is_over(const struct iterator_record *r)
{
	return r->exit_state || r->state & BIT_DEAD;
}

static bool is_kernel_thread(const struct iterator_record *r)
{
	return r->kernel_flags & PF_KTHREAD;
}

/* The freezer of cgroup version 2 lets threads sleep in a state that only `is_frozen` tells from
 * other sleeps. The parent of a vfork() child has that bit too, but its sleep is not interruptible.
 */
static enum state state_of(const struct iterator_record *r)
{
	if (r->queued_since || r->state & (BIT_WAKING | BIT_NEW))
		return STATE_RUNNABLE;
	if (!r->state)
		return STATE_EXEC;
	if (r->state & (BIT_STOPPED | BIT_TRACED | BIT_FROZEN) ||
	    (r->is_frozen && r->state & BIT_INTERRUPTIBLE))
		return STATE_STOPPED;
	if (r->in_iowait)
		return STATE_SLEEP_DISK;
	if (is_kernel_thread(r) &&
	    ((r->state & BITS_IDLE) == BITS_IDLE || r->state & BIT_INTERRUPTIBLE))
		return STATE_IDLE;
	return STATE_SLEEP;
}

static bool is_blocked(enum state state)
{
	return state != STATE_EXEC && state != STATE_RUNNABLE;
}

/* Convert to CLOCK_MONOTONIC; 0: unknown. */
static uint64_t dated(uint64_t at, const struct counter_facts *facts)
{
	return at && facts->is_dated ? at - (uint64_t)facts->clock_offset : 0;
}

/* Starts of sleeps are there while kernel.sched_schedstats is 1. That of block I/O may be of a wait
 * before (Linux 6.12 and newer): a sleep that began after the last reading did not begin before it.
 */
static uint64_t state_since(const struct iterator_record *r, const struct counter_memory *memory,
			    const struct counter_facts *facts, enum state state, uint64_t earliest)
{
	uint64_t at = 0;

	if (state == STATE_RUNNABLE && r->queued_since != memory->queued_asleep)
		return dated(r->queued_since, facts);
	if (!is_blocked(state))
		return 0;
	if (facts->counts_delays)
		at = dated(r->blkio_since, facts);
	if (!at || at < earliest)
		at = dated(r->sleep_since ? r->sleep_since : r->block_since, facts);
	return at;
}

/* `before` is when it was read before; 0: never. */
static void note_state(struct state_thread *thread, struct counter_memory *memory,
		       const struct iterator_record *r, const struct counter_facts *facts,
		       uint64_t before)
{
	const bool has_slept = memory->voluntary != r->counters[TASK_nvcsw];

	thread->state = state_of(r);
	if (is_blocked(thread->state))
		memory->queued_asleep = r->queued_asleep;
	thread->since_ns = state_since(r, memory, facts, thread->state, has_slept ? before : 0);
	thread->cpu = r->cpu;
	thread->is_kernel = is_kernel_thread(r);
	memory->voluntary = r->counters[TASK_nvcsw];
	memory->involuntary = r->counters[TASK_nivcsw];
	thread->switches = memory->voluntary + memory->involuntary;
}

/* --- counters --- */

/* The time since `at`; clocks of CPUs may differ by a little. */
static uint64_t passed(const struct iterator_record *r, const struct counter_facts *facts,
		       uint64_t at)
{
	const uint64_t now = r->now + (uint64_t)facts->clock_offset;

	return at && facts->is_dated && now > at ? now - at : 0;
}

static void count_times(const struct iterator_record *r, const struct counter_facts *facts,
			uint64_t ret[COUNTED_COUNT])
{
	ret[COUNTED_RUN] = r->counters[TASK_run_time];
	ret[COUNTED_DELAY] = r->counters[TASK_run_delay] + passed(r, facts, r->queued_since);
	/* Without records of delays, these fields are those of the previous thread. */
	ret[COUNTED_BLKIO] = ret[COUNTED_SWAPIN] = 0;
	if (!r->has_delays)
		return;
	ret[COUNTED_BLKIO] = r->counters[TASK_blkio_delay];
	/* The start is that of a wait before when none is noted any more. */
	if (facts->counts_delays)
		ret[COUNTED_BLKIO] += passed(r, facts, r->blkio_since);
	ret[COUNTED_SWAPIN] = r->counters[TASK_swapin_delay];
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The growth of a counter that was not reported yet, limited to the room left in the window. */
static uint64_t take_growth(uint64_t counted, uint64_t reported, uint64_t *left)
{
	const uint64_t taken = counted > reported ? smaller(counted - reported, *left) : 0;

	*left -= taken;
	return taken;
}

/* The reported and the counted value differ by at most the lag of a counter. */
static uint64_t limit_lag(uint64_t reported, uint64_t counted)
{
	if (reported < counted && counted - reported > COUNTER_SLACK_NS)
		return counted - COUNTER_SLACK_NS;
	if (reported > counted && reported - counted > COUNTER_SLACK_NS)
		return counted + COUNTER_SLACK_NS;
	return reported;
}

/* --- times --- */

void counter_times_meet(struct state_thread *thread, struct counter_memory *memory,
			const struct iterator_record *r, const struct counter_facts *facts)
{
	thread->begun_ns = thread->seen_ns = r->now;
	count_times(r, facts, memory->reported);
	memory->utime = r->utime;
	memory->stime = r->stime;
	note_state(thread, memory, r, facts, 0);
}

/* A new thread first waits for a CPU. */
void counter_times_born(struct state_thread *thread, struct counter_memory *memory,
			uint64_t begun_ns)
{
	thread->begun_ns = thread->seen_ns = begun_ns;
	thread->state = STATE_RUNNABLE;
	thread->since_ns = begun_ns;
	*memory = (struct counter_memory){ 0 };
}

/*
 * The state of the time that no counter has.
 *
 * One that could run before and can now, and has not given up its CPU of its own will, never slept:
 * it is on the CPU since the last tick, unless it has not switched at all. One that has not was
 * blocked until it was woken, if it was blocked, and waits for its CPU, if it waited for it. A
 * freezer may change the state of one that sleeps, at an unknown time.
 */
static enum state state_of_rest(const struct state_thread *thread,
				const struct counter_memory *memory,
				const struct iterator_record *r)
{
	const enum state before = thread->state, now = state_of(r);
	const bool preempted = memory->involuntary != r->counters[TASK_nivcsw];

	if (memory->voluntary != r->counters[TASK_nvcsw])
		return STATE_SLEEP;
	if (!preempted && (now == before || (is_blocked(before) && !is_blocked(now))))
		return before;
	return is_blocked(before) || is_blocked(now) ? STATE_SLEEP : STATE_EXEC;
}

/* Divide time on the CPU into user and system by the ticks since the last reading. Without ticks
 * the parts are unknown, except for kernel threads. */
static void add_exec(struct state_times *times, struct counter_memory *memory,
		     const struct iterator_record *r, uint64_t ns)
{
	const uint64_t user = r->utime > memory->utime ? r->utime - memory->utime : 0,
		       system = r->stime > memory->stime ? r->stime - memory->stime : 0;
	uint64_t part;

	if (!ns)
		return;
	memory->utime = r->utime;
	memory->stime = r->stime;
	if (is_kernel_thread(r)) {
		times->ns[STATE_EXEC_SYSTEM] += ns;
	} else if (!user && !system) {
		times->ns[STATE_EXEC] += ns;
	} else {
		part = (uint64_t)((unsigned __int128)ns * system /
				  ((unsigned __int128)user + system));
		times->ns[STATE_EXEC_SYSTEM] += part;
		times->ns[STATE_EXEC_USER] += ns - part;
	}
}

void counter_times_add(struct state_thread *thread, struct counter_memory *memory,
		       const struct iterator_record *r, const struct counter_facts *facts)
{
	const bool is_over = counter_times_is_over(r);
	const uint64_t before = thread->seen_ns;
	const uint64_t window = r->now > thread->seen_ns ? r->now - thread->seen_ns : 0;
	uint64_t counted[COUNTED_COUNT], left = window, run, delay, blkio, waited, paging, rest;
	enum state of_rest = state_of_rest(thread, memory, r);

	count_times(r, facts, counted);
	if (is_blocked(thread->state) && memory->queued_asleep)
		memory->reported[COUNTED_DELAY] = counted[COUNTED_DELAY];
	/* Time on a CPU is never more than there was; at most it runs behind. Delays may be more:
	 * that of block I/O was as long as the window, on Linux 6.12, of threads that ran between
	 * their reads. So what it ran comes first, and each delay has no more than what is left. */
	run = take_growth(counted[COUNTED_RUN], memory->reported[COUNTED_RUN], &left);
	delay = take_growth(counted[COUNTED_DELAY], memory->reported[COUNTED_DELAY], &left);
	blkio = take_growth(counted[COUNTED_BLKIO], memory->reported[COUNTED_BLKIO], &left);
	waited = blkio;
	paging = take_growth(counted[COUNTED_SWAPIN], memory->reported[COUNTED_SWAPIN], &waited);
	rest = is_over ? 0 : left;
	thread->seen_ns += window - left + rest;
	if (of_rest == STATE_EXEC) {
		run += rest;
		rest = 0;
	}
	thread->times.ns[STATE_RUNNABLE] += delay;
	thread->times.ns[STATE_SLEEP_DISK] += blkio - paging;
	thread->times.ns[STATE_PAGING] += paging;
	thread->times.ns[of_rest] += rest;
	add_exec(&thread->times, memory, r, run);
	memory->reported[COUNTED_RUN] =
		limit_lag(memory->reported[COUNTED_RUN] + run, counted[COUNTED_RUN]);
	memory->reported[COUNTED_DELAY] =
		limit_lag(memory->reported[COUNTED_DELAY] + delay, counted[COUNTED_DELAY]);
	memory->reported[COUNTED_BLKIO] =
		limit_lag(memory->reported[COUNTED_BLKIO] + blkio, counted[COUNTED_BLKIO]);
	memory->reported[COUNTED_SWAPIN] = counted[COUNTED_SWAPIN];
	note_state(thread, memory, r, facts, before);
}
