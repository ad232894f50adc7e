/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The time of every thread in exclusive states (state/state.h), added up in the kernel.
 *
 * A program at sched_switch sees each interval in a state begin and end, and one at sched_wakeup
 * sees when a waiting thread became runnable. When a thread leaves its CPU, what it waits for is
 * decided from the state that the kernel has it in, its system call and the lock that it waits for,
 * by the rules in wait_rules.bpf.h. Nothing is sent to user space, which reads the records at any
 * time.
 */
#include "sched/states_record.h"
#include "sched/wait_rules.bpf.h"

/* Set before loading. */
const volatile struct states_config config;
struct states_state state;

char programs_license[] SEC("license") = "Dual BSD/GPL";

/* --- records --- */

/* True: a record was made by this call, for a task that was in `what` up to now. */
static __noinline int start_tracking(struct task_struct *task, struct task_ctx *tctx, __u64 now,
				     __u32 what)
{
	bool is_ours, is_made = false;

	if (!task || !tctx || !claim(tctx))
		return 0;
	is_ours = is_in_our_namespace(task);
	if (is_ours)
		is_made = begin_record(task, tctx, now, what, true) != 0;
	tctx->phase = is_ours ? TRACK_YES : TRACK_NO;
	return is_made;
}

/* The number of a task that is switched. There may be room for a record where there was none. */
static __noinline int number_at_switch(struct task_struct *task, __u64 now)
{
	struct task_ctx *tctx = task && task->pid ? ctx_of(task) : 0;

	if (!tctx)
		return 0;
	if (!tctx->number)
		start_tracking(task, tctx, now, STATE_EXEC);
	if (tctx->number)
		cache_number(task, tctx->number);
	return tctx->number;
}

static __always_inline struct task_record *record_at_switch(struct task_struct *task, __u64 now)
{
	__u32 number = cached_number(task);

	if (!number)
		number = number_at_switch(task, now);
	return number ? record_at(number) : 0;
}

/* --- switches --- */

static __always_inline void add_state_time(struct task_record *t, __u32 what, __u64 ns)
{
	__u32 place;

	asm volatile("%0 &= %1" : "+r"(what) : "i"(RECORD_TIMES_MASK));
	place = config.places[what];
	asm volatile("%0 &= %1" : "+r"(place) : "i"(RECORD_TIMES_MASK));
	t->ns[place] += ns;
}

#define SPLIT_SHIFT 10 /* so that an hour times an hour fits: parts are a microsecond off */

/*
 * Divide the run time that was not divided yet into user and system time. The kernel counts these
 * in ticks, so the time since the last tick stays undivided until the next.
 */
static __always_inline void divide_run(struct task_struct *task, struct task_record *t)
{
	__u64 user = task->utime - t->utime, all = user + task->stime - t->stime;
	__u64 sum = t->ns[STATES_AT_EXEC], part;

	if (!all)
		return;
	part = user >= all
		       ? sum
		       : (sum >> SPLIT_SHIFT) * (user >> SPLIT_SHIFT) / ((all >> SPLIT_SHIFT) + 1)
				 << SPLIT_SHIFT;
	if (part > sum)
		part = sum;
	t->ns[STATES_AT_EXEC] = 0;
	t->ns[STATES_AT_EXEC_USER] += part;
	t->ns[STATES_AT_EXEC_SYSTEM] += sum - part;
	t->utime = task->utime;
	t->stime = task->stime;
}

#define DIVIDED_NS 1000000 /* the shortest tick that kernels have */

static __always_inline void book_run(struct task_struct *task, struct task_record *t, __u64 ns)
{
	__u64 sum = t->ns[STATES_AT_EXEC] + ns;

	t->ns[STATES_AT_EXEC] = sum;
	if (sum >= DIVIDED_NS)
		divide_run(task, t);
}

static __always_inline void end_wait(struct task_record *t, __u64 now)
{
	struct interval parts =
		interval_divide(t->state == STATE_RUNNABLE, t->since, t->woken, now);

	add_state_time(t, t->state, parts.blocked_ns);
	t->ns[STATES_AT_RUNNABLE] += parts.runnable_ns;
}

#define MISSED_NS 10000000 /* the clock of that count goes a little faster or slower */

/* The wait ended when it entered its CPU. Where that was not seen, or a switch in between was not
 * seen, its own run time says when it did. */
