/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Sums up in the kernel where threads spend their time: on their CPUs, waiting for one, blocked.
 *
 * The program at sched_switch sees each interval begin and end: the thread that leaves the CPU
 * begins one, with its state and its stacks; the thread that gets the CPU ends one. sched_wakeup
 * marks when a blocked thread becomes runnable. User space reads the sums at any time; intervals in
 * progress are in the records of threads.
 *
 * The intervals of a thread are known to the nanosecond, and each begins where the previous one
 * ends: its times add up to the time for which it was watched.
 */
#include "sched/intervals.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	bool is_preempted = ctx[0];
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct profile_counts *counts = counts_here();
	__u64 now = bpf_ktime_get_ns();
	__u32 task_state;

	if (!counts || (state.until && now > state.until))
		return 0;
	counts->running = (__u64)next->pid + 1;
	/* Before Linux 5.18 a wake-up on another CPU may have changed it by now. */
	if (track_config.has_previous_state)
		task_state = ctx[3];
	else
		task_state = prev->__state;
	if (prev->pid) {
		counts->switches++;
		leave_cpu(ctx, prev, is_preempted, task_state, now, counts);
	}
	if (config.wants_runners)
		note_switch(prev, next, now);
	if (next->pid)
		enter_cpu(next, now, counts);
	return 0;
}

/*
 * The thread that got the CPU is still where it left it, and its stack can be read now: so
 * time-weighted sampling takes stacks only for samples (Linux 6.16).
 */
SEC("tp_btf/sched_exit_tp")
int on_switched(__u64 *ctx)
{
	struct pending_count *p = pending_here();
	struct profile_counts *counts = counts_here();
	struct scratch *scratch = scratch_of(SCRATCH_LATE);
	struct profile_record *t;
	struct task_struct *task = bpf_get_current_task_btf();
	struct user_registers regs = { 0 };
	bool has_registers;

	if (!p || !p->is_there || !counts || !scratch)
		return 0;
	p->is_there = 0;
	if (record_number(task) == p->key.thread) {
		has_registers = user_registers(task, &regs);
		if (config.kernel_depth)
			p->key.kernel_stack = kernel_stack(ctx, scratch, SITE_LATE, task, &regs,
							   p->key.class == CLASS_RUNNABLE, counts);
		if (config.user_depth && has_user_space(task) && has_registers)
			p->key.user_stack =
				user_stack(task, tgid_of(task), scratch, &regs, true, counts);
	}
	t = record_at(p->key.thread);
	if (!t || p->key.user_stack == STACK_LOST || p->key.kernel_stack == STACK_LOST)
		lose(counts, p->value.ns + p->value.runnable_ns);
	else
		count_interval(t, &p->key, &p->value, counts);
	return 0;
}

/* The task is runnable from now on. Not at sched_waking: a wake-up may begin before the thread has
 * left its CPU, and is carried out after that. */
SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct profile_record *t = find_record((void *)ctx[0]);

	if (!t || t->task.woken)
		return 0;
	t->task.woken = bpf_ktime_get_ns();
	if (config.wants_runners)
		t->queued = ((struct task_struct *)ctx[0])->thread_info.cpu + 1;
	return 0;
}

/* --- fork, exec, exit and names --- */

/* Called by the parent in copy_process(), where it holds no locks and may not be preempted, before
 * the new task runs (kernel/fork.c). */
