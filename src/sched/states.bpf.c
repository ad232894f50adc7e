/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What every thread does with its time, in exclusive states, added up in the kernel.
 *
 * One program at sched_switch sees each stretch of a state begin and end, one at sched_wakeup when
 * a thread that waited could run again. What it waits for is decided when it leaves its CPU, by the
 * state that the kernel has it in, the system call it is in, and the lock that it waits for: the
 * rules are in bpf/wait_rules.bpf.h. Nothing is sent to user space, which reads the records when it
 * likes.
 */
#include "sched/interval.h"
#include "sched/wait_rules.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";

/* --- the record of a thread --- */

struct states_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STATES_CHUNK);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct states_thread));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, STATES_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct states_chunk);
} chunks SEC(".maps");

static __always_inline struct states_thread *thread_at(__u32 number)
{
	__u32 chunk = number >> STATES_CHUNK_BITS, at = number & (STATES_CHUNK - 1);
	void *map = bpf_map_lookup_elem(&chunks, &chunk);

	return map ? bpf_map_lookup_elem(map, &at) : 0;
}

/*
 * The shorter way from a task to its record, without a look into the storage of the task, which is
 * three lines of the cache away: a table by where the task is in memory, of which the last 48 bits
 * tell all tasks apart. Who is not there has been pushed out by another, and is found by storage.
 * Verifiers let nobody calculate with the place of a task, but with its distance from something.
 */
static __always_inline __u64 distance_of(struct task_struct *task)
{
	__u64 distance = (__u64)task;

	asm volatile("%0 -= %1" : "+r"(distance) : "r"(&state));
	return distance;
}

#define NUMBER_MASK ((1u << STATES_NUMBER_BITS) - 1)

/* Tasks begin at lines of the cache. */
static __always_inline __u64 known_as(__u64 distance)
{
	return distance >> 6 << STATES_NUMBER_BITS;
}

/* They are longer than 2 KiB, so neighbours have places of their own, which share a line. */
static __always_inline __u64 *known_at(__u64 distance)
{
	return &state.known[distance >> 11 & (STATES_KNOWN - 1)];
}

/* Its number by the shorter way; 0: that leads to another, or to none. */
static __always_inline __u32 known_number(struct task_struct *task)
{
	__u64 distance = distance_of(task), it = *(volatile __u64 *)known_at(distance);

	return (it & ~(__u64)NUMBER_MASK) == known_as(distance) ? it & NUMBER_MASK : 0;
}

static __always_inline void make_known(struct task_struct *task, __u32 number)
{
	__u64 distance = distance_of(task);

	*(volatile __u64 *)known_at(distance) = known_as(distance) | number;
}

/* 0: no room. One that was given back, or one that was never used. */
static __always_inline __u32 new_number(void)
{
	for (int tries = 0; tries < 4; tries++) {
		__u32 head = state.free_head;

		if (head == state.free_tail)
			break;
		if (__sync_val_compare_and_swap(&state.free_head, head, head + 1) == head)
			return state.free_numbers[head & (STATES_FREE - 1)];
	}
	if (state.next >= state.room)
		return 0;
	return __sync_fetch_and_add(&state.next, 1);
}

/* What only the thread itself and who switches to it write is in one turn: odd meanwhile. */
static __always_inline void take_turn(struct states_thread *t)
{
	asm volatile("" ::: "memory");
	/* The one that returns the old value is a barrier, too. */
	if (config.is_weakly_ordered)
		(void)__sync_fetch_and_add(&t->turn, 1);
	else
		*(volatile __u32 *)&t->turn = t->turn + 1;
	asm volatile("" ::: "memory");
}

static __always_inline void begin_turn(struct states_thread *t)
{
	take_turn(t);
}

static __always_inline void end_turn(struct states_thread *t)
{
	take_turn(t);
}

/* Ours, or one below. */
static __always_inline bool is_in_our_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct pid_namespace *ns = 0;

	if (!state.pid_level)
		return true;
	if (!pid || BPF_CORE_READ(pid, level) < state.pid_level)
		return false;
	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (char *)&pid->numbers[0].ns +
				      state.pid_level * bpf_core_type_size(struct upid));
	return (__u64)ns == state.pid_namespace;
}

