/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Registers with which a thread left user space.
 */
#ifndef SCHED_USER_REGISTERS_BPF_H
#define SCHED_USER_REGISTERS_BPF_H

#include "sched/profile_maps.bpf.h"

struct user_registers {
	__u64 ip, sp, bp, bx;
	__u64 regs; /* where they are */
	/* At the first instruction of a function its caller is not in a frame yet, but on top of
	 * the stack. */
	bool is_entry;
	bool is_call; /* into the kernel, by the program itself; false: an interrupt or a fault */
};

/* Registers with which a thread left user space. */
static __always_inline bool user_registers(struct task_struct *task, struct user_registers *ret)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct pt_regs___arm64 *arm = (void *)regs;

	ret->regs = (__u64)regs;
	if (bpf_core_field_exists(regs->ip)) {
		ret->ip = regs->ip;
		ret->sp = regs->sp;
		ret->bp = regs->bp;
		ret->bx = regs->bx;
		/* arch/x86/entry: it is -1 else. */
		ret->is_call = (long)regs->orig_ax != -1;
	} else if (bpf_core_field_exists(arm->pc)) {
		ret->ip = BPF_CORE_READ(arm, pc);
		ret->sp = BPF_CORE_READ(arm, sp);
		ret->bp = BPF_CORE_READ(arm, regs[29]);
	} else {
		return false;
	}
	return ret->ip && ret->ip < USER_SPACE_LIMIT;
}

/* Where in pt_regs registers are, by their DWARF numbers (System V ABI, AMD64, figure 3.36); ~0: it
 * is not there. */
static __always_inline __u32 register_place(__u32 number)
{
#define PLACE(of, name) \
	case of:        \
		return bpf_core_field_offset(struct pt_regs, name)
	switch (number) {
		PLACE(0, ax);
		PLACE(1, dx);
		PLACE(2, cx);
		PLACE(3, bx);
		PLACE(4, si);
		PLACE(5, di);
		PLACE(8, r8);
		PLACE(9, r9);
		PLACE(10, r10);
		PLACE(11, r11);
		PLACE(12, r12);
		PLACE(13, r13);
		PLACE(14, r14);
		PLACE(15, r15);
	default:
		return ~0u;
	}
#undef PLACE
}

#endif
