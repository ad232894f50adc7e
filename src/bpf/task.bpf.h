/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Reading members of a task, for every program.
 */
#ifndef BPF_TASK_BPF_H
#define BPF_TASK_BPF_H

#include "bpf/kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* include/linux/sched.h; bits, for states have several: TASK_KILLABLE is 0x102, TASK_IDLE 0x402,
 * and sleeps that may be frozen are 0x2001. */
#define TASK_INTERRUPTIBLE   0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define TASK_STOPPED         0x0004
#define TASK_TRACED          0x0008
#define TASK_PARKED          0x0040
#define TASK_DEAD            0x0080
#define TASK_NOLOAD          0x0400
#define TASK_FROZEN          0x8000 /* Linux 6.1 */

#define PF_KTHREAD           0x00200000

/*
 * The number of a task in the PID namespace `level` levels down.
 *
 * Pointers are followed by probe reads, which cost some ns each: for each direct access the
 * verifier searches the kernel's BTF three times by name (btf_nested_type_is_trusted() in
 * kernel/bpf/btf.c), and a dozen of them tripled the time of loading.
 */
static __always_inline __u32 pid_number(struct task_struct *task, __u32 level)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	int number = 0;

	/* The parent of our first process is outside, and has none. A step of the array is one of
	 * the kernel's struct upid, which has more members than ours. */
	if (pid && BPF_CORE_READ(pid, level) >= level)
		bpf_probe_read_kernel(&number, sizeof(number),
				      (char *)&pid->numbers[0].nr +
					      level * bpf_core_type_size(struct upid));
	return number;
}

static __always_inline __u64 cgroup_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/*
 * Linux 7.2 keeps these two in a byte each. The compiler may take the place of a member for two
 * reads of it, and then only the place is relocated and not the size, unless the size is asked for.
 */
static __always_inline bool is_on_cpu(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_cpu);
}

static __always_inline int queueing(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_rq);
}

/*
 * A task that is still queued can run, whatever its state says: it was preempted before it could
 * sleep, or a signal kept it from that (signal_pending_state() in __schedule()). One that is to
 * sleep may stay queued too for a while (Linux 6.12, 152e11f6df29).
 */
static __always_inline bool is_queued(struct task_struct *task)
{
	if (bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed)
		return false;
	return queueing(task);
}

/* Is it in that cgroup, or in one below? */
#define CGROUP_LEVELS 64

static __always_inline bool is_below(struct task_struct *task, __u64 wanted)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (int i = 0; i < CGROUP_LEVELS; i++) {
		struct cgroup_subsys_state *parent;

		if (!cgroup)
			return false;
		if (BPF_CORE_READ(cgroup, kn, id) == wanted)
			return true;
		parent = BPF_CORE_READ(cgroup, self.parent);
		if (!parent)
			return false;
		cgroup = BPF_CORE_READ(parent, cgroup);
	}
	return false;
}

#endif
