/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Memory of stacks that were walked, to recognise them without a walk.
 *
 * It is shared by all threads and CPUs: a thread that was just created blocks where others have
 * blocked before, and the memory of what many threads do is in the cache of the CPU. A stack is
 * recognised by its content, so it does not matter which thread had it when it was walked.
 *
 * An entry begins with a sequence number, odd while the entry is written. A reader that finds it
 * odd, or changed afterwards, has recognised nothing; a writer that finds it odd writes nothing.
 */
#ifndef SCHED_KNOWN_STACK_BPF_H
#define SCHED_KNOWN_STACK_BPF_H

#include "sched/profile_maps.bpf.h"

struct known_stack {
	__u32 sequence;
	__u32 number; /* of the stack; 0: nothing is remembered */
	__u32 era;    /* that has this number: see begin_known() */
};

/* On machines that do not keep the order of reads. An atomic operation that returns the old value
 * is a barrier. */
static __always_inline void read_barrier(struct known_stack *known)
{
	asm volatile("" ::: "memory");
	if (track_config.is_weakly_ordered)
		(void)__sync_fetch_and_add(&known->sequence, 0);
	asm volatile("" ::: "memory");
}

/* The number of the stack; 0: there is none. Numbers of another era than that of now are of no use:
 * a stack has another one in each epoch, and one of the kernel when other frames of it are skipped.
 */
static __always_inline __u32 begin_known(struct known_stack *known, __u32 era, __u32 *ret_sequence)
{
	__u32 number;

	*ret_sequence = *(volatile __u32 *)&known->sequence;
	read_barrier(known);
	number = known->number;
	return *ret_sequence & 1 || known->era != era ? 0 : number;
}

/* Is what was read since begin_known() one entry? */
static __always_inline bool end_known(struct known_stack *known, __u32 sequence)
{
	read_barrier(known);
	return *(volatile __u32 *)&known->sequence == sequence;
}

static __always_inline bool lock_known(struct known_stack *known)
{
	__u32 sequence = *(volatile __u32 *)&known->sequence;

	return !(sequence & 1) &&
	       __sync_val_compare_and_swap(&known->sequence, sequence, sequence + 1) == sequence;
}

static __always_inline void unlock_known(struct known_stack *known)
{
	asm volatile("" ::: "memory");
	if (track_config.is_weakly_ordered)
		(void)__sync_fetch_and_add(&known->sequence, 1);
	else
		*(volatile __u32 *)&known->sequence = known->sequence + 1;
}

#endif
