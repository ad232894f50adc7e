/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The scheduler tracker: how a program finds, claims, creates and gives up the record of a task.
 *
 * A program that includes this first defines TRACK_RECORD, the type of its records, which begin
 * with a struct task_record.
 *
 * State that must not outlive the task is in task storage (BPF_MAP_TYPE_TASK_STORAGE), which the
 * kernel frees with the task. A table by thread numbers would keep entries of tasks that are gone,
 * and apply them to the next task with that number. The storage has the number of the record, and
 * the record stays until user space has read it.
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
#ifndef SCHED_TRACK_BPF_H
#define SCHED_TRACK_BPF_H

#include "bpf/task.bpf.h"

#include "profile/class.h"
#include "sched/interval.h"
#include "sched/task_record.h"

#ifndef TRACK_RECORD
#define TRACK_RECORD struct task_record
#endif

/* Set before loading: code for what is not wanted is removed by the verifier. */
const volatile struct track_config track_config;
struct track_state track;

/* --- storage --- */

enum track_phase {
	TRACK_NEW,
	TRACK_BUSY,  /* its record is being made */
	TRACK_MOVED, /* the same, and it was switched meanwhile */
	TRACK_YES,
	TRACK_NO, /* it is not wanted, or has ended */
};

/* Targets are named by numbers. A thread that exists when tracking begins is a target by its
 * number; a later one only as a child of a target, for numbers are used again. */
enum target_kind { TARGET_UNKNOWN, TARGET_YES, TARGET_NO };

struct target_match {
	__u8 kind;       /* enum target_kind */
	__u8 is_command; /* wanted from its exec on */
};

struct task_ctx {
	__u32 phase;  /* enum track_phase */
	__u32 number; /* of its record; 0: it has none */
	struct target_match match;
	__u8 is_lost; /* it was counted as one without a record */
	__u64 since;  /* without a record: since when it has been off the CPU */
	__u64 moved;  /* with TRACK_MOVED: its last switch, and its state since then */
	__u32 moved_state;
	__u64 css_set;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_ctx);
} task_ctxs SEC(".maps");

/* NULL: it has none. The kernel also refuses a lookup that interrupts another on this CPU
 * (bpf_task_storage_trylock() in kernel/bpf/bpf_task_storage.c). */
static __always_inline struct task_ctx *ctx_of(struct task_struct *task)
{
	return bpf_task_storage_get(&task_ctxs, task, 0, 0);
}

/* For programs that may create storage; the top of this file lists them. */
static __always_inline struct task_ctx *create_ctx(struct task_struct *task)
{
	return bpf_task_storage_get(&task_ctxs, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* A wanted task got no storage: user space runs the iterator again, and until then the task is not
 * tracked. It is counted once, not for each attempt. */
static __always_inline void lose_storage(bool is_counted)
{
	track.unplaced = 1;
	if (is_counted)
		__sync_fetch_and_add(&track.lost, 1);
}

/* --- numbers of records --- */

struct record_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, RECORD_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(TRACK_RECORD));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, RECORD_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct record_chunk);
} records SEC(".maps");

static __always_inline TRACK_RECORD *record_at(__u32 number)
{
	__u32 chunk = number >> RECORD_CHUNK_BITS, at = number & (RECORD_CHUNK - 1);
	void *map = bpf_map_lookup_elem(&records, &chunk);

	return map ? bpf_map_lookup_elem(map, &at) : 0;
}

/* A number that was given back, or one that was never used; 0: there is no room. The number is read
 * before it is taken: once the head has moved, user space may put another one in its place. */
static __always_inline __u32 new_number(void)
{
	for (int tries = 0; tries < 4; tries++) {
		__u32 head = track.free_head, number;

		if (head == track.free_tail)
			break;
		number = *(volatile __u32 *)&track.free_numbers[head & (RECORDS_FREE - 1)];
		if (__sync_val_compare_and_swap(&track.free_head, head, head + 1) == head)
			return number;
	}
	if (track.next >= track.room)
		return 0;
	return __sync_fetch_and_add(&track.next, 1);
}

/*
 * A cache from a task to its number, which spares the look into the task's storage, three cache
 * lines away: a table by the address of the task. The last 48 bits of the address tell all tasks
 * apart. A task whose entry another one has taken is found by its storage.
 *
 * Numbers of tasks change, so only code that runs when the task is switched, or in the task itself,
 * may cache one: another CPU could bring a number back that is no longer the task's.
 *
 * The verifier forbids arithmetic on the address of a task, but allows its distance from something.
 */
