/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Walks of user stacks as a thread leaves its CPU, and nothing else: ours, and the kernel's own.
 * For processes in `target_processes`.
 */
#include "sched/user_stack.bpf.h"

char programs_license[] SEC("license") = "Dual BSD/GPL";

static __always_inline bool is_ours(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	return bpf_map_lookup_elem(&target_processes, &tgid);
}

SEC("tp_btf/sched_switch")
int nothing(__u64 *ctx)
{
	return !is_ours((void *)ctx[1]);
}

SEC("tp_btf/sched_switch")
int by_kernel(__u64 *ctx)
{
	struct scratch *scratch = scratch_of(SCRATCH_SWITCH);

	if (!scratch || !is_ours((void *)ctx[1]))
		return 0;
	bpf_get_stack(ctx, scratch->user, 127 * 8, BPF_F_USER_STACK);
	return 0;
}

static __always_inline int by_us(__u64 *ctx, bool may_know)
{
	struct task_struct *task = (void *)ctx[1];
	struct scratch *scratch = scratch_of(SCRATCH_SWITCH);
	struct profile_counts *counts = counts_here();
	struct user_registers regs = { 0 };

	if (!scratch || !counts || !is_ours(task) || !user_registers(task, &regs))
		return 0;
	user_stack(task, task->tgid, scratch, &regs, may_know, counts);
	return 0;
}

SEC("tp_btf/sched_switch")
int walked(__u64 *ctx)
{
	return by_us(ctx, false);
}

SEC("tp_btf/sched_switch")
int recognised(__u64 *ctx)
{
	return by_us(ctx, true);
}