static __always_inline void describe(struct states_thread *t, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	t->tid = state.pid_level ? pid_number(task, state.pid_level) : (__u32)task->pid;
	t->tgid = state.pid_level ? pid_number(leader, state.pid_level) : (__u32)task->tgid;
	t->uid = BPF_CORE_READ(task, cred, euid.val);
	t->cgroup = cgroup_of(task);
	t->flags = task->flags & PF_KTHREAD ? STATES_KERNEL : 0;
	__builtin_memcpy(t->name, task->comm, sizeof(t->name));
	BPF_CORE_READ_STR_INTO(&t->process, leader, comm);
}

/* Whoever gets the claim makes the record. Returns 1 if it could. */
static __noinline int begin_watching(struct task_struct *task, struct watched *w, __u64 now,
				     __u32 what)
{
	struct states_thread *t;
	__u32 number;

	if (!task || !w)
		return 0;
	if (!is_in_our_namespace(task)) {
		w->is_foreign = 1;
		return 0;
	}
	number = new_number();
	t = number ? thread_at(number) : 0;
	if (!t) {
		if (!w->is_lost)
			__sync_fetch_and_add(&state.lost, 1);
		w->is_lost = 1;
		return 0;
	}
	begin_turn(t);
	describe(t, task);
	for (int i = 0; i < STATE_COUNT; i++)
		t->ns[i] = 0;
	t->begun = t->since = now;
	t->ended = t->entered = t->woken = t->switches = t->lock = t->hidden_since = 0;
	t->state = what;
	t->syscall = -1;
	t->cpu = bpf_get_smp_processor_id();
	t->run_time = task->se.sum_exec_runtime;
	t->utime = task->utime;
	t->stime = task->stime;
	t->css_set = (__u64)task->cgroups;
	t->cred = (__u64)task->cred;
	end_turn(t);
	w->number = number;
	make_known(task, number);
	return 1;
}

static __always_inline struct watched *watched_of(struct task_struct *task)
{
	return bpf_task_storage_get(&watched_tasks, task, 0, 0);
}

/* A record for who has none: it did `what` up to now. True: it was made by this call. */
static __always_inline bool watch(struct task_struct *task, struct watched *w, __u64 now,
				  __u32 what)
{
	bool is_made = false;

	if (w->number || w->is_foreign || __sync_val_compare_and_swap(&w->is_claimed, 0, 1))
		return false;
	if (!w->number)
		is_made = begin_watching(task, w, now, what);
	w->is_claimed = 0;
	return is_made;
}

/* Creates its storage: by the task iterator and at fork alone. At a switch that can deadlock before
 * Linux 6.4; sched/watched.bpf.h has the reason. */
