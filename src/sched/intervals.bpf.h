/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Intervals of threads: one begins when a thread leaves its CPU, with its class and its stacks, and
 * ends when the thread gets a CPU.
 *
 * Intervals are known to the nanosecond, and each ends where the next begins: the times of a thread
 * add up to the time it was tracked.
 */
#ifndef SCHED_INTERVALS_BPF_H
#define SCHED_INTERVALS_BPF_H

#include "sched/counting.bpf.h"
#include "sched/interval.h"
#include "sched/kernel_stack.bpf.h"
#include "sched/user_stack.bpf.h"
#include "sched/wait_rules.bpf.h"

/* --- what a thread waits for --- */

/* enum state. `ctx` is that of sched_switch; NULL elsewhere. */
static __noinline int what_it_waits_for(void *ctx, struct task_struct *task, __u32 task_state,
					__u64 lock)
{
	struct wait wait;

	if (!task)
		return STATE_SLEEP;
	decide(ctx, task, task_state, lock, &wait);
	return wait.state;
}

/* --- the stacks of a thread that is about to leave its CPU --- */

static __always_inline bool has_user_space(struct task_struct *task)
{
	return task->mm && !(task->flags & PF_KTHREAD);
}

/* Keep the registers, so that user space can walk the stack while the thread stays off the CPU. */
static __always_inline void left_user_space(struct profile_record *t,
					    const struct user_registers *regs)
{
	t->left_ip = regs->ip;
	t->left_sp = regs->sp;
	t->left_bp = regs->bp;
	t->left_bx = regs->bx;
	t->looked = t->task.since;
}

/* User space walks the stack again when it knows more about the process (first_stacks.h). */
static __always_inline void list_lacking(struct profile_record *t, __u32 number)
{
	if (!__sync_val_compare_and_swap(&t->is_listed, 0, 1))
		state.lacking[__sync_fetch_and_add(&state.lacking_count, 1) & (LACKING_MAX - 1)] =
			number;
}

static __always_inline void take_stacks(void *ctx, struct task_struct *prev, bool is_preempted,
					struct profile_record *t, __u32 number,
					struct profile_counts *counts)
{
	struct scratch *scratch = scratch_of(SCRATCH_SWITCH);
	struct user_registers regs = { 0 };

	if (!scratch)
		return;
	if (user_registers(prev, &regs) && config.user_depth && has_user_space(prev)) {
		t->user_stack = user_stack(prev, tgid_of(prev), scratch, &regs, true, counts);
		left_user_space(t, &regs);
		if (scratch->is_incomplete)
			list_lacking(t, number);
	}
	if (config.kernel_depth)
		t->kernel_stack =
			kernel_stack(ctx, scratch, is_preempted ? SITE_PREEMPTED : SITE_SWITCH,
				     prev, &regs, t->task.state == CLASS_RUNNABLE, counts);
}

/* --- weights --- */

/* Is this interval kept? Decided when it begins, so that only kept intervals cost stacks. */
static __always_inline bool is_drawn(struct profile_record *t, __u32 cpu)
{
	if (!config.wants_off_cpu || config.only_times ||
	    !(wants_wait(t->task.state, t->waits) || wants(CLASS_RUNNABLE)) ||
	    !is_on_wanted_cpu(cpu))
		return false;
	return !config.keep_below || bpf_get_prandom_u32() < config.keep_below;
}

/* Weigh an interval that was kept. False: it counts for nothing. */
static __always_inline bool weigh_interval(struct profile_record *t, struct count_value *value)
{
	__u64 times;

	if (!value->count && !value->runnable_count)
		return false;
	if (config.keep_below) {
		value->ns = interval_scale(value->ns, config.keep_scale);
		value->runnable_ns = interval_scale(value->runnable_ns, config.keep_scale);
		/* 3.3 intervals are 3 or 4. */
		times = (config.keep_scale + bpf_get_prandom_u32() % 1000) / 1000;
		value->count *= times;
		value->runnable_count *= times;
		return true;
	}
	if (!config.period_ns)
		return true;
	value->count =
		value->count ? interval_periods(&t->blocked_debt, value->ns, config.period_ns) : 0;
	value->runnable_count =
		value->runnable_count
			? interval_periods(&t->runnable_debt, value->runnable_ns, config.period_ns)
			: 0;
	value->ns = value->count * config.period_ns;
	value->runnable_ns = value->runnable_count * config.period_ns;
	return value->count || value->runnable_count;
}

/* --- the end of an interval --- */

/* A thread that gets a CPU for the first time does not pass sched_exit: its stacks are empty. */
static __always_inline void postpone(const struct count_key *key, const struct count_value *value,
				     struct profile_counts *counts)
{
	struct pending_count *p = pending_here();

	if (!p)
		return;
	if (p->is_there)
		count_in(&p->key, &p->value, counts);
	p->key = *key;
	p->key.user_stack = STACK_NONE;
	p->key.kernel_stack = STACK_NONE;
	p->value = *value;
	p->is_there = 1;
}