SEC("tp_btf/task_newtask")
int on_new_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0], *maker = bpf_get_current_task_btf();
	struct target_match unknown = { 0 };
	struct task_ctx *parent, *tctx;
	__u8 kind = TARGET_UNKNOWN;
	struct profile_record *t;
	int phase;

	/* Forget the task that was at this address before. */
	cache_number(task, 0);
	/* The idle task of a CPU that comes online (fork_idle()). */
	if (!task->pid)
		return 0;
	/* The iterator may not have seen the parent yet. */
	parent = create_ctx(maker);
	tctx = create_ctx(task);
	inherit_mappings(tgid_of(maker), tgid_of(task));
	if (config.only_targets)
		kind = child_kind(maker, task, parent ? &parent->match : &unknown);
	if (!tctx)
		lose_if_wanted(task, kind, true);
	if (tctx && !track.follows)
		tctx->match.kind = kind;
	/* A task that ended before on_switch is attached would stay runnable for ever. Those that
	 * live longer are found by the iterator. */
	if (!tctx || !track.follows || !claim(tctx))
		return 0;
	tctx->match.kind = kind;
	phase = begin_tracking(task, tctx, bpf_ktime_get_ns(), CLASS_RUNNABLE);
	t = tctx->number ? record_at(tctx->number) : 0;
	/* The new thread waits for its first CPU, and has no stack yet. */
	if (t && phase == TRACK_YES) {
		t->task.cpu = bpf_get_smp_processor_id();
		t->waits = STATE_RUNNABLE;
		t->is_kept = is_drawn(t, t->task.cpu);
	}
	tctx->phase = phase;
	return 0;
}

/* Called by the task itself, which holds no locks and may not be preempted here (fs/exec.c). */
SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 now = bpf_ktime_get_ns();
	struct task_ctx *tctx = create_ctx(task);
	struct profile_record *t;

	forget_mappings(task, tgid_of(task));
	if (!tctx)
		lose_if_wanted(task, TARGET_UNKNOWN, true);
	if (tctx && claim(tctx))
		tctx->phase = begin_tracking(task, tctx, now, CLASS_ON_CPU);
	if (!tctx || tctx->phase < TRACK_YES)
		return 0;
	t = tctx->number ? record_at(tctx->number) : 0;
	/* A record that was made just now is that of the new program already. */
	if (t && t->task.begun == now)
		return 0;
	/* Samples must not be added to a record that may be given to another task, nor make one. */
	tctx->phase = TRACK_BUSY;
	leave_record(task, tctx);
	if (t) {
		begin_write(&t->task);
		t->task.ns[CLASS_ON_CPU] += now - t->task.since;
		t->task.since = now;
		t->task.ended = now;
		t->task.flags |= RECORD_ENDED;
		end_write(&t->task);
	}
	if (tctx->match.is_command)
		tctx->match.kind = TARGET_YES;
	tctx->phase = begin_tracking(task, tctx, now, CLASS_ON_CPU);
	return 0;
}

/*
 * If no program traces switches, these programs detect ends. A thread is sampled until its last
 * switch, after sched_process_exit: its record is kept until the task is freed, when no reference
 * is left (delayed_put_task_struct() in kernel/exit.c).
 */
SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *ctx)
{
	struct profile_record *t = find_record((void *)ctx[0]);

	if (t)
		t->task.ended = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_process_free")
int on_freed(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct profile_record *t = find_record(task);

	if (!t)
		return 0;
	forget_task(task);
	if (!t->task.ended)
		t->task.ended = bpf_ktime_get_ns();
	t->task.flags |= RECORD_ENDED;
	return 0;
}

/* exec sets the new name before the program is replaced: the record of the old program keeps its
 * own. */
static __always_inline bool is_in_exec(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve);
}

SEC("tp_btf/task_rename")
int on_rename(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_ctx *tctx = ctx_of(task);
	struct profile_counts *counts = counts_here();
	struct profile_record *t;

	if (!tctx || tctx->phase < TRACK_YES || is_in_exec(task))
		return 0;
	t = tctx->number ? record_at(tctx->number) : 0;
	if (!config.has_comm || is_named_by_process(task)) {
		if (t)
			rename_record(&t->task, (void *)ctx[1]);
		return 0;
	}
	/* The record ends with the name that it was selected by. Whether the task is wanted is
	 * found anew when it leaves the CPU, or by a sample, with its new name: it may be asleep,
	 * and have its name from another task. */
	if (t && counts)
		end_record(t, tctx->number, counts);
	leave_record(task, tctx);
	tctx->phase = TRACK_NEW;
	return 0;
}

