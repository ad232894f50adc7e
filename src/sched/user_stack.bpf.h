/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stacks of user space, by unwind tables, or by frame pointers.
 */
#ifndef SCHED_USER_STACK_BPF_H
#define SCHED_USER_STACK_BPF_H

#include "sched/user_again.bpf.h"
#include "sched/user_processes.bpf.h"

static __always_inline void count_stop(struct profile_counts *counts, __u32 stop)
{
	asm volatile("%0 &= 15" : "+r"(stop));
	counts->stops[stop]++;
}

/* The number of the stack with these registers, of the current thread. `last` is what was found
 * before; it may be NULL. */
static __always_inline __u32 user_stack(struct task_struct *task, __u32 tgid,
					struct scratch *scratch, const struct user_registers *regs,
					struct last_stack *last, struct profile_counts *counts)
{
	struct user_memory *memory = last ? memory_of(last, regs->ip) : 0;
	struct unwind_process process;
	__u32 lacks = find_process(task, tgid, &process), number, stop;
	const struct user_walk *walk = &scratch->walk;
	bool is_same = false;
	enum stack_end end;
	__u64 hash;

	if (memory && is_again(scratch, regs, process.generation, memory)) {
		counts->user_recognised++;
		if (!config.recheck || ++last->checks < config.recheck) {
			count_stop(counts, memory->stop);
			return memory->number;
		}
		last->checks = 0;
		is_same = true;
	}
	walk_stack(scratch, regs, &process, lacks != UNWIND_GOES_ON);
	stop = lacks && walk->stop != UNWIND_TRUNCATED ? lacks : walk->stop;
	count_stop(counts, stop);
	end = stack_end_of(stop);
	hash = hash_more(walk->hash, end);
	if (last && last->number && last->hash == hash)
		number = last->number;
	else
		number = stack_number(scratch->user, walk->count, end, hash);
	if (last && number > STACK_LOST) {
		last->hash = hash;
		last->number = number;
	}
	if (is_same) {
		counts->user_checked++;
		counts->user_wrong += number != memory->number;
	}
	if (memory)
		remember_user(scratch, regs, process.generation, stop, number, memory);
	return number;
}

#endif
