/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Selects the tasks of a profile, and starts to track them.
 */
#ifndef SCHED_PROFILE_TARGETS_BPF_H
#define SCHED_PROFILE_TARGETS_BPF_H

#include "sched/profile_maps.bpf.h"

/* --- is it wanted? --- */

struct glob_match {
	char name[PROFILE_COMM_MAX];
	__u32 at, pattern;   /* where both are */
	__u32 star_at, star; /* where the last star began, one more than its place; 0: none */
	__u32 result;        /* 1: it matches, 2: it does not */
};

/* A step of matching a glob; on a mismatch, return to the last star. */
static long glob_step(__u32 index, struct glob_match *m)
{
	__u32 at = m->at, pattern = m->pattern;
	char letter, wanted;

	(void)index;
	if (at >= PROFILE_COMM_MAX || pattern >= PROFILE_GLOB_MAX) {
		m->result = 2;
		return 1;
	}
	asm volatile("%0 &= 15" : "+r"(at));
	asm volatile("%0 &= 31" : "+r"(pattern));
	letter = m->name[at];
	wanted = config.comm[pattern];
	if (wanted == '*') {
		m->star = m->pattern + 1;
		m->star_at = m->at;
		m->pattern++;
		return 0;
	}
	if (!letter && !wanted) {
		m->result = 1;
		return 1;
	}
	if (letter && (letter == wanted || wanted == '?')) {
		m->at++;
		m->pattern++;
		return 0;
	}
	if (!letter || !m->star) {
		m->result = 2;
		return 1;
	}
	m->star_at++;
	m->at = m->star_at;
	m->pattern = m->star;
	return 0;
}

static __always_inline bool name_matches(const char *name)
{
	struct glob_match m = { 0 };

	bpf_probe_read_kernel_str(m.name, sizeof(m.name), name);
	bpf_loop(PROFILE_COMM_MAX * PROFILE_GLOB_MAX, glob_step, &m, 0);
	return m.result == 1;
}

/* Its process has the name that is wanted, or itself. */
static __always_inline bool is_named(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	return name_matches(leader->comm) || (leader != task && name_matches(task->comm));
}

/* A name that the thread gives itself changes nothing then. */
static __always_inline bool is_named_by_process(struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	return leader != task && name_matches(leader->comm);
}

/* --- children --- */

#define ANCESTORS_MAX 64

struct ancestor_search {
	struct task_struct *task;
	bool is_found;
};

/* A step towards the first process, whose parent is the idle task, which is its own. */
static long look_at_parent(__u32 index, struct ancestor_search *search)
{
	struct task_struct *task = search->task, *parent = BPF_CORE_READ(task, real_parent);
	__u32 tgid, *how;

	(void)index;
	if (!parent || parent == task)
		return 1;
	search->task = parent;
	tgid = track.pid_level ? pid_number(BPF_CORE_READ(parent, group_leader), track.pid_level)
			       : (__u32)BPF_CORE_READ(parent, tgid);
	how = bpf_map_lookup_elem(&target_processes, &tgid);
	search->is_found = how && *how == TARGET_NOW;
	return search->is_found;
}

/* Was it started by a target, or by one that a target started? What they start from now on knows
 * it by its parent. */
static __always_inline bool is_below_target(struct task_struct *task)
{
	struct ancestor_search search = { .task = task };

	bpf_loop(ANCESTORS_MAX, look_at_parent, &search, 0);
	return search.is_found;
}

static __always_inline bool is_target(struct task_struct *task, struct target_match *match)
{
	__u32 tid = tid_of(task), tgid = tgid_of(task), *how;

	if (!config.only_targets || match->kind == TARGET_YES)
		return true;
	if (match->kind == TARGET_NO)
		return false;
	how = bpf_map_lookup_elem(&target_processes, &tgid);
	if (!how)
		how = bpf_map_lookup_elem(&target_threads, &tid);
	if (how && *how == TARGET_FROM_EXEC)
		match->is_command = 1;
	else if (how || (config.has_children && is_below_target(task)))
		match->kind = TARGET_YES;
	return match->is_command || match->kind == TARGET_YES;
}

/* A new task is a target if its parent is, even if other filters exclude the parent. */
static __always_inline __u8 child_kind(struct task_struct *parent, struct task_struct *child,
				       struct target_match *match)
{
	if (config.no_children && tgid_of(parent) != tgid_of(child))
		return TARGET_NO;
	return is_target(parent, match) && !match->is_command ? TARGET_YES : TARGET_NO;
}