/* --- tasks that exist at the start --- */

static __always_inline void first_stack(struct task_struct *task, struct profile_record *t)
{
	struct scratch *scratch = scratch_of(SCRATCH_TASKS);
	struct profile_counts *counts = counts_here();
	struct user_registers regs = { 0 };

	if (!scratch || !counts)
		return;
	if (config.kernel_depth)
		t->kernel_stack = number_walk(
			scratch, bpf_get_task_stack(task, scratch->kernel, KERNEL_STACK_BYTES, 0),
			counts);
	if (config.user_depth && has_user_space(task) && user_registers(task, &regs))
		left_user_space(t, &regs);
}

/* Take the stacks of waits in progress, when a reading asks for them. */
static __always_inline void look_again(struct task_struct *task, struct task_ctx *tctx)
{
	struct profile_record *t =
		tctx->phase == TRACK_YES && tctx->number ? record_at(tctx->number) : 0;

	/* The record of a zombie may belong to another thread by now. */
	if (t && t->task.tid == tid_of(task) && t->is_kept && t->task.state != CLASS_ON_CPU &&
	    !t->kernel_stack && !is_on_cpu(task))
		first_stack(task, t);
}

/* Is it running? Uses what on_switch() last recorded on that CPU: task->on_cpu is cleared only when
 * the switch is over (finish_task() in kernel/sched/core.c). */
static __always_inline bool is_running(struct task_struct *task)
{
	__u32 zero = 0;
	struct profile_counts *counts =
		bpf_map_lookup_percpu_elem(&counters, &zero, task->thread_info.cpu);

	return counts && counts->running ? counts->running == (__u64)task->pid + 1
					 : is_on_cpu(task);
}

static __always_inline __u32 class_now(struct task_struct *task)
{
	return is_running(task) ? CLASS_ON_CPU : class_of(task, task->__state);
}

/* Set the first state of a record, which began at t->task.since. */
static __noinline int begin_first(struct task_struct *task, struct profile_record *t, __u32 class)
{
	if (!task || !t)
		return 0;
	t->task.state = class;
	t->task.cpu = task->thread_info.cpu;
	t->user_stack = STACK_NONE;
	t->kernel_stack = STACK_NONE;
	t->waits = STATE_RUNNABLE;
	if (class != CLASS_ON_CPU && class != CLASS_RUNNABLE)
		t->waits = what_it_waits_for(0, task, task->__state, 0);
	t->is_kept =
		class != CLASS_ON_CPU && t->task.flags & RECORD_WANTED && is_drawn(t, t->task.cpu);
	if (t->is_kept)
		first_stack(task, t);
	return 0;
}

/* Correct the record of a task that was switched while it was described. */
static __noinline int correct(struct task_struct *task, struct task_ctx *tctx)
{
	struct profile_record *t;
	__u64 moved;

	if (!task || !tctx)
		return 0;
	moved = tctx->moved;
	tctx->since = moved;
	t = tctx->number ? record_at(tctx->number) : 0;
	if (!t)
		return 0;
	if (moved > t->task.since) {
		t->task.ns[t->task.state & PROFILE_TIMES_MASK] += moved - t->task.since;
		t->task.since = moved;
	}
	/* The wake-up belongs to the previous wait. */
	if (t->task.woken <= moved)
		t->task.woken = 0;
	if (tctx->moved_state != CLASS_ON_CPU && task->__state & TASK_DEAD) {
		t->task.ended = moved;
		t->task.flags |= RECORD_ENDED;
	}
	return begin_first(task, t, tctx->moved_state);
}

#define MOVES 4 /* switches while one thread is described; describing takes microseconds */

