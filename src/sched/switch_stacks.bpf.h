/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stacks of a thread that is about to leave its CPU.
 */
#ifndef SCHED_SWITCH_STACKS_BPF_H
#define SCHED_SWITCH_STACKS_BPF_H

#include "sched/kernel_stack.bpf.h"
#include "sched/user_stack.bpf.h"

/* What a thread's last stacks were, to know them again. It is created where task_ctx is. */
struct stack_ctx {
	__u32 epoch; /* of the stacks below */
	struct last_stack user_stack;
	__u32 checks;
	struct slot_memory slots[REMEMBERED + LEAVING];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct stack_ctx);
} stack_ctxs SEC(".maps");

/* For the programs that may create storage (track.bpf.h). Without it stacks are walked. */
static __always_inline void create_stack_ctx(struct task_struct *task)
{
	if (config.wants_off_cpu && !config.only_times)
		bpf_task_storage_get(&stack_ctxs, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Without the stacks of another epoch: its pool may have been emptied. NULL: there is none. */
static __always_inline struct stack_ctx *stack_ctx_of(struct task_struct *task)
{
	struct stack_ctx *stacks = bpf_task_storage_get(&stack_ctxs, task, 0, 0);
	const __u32 epoch = stack_epoch();

	if (!stacks || stacks->epoch == epoch)
		return stacks;
	stacks->epoch = epoch;
	stacks->user_stack.number = 0;
	for (int i = 0; i < USER_REMEMBERED; i++)
		stacks->user_stack.memory[i].number = 0;
	for (int i = 0; i < REMEMBERED + LEAVING; i++)
		stacks->slots[i].number = stacks->slots[i].walked = 0;
	return stacks;
}

static __always_inline __u32 kernel_stack_now(void *ctx, struct scratch *scratch,
					      enum stack_site site, struct profile_counts *counts)
{
	__u32 frames, own;

	return number_walk(scratch, walk_here(ctx, scratch, site, &own), counts, &frames);
}

/* Where the stack of a thread that called schedule() is remembered. One that could go on does that
 * on its way back to user space mostly, wherever in its program it is. */
static __always_inline __u32 slot_place(const struct profile_record *t,
					const struct user_registers *regs)
{
	if (t->task.state == CLASS_RUNNABLE)
		return REMEMBERED + regs->is_call;
	return (regs->ip ^ regs->ip >> 7) & (REMEMBERED - 1);
}

/* The kernel's part of who is about to leave the CPU by itself: known again, or walked. */
static __always_inline __u32 kernel_stack_again(void *ctx, struct scratch *scratch,
						struct stack_ctx *stacks, __u64 registers,
						__u32 place, struct profile_counts *counts)
{
	__u32 words, number, frames = 0, own;
	struct slot_memory *memory;
	bool is_raw, is_same;

	asm volatile("" : "+r"(place));
	if (place >= REMEMBERED + LEAVING)
		return STACK_LOST;
	memory = &stacks->slots[place];
	is_raw = read_raw(scratch, ctx, registers, &words);
	is_same = is_raw && memory->number && slots_match(scratch, memory, words);
	if (is_same) {
		memory->misses = 0;
		counts->recognised++;
		if (!config.recheck || ++stacks->checks < config.recheck)
			return memory->number;
		stacks->checks = 0;
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
static __always_inline void left_user_space(struct profile_record *t,
					    const struct user_registers *regs)
{
	t->left_ip = regs->ip;
	t->left_sp = regs->sp;
	t->left_bp = regs->bp;
	t->left_bx = regs->bx;
	t->looked = t->task.since;
}

static __always_inline void take_stacks(void *ctx, struct task_struct *prev, bool is_preempted,
					struct profile_record *t, struct profile_counts *counts)
{
	struct scratch *scratch = scratch_of(SCRATCH_SWITCH);
	struct stack_ctx *stacks = stack_ctx_of(prev);
	struct user_registers regs = { 0 };

	if (!scratch)
		return;
	if (user_registers(prev, &regs) && config.user_depth && has_user_space(prev)) {
		t->user_stack = user_stack(prev, tgid_of(prev), scratch, &regs,
					   stacks ? &stacks->user_stack : 0, counts);
		left_user_space(t, &regs);
	}
	if (!config.kernel_depth)
		return;
	/* A thread that was preempted in the kernel may be anywhere in it. */
	if (is_preempted)
		t->kernel_stack = kernel_stack_now(ctx, scratch, SITE_PREEMPTED, counts);
	else if (!stacks)
		t->kernel_stack = kernel_stack_now(ctx, scratch, SITE_SWITCH, counts);
	else
		t->kernel_stack =
			kernel_stack_again(ctx, scratch, stacks, (__u64)bpf_task_pt_regs(prev),
					   slot_place(t, &regs), counts);
}

#endif
