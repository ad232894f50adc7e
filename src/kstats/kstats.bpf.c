/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Histograms of how long something takes, counted where it happens.
 *
 * A metric has a start and an end, and so two of these programs: those for the ways in which its
 * places can be reached. What they do is the same (begin_event() and end_event()), and what they do
 * not need of it the verifier takes out, for the configuration is constant when they are loaded.
 */
#include "kstats/bpf_starts.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";

/* --- what they do --- */

struct event {
	__u64 frame;     /* where the call is on the stack */
	__u64 goroutine; /* the tag, with the frame in it */
	__u64 owner;     /* the same without */
	__u64 argument;  /* if one is wanted */
	__u64 forget;    /* the same */
	__u64 returned;
};

static __always_inline struct task_struct *who(const struct event *event, __u32 is_task)
{
	return is_task ? (struct task_struct *)event->argument
		       : (struct task_struct *)bpf_get_current_task();
}

/* Stacks of the kernel are all at different places, those of programs are not. */
static __always_inline __u64 tag_of(const struct event *event)
{
	__u64 tag;

	if (config.key == KSTATS_KEY_ARGUMENT)
		return event->argument ? event->argument : ~0ull;
	if (config.is_goroutine)
		return event->goroutine;
	if (config.has_frame && !config.is_user)
		return event->frame;
	tag = bpf_get_current_task();
	if (config.has_frame)
		tag ^= event->frame * GOLDEN;
	return tag ? tag : ~0ull;
}

/* The birth of the running thread, to which gaps belong. */
static __always_inline __u64 born(void)
{
	return config.has_gaps ? bpf_get_current_task_btf()->start_boottime : 0;
}

/* The birth of the running thread. A thread that ends before its end leaves its start behind, and
 * its number and address may be reused; the birth tells them apart. */
static __always_inline __u64 task_start_time(void)
{
	return config.key == KSTATS_KEY_TASK && !config.has_frame && !config.is_goroutine
		       ? bpf_get_current_task_btf()->start_time
		       : 0;
}

static __always_inline int begin_event(const struct event *event)
{
	struct task_struct *task = who(event, config.start.is_task);

	if (config.is_goroutine && is_restart(tag_of(event)))
		return 0;
	if (!is_task_measured(task))
		return 0;
	if (config.key == KSTATS_KEY_CPU)
		put_here();
	else
		put_start(tag_of(event), task, born());
	return 0;
}

/* The owner of a value is `task`: the running thread, or an argument, which may not be a valid
 * pointer to a task. */
static __always_inline struct owner owner_of(const struct event *event, struct task_struct *task)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct owner owner = { .id = (__u64)task, .frame = event->frame };

	if (config.is_goroutine) {
		owner.id = event->owner;
		owner.born = current->group_leader->start_boottime;
		owner.since = current->group_leader->start_time;
	} else if (config.key == KSTATS_KEY_TASK) {
		owner.born = current->start_boottime;
		owner.since = current->start_time;
	} else {
		owner.born = BPF_CORE_READ(task, start_boottime);
		owner.since = BPF_CORE_READ(task, start_time);
	}
	return owner;
}

/* A zero tag means that the goroutine is unknown, so its start cannot be found. */
static __always_inline __u64 start_of(const struct event *event)
{
	__u64 tag = tag_of(event);

	return tag ? take_start(tag) : 0;
}

static __always_inline int end_event(const struct event *event, __u64 now)
{
	struct task_struct *task = who(event, config.end.is_task);
	bool is_first = false;
	__u64 start;

	if (config.end.forget && event->forget && take_start(event->forget))
		lose(KSTATS_VALUES, KSTATS_LOSS_replaced);
	if (config.key == KSTATS_KEY_CPU) {
		is_first = is_first_end_here();
		start = take_here(now, task);
	} else {
		start = start_of(event);
		if (start < task_start_time())
			start = 0;
		if (config.has_ends && (!config.is_goroutine || event->goroutine) &&
		    (start || is_task_measured(task))) {
			const struct owner owner = owner_of(event, task);

			is_first = !start && is_first_end(&owner);
			note_end(&owner, task, now);
		}
	}
	/* An excluded event had no start. A call may have begun before recording, or while it was
	 * stopped. */
	if (start <= control.since) {
		if (config.is_goroutine && start == PASSED)
			return 0;
		/* A thread that comes to a CPU need not have waited for it. */
		if (!config.end.forget && is_task_measured(task))
			lose(KSTATS_VALUES,
			     start || is_first ? KSTATS_LOST_EARLIER : KSTATS_LOSS_unmatched);
		return 0;
	}
	if (now < start)
		lose(KSTATS_VALUES, KSTATS_LOSS_backwards);
	else
		record(KSTATS_VALUES, now - start, task, event->returned);
	return 0;
}

