/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What is known of what processes have mapped (struct unwind_process), which user space tells:
 * until it does, a child has what its parent has, and a new program nothing.
 */
#ifndef SCHED_USER_PROCESSES_BPF_H
#define SCHED_USER_PROCESSES_BPF_H

#include "sched/profile_maps.bpf.h"

static __always_inline void ask_for(__u32 tgid, __u64 generation)
{
	if (!bpf_map_lookup_elem(&unwind_asked, &tgid))
		bpf_map_update_elem(&unwind_asked, &tgid, &generation, BPF_NOEXIST);
}

/* Is it about to become another program, or becoming it? Not every kernel has task->in_execve. */
static __always_inline bool calls_execve(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	/* execve() and execveat(). */
	return !bpf_core_field_exists(regs->orig_ax) || regs->orig_ax == 59 || regs->orig_ax == 322;
}

/* What is known of the mappings of a process; UNWIND_GOES_ON: all that is needed. */
static __always_inline __u32 find_process(struct task_struct *task, __u32 tgid,
					  struct unwind_process *ret)
{
	struct unwind_process *process;
	struct mm_struct *mm;

	ret->space = ret->count = 0;
	ret->generation = 0;
	if (config.unwind == UNWIND_BY_POINTERS)
		return UNWIND_POINTER_END;
	process = bpf_map_lookup_elem(&unwind_processes, &tgid);
	if (!process || !process->count) {
		ask_for(tgid, 0);
		return UNWIND_NO_PROCESS;
	}
	*ret = *process;
	mm = task->mm;
	if (ret->exec_pages && mm && mm->exec_vm < ret->exec_pages) {
		ask_for(tgid, ret->generation);
		/* Something was unmapped. The tables of all other mappings are still right, and no
		 * frame is in what is gone; but exec has replaced all mappings and the stack. */
		if (calls_execve(task)) {
			ret->generation = 0;
			return UNWIND_CHANGED;
		}
	}
	return UNWIND_GOES_ON;
}

/* A child has what its parent has mapped. */
static __always_inline void inherit_mappings(__u32 parent, __u32 child)
{
	struct unwind_process *process, copy;

	if (!config.unwind || !child || parent == child)
		return;
	process = bpf_map_lookup_elem(&unwind_processes, &parent);
	if (process) {
		copy = *process;
		bpf_map_update_elem(&unwind_processes, &child, &copy, BPF_ANY);
	} else {
		bpf_map_delete_elem(&unwind_processes, &child);
	}
}

static __always_inline void forget_mappings(__u32 tgid)
{
	if (config.unwind)
		bpf_map_delete_elem(&unwind_processes, &tgid);
}

#endif