static __always_inline void publish(struct task_struct *task, struct task_ctx *tctx, __u32 phase)
{
	for (int i = 0; i < MOVES; i++) {
		if (__sync_val_compare_and_swap(&tctx->phase, TRACK_BUSY, phase) == TRACK_BUSY)
			return;
		__sync_val_compare_and_swap(&tctx->phase, TRACK_MOVED, TRACK_BUSY);
		correct(task, tctx);
	}
	tctx->phase = phase;
}

/*
 * Visits each thread after the other programs are attached: records its state and its stack. Runs
 * again if waits in progress lack stacks, and if task storage was short.
 *
 * The other programs may see the thread at the same time; the first to claim it describes it. A
 * switch before the claim is visible to is_running() by the time the record is made; a switch after
 * the claim leaves a note.
 */
SEC("iter/task")
int scan_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct profile_record *t;
	struct task_ctx *tctx;
	__u32 class;
	int phase;

	if (!task || !task->pid)
		return 0;
	tctx = create_ctx(task);
	if (!tctx) {
		lose_if_wanted(task, TARGET_UNKNOWN, !track.has_scanned);
		return 0;
	}
	/* A zombie has left its last CPU, so no switch will report its end. */
	if (!tctx->number && task->exit_state) {
		tctx->phase = TRACK_NO;
		return 0;
	}
	if (!claim(tctx)) {
		look_again(task, tctx);
		return 0;
	}
	class = class_now(task);
	phase = begin_tracking(task, tctx, bpf_ktime_get_ns(), class);
	t = tctx->number ? record_at(tctx->number) : 0;
	begin_first(task, t, class);
	if (t && (class == CLASS_ON_CPU) != is_running(task))
		begin_first(task, t, class_now(task));
	publish(task, tctx, phase);
	/* The last switch of the task was noted meanwhile. */
	if (t && t->task.flags & RECORD_ENDED)
		forget_task(task);
	return 0;
}

/* --- wakers --- */

#define STACK_BYTES (16u << 10) /* THREAD_SIZE, or less */

/*
 * An interrupt has a stack of its own, unless it came in user space: then it uses the thread's,
 * which is empty but for the registers, and those say that it is no system call (arch/x86/entry:
 * orig_ax is -1). A page fault looks the same, and hardly ever wakes anybody.
 */
static __always_inline bool is_in_interrupt(const void *ctx, struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* The registers are at the far end of its stack. */
	if ((__u64)regs - (__u64)ctx >= STACK_BYTES)
		return true;
	if (task->flags & PF_KTHREAD)
		return false;
	return bpf_core_field_exists(regs->orig_ax) && (long)regs->orig_ax == -1;
}

/* An interrupted task has nothing to do with it. What the idle task wakes is for another CPU. */
static __always_inline __u32 waker_here(const void *ctx, struct task_struct *current)
{
	if (!current->pid || is_in_interrupt(ctx, current))
		return WAKER_INTERRUPT;
	return config.wants_waker_records ? record_number(current) : tid_of(current);
}

/* Called in the waker, before sched_wakeup, which may be called on the CPU of the woken task. */
SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct profile_record *t = find_record((void *)ctx[0]);
	struct user_registers regs = { 0 };
	struct profile_counts *counts;
	struct scratch *scratch;
	bool has_registers;

	if (!t || t->task.woken || !t->is_kept)
		return 0;
	t->waker = waker_here(ctx, current);
	if (!config.wants_wakers)
		return 0;
	scratch = scratch_of(SCRATCH_WAKING);
	counts = counts_here();
	if (!scratch || !counts)
		return 0;
	has_registers = user_registers(current, &regs);
	t->waker_kernel_stack = config.kernel_depth ? kernel_stack(ctx, scratch, SITE_WAKING,
								   current, &regs, false, counts)
						    : STACK_NONE;
	t->waker_user_stack = STACK_NONE;
	if (config.user_depth && t->waker != WAKER_INTERRUPT && has_user_space(current) &&
	    has_registers)
		t->waker_user_stack =
			user_stack(current, tgid_of(current), scratch, &regs, true, counts);
	return 0;
}

