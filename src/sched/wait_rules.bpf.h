/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The state of a thread that leaves its CPU, by what it waits for. The first rule that matches
 * decides:
 *
 *	stopped, traced, frozen                              stopped
 *	parked                                               idle_worker
 *	it waits for a lock of the kernel                    lock_kernel
 *	it waits for block I/O, to bring back from swap      paging
 *	it waits for block I/O                               sleep_disk
 *	a thread of the kernel that signals could wake, or
 *	that counts for no load: it waits for work           idle_worker
 *	another thread of the kernel                         sleep_other
 *	it is in a system call                               what that says (state/wait.h)
 *	else: it met a page that is not there, or a signal   sleep_other
 */
#ifndef SCHED_WAIT_RULES_BPF_H
#define SCHED_WAIT_RULES_BPF_H

#include "sched/track.bpf.h"
#include "sched/wait_rules.h"

/* Set before loading: what is not wanted is not even verified. */
const volatile struct wait_config wait_config;
struct wait_state wait_state;

struct wait {
	__u32 state;
	__s32 syscall;
};

/* include/linux/sched.h: workers of the kernel that have no system call of their own. */
#define PF_IO_WORKER   0x00000010
#define PF_USER_WORKER 0x00004000

/* --- where in the kernel --- */

#define WAIT_FRAMES 24

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[WAIT_FRAMES]);
} wait_frames SEC(".maps");

/* Is the thread in this code? This walks its stack, so only few are asked: a thread that waits for
 * block I/O while there is something on swap, and one that opens a file in a sleep that signals
 * end. `ctx` is that of decide(). */
static __noinline int is_within(void *ctx, struct task_struct *task, __u64 begin, __u64 end)
{
	__u32 zero = 0;
	__u64 *addresses = bpf_map_lookup_elem(&wait_frames, &zero);
	long bytes;

	if (!addresses || !task)
		return 0;
	bytes = ctx ? bpf_get_stack(ctx, addresses, WAIT_FRAMES * sizeof(*addresses), 0)
		    : bpf_get_task_stack(task, addresses, WAIT_FRAMES * sizeof(*addresses), 0);
	for (int i = 0; i < WAIT_FRAMES; i++) {
		if ((i + 1) * 8 > bytes)
			break;
		if (addresses[i] >= begin && addresses[i] < end)
			return 1;
	}
	return 0;
}

/* --- system calls --- */

extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

struct call {
	__s32 number; /* -1: none */
	__u64 first, second, third;
	bool is_foreign; /* of a 32-bit program: numbers mean something else */
};

#define TS_COMPAT 2 /* arch/x86/include/asm/thread_info.h */

static __always_inline void call_of(struct task_struct *task, struct call *call)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct pt_regs___arm64 *arm = (void *)regs;

	call->number = -1;
	call->is_foreign = false;
	if (bpf_core_field_exists(regs->orig_ax)) {
		call->number = (__s32)regs->orig_ax;
		call->first = regs->di;
		call->second = regs->si;
		call->third = regs->dx;
		if (bpf_core_field_exists(task->thread_info.status))
			call->is_foreign = task->thread_info.status & TS_COMPAT;
	} else if (bpf_core_field_exists(arm->syscallno)) {
		call->number = BPF_CORE_READ(arm, syscallno);
		call->first = BPF_CORE_READ(arm, orig_x0);
		call->second = BPF_CORE_READ(arm, regs[1]);
		call->third = BPF_CORE_READ(arm, regs[2]);
	}
}

#define S_IFMT   0170000
#define S_IFSOCK 0140000
#define S_IFREG  0100000
#define S_IFBLK  0060000
#define S_IFDIR  0040000
#define S_IFIFO  0010000

/*
 * A file, by plain loads where a type can be given to memory that holds a pointer to one (Linux
 * 6.2): a struct kiocb has that. By probe reads else.
 */
