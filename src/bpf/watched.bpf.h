/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Which threads are watched, and what is known of them.
 *
 * A thread's place is in its own storage (BPF_MAP_TYPE_TASK_STORAGE), which goes with it: a table
 * by thread numbers would keep starts of threads that are gone, and give them to who gets the
 * number next. The storage holds the number of its record, which stays.
 */
#ifndef BPF_WATCHED_BPF_H
#define BPF_WATCHED_BPF_H

#include "bpf/kernel_stack.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/user_stack.bpf.h"

enum watch { WATCH_NEW, WATCH_BUSY, WATCH_YES, WATCH_NO };

/* Targets are named by numbers. Who is there already is one by its number; who comes later only as
 * a child of one, for it may have got the number of a target that has ended. */
enum kin { KIN_UNKNOWN, KIN_TARGET, KIN_STRANGER };

struct watched {
	__u32 watch;     /* enum watch */
	__u32 number;    /* of its record; 0: there was no room for one */
	__u8 kin;        /* enum kin */
	__u8 is_command; /* wanted from its exec on */
	__u64 since;     /* without a record: since when it has been off the CPU */
	__u64 css_set;
	struct last_stack user_stack;
	__u32 checks;
	struct slot_memory slots[REMEMBERED + LEAVING];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct watched);
} watched_tasks SEC(".maps");

/* --- who it is --- */

static __always_inline __u32 tid_of(struct task_struct *task)
{
	return state.pid_level ? pid_number(task, state.pid_level) : (__u32)task->pid;
}

static __always_inline __u32 tgid_of(struct task_struct *task)
{
	return state.pid_level ? pid_number(BPF_CORE_READ(task, group_leader), state.pid_level)
			       : (__u32)task->tgid;
}

/* --- is it wanted? --- */

struct glob_match {
	char name[PROFILE_COMM_MAX];
	__u32 at, pattern;   /* where both are */
	__u32 star_at, star; /* where the last star began, one more than its place; 0: none */
	__u32 result;        /* 1: it matches, 2: it does not */
};

/* One step of matching, which goes back to the last star when letters differ. */
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

static __always_inline bool name_matches(struct task_struct *task)
{
	struct glob_match m = { 0 };

	__builtin_memcpy(m.name, task->comm, sizeof(m.name));
	m.name[PROFILE_COMM_MAX - 1] = 0;
	bpf_loop(PROFILE_COMM_MAX * PROFILE_GLOB_MAX, glob_step, &m, 0);
	return m.result == 1;
}

static __always_inline bool is_target(struct task_struct *task, struct watched *w)
{
	__u32 tid = tid_of(task), tgid = tgid_of(task), *how;

	if (!config.only_targets || w->kin == KIN_TARGET)
		return true;
	if (w->kin == KIN_STRANGER)
		return false;
	how = bpf_map_lookup_elem(&target_processes, &tgid);
	if (!how)
		how = bpf_map_lookup_elem(&target_threads, &tid);
	if (how && *how == TARGET_FROM_EXEC)
		w->is_command = 1;
	else if (how)
		w->kin = KIN_TARGET;
	return how != 0;
}

/* A new task is a target if the one that makes it is, whatever else keeps that from being wanted.
 */
static __always_inline __u8 kin_of_child(struct task_struct *parent, struct watched *w)
{
	return w && is_target(parent, w) && !w->is_command ? KIN_TARGET : KIN_STRANGER;
}

static __always_inline bool is_wanted(struct task_struct *task, struct watched *w)
{
	bool is_kernel = task->flags & PF_KTHREAD;

	w->is_command = 0;
	if (!is_target(task, w) || w->is_command)
		return false;
	if (!tid_of(task) || (config.own_tgid && tgid_of(task) == config.own_tgid))
		return false;
	if (config.only_user && is_kernel)
		return false;
	if (config.only_kernel && !is_kernel)
		return false;
	if (config.cgroup && !is_below(task, config.cgroup))
		return false;
	return !config.has_comm || name_matches(task);
}

/* --- its record --- */

static __always_inline void describe(struct thread_record *t, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	t->tid = tid_of(task);
	t->tgid = tgid_of(task);
	t->cgroup = cgroup_of(task);
	if (task->flags & PF_KTHREAD)
		t->flags |= THREAD_KERNEL;
	__builtin_memcpy(t->name, task->comm, sizeof(t->name));
	BPF_CORE_READ_STR_INTO(&t->process, leader, comm);
}

static __always_inline __u64 draw_below(__u64 limit)
{
	return (__u64)bpf_get_prandom_u32() * (limit >> 12) >> 20;
}

static __always_inline void lose_thread(void)
{
	struct profile_counts *counts = counts_here();

	if (counts)
		counts->threads_lost++;
}

/* A record of a thread that is seen for the first time, or as another program. Returns what the
 * caller writes to w->watch when all is in it: WATCH_YES or WATCH_NO. */
static __noinline int begin_watching(struct task_struct *task, struct watched *w, __u64 now,
				     __u32 class)
{
	struct thread_record *t;
	__u32 number;
	bool is_one;

	if (!task || !w)
		return WATCH_NO;
	is_one = is_wanted(task, w);
	w->number = 0;
	if (config.cgroup)
		w->css_set = (__u64)task->cgroups;
	if (!is_one && !config.wants_runners && !config.wants_waker_names)
		return WATCH_NO;
	number = new_thread();
	t = number ? thread_at(number) : 0;
	if (t) {
		describe(t, task);
		if (is_one) {
			t->flags |= THREAD_WANTED;
			if (config.period_ns) {
				/* So that the first period ends anywhere in it. */
				t->blocked_debt = draw_below(config.period_ns);
				t->runnable_debt = draw_below(config.period_ns);
			}
		}
		t->begun = now;
		t->cpu = bpf_get_smp_processor_id();
		t->run_time = task->se.sum_exec_runtime;
		t->nvcsw = task->nvcsw;
		t->since = now;
		t->class = class;
		w->number = number;
	}
	if (is_one && !w->number)
		lose_thread();
	w->since = now;
	return is_one ? WATCH_YES : WATCH_NO;
}

/* Whoever gets it describes the thread. There may be room for a record where there was none. */
static __always_inline bool claim(struct watched *w)
{
	if (w->watch == WATCH_YES && !w->number && state.next_thread < state.thread_room)
		w->watch = WATCH_NEW;
	return w->watch == WATCH_NEW &&
	       __sync_val_compare_and_swap(&w->watch, WATCH_NEW, WATCH_BUSY) == WATCH_NEW;
}

static __always_inline struct watched *watched_of(struct task_struct *task)
{
	return bpf_task_storage_get(&watched_tasks, task, 0, 0);
}

/* The same for one that may be seen for the first time: it did `class` up to now. */
static __always_inline struct watched *watch(struct task_struct *task, __u64 now, __u32 class)
{
	struct watched *w =
		bpf_task_storage_get(&watched_tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (w && claim(w))
		w->watch = begin_watching(task, w, now, class);
	return w;
}

#endif