static __always_inline void keep_interval(struct profile_record *t, __u32 number, __u64 blocked_ns,
					  __u64 runnable_ns, struct profile_counts *counts)
{
	bool is_blocked = t->task.state != CLASS_RUNNABLE;
	struct count_key key = { .thread = number,
				 .class = t->task.state,
				 .state = t->waits,
				 .user_stack = t->user_stack,
				 .kernel_stack = t->kernel_stack,
				 .cpu = config.by_cpu ? t->task.cpu + 1u : 0 };
	struct count_value value = { 0 };

	if (is_blocked && wants_wait(t->task.state, t->waits)) {
		value.ns = blocked_ns;
		value.count = 1;
	}
	if (wants(CLASS_RUNNABLE)) {
		value.runnable_ns = runnable_ns;
		value.runnable_count = 1;
	}
	/* Of those that are not drawn it is unknown. */
	if (!config.keep_below) {
		value.longest = is_blocked ? blocked_ns : runnable_ns;
		value.waker = is_blocked ? t->waker : 0;
	}
	if (!weigh_interval(t, &value)) {
		counts->filtered++;
		counts->filtered_ns += blocked_ns + runnable_ns;
		return;
	}
	if (config.wants_wakers && is_blocked) {
		key.waker = t->waker == WAKER_INTERRUPT ? 0 : t->waker;
		key.waker_user_stack = t->waker_user_stack;
		key.waker_kernel_stack = t->waker_kernel_stack;
	}
	if (config.is_late) {
		postpone(&key, &value, counts);
		return;
	}
	if (t->user_stack == STACK_LOST || t->kernel_stack == STACK_LOST) {
		lose(counts, value.ns + value.runnable_ns);
		return;
	}
	count_interval(t, &key, &value, counts);
}

int end_interval(struct profile_record *t, __u32 number, __u64 now, struct profile_counts *counts);

__noinline int end_interval(struct profile_record *t, __u32 number, __u64 now,
			    struct profile_counts *counts)
{
	__u64 all, blocked_ns, runnable_ns;
	struct interval parts;

	if (!t || !counts)
		return 0;
	parts = interval_divide(t->task.state == CLASS_RUNNABLE, t->task.since, t->task.woken, now);
	all = now - t->task.since;
	runnable_ns = parts.runnable_ns;
	blocked_ns = parts.blocked_ns;
	if (t->task.state != CLASS_RUNNABLE) {
		t->task.ns[t->task.state & PROFILE_TIMES_MASK] += blocked_ns;
		t->counts[t->task.state & PROFILE_TIMES_MASK]++;
	}
	t->task.ns[CLASS_RUNNABLE] += runnable_ns;
	t->counts[CLASS_RUNNABLE]++;
	if (!(t->task.flags & RECORD_WANTED) || !config.wants_off_cpu)
		return 0;
	counts->events++;
	if (config.wants_latencies) {
		if (t->task.state == CLASS_IO_WAIT)
			count_latency(t, LATENCY_BLOCK_IO, blocked_ns);
		count_latency(t, LATENCY_RUN_QUEUE, runnable_ns);
	}
	/* All waits of a thread are wanted, and nothing but their times. */
	if (config.only_times) {
		keep_interval(t, number, blocked_ns, runnable_ns, counts);
		return 0;
	}
	if (!t->is_kept || all < config.min_ns || all > config.max_ns) {
		counts->filtered++;
		counts->filtered_ns += all;
		return 0;
	}
	if (config.wants_histograms) {
		if (t->task.state != CLASS_RUNNABLE && wants_wait(t->task.state, t->waits))
			count_slot(number, t->task.state, blocked_ns);
		if (wants(CLASS_RUNNABLE))
			count_slot(number, CLASS_RUNNABLE, runnable_ns);
	}
	if (config.longest && t->task.state != CLASS_RUNNABLE &&
	    wants_wait(t->task.state, t->waits))
		note_longest(t, number, blocked_ns, runnable_ns);
	if (config.wants_runners && runnable_ns)
		count_runners(number, now - runnable_ns, now,
			      t->queued ? t->queued - 1 : t->task.cpu);
	keep_interval(t, number, blocked_ns, runnable_ns, counts);
	return 0;
}

static __always_inline void end_record(struct profile_record *t, __u32 number,
				       struct profile_counts *counts)
{
	__u64 now = bpf_ktime_get_ns();

	if (t->task.state == CLASS_ON_CPU)
		t->task.ns[CLASS_ON_CPU] += now - t->task.since;
	else
		end_interval(t, number, now, counts);
	t->task.since = now;
	t->task.ended = now;
	t->task.flags |= RECORD_ENDED;
}

/* --- on and off the CPU --- */