static __always_inline struct file *file_in(struct file **place)
{
	struct file *file = 0;
	struct kiocb *holder;

	if (wait_config.has_casts) {
		holder = bpf_rdonly_cast((char *)place -
						 bpf_core_field_offset(struct kiocb, ki_filp),
					 bpf_core_type_id_kernel(struct kiocb));
		return holder->ki_filp;
	}
	bpf_probe_read_kernel(&file, sizeof(file), place);
	return file;
}

static __always_inline __u64 functions_of(struct file *file)
{
	return (__u64)(wait_config.has_casts ? file->f_op : BPF_CORE_READ(file, f_op));
}

static __always_inline __u32 mode_of(struct file *file)
{
	return wait_config.has_casts ? file->f_inode->i_mode : BPF_CORE_READ(file, f_inode, i_mode);
}

/* The file that a thread has open under this number; NULL: there is none. */
static __always_inline struct file *open_file_at(struct task_struct *task, __u32 number)
{
	struct files_struct *files = task->files;
	struct fdtable *table = files ? files->fdt : 0;

	return table && number < table->max_fds ? file_in(table->fd + number) : 0;
}

/* Decide by the kind of file that the current thread has under this number. Sockets, pipes and
 * timers have file operations of their own, which are in the cache as the thread has just used
 * them; the inode is not. */
static __always_inline __u32 state_of_file(struct task_struct *task, __u32 number, bool is_deep)
{
	struct file *file = open_file_at(task, number);
	__u64 functions;
	__u32 kind;

	if (!file)
		return STATE_SLEEP_OTHER;
	functions = functions_of(file);
	if (functions == wait_state.socket_functions)
		return STATE_SLEEP_NETWORK;
	if (functions == wait_state.pipe_functions)
		return STATE_SLEEP_PIPE;
	if (functions == wait_state.timer_functions)
		return STATE_SLEEP_TIMER;
	kind = mode_of(file) & S_IFMT;
	if (kind == S_IFSOCK)
		return STATE_SLEEP_NETWORK;
	if (kind == S_IFIFO)
		return STATE_SLEEP_PIPE;
	if (is_deep && (kind == S_IFREG || kind == S_IFBLK || kind == S_IFDIR))
		return STATE_SLEEP_DISK;
	return STATE_SLEEP_OTHER;
}

/* Opening a FIFO waits for its other end; opening a terminal or a file of FUSE waits for other
 * things. */
static __always_inline __u32 state_of_open(void *ctx, struct task_struct *task, bool is_deep)
{
	if (!is_deep && wait_state.fifo_begin &&
	    is_within(ctx, task, wait_state.fifo_begin, wait_state.fifo_end))
		return STATE_SLEEP_PIPE;
	return STATE_SLEEP_OTHER;
}

static __always_inline __u32 state_of_call(void *ctx, struct task_struct *task,
					   const struct call *call, bool is_deep)
{
	__u32 number = call->number, kind;

	if (number >= WAIT_SYSCALLS)
		return STATE_SLEEP_OTHER;
	asm volatile("%0 &= 511" : "+r"(number));
	kind = wait_config.kinds[number];
	if (kind == WAIT_FILE)
		return state_of_file(task, (__u32)call->first, is_deep);
	if (kind == WAIT_OPEN)
		return state_of_open(ctx, task, is_deep);
	return wait_state_of_call(kind, call->first, call->second, call->third, is_deep);
}

/* --- the rules --- */

/* The freezer of cgroup version 2 has a bit of its own. A parent of vfork() that waits for its
 * child has that bit too, so that a freezer need not wait for it (kernel/fork.c), but in a sleep
 * that signals do not end. */
static __always_inline bool is_frozen(struct task_struct *task, __u32 task_state)
{
	if (task_state & TASK_FROZEN)
		return true;
	return task_state & TASK_INTERRUPTIBLE && bpf_core_field_exists(task->frozen) &&
	       BPF_CORE_READ_BITFIELD(task, frozen);
}

