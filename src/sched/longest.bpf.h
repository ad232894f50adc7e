/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The longest single waits, on each CPU: the longest of all CPUs are among them.
 */
#ifndef SCHED_LONGEST_BPF_H
#define SCHED_LONGEST_BPF_H

#include "sched/profile_targets.bpf.h"

static __noinline int note_longest(struct profile_record *t, __u32 number, __u64 blocked_ns,
				   __u64 runnable_ns)
{
	__u32 zero = 0, place, shortest = 0;
	struct longest_blocks *blocks = bpf_map_lookup_elem(&longest, &zero);
	__u64 least = ~0ull;
	struct longest_block *block;

	if (!t || !blocks)
		return 0;
	place = blocks->count;
	if (place >= config.longest) {
		if (blocked_ns <= blocks->least)
			return 0;
		for (__u32 i = 0; i < PROFILE_LONGEST_MAX; i++) {
			if (i >= config.longest)
				break;
			if (blocks->blocks[i].blocked_ns < least) {
				least = blocks->blocks[i].blocked_ns;
				shortest = i;
			}
		}
		place = shortest;
	} else {
		blocks->count = place + 1;
	}
	if (place >= PROFILE_LONGEST_MAX)
		return 0;
	block = &blocks->blocks[place];
	block->begun = t->task.since;
	block->blocked_ns = blocked_ns;
	block->runnable_ns = runnable_ns;
	block->thread = number;
	block->class = t->task.state;
	block->user_stack = t->user_stack;
	block->kernel_stack = t->kernel_stack;
	block->waker = t->waker;
	block->in_interrupt = t->in_interrupt;
	least = ~0ull;
	for (__u32 i = 0; i < PROFILE_LONGEST_MAX; i++) {
		if (i >= config.longest)
			break;
		if (blocks->blocks[i].blocked_ns < least)
			least = blocks->blocks[i].blocked_ns;
	}
	blocks->least = least;
	return 0;
}

#endif