static __always_inline __u64 distance_of(struct task_struct *task)
{
	__u64 distance = (__u64)task;

	asm volatile("%0 -= %1" : "+r"(distance) : "r"(&track));
	return distance;
}

#define NUMBER_MASK    ((1u << RECORD_NUMBER_BITS) - 1)
#define NUMBER_IGNORED NUMBER_MASK /* in the cache: the task is known to be unwanted */

/* Tasks begin at cache lines. */
static __always_inline __u64 cache_tag(__u64 distance)
{
	return distance >> 6 << RECORD_NUMBER_BITS;
}

/* Tasks are longer than 2 KiB, so neighbours have entries of their own, which share a line. */
static __always_inline __u64 *cache_entry(__u64 distance)
{
	return &track.cached[distance >> 11 & (RECORDS_CACHED - 1)];
}

/* 0: it is not there. */
static __always_inline __u32 cached_number(struct task_struct *task)
{
	__u64 distance = distance_of(task), it = *(volatile __u64 *)cache_entry(distance);

	return (it & ~(__u64)NUMBER_MASK) == cache_tag(distance) ? it & NUMBER_MASK : 0;
}

static __always_inline void cache_number(struct task_struct *task, __u32 number)
{
	__u64 distance = distance_of(task);

	*(volatile __u64 *)cache_entry(distance) = cache_tag(distance) | number;
}

static __noinline int stored_number(struct task_struct *task)
{
	struct task_ctx *tctx = task && task->pid ? ctx_of(task) : 0;

	return tctx ? tctx->number : 0;
}

/* 0: it has no record. */
static __always_inline __u32 record_number(struct task_struct *task)
{
	__u32 number = cached_number(task);

	if (!number)
		number = stored_number(task);
	return number == NUMBER_IGNORED ? 0 : number;
}

/* NULL: it has no record. */
static __always_inline TRACK_RECORD *find_record(struct task_struct *task)
{
	__u32 number = record_number(task);

	return number ? record_at(number) : 0;
}

/* --- writing to a record --- */

/* Two increments of `sequence` surround what the task's own CPU writes. An atomic operation that
 * returns the old value is a barrier, too. */
static __always_inline void step_sequence(struct task_record *t)
{
	asm volatile("" ::: "memory");
	if (track_config.is_weakly_ordered)
		(void)__sync_fetch_and_add(&t->sequence, 1);
	else
		*(volatile __u32 *)&t->sequence = t->sequence + 1;
	asm volatile("" ::: "memory");
}

static __always_inline void begin_write(struct task_record *t)
{
	step_sequence(t);
}

static __always_inline void end_write(struct task_record *t)
{
	step_sequence(t);
}

/* --- which task it is --- */

static __always_inline __u32 tid_of(struct task_struct *task)
{
	return track.pid_level ? pid_number(task, track.pid_level) : (__u32)task->pid;
}

static __always_inline __u32 tgid_of(struct task_struct *task)
{
	return track.pid_level ? pid_number(BPF_CORE_READ(task, group_leader), track.pid_level)
			       : (__u32)task->tgid;
}

static __always_inline __u64 namespace_at(struct pid *pid, __u32 level)
{
	struct pid_namespace *ns = 0;

	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (char *)&pid->numbers[0].ns +
				      level * bpf_core_type_size(struct upid));
	return (__u64)ns;
}

/* Is it in our PID namespace, or in one below? */
static __always_inline bool is_in_our_namespace(struct task_struct *task)
{
	struct pid *pid;

	if (!track.pid_level)
		return true;
	pid = BPF_CORE_READ(task, thread_pid);
	if (!pid || BPF_CORE_READ(pid, level) < track.pid_level)
		return false;
	return namespace_at(pid, track.pid_level) == track.pid_namespace;
}

/* The program runs in a task of ctprof, so the PID namespace of that task is the one to show. */
static __always_inline void find_namespace(void)
{
	struct pid *pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);

	track.pid_level = BPF_CORE_READ(pid, level);
	track.pid_namespace = track.pid_level ? namespace_at(pid, track.pid_level) : 0;
}

static __always_inline void describe_task(struct task_record *t, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	t->tid = tid_of(task);
	t->tgid = tgid_of(task);
	t->uid = BPF_CORE_READ(task, cred, euid.val);
	t->cgroup = cgroup_of(task);
	if (task->flags & PF_KTHREAD)
		t->flags |= RECORD_KERNEL;
	__builtin_memcpy(t->name, task->comm, sizeof(t->name));
	BPF_CORE_READ_STR_INTO(&t->process, leader, comm);
}