static __always_inline struct watched *place_of(struct task_struct *task)
{
	return bpf_task_storage_get(&watched_tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* It got no storage: user space runs the iterator again, and until then the thread is not watched.
 * It is counted once, not for each attempt. */
static __always_inline void lose_place(struct task_struct *task, bool is_counted)
{
	if (!is_in_our_namespace(task))
		return;
	state.unplaced = 1;
	if (is_counted)
		__sync_fetch_and_add(&state.lost, 1);
}

static __noinline int number_of(struct task_struct *task)
{
	struct watched *w = task && task->pid ? watched_of(task) : 0;

	if (!w || !w->number)
		return 0;
	make_known(task, w->number);
	return w->number;
}

/* Of who runs, or will. There may be room for a record where there was none. */
static __noinline int number_for(struct task_struct *task, __u64 now)
{
	struct watched *w = task && task->pid ? watched_of(task) : 0;

	if (!w)
		return 0;
	if (!w->number)
		watch(task, w, now, STATE_EXEC);
	else
		make_known(task, w->number);
	return w->number;
}

static __always_inline struct states_thread *find(struct task_struct *task)
{
	__u32 number = known_number(task);

	if (!number)
		number = number_of(task);
	return number ? thread_at(number) : 0;
}

static __always_inline struct states_thread *find_or_watch(struct task_struct *task, __u64 now)
{
	__u32 number = known_number(task);

	if (!number)
		number = number_for(task, now);
	return number ? thread_at(number) : 0;
}

/* --- switches --- */

#define STATE_BOUND 15
_Static_assert(STATE_COUNT <= STATE_BOUND + 1, "a mask bounds the index");

static __always_inline void add(struct states_thread *t, __u32 what, __u64 ns)
{
	__u32 place;

	asm volatile("%0 &= 15" : "+r"(what));
	place = config.places[what];
	asm volatile("%0 &= 15" : "+r"(place));
	t->ns[place] += ns;
}

#define SPLIT_SHIFT 10 /* so that an hour times an hour fits: parts are a microsecond off */

/*
 * What it ran for and nobody divided yet. How much of that was its own code, and how much the
 * kernel's, the kernel counts in ticks: what has passed since the last one stays undivided until
 * the next.
 */
static __always_inline void divide_run(struct task_struct *task, struct states_thread *t)
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

static __always_inline void book_run(struct task_struct *task, struct states_thread *t, __u64 ns)
{
	__u64 sum = t->ns[STATES_AT_EXEC] + ns;

	t->ns[STATES_AT_EXEC] = sum;
	if (sum >= DIVIDED_NS)
		divide_run(task, t);
}

static __always_inline void end_wait(struct states_thread *t, __u64 now)
{
	struct interval parts =
		interval_divide(t->state == STATE_RUNNABLE, t->since, t->woken, now);

	add(t, t->state, parts.blocked_ns);
	t->ns[STATES_AT_RUNNABLE] += parts.runnable_ns;
}

#define MISSED_NS 10000000 /* the clock of that count goes a little faster or slower */

/* It got a CPU when it entered, or nobody told that it did: its own count of run time says since
 * when. The same if it got one twice, and nobody told that it left it in between. */
static __always_inline void catch_up(struct task_struct *task, struct states_thread *t, __u64 now)
{
	__u64 ran = task->se.sum_exec_runtime - t->run_time, from = t->entered;

	if (!from || ran > now - from + MISSED_NS) {
		state.missed++;
		from = ran < now - t->since ? now - ran : t->since;
	}
	if (from < t->since)
		from = t->since;
	if (from > now)
		from = now;
	end_wait(t, from);
	t->since = from;
	t->state = STATE_EXEC;
}

/* The record will be another thread's, and a dead leader stays for a while. */
static __noinline int forget(struct task_struct *task)
{
	struct watched *w = task ? watched_of(task) : 0;

	if (w) {
		w->number = 0;
		w->is_foreign = 1;
		make_known(task, 0);
	}
	return 0;
}

static __always_inline void leave_cpu(void *ctx, struct task_struct *task, struct states_thread *t,
				      __u32 task_state, __u64 now)
{
	struct wait wait = { .state = STATE_RUNNABLE, .syscall = -1 };

	/* It was looked at from elsewhere just now. */
	if (now < t->since)
		now = t->since;
	if (!is_queued(task))
		decide(ctx, task, task_state, t->lock, &wait);
	begin_turn(t);
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
		t->flags |= STATES_ENDED;
		forget(task);
	}
	end_turn(t);
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();
	struct states_thread *t = find_or_watch(next, now);

	/* A store in the first line, and one in the second: both are on their way from now on. */
	if (t) {
		t->entered = now;
		t->cpu = next->thread_info.cpu;
	}
	t = find_or_watch(prev, now);
	if (t)
		leave_cpu(ctx, prev, t,
			  config.has_previous_state ? (__u32)ctx[3] : (__u32)prev->__state, now);
	return 0;
}

/* Who is on a CPU still was about to sleep, and does not (ttwu_runnable(), or itself). Who was
 * woken up for good is not again before it left its CPU once more. */
SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	__u64 now = bpf_ktime_get_ns(); /* whatever happens: reading is what costs */
	struct states_thread *t = find(task);

	if (t && !is_on_cpu(task))
		t->woken = now;
	return 0;
}

/* --- locks of the kernel that are waited for (Linux 5.19) --- */

#define LCB_F_SPIN 1 /* include/trace/events/lock.h: it spins, and leaves no CPU */

SEC("tp_btf/contention_begin")
int on_contention(__u64 *ctx)
{
	struct states_thread *t;

	if (ctx[1] & LCB_F_SPIN)
		return 0;
	t = find(bpf_get_current_task_btf());
	if (t)
		t->lock = ctx[0];
	return 0;
}

/* An interrupt may wait for another lock meanwhile. */
SEC("tp_btf/contention_end")
int on_contended(__u64 *ctx)
{
	struct states_thread *t = find(bpf_get_current_task_btf());

	if (t && t->lock == ctx[0])
		t->lock = 0;
	return 0;
}

