/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stacks of user space: walked by unwind tables or frame pointers, or recognised without a walk.
 *
 * A thread mostly comes from where it came last. Which words of the stack decide on a walk is
 * known, so recognising one is exact: with the same instruction and stack pointer, the same
 * mappings (the generation of its process) and the same content of those words and of the registers
 * that were used, the walk would go the same way. By induction from the innermost frame outwards,
 * the place of each next word follows from the rule of an address that is the same, and from values
 * that are. Of the words a hash of 64 bits is kept. A walk that could not read a word, or needed
 * one of another stack, is not remembered.
 */
#ifndef SCHED_USER_STACK_BPF_H
#define SCHED_USER_STACK_BPF_H

#include "sched/user_walk.bpf.h"

#define USER_REMEMBERED 4 /* stacks of a thread, by where it left user space */

struct user_memory {
	__u64 ip, sp, bp, bx, generation, hash; /* of the words */
	__u32 number;                           /* 0: nothing is remembered */
	__u8 stop, used, count, words;          /* the last are how many are to be copied */
	__u16 at[USER_SLOTS];
};

struct last_stack {
	__u64 hash;
	__u32 number; /* 0: none */
	__u32 checks;
	struct user_memory memory[USER_REMEMBERED];
};

struct user_replay {
	struct scratch *scratch;
	struct user_memory *memory;
	__u64 hash;
	bool has_failed;
};

static long hash_word(__u32 i, struct user_replay *r)
{
	__u32 slot = i, word;

	if (!r->scratch || !r->memory || i >= r->memory->count || slot >= USER_SLOTS)
		return 1;
	word = r->memory->at[slot];
	if (word >= r->memory->words) {
		__u64 *there = &r->scratch->walk.memory.word;

		if (bpf_probe_read_user(there, 8, (void *)(r->memory->sp + word * 8))) {
			r->has_failed = true;
			return 1;
		}
		r->hash = hash_more(r->hash, *there);
		return 0;
	}
	asm volatile("%0 &= 255" : "+r"(word));
	r->hash = hash_more(r->hash, r->scratch->walk.memory.copy[word]);
	return 0;
}

/* Hash the words that decide, in the copy and behind it. False: one cannot be read. */
static __always_inline bool hash_words(struct scratch *scratch, struct user_memory *memory,
				       __u64 *ret)
{
	struct user_replay replay = { .scratch = scratch, .memory = memory, .hash = HASH_START };

	bpf_loop(USER_SLOTS, hash_word, &replay, 0);
	*ret = replay.hash;
	return !replay.has_failed;
}

static __always_inline struct user_memory *memory_of(struct last_stack *last, __u64 ip)
{
	__u32 place = (ip ^ ip >> 7) & (USER_REMEMBERED - 1);

	asm volatile("%0 &= 3" : "+r"(place));
	return &last->memory[place];
}

/* Would the walk be the remembered one? */
static __always_inline bool is_again(struct scratch *scratch, const struct user_registers *regs,
				     __u64 generation, struct user_memory *memory)
{
	__u64 bytes, hash;

	if (!memory->number || memory->ip != regs->ip || memory->sp != regs->sp ||
	    memory->generation != generation)
		return false;
	if (memory->used & UNWIND_KNOWS_BP && memory->bp != regs->bp)
		return false;
	if (memory->used & UNWIND_KNOWS_BX && memory->bx != regs->bx)
		return false;
	bytes = (__u64)memory->words << 3;
	asm volatile("%0 &= 2040" : "+r"(bytes));
	if (bpf_probe_read_user(scratch->walk.memory.copy, bytes, (void *)regs->sp))
		return false;
	return hash_words(scratch, memory, &hash) && hash == memory->hash;
}

/* Remember the words and registers of the walk, if all of them are near enough. */
static __always_inline void remember_user(struct scratch *scratch,
					  const struct user_registers *regs, __u64 generation,
					  __u32 stop, __u32 number, struct user_memory *memory)
{
	const struct user_walk *walk = &scratch->walk;

	memory->number = 0;
	if (walk->memory.slots > USER_SLOTS || walk->at.failed ||
	    walk->at.used & UNWIND_KNOWS_OTHER || number <= STACK_LOST)
		return;
	__builtin_memcpy(memory->at, walk->memory.used, sizeof(memory->at));
	memory->ip = regs->ip;
	memory->sp = regs->sp;
	memory->bp = regs->bp;
	memory->bx = regs->bx;
	memory->generation = generation;
	memory->stop = stop;
	memory->used = walk->at.used;
	memory->count = walk->memory.slots;
	memory->words = walk->memory.words ? walk->memory.reach + 1 : 0;
	if (hash_words(scratch, memory, &memory->hash))
		memory->number = number;
}

static __always_inline void count_stop(struct profile_counts *counts, __u32 stop)
{
	asm volatile("%0 &= 15" : "+r"(stop));
	counts->stops[stop]++;
}

__u32 number_user_stack(struct scratch *scratch, const struct user_registers *regs,
			struct last_stack *last, struct profile_counts *counts);

/* The number of the stack of these registers, by the mappings in `scratch`. `last` has the stacks
 * that were found before, and may be NULL. */
__noinline __u32 number_user_stack(struct scratch *scratch, const struct user_registers *regs,
				   struct last_stack *last, struct profile_counts *counts)
{
	struct user_memory *memory;
	struct user_walk *walk;
	__u32 number, stop;
	bool is_same = false;
	enum stack_end end;
	__u64 hash, generation;

	if (!scratch || !regs || !counts)
		return STACK_LOST;
	memory = last ? memory_of(last, regs->ip) : 0;
	walk = &scratch->walk;
	generation = scratch->process.generation;
	if (memory && is_again(scratch, regs, generation, memory)) {
		counts->user_recognised++;
		if (!config.recheck || ++last->checks < config.recheck) {
			count_stop(counts, memory->stop);
			scratch->is_incomplete = stack_end_of(memory->stop) == STACK_INCOMPLETE;
			return memory->number;
		}
		last->checks = 0;
		is_same = true;
	}
	walk_stack(scratch, regs, &scratch->process, scratch->lacks != UNWIND_GOES_ON);
	stop = scratch->lacks && walk->stop != UNWIND_TRUNCATED ? scratch->lacks : walk->stop;
	count_stop(counts, stop);
	end = stack_end_of(stop);
	scratch->is_incomplete = end == STACK_INCOMPLETE;
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
		remember_user(scratch, regs, generation, stop, number, memory);
	return number;
}

/* The number of the current thread's stack, from these registers. `last` is as above. */
static __always_inline __u32 user_stack(struct task_struct *task, __u32 tgid,
					struct scratch *scratch, const struct user_registers *regs,
					struct last_stack *last, struct profile_counts *counts)
{
	scratch->lacks = find_mappings(scratch, task, tgid, &scratch->process);
	return number_user_stack(scratch, regs, last, counts);
}

#endif
