/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Which threads are watched, and what is known of them.
 *
 * Per-thread state is in task storage (BPF_MAP_TYPE_TASK_STORAGE), which is freed with the task: a
 * table by thread numbers would keep starts of threads that are gone, and apply them to the next
 * thread with that number. The storage holds the number of the thread's record, which stays.
 *
 * Storage is created by the task iterator, at fork (task_newtask) and at exec (sched_process_exec)
 * only: all three run in process context without scheduler locks. Programs at sched_switch,
 * sched_waking and sched_wakeup, and samples and probes, look it up and never create it. At a
 * switch the run queue is locked, and before Linux 6.4 creating storage calls kzalloc(GFP_ATOMIC)
 * (bpf_map_kzalloc() in kernel/bpf/syscall.c). An allocation below the low watermark wakes kswapd
 * (wake_all_kswapds() in mm/page_alloc.c), one without a free block of its order may wake
 * kcompactd, and try_to_wake_up() locks the run queue of the woken thread: if that is the queue of
 * this CPU, the CPU spins for ever. tests/kernels/cases/profile_pressure.sh reproduces that on 6.1.
 * Since 6.4 storage comes from bpf_mem_alloc, which refills itself in an irq_work, without the lock
 * (kernel/bpf/bpf_local_storage.c).
 */
#ifndef SCHED_WATCHED_BPF_H
#define SCHED_WATCHED_BPF_H

#include "bpf/task.bpf.h"
#include "sched/kernel_stack.bpf.h"
#include "sched/user_stack.bpf.h"

/* WATCH_BUSY: its record is being made. WATCH_MOVED: the same, and it was switched meanwhile. */
enum watch { WATCH_NEW, WATCH_BUSY, WATCH_MOVED, WATCH_YES, WATCH_NO };

/* Targets are named by numbers. A thread that exists when watching begins is a target by its
 * number; a later one only as a child of a target, for numbers are used again. */
enum kin { KIN_UNKNOWN, KIN_TARGET, KIN_STRANGER };

struct target_match {
	__u8 kin;        /* enum kin */
	__u8 is_command; /* wanted from its exec on */
};

struct watched {
	__u32 watch;  /* enum watch */
	__u32 number; /* of its record; 0: there was no room for one */
	struct target_match match;
	__u64 since; /* without a record: since when it has been off the CPU */
	__u64 moved; /* with WATCH_MOVED: its last switch, and what it has done since then */
	__u32 moved_class;
	__u64 css_set;
	__u32 stack_epoch; /* of the stacks below */
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

static __always_inline bool is_target(struct task_struct *task, struct target_match *match)
{
	__u32 tid = tid_of(task), tgid = tgid_of(task), *how;

	if (!config.only_targets || match->kin == KIN_TARGET)
		return true;
	if (match->kin == KIN_STRANGER)
		return false;
	how = bpf_map_lookup_elem(&target_processes, &tgid);
	if (!how)
		how = bpf_map_lookup_elem(&target_threads, &tid);
	if (how && *how == TARGET_FROM_EXEC)
		match->is_command = 1;
	else if (how)
		match->kin = KIN_TARGET;
	return how != 0;
}

/* A new task is a target if its parent is, even if other filters exclude the parent. */
static __always_inline __u8 kin_of_child(struct task_struct *parent, struct target_match *match)
{
	return is_target(parent, match) && !match->is_command ? KIN_TARGET : KIN_STRANGER;
}

static __always_inline bool is_wanted(struct task_struct *task, struct target_match *match)
{
	bool is_kernel = task->flags & PF_KTHREAD;

	match->is_command = 0;
	if (!is_target(task, match) || match->is_command)
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
	is_one = is_wanted(task, &w->match);
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
	if (w->watch == WATCH_YES && !w->number &&
	    (state.next_thread < state.thread_room || state.free_head != state.free_tail))
		w->watch = WATCH_NEW;
	return w->watch == WATCH_NEW &&
	       __sync_val_compare_and_swap(&w->watch, WATCH_NEW, WATCH_BUSY) == WATCH_NEW;
}

/* --- its storage --- */

/* NULL: it has none. The kernel also refuses a lookup that interrupts another on this CPU
 * (bpf_task_storage_trylock() in kernel/bpf/bpf_task_storage.c). */
static __always_inline struct watched *watched_of(struct task_struct *task)
{
	return bpf_task_storage_get(&watched_tasks, task, 0, 0);
}

/* Forget the stacks of another epoch: its pool may have been emptied. */
static __always_inline void begin_epoch(struct watched *w)
{
	const __u32 epoch = stack_epoch();

	if (w->stack_epoch == epoch)
		return;
	w->stack_epoch = epoch;
	w->user_stack.number = 0;
	for (int i = 0; i < USER_REMEMBERED; i++)
		w->user_stack.memory[i].number = 0;
	for (int i = 0; i < REMEMBERED + LEAVING; i++)
		w->slots[i].number = w->slots[i].walked = 0;
}

/* For the programs that may create storage, which the head of this file names. */
static __always_inline struct watched *place_of(struct task_struct *task)
{
	return bpf_task_storage_get(&watched_tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* It got no storage: user space runs the iterator again, and until then the thread is not watched.
 * It is counted once, not for each attempt. */
static __noinline int lose_place(struct task_struct *task, __u8 kin, bool is_counted)
{
	struct target_match match = { .kin = kin };

	if (!task || !is_wanted(task, &match))
		return 0;
	state.unplaced = 1;
	if (is_counted)
		lose_thread();
	return 0;
}

/* The iterator describes a thread that may be switched at the same time, on another CPU or between
 * two instructions of the iterator. The switch leaves a note then, and the iterator corrects the
 * record before it publishes it. False: it is published by now, and the switch is recorded
 * normally. */
static __always_inline bool note_move(struct watched *w, __u64 now, __u32 class)
{
	__u32 was;

	w->moved = now;
	w->moved_class = class;
	was = __sync_val_compare_and_swap(&w->watch, WATCH_BUSY, WATCH_MOVED);
	return was == WATCH_BUSY || was == WATCH_MOVED;
}

static __always_inline bool is_being_described(const struct watched *w)
{
	return w->watch == WATCH_BUSY || w->watch == WATCH_MOVED;
}

#endif