/* --- threads that come, and get other names --- */

SEC("tp_btf/task_newtask")
int on_new_task(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct watched *w;

	/* Forget the task that was at this address before. */
	make_known(task, 0);
	/* The idle task of a CPU that comes online (fork_idle()). */
	if (!task->pid)
		return 0;
	w = place_of(task);
	if (!w)
		lose_place(task, true);
	/* A task that ended before on_switch is attached would stay runnable for ever. Those that
	 * live longer are found by the iterator. */
	if (w && state.follows)
		watch(task, w, bpf_ktime_get_ns(), STATE_RUNNABLE);
	return 0;
}

/* It is another program, with the number of its leader, whoever of its threads did it. */
SEC("tp_btf/sched_process_exec")
int on_exec(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct states_thread *t = find(task);

	if (!t)
		return 0;
	begin_turn(t);
	describe(t, task);
	t->cred = (__u64)task->cred;
	end_turn(t);
	return 0;
}

SEC("tp_btf/task_rename")
int on_rename(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct states_thread *t = find(task);

	/* A name is torn for a moment in the kernel as well. */
	if (t)
		bpf_probe_read_kernel_str(t->name, sizeof(t->name), (void *)ctx[1]);
	if (t && t->tid == t->tgid)
		bpf_probe_read_kernel_str(t->process, sizeof(t->process), (void *)ctx[1]);
	return 0;
}

/* Those that are there when the others are attached. What changed meanwhile is looked at again. */
SEC("iter/task")
int see_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wait wait = { .state = STATE_EXEC, .syscall = -1 };
	struct states_thread *t;
	struct watched *w;

	if (!task || !task->pid)
		return 0;
	w = place_of(task);
	if (!w)
		lose_place(task, !state.has_walked);
	if (!w || w->number)
		return 0;
	/* A zombie: it has left its last CPU, so no switch will report its end. */
	if (task->exit_state) {
		w->is_foreign = 1;
		return 0;
	}
	if (!is_on_cpu(task)) {
		wait.state = STATE_RUNNABLE;
		if (!is_queued(task))
			decide(0, task, task->__state, 0, &wait);
	}
	if (!watch(task, w, bpf_ktime_get_ns(), wait.state))
		return 0;
	t = thread_at(w->number);
	if (!t)
		return 0;
	t->flags |= STATES_WAS_THERE;
	t->syscall = wait.syscall;
	t->cpu = task->thread_info.cpu;
	/* Between the look and the record it may have come or gone. */
	if (t->since == t->begun && t->switches == 0 && !t->entered &&
	    (t->state == STATE_EXEC) != is_on_cpu(task))
		t->state = is_on_cpu(task) ? STATE_EXEC : STATE_RUNNABLE;
	return 0;
}

/* --- ourselves --- */

/* Run by user space on a CPU where somebody has been running for long: what it has run for is
 * booked as if it had left. */
SEC("raw_tp")
int book_here(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct states_thread *t = find(task);
	__u64 now = bpf_ktime_get_ns();

	(void)ctx;
	if (!t || !(t->state == STATE_EXEC || t->entered) || now <= t->since)
		return 0;
	begin_turn(t);
	if (t->state != STATE_EXEC)
		catch_up(task, t, now);
	t->entered = 0;
	book_run(task, t, now - t->since);
	t->run_time = task->se.sum_exec_runtime;
	t->since = now;
	end_turn(t);
	return 0;
}

static __always_inline void find_namespace(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct pid_namespace *ns = 0;

	state.pid_level = BPF_CORE_READ(pid, level);
	if (state.pid_level)
		bpf_probe_read_kernel(&ns, sizeof(ns),
				      (char *)&pid->numbers[0].ns +
					      state.pid_level * bpf_core_type_size(struct upid));
	state.pid_namespace = (__u64)ns;
}

/* Which PID namespace is ours, and what sockets and pipes are handled by, by whoever runs this. */
SEC("syscall")
int look_around(struct states_examples *examples)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file;

	find_namespace(task);
	file = file_of(task, examples->socket);
	if (file)
		state.socket_functions = functions_of(file);
	file = file_of(task, examples->pipe);
	if (file)
		state.pipe_functions = functions_of(file);
	file = file_of(task, examples->timer);
	if (file)
		state.timer_functions = functions_of(file);
	return 0;
}
