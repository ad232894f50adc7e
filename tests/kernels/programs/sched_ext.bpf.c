/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The least that is a sched_ext scheduler: one queue for all, and only for those who ask for it
 * with the policy SCHED_EXT.
 */
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define SWITCH_PARTIAL ((__u64)1 << 3)           /* SCX_OPS_SWITCH_PARTIAL */
#define GLOBAL_QUEUE   ((__u64)1 << 63 | 1)      /* SCX_DSQ_GLOBAL */
#define SLICE          ((__u64)20 * 1000 * 1000) /* ns */

/* libbpf takes a structure for the kernel's own only when it has members. */
struct task_struct {
	int pid;
};

/* The members that are set here; libbpf finds them in the kernel's by name. */
struct sched_ext_ops {
	void (*enqueue)(struct task_struct *task, __u64 flags);
	__u64 flags;
	char name[128];
};

void scx_bpf_dsq_insert(struct task_struct *task, __u64 queue, __u64 slice,
			__u64 flags) __ksym __weak;

SEC("struct_ops/enqueue")
int BPF_PROG(enqueue, struct task_struct *task, __u64 flags)
{
	scx_bpf_dsq_insert(task, GLOBAL_QUEUE, SLICE, flags);
	return 0;
}

SEC(".struct_ops")
struct sched_ext_ops fixture = {
	.enqueue = (void *)enqueue,
	.flags = SWITCH_PARTIAL,
	.name = "fixture",
};

char LICENSE[] SEC("license") = "Dual BSD/GPL";