/* --- samples and probes --- */

static __always_inline bool is_entry_event(__u32 event)
{
	__u8 *is_entry = bpf_map_lookup_elem(&entry_events, &event);

	return is_entry && *is_entry;
}

/* If no program traces switches, samples and hits do the same as a switch: check whether a renamed
 * or moved task matches the targets, and create its record. */
static __noinline int find_match(struct task_struct *task, struct task_ctx *tctx)
{
	struct profile_counts *counts = counts_here();

	if (!task || !tctx || !counts)
		return 0;
	if (config.cgroup)
		check_cgroup(task, counts);
	if (claim(tctx))
		tctx->phase = begin_tracking(task, tctx, bpf_ktime_get_ns(), CLASS_ON_CPU);
	return 0;
}

static __always_inline int count_here(void *ctx, enum scratch_user user, __u32 class, __u32 event,
				      __u64 ns, bool has_kernel)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_ctx *tctx = ctx_of(task);
	struct profile_counts *counts = counts_here();
	struct scratch *scratch = scratch_of(user);
	struct count_value value = { .ns = ns, .count = 1 };
	struct count_key key = { .class = class, .event = event };
	struct user_registers regs = { 0 };
	__u32 cpu = bpf_get_smp_processor_id();

	if (!config.wants_off_cpu && tctx && task->pid)
		find_match(task, tctx);
	if (!counts || !scratch || !task->pid || !tctx || tctx->phase != TRACK_YES ||
	    !is_on_wanted_cpu(cpu) || (state.until && bpf_ktime_get_ns() > state.until))
		return 0;
	counts->events++;
	if (!tctx->number) {
		lose(counts, ns);
		return 0;
	}
	/* A probe in an interrupt may meet a probe. */
	if (__sync_val_compare_and_swap(&scratch->busy, 0, 1)) {
		lose(counts, ns);
		return 0;
	}
	key.thread = tctx->number;
	key.cpu = config.by_cpu ? cpu + 1 : 0;
	if (config.kernel_depth && has_kernel)
		key.kernel_stack = number_walk(
			scratch, bpf_get_stack(ctx, scratch->kernel, KERNEL_STACK_BYTES, 0),
			counts);
	if (config.user_depth && has_user_space(task) && user_registers(task, &regs)) {
		regs.is_entry = class == CLASS_EVENT && !has_kernel && is_entry_event(event);
		key.user_stack = user_stack(task, tgid_of(task), scratch, &regs, false, counts);
	}
	scratch->busy = 0;
	if (key.kernel_stack == STACK_LOST || key.user_stack == STACK_LOST) {
		lose(counts, ns);
		return 0;
	}
	count_in(&key, &value, counts);
	return 0;
}

SEC("perf_event")
int on_sample(void *ctx)
{
	return count_here(ctx, SCRATCH_SAMPLE, CLASS_ON_CPU, 0, config.on_cpu_period_ns, true);
}

/* The cookie is the number of the event. */
static __always_inline int count_hit(void *ctx, bool has_kernel)
{
	return count_here(ctx, SCRATCH_PROBE, CLASS_EVENT, bpf_get_attach_cookie(ctx), 0,
			  has_kernel);
}

SEC("kprobe")
int on_kprobe(struct pt_regs *ctx)
{
	return count_hit(ctx, true);
}

SEC("kprobe.multi")
int on_kprobes(struct pt_regs *ctx)
{
	return count_hit(ctx, true);
}

SEC("tp")
int on_tracepoint(void *ctx)
{
	return count_hit(ctx, true);
}

/* The kernel's part of a probe in user space is only how it got there. */
SEC("uprobe")
int on_uprobe(struct pt_regs *ctx)
{
	return count_hit(ctx, false);
}
