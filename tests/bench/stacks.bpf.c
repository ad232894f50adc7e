/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The least that off-CPU stacks can cost: at a switch, the kernel's stack of the thread that leaves
 * is taken, its registers of user space and 64 words of its user stack are read, and the time off
 * the CPU of the thread that arrives is added to a count. Nothing is walked in user space, stored
 * or compared, and counts of threads and stacks with the same last bits are one, so they are of no
 * use.
 */
#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

char programs_license[] SEC("license") = "Dual BSD/GPL";

#define THREADS      65536
#define COUNTS       16384
#define USER_WORDS   64
#define FRAMES       127
#define KERNEL_BYTES (FRAMES * 8)

struct wait {
	__u64 since;
	__u32 stacks;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREADS);
	__type(key, __u32);
	__type(value, struct wait);
} waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct stacks {
	__u64 kernel[FRAMES];
	__u64 user[USER_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stacks);
} scratch SEC(".maps");

static __always_inline struct wait *wait_of(struct task_struct *task)
{
	__u32 at = (__u32)task->pid % THREADS;

	return bpf_map_lookup_elem(&waits, &at);
}

static __always_inline void leave(void *ctx, struct task_struct *task, __u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct wait *wait = wait_of(task);
	__u32 zero = 0;
	struct stacks *stacks = bpf_map_lookup_elem(&scratch, &zero);

	if (!wait || !stacks)
		return;
	bpf_get_stack(ctx, stacks->kernel, KERNEL_BYTES, 0);
	wait->since = now;
	wait->stacks = stacks->kernel[2] ^ stacks->kernel[3];
	if (!task->mm || !bpf_core_field_exists(regs->sp))
		return;
	bpf_probe_read_user(stacks->user, sizeof(stacks->user), (void *)regs->sp);
	wait->stacks ^= regs->ip ^ stacks->user[0];
}

static __always_inline void arrive(struct task_struct *task, __u64 now)
{
	struct wait *wait = wait_of(task);
	__u64 *count;
	__u32 at;

	if (!wait)
		return;
	at = wait->stacks % COUNTS;
	count = bpf_map_lookup_elem(&counts, &at);
	if (count)
		*count += now - wait->since;
}

SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u64 now = bpf_ktime_get_ns();

	if (prev->pid)
		leave(ctx, prev, now);
	if (next->pid)
		arrive(next, now);
	return 0;
}