static __always_inline bool is_thread_target(struct task_struct *task, struct target_match *match)
{
	bool is_kernel = task->flags & PF_KTHREAD;

	match->is_command = 0;
	if (!is_target(task, match) || match->is_command)
		return false;
	if (!is_in_our_namespace(task) || (config.own_tgid && tgid_of(task) == config.own_tgid))
		return false;
	if (config.only_user && is_kernel)
		return false;
	if (config.only_kernel && !is_kernel)
		return false;
	if (config.cgroup && !is_below(task, config.cgroup))
		return false;
	return !config.has_comm || is_named(task);
}

/* Like lose_storage(), for a task that has no storage to keep its match in. */
static __noinline int lose_if_wanted(struct task_struct *task, __u8 kind, bool is_counted)
{
	struct target_match match = { .kind = kind };

	if (task && is_thread_target(task, &match))
		lose_storage(is_counted);
	return 0;
}

/* --- beginning --- */

static __always_inline __u64 draw_below(__u64 limit)
{
	return (__u64)bpf_get_prandom_u32() * (limit >> 12) >> 20;
}

/*
 * User space zeroes a record before it gives its number back. A thread whose end was not reported
 * may still have written to the record since: its counts and stacks are not those of the next user,
 * and the stacks may be of a pool that has been emptied.
 */
static __always_inline void forget_former_user(struct profile_record *t)
{
	t->user_stack = t->kernel_stack = STACK_NONE;
	t->waker_user_stack = t->waker_kernel_stack = STACK_NONE;
	for (int i = 0; i < RECORD_COUNTS; i++)
		t->first[i].counted = 0;
}

/* Make the record of a task that was claimed: one that is seen for the first time, or as another
 * program. Returns the phase that the caller publishes when the record is complete. */
static __noinline int begin_tracking(struct task_struct *task, struct task_ctx *tctx, __u64 now,
				     __u32 class)
{
	struct profile_record *t;
	bool is_one;

	if (!task || !tctx)
		return TRACK_NO;
	is_one = is_thread_target(task, &tctx->match);
	tctx->number = 0;
	tctx->since = now;
	if (config.cgroup)
		tctx->css_set = (__u64)task->cgroups;
	if (!is_one && !config.wants_runners && !config.wants_waker_records)
		return TRACK_NO;
	t = begin_record(task, tctx, now, class, is_one);
	if (t) {
		forget_former_user(t);
		t->nvcsw = task->nvcsw;
		if (is_one) {
			t->task.flags |= RECORD_WANTED;
			if (config.period_ns) {
				/* Start with a random debt, so that the phase of the first period
				 * is random. */
				t->blocked_debt = draw_below(config.period_ns);
				t->runnable_debt = draw_below(config.period_ns);
			}
		}
	}
	return is_one ? TRACK_YES : TRACK_NO;
}

/*
 * The iterator describes a task that may be switched at the same time, on another CPU or between
 * two instructions of the iterator. The switch leaves a note then, and the iterator corrects the
 * record before it publishes it. False: the record is published by now, and the switch is recorded
 * normally.
 */
static __always_inline bool note_move(struct task_ctx *tctx, __u64 now, __u32 class)
{
	__u32 was;

	tctx->moved = now;
	tctx->moved_state = class;
	was = __sync_val_compare_and_swap(&tctx->phase, TRACK_BUSY, TRACK_MOVED);
	return was == TRACK_BUSY || was == TRACK_MOVED;
}

static __always_inline bool is_being_described(const struct task_ctx *tctx)
{
	return tctx->phase == TRACK_BUSY || tctx->phase == TRACK_MOVED;
}

/*
 * The number of a task that is switched, found in its storage, and cached for the next time; 0: it
 * has none. A task that is not wanted is cached as well, unless that may change by its name or
 * cgroup.
 */
static __always_inline __u32 number_at_switch(struct task_struct *task, struct task_ctx *tctx)
{
	__u32 number = tctx->number;

	if (tctx->phase < TRACK_YES)
		return 0;
	if (number) {
		cache_number(task, number);
		/* A thread of its process may rename it meanwhile, on another CPU. */
		if (*(volatile __u32 *)&tctx->number != number)
			cache_number(task, 0);
	} else if (tctx->phase == TRACK_NO && !config.has_comm && !config.cgroup) {
		cache_number(task, NUMBER_IGNORED);
	}
	return number;
}

#endif