#define IS_RUNNING (*(volatile __u32 *)&control.is_running)

/* --- at functions of the kernel, by its trampolines --- */

/* The compiler would make one read of several, at a place that is not constant. */
#define WORD_OF(ctx, number)                                                                  \
	({                                                                                    \
		__u64 word_;                                                                  \
		asm volatile("%0 = *(u64 *)(%1 + " #number " * 8)" : "=r"(word_) : "r"(ctx)); \
		word_;                                                                        \
	})

static __always_inline __u64 word_of(void *ctx, __u32 number)
{
	switch (number) {
	case 1:
		return WORD_OF(ctx, 0);
	case 2:
		return WORD_OF(ctx, 1);
	case 3:
		return WORD_OF(ctx, 2);
	case 4:
		return WORD_OF(ctx, 3);
	case 5:
		return WORD_OF(ctx, 4);
	case 6:
		return WORD_OF(ctx, 5);
	default:
		return 0;
	}
}

/* The registers that a function or system call has its arguments in. */
static __always_inline __u64 register_of(void *where, __u32 number, bool is_syscall)
{
	struct pt_regs *regs = where;
	struct pt_regs___arm64 *arm = where;

	if (!bpf_core_field_exists(regs->di))
		switch (number) {
		case 1:
			return is_syscall ? BPF_CORE_READ(arm, orig_x0)
					  : BPF_CORE_READ(arm, regs[0]);
		case 2:
			return BPF_CORE_READ(arm, regs[1]);
		case 3:
			return BPF_CORE_READ(arm, regs[2]);
		case 4:
			return BPF_CORE_READ(arm, regs[3]);
		case 5:
			return BPF_CORE_READ(arm, regs[4]);
		case 6:
			return BPF_CORE_READ(arm, regs[5]);
		default:
			return 0;
		}
	switch (number) {
	case 1:
		return BPF_CORE_READ(regs, di);
	case 2:
		return BPF_CORE_READ(regs, si);
	case 3:
		return BPF_CORE_READ(regs, dx);
	case 4:
		return is_syscall ? BPF_CORE_READ(regs, r10) : BPF_CORE_READ(regs, cx);
	case 5:
		return BPF_CORE_READ(regs, r8);
	case 6:
		return BPF_CORE_READ(regs, r9);
	default:
		return 0;
	}
}

static __always_inline __u64 argument_of(void *ctx, __u32 number, __u32 is_syscall)
{
	return is_syscall ? register_of((void *)WORD_OF(ctx, 0), number, true)
			  : word_of(ctx, number);
}

static __always_inline __u64 with_sign(__u64 returned)
{
	return config.end.return_bits == 32 ? (__u64)(__s64)(__s32)returned : returned;
}

/* The address of the arguments on the stack, which is the same at the call and at the return. BPF
 * allows no arithmetic on a pointer's value, but does on the difference of two pointers. */
static __always_inline __u64 frame_at(void *ctx)
{
	__u64 distance = (__u64)ctx;

	asm volatile("%0 -= %1" : "+r"(distance) : "r"(&control));
	return distance;
}

static __always_inline int begin_in_kernel(void *ctx)
{
	struct event event = { 0 };

	if (!IS_RUNNING)
		return 0;
	if (config.has_frame)
		event.frame = frame_at(ctx);
	if (config.start.argument)
		event.argument = argument_of(ctx, config.start.argument, config.start.has_syscall);
	return begin_event(&event);
}

static __always_inline int end_in_kernel(void *ctx, bool has_returned)
{
	struct event event = { 0 };
	__u64 now = bpf_ktime_get_ns();

	if (!IS_RUNNING)
		return 0;
	if (config.has_frame)
		event.frame = frame_at(ctx);
	if (config.end.argument)
		event.argument = argument_of(ctx, config.end.argument, config.end.has_syscall);
	if (config.by == KSTATS_BY_RETVAL && has_returned) {
		bpf_get_func_ret(ctx, &event.returned);
		event.returned = with_sign(event.returned);
	}
	return end_event(&event, now);
}

SEC("fentry")
int begin_fentry(void *ctx)
{
	return begin_in_kernel(ctx);
}

SEC("fexit")
int begin_fexit(void *ctx)
{
	return begin_in_kernel(ctx);
}

SEC("fentry")
int end_fentry(void *ctx)
{
	return end_in_kernel(ctx, false);
}

SEC("fexit")
int end_fexit(void *ctx)
{
	return end_in_kernel(ctx, true);
}

/* --- at instructions of the kernel or of programs --- */

static __always_inline __u64 frame_of(struct pt_regs *regs)
{
	struct pt_regs___arm64 *arm = (void *)regs;
	__u64 sp;

	/* Read each register separately: a combined read would have no constant offset. */
	if (bpf_core_field_exists(regs->di)) {
		sp = regs->sp;
		KEPT(sp);
	} else {
		sp = arm->sp;
		KEPT(sp);
	}
	return sp;
}

/* One element per location of USDT probes, if their arguments are wanted; the loader sets the
 * number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kstats_argument);
} usdt_arguments SEC(".maps");

/* User space has checked the offset. */
static __always_inline __u64 register_at(struct pt_regs *regs, __u16 offset)
{
	__u64 word = 0;

	if (offset != KSTATS_NO_REGISTER)
		bpf_probe_read_kernel(&word, sizeof(word), (void *)regs + offset);
	return word;
}

/* False: it is in memory that cannot be read, as its page is not there. */
static __always_inline bool read_usdt_argument(struct pt_regs *regs, __u64 *ret)
{
	__u32 number = bpf_get_attach_cookie(regs), bits, bytes;
	const struct kstats_argument *where = bpf_map_lookup_elem(&usdt_arguments, &number);
	__u64 word = 0, sum;

	if (!where)
		return false;
	sum = where->offset + register_at(regs, where->base) +
	      (register_at(regs, where->index) << (where->shift & 3));
	bytes = where->bytes;
	/* The verifier must see the bound in this register, so there is no other: user space has
	 * checked that it is not 0. */
	KEPT(bytes);
	if (bytes > sizeof(word))
		return false;
	if (!where->is_memory)
		word = sum;
	else if (bpf_probe_read_user(&word, bytes, (void *)sum))
		return false;
	bits = 64 - 8 * bytes;
	word <<= bits & 63;
	*ret = where->is_signed ? (__u64)((__s64)word >> (bits & 63)) : word >> (bits & 63);
	return true;
}

/* The argument at a breakpoint. Without it, the event cannot be matched. */
static __always_inline bool read_argument(struct pt_regs *regs,
					  const volatile struct kstats_site *site, __u64 *ret)
{
	if (site->is_usdt)
		return read_usdt_argument(regs, ret);
	*ret = register_of(regs, site->argument, false);
	return true;
}

static __always_inline __u64 returned_in(struct pt_regs *regs)
{
	struct pt_regs___arm64 *arm = (void *)regs;

	if (bpf_core_field_exists(regs->di))
		return BPF_CORE_READ(regs, ax);
	return BPF_CORE_READ(arm, regs[0]);
}

/* Go keeps the goroutine in R14 (src/cmd/compile/abi-internal.md), and in front of it the bounds of
 * its stack (struct g, src/runtime/runtime2.go). When a stack is moved, all that is on it stays as
 * far below the upper one (copystack(), src/runtime/stack.go). None is found where R14 has
 * something else, as in assembly. */
static __always_inline void find_goroutine(struct pt_regs *regs, __s32 frame_shift,
					   struct event *event)
{
	__u64 sp = frame_of(regs) - frame_shift, bounds[2], goroutine, tag;

	if (!bpf_core_field_exists(regs->di))
		return;
	goroutine = BPF_CORE_READ(regs, r14);
	if (bpf_probe_read_user(bounds, sizeof(bounds), (void *)goroutine) || sp < bounds[0] ||
	    sp > bounds[1])
		return;
	/* Other programs of Go have theirs at the same addresses. */
	tag = (goroutine ^ bpf_get_current_pid_tgid() >> 32 << 42) * GOLDEN;
	tag ^= tag >> 32;
	event->owner = tag;
	event->frame = sp - bounds[1];
	if (config.has_frame)
		tag += bounds[1] - sp;
	tag *= GOLDEN;
	event->goroutine = tag ? tag : ~0ull;
}

SEC("kprobe")
int begin_kprobe(struct pt_regs *ctx)
{
	struct event event = { 0 };

	if (!IS_RUNNING)
		return 0;
	if (config.is_goroutine) {
		find_goroutine(ctx, 0, &event);
		if (!event.goroutine)
			return 0;
		if (bpf_get_attach_cookie(ctx) == KSTATS_COOKIE_RESTART) {
			mark_restart(event.goroutine);
			return 0;
		}
	} else if (config.has_frame) {
		event.frame = frame_of(ctx);
	}
	if (config.start.argument && !read_argument(ctx, &config.start, &event.argument))
		return 0;
	return begin_event(&event);
}

SEC("kprobe")
int end_kprobe(struct pt_regs *ctx)
{
	struct event event = { 0 };
	__u64 now = bpf_ktime_get_ns();

	if (!IS_RUNNING)
		return 0;
	if (config.is_goroutine) {
		find_goroutine(ctx, config.frame_shift, &event);
		if (bpf_get_attach_cookie(ctx) == KSTATS_COOKIE_RESTART) {
			if (event.goroutine)
				mark_passed(event.goroutine);
			return 0;
		}
	} else if (config.has_frame) {
		event.frame = frame_of(ctx) - config.frame_shift;
	}
	if (config.end.argument && !read_argument(ctx, &config.end, &event.argument)) {
		if (is_task_measured(who(&event, 0)))
			lose(KSTATS_VALUES, KSTATS_LOSS_unmatched);
		return 0;
	}
	if (config.by == KSTATS_BY_RETVAL)
		event.returned = with_sign(returned_in(ctx));
	return end_event(&event, now);
}

/* --- at tracepoints --- */

#define TS_COMPAT 2 /* arch/x86/include/asm/thread_info.h */

/* Programs for 32 bits have other numbers. */
static __always_inline bool is_compat(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	return bpf_core_field_exists(task->thread_info.status) &&
	       BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

/* The second argument of sys_enter is the number; sys_exit has it where syscall_get_nr() reads it.
 */
static __always_inline bool is_other_syscall(void *ctx, __s32 wanted, bool is_exit)
{
	struct pt_regs *regs;
	struct pt_regs___arm64 *arm;
	__s32 number;

	if (wanted < 0)
		return false;
	regs = (void *)WORD_OF(ctx, 0);
	arm = (void *)regs;
	if (!is_exit)
		number = WORD_OF(ctx, 1);
	else if (bpf_core_field_exists(regs->di))
		number = BPF_CORE_READ(regs, orig_ax);
	else
		number = BPF_CORE_READ(arm, syscallno);
	return number != wanted || is_compat();
}

SEC("raw_tp")
int begin_raw(void *ctx)
{
	struct event event = { 0 };

	if (!IS_RUNNING || is_other_syscall(ctx, config.start.syscall, config.start.is_exit))
		return 0;
	if (config.start.argument)
		event.argument = argument_of(ctx, config.start.argument, config.start.has_syscall);
	return begin_event(&event);
}

SEC("raw_tp")
int end_raw(void *ctx)
{
	struct event event = { 0 };
	__u64 now;

	if (!IS_RUNNING || is_other_syscall(ctx, config.end.syscall, config.end.is_exit))
		return 0;
	now = bpf_ktime_get_ns();
	if (config.end.argument)
		event.argument = argument_of(ctx, config.end.argument, config.end.has_syscall);
	if (config.end.forget)
		event.forget = word_of(ctx, config.end.forget);
	if (config.by == KSTATS_BY_RETVAL)
		event.returned = WORD_OF(ctx, 1);
	return end_event(&event, now);
}

/* --- by ourselves --- */

/* Measure an empty pair, in nanoseconds. */
SEC("raw_tp")
int measure_nothing(void *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const struct event event = { .frame = (__u64)task,
				     .goroutine = (__u64)task,
				     .argument = (__u64)task };
	__u64 start, now;

	(void)ctx;
	if (config.key == KSTATS_KEY_CPU)
		put_here();
	else
		put_start(tag_of(&event), task, born());
	now = bpf_ktime_get_ns();
	start = config.key == KSTATS_KEY_CPU ? take_here(now, task) : take_start(tag_of(&event));
	return start ? now - start : 0;
}

/* The argument is the value. */
SEC("raw_tp")
int record_one(void *ctx)
{
	record(KSTATS_VALUES, WORD_OF(ctx, 0), (struct task_struct *)bpf_get_current_task(), 0);
	return 0;
}

/* The field `missed` of struct bpf_link_info (include/uapi/linux/bpf.h): in Linux 6.7, and in older
 * kernels of distributions that backported it. */
struct bpf_link_info___missed {
	struct {
		struct {
			__u64 missed;
		} kprobe;
	} perf_event;
} __attribute__((preserve_access_index));

/* Find the level of the caller's PID namespace, and the features of the kernel. */
SEC("syscall")
int find_level(void *ctx)
{
	struct bpf_link_info___missed *info = 0;

	(void)ctx;
	control.has_missed = bpf_core_field_exists(info->perf_event.kprobe.missed);
	control.pid_level = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid, level);
	return 0;
}