/* A task that was moved to another cgroup begins anew, as one that is wanted or not. */
static __always_inline void check_cgroup(struct task_struct *task, struct profile_counts *counts)
{
	struct task_ctx *tctx = ctx_of(task);
	struct profile_record *t;

	if (!tctx || tctx->phase < TRACK_YES || tctx->css_set == (__u64)task->cgroups)
		return;
	t = tctx->number ? record_at(tctx->number) : 0;
	if (t) {
		begin_write(&t->task);
		end_record(t, tctx->number, counts);
		end_write(&t->task);
	}
	leave_record(task, tctx);
	tctx->phase = TRACK_NEW;
}

/*
 * Is the switch voluntary by the kernel's count? A thread that a signal kept from sleeping is shown
 * as runnable (since Linux 6.15), and its switch is voluntary.
 */
static __always_inline bool is_voluntary(struct task_struct *prev, const struct profile_record *t,
					 bool is_preempted, __u32 state)
{
	return !is_preempted && (state || prev->nvcsw != t->nvcsw);
}

/* The number of a task that leaves its CPU and is not cached; 0: there is nothing to record. */
static __noinline int number_leaving(struct task_struct *task, __u64 now, __u32 state)
{
	struct task_ctx *tctx = task ? ctx_of(task) : 0;

	if (!tctx)
		return 0;
	if (claim(tctx))
		tctx->phase = begin_tracking(task, tctx, now, CLASS_ON_CPU);
	else if (is_being_described(tctx) && note_move(tctx, now, class_of(task, state)))
		return 0;
	tctx->since = now;
	return number_at_switch(task, tctx);
}

/* The same of one that gets a CPU. What a wanted task without a record did is lost. */
static __noinline int number_entering(struct task_struct *task, __u64 now)
{
	struct task_ctx *tctx = task ? ctx_of(task) : 0;
	struct profile_counts *counts = counts_here();

	if (!tctx || (is_being_described(tctx) && note_move(tctx, now, CLASS_ON_CPU)))
		return 0;
	if (counts && tctx->phase == TRACK_YES && !tctx->number) {
		counts->events++;
		lose(counts, now - tctx->since);
	}
	return number_at_switch(task, tctx);
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *prev, bool is_preempted,
				      __u32 state, __u64 now, struct profile_counts *counts)
{
	struct profile_record *t;
	__u32 number;

	if (config.cgroup)
		check_cgroup(prev, counts);
	number = cached_number(prev);
	if (number == NUMBER_IGNORED)
		return;
	if (!number)
		number = number_leaving(prev, now, state);
	t = number ? record_at(number) : 0;
	if (!t)
		return;
	begin_write(&t->task);
	if (t->task.state != CLASS_ON_CPU) {
		__u64 from = entered_unseen(prev, &t->task, now);

		counts->missed++;
		end_interval(t, number, from, counts);
		t->task.since = from;
	}
	/* After its wait, of which it must not seem to be the cause. */
	if (config.wants_runners)
		note_run(number, now);
	t->task.ns[CLASS_ON_CPU] += now - t->task.since;
	t->counts[CLASS_ON_CPU]++;
	if (is_voluntary(prev, t, is_preempted, state))
		t->voluntary++;
	else
		t->involuntary++;
	t->nvcsw = prev->nvcsw;
	t->task.since = now;
	t->task.run_time = prev->se.sum_exec_runtime;
	t->task.woken = 0;
	t->task.state = class_of(prev, state);
	t->task.cpu = bpf_get_smp_processor_id();
	t->user_stack = STACK_NONE;
	t->kernel_stack = STACK_NONE;
	t->waker = 0;
	t->queued = 0;
	if (config.wants_wakers)
		t->waker_user_stack = t->waker_kernel_stack = STACK_NONE;
	if (state & TASK_DEAD) {
		t->task.ended = now;
		t->task.flags |= RECORD_ENDED;
		end_write(&t->task);
		forget_task(prev);
		return;
	}
	if (t->task.state == CLASS_RUNNABLE)
		t->waits = STATE_RUNNABLE;
	else if (t->task.flags & RECORD_WANTED && config.wants_off_cpu)
		t->waits = what_it_waits_for(ctx, prev, state, t->task.lock);
	t->is_kept = t->task.flags & RECORD_WANTED && is_drawn(t, t->task.cpu);
	end_write(&t->task);
	if (t->is_kept && !config.is_late)
		take_stacks(ctx, prev, is_preempted, t, number, counts);
}

static __always_inline void enter_cpu(struct task_struct *next, __u64 now,
				      struct profile_counts *counts)
{
	__u32 number = cached_number(next);
	struct profile_record *t;

	if (number == NUMBER_IGNORED)
		return;
	if (!number)
		number = number_entering(next, now);
	t = number ? record_at(number) : 0;
	if (!t)
		return;
	begin_write(&t->task);
	if (t->task.state != CLASS_ON_CPU)
		end_interval(t, number, now, counts);
	else if (t->task.since != t->task.begun)
		t->task.flags |= RECORD_UNSEEN;
	t->task.state = CLASS_ON_CPU;
	t->task.since = now;
	t->task.cpu = bpf_get_smp_processor_id();
	end_write(&t->task);
}

#endif