/* `ctx` is that of sched_switch, in the thread that leaves its CPU; NULL elsewhere. */
static __always_inline void decide(void *ctx, struct task_struct *task, __u32 task_state,
				   __u64 lock, struct wait *ret)
{
	__u32 class = sleep_class(task_state, BPF_CORE_READ_BITFIELD(task, in_iowait));
	struct call call;

	ret->syscall = -1;
	ret->state = state_of_class(class);
	if (ret->state == STATE_STOPPED)
		return;
	if (is_frozen(task, task_state)) {
		ret->state = STATE_STOPPED;
		return;
	}
	if (lock) {
		ret->state = STATE_LOCK_KERNEL;
		return;
	}
	if (task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)) {
		if (class == CLASS_INTERRUPTIBLE)
			ret->state = STATE_IDLE_WORKER;
		else if (class == CLASS_UNINTERRUPTIBLE)
			ret->state = STATE_SLEEP_OTHER;
		return;
	}
	call_of(task, &call);
	if (call.number >= 0)
		ret->syscall = call.number;
	if (class == CLASS_IO_WAIT) {
		if (wait_state.swap_begin &&
		    is_within(ctx, task, wait_state.swap_begin, wait_state.swap_end))
			ret->state = STATE_PAGING;
		return;
	}
	if (call.number < 0)
		ret->state = STATE_SLEEP_OTHER;
	else if (call.is_foreign)
		ret->state = STATE_SLEEP;
	else
		ret->state = state_of_call(ctx, task, &call, class != CLASS_INTERRUPTIBLE);
}

/* --- contended locks of the kernel (Linux 5.19) --- */

#define LCB_F_SPIN 1 /* include/trace/events/lock.h: it spins, and leaves no CPU */

SEC("tp_btf/contention_begin")
int on_contention(__u64 *ctx)
{
	struct task_record *t;

	if (ctx[1] & LCB_F_SPIN)
		return 0;
	t = (struct task_record *)find_record(bpf_get_current_task_btf());
	if (t)
		t->lock = ctx[0];
	return 0;
}

/* An interrupt may have waited for another lock meanwhile. */
SEC("tp_btf/contention_end")
int on_contended(__u64 *ctx)
{
	struct task_record *t = (struct task_record *)find_record(bpf_get_current_task_btf());

	if (t && t->lock == ctx[0])
		t->lock = 0;
	return 0;
}

/* --- ourselves --- */

/* fifo_open() is shorter, and what follows it in fs/pipe.c opens nothing. */
#define FIFO_OPEN_BYTES 1024

enum bpf_func_id___wait {
	BPF_FUNC_kallsyms_lookup_name___wait = 179, /* include/uapi/linux/bpf.h */
};

/* The function of the kernel, where it may be looked up here (Linux 5.16): reading /proc/kallsyms
 * takes longer than all else. */
static __always_inline void find_fifo_open(void)
{
	static const char name[] = "fifo_open";
	__u64 begin;

	if (!bpf_core_enum_value_exists(enum bpf_func_id___wait,
					BPF_FUNC_kallsyms_lookup_name___wait) ||
	    bpf_kallsyms_lookup_name(name, sizeof(name), 0, &begin) || !begin)
		return;
	wait_state.fifo_end = begin + FIFO_OPEN_BYTES;
	wait_state.fifo_begin = begin;
}

/* Finds our PID namespace, and the file operations of sockets, pipes and timers, for the process
 * that runs this. */
SEC("syscall")
int probe_environment(struct wait_examples *examples)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct file *file;

	find_namespace();
	find_fifo_open();
	file = open_file_at(task, examples->socket);
	if (file)
		wait_state.socket_functions = functions_of(file);
	file = open_file_at(task, examples->pipe);
	if (file)
		wait_state.pipe_functions = functions_of(file);
	file = open_file_at(task, examples->timer);
	if (file)
		wait_state.timer_functions = functions_of(file);
	return 0;
}

#endif