static __always_inline void catch_up(struct task_struct *task, struct task_record *t, __u64 now)
{
	__u64 ran = task->se.sum_exec_runtime - t->run_time, from = t->entered;

	if (!from || ran > now - from + MISSED_NS) {
		state.missed++;
		from = entered_unseen(task, t, now);
	}
	if (from < t->since)
		from = t->since;
	if (from > now)
		from = now;
	end_wait(t, from);
	t->since = from;
	t->state = STATE_EXEC;
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, struct task_record *t,
				      __u32 task_state, __u64 now)
{
	struct wait wait = { .state = STATE_RUNNABLE, .syscall = -1 };

	/* book_here() may have run on another CPU just now. */
	if (now < t->since)
		now = t->since;
	if (!is_queued(task))
		decide(ctx, task, task_state, t->lock, &wait);
	begin_write(t);
	if (t->state != STATE_EXEC)
		catch_up(task, t, now);
	book_run(task, t, now - t->since);
	t->run_time = task->se.sum_exec_runtime;
	t->since = now;
	t->entered = t->woken = 0;
	t->state = wait.state;
	t->syscall = wait.syscall;
	t->switches++;
	if (t->css_set != (__u64)task->cgroups) {
		t->css_set = (__u64)task->cgroups;
		t->cgroup = cgroup_of(task);
	}
	if (t->cred != (__u64)task->cred) {
		t->cred = (__u64)task->cred;
		t->uid = BPF_CORE_READ(task, cred, euid.val);
	}
	if (task_state & TASK_DEAD) {
		t->ended = now;
		t->exit_code = (__u32)task->exit_code;
		t->flags |= RECORD_ENDED;
		forget_task(task);
	}
	end_write(t);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct task_record *t = record_at_switch(next, now);

	/* Write to each of the first two cache lines, to start fetching both. */
	if (t) {
		t->entered = now;
		t->cpu = next->thread_info.cpu;
	}
	t = record_at_switch(prev, now);
	if (t)
		leave_cpu(ctx, prev, t,
			  track_config.has_previous_state ? (__u32)ctx[3] : (__u32)prev->__state,
			  now);
	return 0;
}

/* A task that is still on a CPU was about to sleep, and does not (ttwu_runnable(), or by itself).
 * After a real wake-up there is no other before the task has left its CPU again. */
SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 now = bpf_ktime_get_ns(); /* whatever happens: reading is what costs */
	struct task_record *t = find_record(task);

	if (t && !is_on_cpu(task))
		t->woken = now;
	return 0;
}

/* --- new, renamed and existing tasks --- */

SEC("tp_btf/task_newtask")
int on_new_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_ctx *tctx;

	/* Forget the task that was at this address before. */
	cache_number(task, 0);
	/* The idle task of a CPU that comes online (fork_idle()). */
	if (!task->pid)
		return 0;
	tctx = create_ctx(task);
	if (!tctx && is_in_our_namespace(task))
		lose_storage(true);
	/* A task that ended before on_switch is attached would stay runnable for ever. Those that
	 * live longer are found by the iterator. */
	if (tctx && track.follows)
		start_tracking(task, tctx, bpf_ktime_get_ns(), STATE_RUNNABLE);
	return 0;
}

/* The task runs another program now, and has the number of its leader, whichever thread called
 * exec. */
SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_record *t = find_record(task);

	if (!t)
		return 0;
	begin_write(t);
	describe_task(t, task);
	t->cred = (__u64)task->cred;
	end_write(t);
	return 0;
}

SEC("tp_btf/task_rename")
int on_rename(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct task_record *t = find_record(task);

	if (t)
		rename_record(t, (void *)ctx[1]);
	return 0;
}

/* The tasks that exist when the other programs are attached. */
SEC("iter/task")
int scan_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wait wait = { .state = STATE_EXEC, .syscall = -1 };
	struct task_ctx *tctx;
	struct task_record *t;

	if (!task || !task->pid)
		return 0;
	tctx = create_ctx(task);
	if (!tctx && is_in_our_namespace(task))
		lose_storage(!track.has_scanned);
	if (!tctx || tctx->number)
		return 0;
	/* A zombie has left its last CPU, so no switch will report its end. */
	if (task->exit_state) {
		tctx->phase = TRACK_NO;
		return 0;
	}
	if (!is_on_cpu(task)) {
		wait.state = STATE_RUNNABLE;
		if (!is_queued(task))
			decide(0, task, task->__state, 0, &wait);
	}
	if (!start_tracking(task, tctx, bpf_ktime_get_ns(), wait.state))
		return 0;
	t = record_at(tctx->number);
	if (!t)
		return 0;
	t->flags |= RECORD_FOUND;
	t->syscall = wait.syscall;
	t->cpu = task->thread_info.cpu;
	/* Between the look and the record it may have left its CPU, or got one. */
	if (t->since == t->begun && t->switches == 0 && !t->entered &&
	    (t->state == STATE_EXEC) != is_on_cpu(task))
		t->state = is_on_cpu(task) ? STATE_EXEC : STATE_RUNNABLE;
	return 0;
}

/* --- ourselves --- */

/* Run by user space on a CPU where a task has been running for long: its run time is added as if it
 * had left the CPU. */
SEC("raw_tp")
int book_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_record *t = find_record(task);
	__u64 now = bpf_ktime_get_ns();

	(void)ctx;
	if (!t || !(t->state == STATE_EXEC || t->entered) || now <= t->since)
		return 0;
	begin_write(t);
	if (t->state != STATE_EXEC)
		catch_up(task, t, now);
	t->entered = 0;
	book_run(task, t, now - t->since);
	t->run_time = task->se.sum_exec_runtime;
	t->since = now;
	end_write(t);
	return 0;
}
