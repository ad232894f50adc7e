/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stacks of a thread that is about to leave its CPU.
 */
#ifndef SCHED_SWITCH_STACKS_BPF_H
#define SCHED_SWITCH_STACKS_BPF_H

#include "sched/watched.bpf.h"

static __always_inline __u32 kernel_stack_now(void *ctx, struct scratch *scratch,
					      enum stack_site site, struct profile_counts *counts)
{
	__u32 frames, own;

	return number_walk(scratch, walk_here(ctx, scratch, site, &own), counts, &frames);
}

/* Where the stack of a thread that called schedule() is remembered. One that could go on does that
 * on its way back to user space mostly, wherever in its program it is. */
static __always_inline __u32 slot_place(const struct thread_record *t,
					const struct user_registers *regs)
{
	if (t->class == CLASS_RUNNABLE)
		return REMEMBERED + regs->is_call;
	return (regs->ip ^ regs->ip >> 7) & (REMEMBERED - 1);
}

/* The kernel's part of who is about to leave the CPU by itself: known again, or walked. */
static __always_inline __u32 kernel_stack_again(void *ctx, struct scratch *scratch,
						struct watched *w, __u64 registers, __u32 place,
						struct profile_counts *counts)
{
	__u32 words, number, frames = 0, own;
	struct slot_memory *memory;
	bool is_raw, is_same;

	asm volatile("" : "+r"(place));
	if (place >= REMEMBERED + LEAVING)
		return STACK_LOST;
	memory = &w->slots[place];
	is_raw = read_raw(scratch, ctx, registers, &words);
	is_same = is_raw && memory->number && slots_match(scratch, memory, words);
	if (is_same) {
		memory->misses = 0;
		counts->recognised++;
		if (!config.recheck || ++w->checks < config.recheck)
			return memory->number;
		w->checks = 0;
	}
	number = number_walk(scratch, walk_here(ctx, scratch, SITE_SWITCH, &own), counts, &frames);
	if (is_same) {
		counts->checked++;
		if (number == memory->number)
			return number;
		counts->wrong++;
		memory->number = 0;
	}
	/* Not what was seen once, for that costs as much as some walks. The same walk has another
	 * number once our own frames are passed over. */
	if (is_raw && number > STACK_LOST && frames && own && number == memory->walked)
		remember(scratch, memory, words, frames, number);
	memory->walked = number;
	return number;
}

static __always_inline bool has_user_space(struct task_struct *task)
{
	return task->mm && !(task->flags & PF_KTHREAD);
}

/* So that its stack can be looked at from outside, while it is there. */
static __always_inline void left_user_space(struct thread_record *t,
					    const struct user_registers *regs)
{
	t->left_ip = regs->ip;
	t->left_sp = regs->sp;
	t->left_bp = regs->bp;
	t->left_bx = regs->bx;
	t->looked = t->since;
}

static __always_inline void take_stacks(void *ctx, struct task_struct *prev, bool is_preempted,
					struct watched *w, struct thread_record *t,
					struct profile_counts *counts)
{
	struct scratch *scratch = scratch_of(SCRATCH_SWITCH);
	struct user_registers regs = { 0 };

	if (!scratch)
		return;
	begin_epoch(w);
	if (user_registers(prev, &regs) && config.user_depth && has_user_space(prev)) {
		t->user_stack =
			user_stack(prev, tgid_of(prev), scratch, &regs, &w->user_stack, counts);
		left_user_space(t, &regs);
	}
	if (!config.kernel_depth)
		return;
	/* Who was preempted in the kernel may be anywhere. */
	t->kernel_stack =
		is_preempted ? kernel_stack_now(ctx, scratch, SITE_PREEMPTED, counts)
			     : kernel_stack_again(ctx, scratch, w, (__u64)bpf_task_pt_regs(prev),
						  slot_place(t, &regs), counts);
}

#endif