/* At task_rename. A name is torn for a moment in the kernel as well. */
static __always_inline void rename_record(struct task_record *t, const char *name)
{
	bpf_probe_read_kernel_str(t->name, sizeof(t->name), name);
	if (t->tid == t->tgid)
		bpf_probe_read_kernel_str(t->process, sizeof(t->process), name);
}

/* --- what a task does that leaves its CPU --- */

/* The class of a task that is not queued, by the bits of its state. */
__u32 sleep_class(__u32 state, bool is_io);

__noinline __u32 sleep_class(__u32 state, bool is_io)
{
	if (state & TASK_PARKED)
		return CLASS_PARKED;
	if (state & TASK_TRACED)
		return CLASS_TRACED;
	if (state & TASK_STOPPED)
		return CLASS_STOPPED;
	if (is_io)
		return CLASS_IO_WAIT;
	if (state & TASK_INTERRUPTIBLE)
		return CLASS_INTERRUPTIBLE;
	if (state & TASK_NOLOAD)
		return CLASS_IDLE;
	return CLASS_UNINTERRUPTIBLE;
}

static __always_inline __u32 class_of(struct task_struct *task, __u32 state)
{
	return is_queued(task) ? CLASS_RUNNABLE
			       : sleep_class(state, BPF_CORE_READ_BITFIELD(task, in_iowait));
}

/* The state of a thread of this class, unless more is known (profile/class.h). */
static __always_inline __u32 state_of_class(__u32 class)
{
	switch (class) {
#define CLASS_STATE(id, state, ...) \
	case CLASS_##id:            \
		return STATE_##state;
		PROFILE_CLASSES(CLASS_STATE)
#undef CLASS_STATE
	}
	return STATE_COUNT;
}

/* --- beginning and end of tracking --- */

/* The program that gets the claim makes the record. A task that found no room may find some now. */
static __always_inline bool claim(struct task_ctx *tctx)
{
	__u32 phase = TRACK_NEW;

	if (tctx->phase == TRACK_YES) {
		if (tctx->number ||
		    (track.next >= track.room && track.free_head == track.free_tail))
			return false;
		phase = TRACK_YES;
	}
	if (__sync_val_compare_and_swap(&tctx->phase, phase, TRACK_BUSY) != phase)
		return false;
	if (!*(volatile __u32 *)&tctx->number)
		return true;
	/* Another CPU has made the record since it was looked for. */
	tctx->phase = phase;
	return false;
}

/* A record for a task that was claimed, which has been in this state up to now. User space has
 * zeroed it. NULL: there is no room, which is counted once if the task `is_wanted`. */
static __always_inline TRACK_RECORD *begin_record(struct task_struct *task, struct task_ctx *tctx,
						  __u64 now, __u32 state, bool is_wanted)
{
	__u32 number = new_number();
	TRACK_RECORD *record = number ? record_at(number) : 0;
	struct task_record *t = (struct task_record *)record;

	if (!t) {
		if (is_wanted && !tctx->is_lost) {
			__sync_fetch_and_add(&track.lost, 1);
			tctx->is_lost = 1;
		}
		return 0;
	}
	begin_write(t);
	describe_task(t, task);
	t->begun = t->since = now;
	t->entered = t->woken = 0;
	t->state = state;
	t->syscall = -1;
	t->cpu = bpf_get_smp_processor_id();
	t->run_time = task->se.sum_exec_runtime;
	t->utime = task->utime;
	t->stime = task->stime;
	t->css_set = (__u64)task->cgroups;
	t->cred = (__u64)task->cred;
	end_write(t);
	tctx->number = number;
	return record;
}

/* Detach a task from its record, which may then be reused. */
static __always_inline void leave_record(struct task_struct *task, struct task_ctx *tctx)
{
	tctx->number = 0;
	cache_number(task, 0);
}

/* The task is dead. (A dead leader remains a task for a while.) */
static __noinline int forget_task(struct task_struct *task)
{
	struct task_ctx *tctx = task ? ctx_of(task) : 0;

	if (tctx) {
		tctx->phase = TRACK_NO;
		leave_record(task, tctx);
	}
	return 0;
}

/*
 * When it got the CPU that it leaves, where no switch to it was seen: a program does not run inside
 * itself, nor does every kernel run programs for every thread. The kernel's own count says for how
 * long it ran.
 */
static __always_inline __u64 entered_unseen(struct task_struct *task, const struct task_record *t,
					    __u64 now)
{
	__u64 ran = task->se.sum_exec_runtime - t->run_time;

	return ran < now - t->since ? now - ran : t->since;
}

#endif
