/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What is read of a task in the same way by every program that watches switches.
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

static __always_inline __u32 pid_number(struct task_struct *task, __u32 level)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	int number = 0;

	/* As number_here() in task_iterator.bpf.c. */
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
 * A task that is still queued can run, whatever its state says: it was preempted before it could
 * sleep, or a signal kept it from that (signal_pending_state() in __schedule()). One that is to
 * sleep may stay queued too until its turn is over (Linux 6.12, sched_delayed).
 */
static __always_inline bool is_queued(struct task_struct *task)
{
	if (bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed)
		return false;
	return task->on_rq;
}

#endif
