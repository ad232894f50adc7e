/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Stacks of user space: walked by unwind tables or frame pointers, or recognised without a walk.
 *
 * A thread mostly comes from where it, or another process of its program, has come before. Which
 * words of the stack decide on a walk is known, so recognising one is exact: with the same
 * instruction and stack pointer, the same mappings (the generation, which a process has from its
 * parent) and the same content of those words and of the registers that were used, the walk would
 * go the same way. By induction from the innermost frame outwards, the place of each next word
 * follows from the rule of an address that is the same, and from values that are. Of the words a
 * hash of 64 bits is kept. A walk that could not read a word, or needed one of another stack, is
 * not remembered.
 */
#ifndef SCHED_USER_STACK_BPF_H
#define SCHED_USER_STACK_BPF_H

#include "sched/known_stack.bpf.h"
#include "sched/user_walk.bpf.h"

#define USER_WAYS 2 /* stacks of one set */

struct user_memory {
	struct known_stack known;
	__u8 stop, used, count, words;          /* the last are how many are to be copied */
	__u64 ip, sp, bp, bx, generation, hash; /* of the words */
	__u16 at[USER_SLOTS];
};
_Static_assert(sizeof(struct user_memory) % 64 == 0, "the first line says whether it can be it");

struct user_set {
	struct user_memory ways[USER_WAYS];
};

/* By instruction, stack pointer and generation. User space sets how many there are. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_set);
} user_sets SEC(".maps");

bool hash_words(struct scratch *scratch, const struct user_memory *memory);

/* Hash the words that decide, in the copy and behind it, into scratch->words_hash. False: one
 * cannot be read. */
__noinline bool hash_words(struct scratch *scratch, const struct user_memory *memory)
{
	__u64 hash = HASH_START;
	__u32 count;

	if (!scratch || !memory)
		return false;
	count = memory->count;
	for (__u32 i = 0; i < USER_SLOTS; i++) {
		__u64 *there = &scratch->walk.memory.word;
		__u32 word;

		if (i >= count)
			break;
		word = memory->at[i];
		if (word < memory->words) {
			asm volatile("%0 &= 255" : "+r"(word));
			there = &scratch->walk.memory.copy[word];
		} else if (bpf_probe_read_user(there, 8, (void *)(memory->sp + word * 8))) {
			return false;
		}
		hash = hash_more(hash, *there);
	}
	scratch->words_hash = hash;
	return true;
}

static __always_inline struct user_set *user_set_of(const struct user_registers *regs,
						    __u64 generation)
{
	__u64 hash = hash_more(hash_more(hash_more(HASH_START, regs->ip), regs->sp), generation);
	__u32 set = hash & (config.user_sets - 1);

	return bpf_map_lookup_elem(&user_sets, &set);
}

/* Would the walk be the remembered one? */
static __always_inline bool is_again(struct scratch *scratch, const struct user_registers *regs,
				     __u64 generation, struct user_memory *memory)
{
	__u64 bytes;

	if (memory->ip != regs->ip || memory->sp != regs->sp || memory->generation != generation)
		return false;
	if (memory->used & UNWIND_KNOWS_BP && memory->bp != regs->bp)
		return false;
	if (memory->used & UNWIND_KNOWS_BX && memory->bx != regs->bx)
		return false;
	bytes = (__u64)memory->words << 3;
	asm volatile("%0 &= 2040" : "+r"(bytes));
	if (bpf_probe_read_user(scratch->walk.memory.copy, bytes, (void *)regs->sp))
		return false;
	return hash_words(scratch, memory) && scratch->words_hash == memory->hash;
}

/* The number of the stack, and how the walk stopped; 0: it is not known. */
static __always_inline __u32 recognise_user(struct scratch *scratch,
					    const struct user_registers *regs, __u64 generation,
					    __u32 epoch, struct user_set *set, __u32 *ret_stop)
{
	for (int i = 0; i < USER_WAYS; i++) {
		struct user_memory *memory = &set->ways[i];
		__u32 sequence, number = begin_known(&memory->known, epoch, &sequence);

		if (number && is_again(scratch, regs, generation, memory)) {
			*ret_stop = memory->stop;
			if (end_known(&memory->known, sequence))
				return number;
		}
	}
	return 0;
}

/* Remember the words and registers of the walk, if all of them are near enough. */
static __always_inline void remember_user(struct scratch *scratch,
					  const struct user_registers *regs, __u64 generation,
					  __u32 stop, __u32 number, __u32 epoch,
					  struct user_set *set)
{
	const struct user_walk *walk = &scratch->walk;
	struct user_memory *memory;
	__u32 way = scratch->next_way++;

	if (walk->memory.slots > USER_SLOTS || walk->at.failed ||
	    walk->at.used & UNWIND_KNOWS_OTHER || number <= STACK_LOST)
		return;
	/* In place of the same stack, of none, or of any. */
	for (__u32 i = 0; i < USER_WAYS; i++) {
		const struct known_stack *known = &set->ways[i].known;

		if (!known->number || known->era != epoch || known->number == number)
			way = i;
	}
	asm volatile("%0 &= 1" : "+r"(way));
	memory = &set->ways[way];
	if (!lock_known(&memory->known))
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
	memory->known.era = epoch;
	memory->known.number = hash_words(scratch, memory) ? number : 0;
	memory->hash = scratch->words_hash;
	unlock_known(&memory->known);
}

/* --- stacks that are walked further later --- */

/* Copy the stack up to the end of four pages, as far as it is there. Returns words. */
static __always_inline __u32 copy_stack(struct deferred_stack *deferred, __u64 sp)
{
	__u64 bytes = DEFERRED_PAGE - (sp & (DEFERRED_PAGE - 1)), at = bytes;

	if (bytes > DEFERRED_PAGE || bpf_probe_read_user(deferred->words, bytes, (void *)sp))
		return 0;
	UNWIND_UNROLL
	for (int page = 1; page < DEFERRED_PAGES; page++) {
		asm volatile("%0 &= 0xffff" : "+r"(at));
		if (at > (DEFERRED_PAGES - 1) * DEFERRED_PAGE ||
		    bpf_probe_read_user((char *)deferred->words + at, DEFERRED_PAGE,
					(void *)(sp + at)))
			break;
		at += DEFERRED_PAGE;
	}
	return at >> 3;
}

__u32 defer_stack(struct scratch *scratch, const struct user_registers *regs);

/* The number of the stack that was found so far, which user space replaces when it has walked
 * further; 0: it cannot be deferred now. */
__noinline __u32 defer_stack(struct scratch *scratch, const struct user_registers *regs)
{
	struct deferred_stack *deferred;
	__u32 number;

	if (!scratch || !regs || regs->sp & 7 || *(volatile __s32 *)&state.deferred_left <= 0)
		return 0;
	deferred = bpf_ringbuf_reserve(&deferred_stacks, sizeof(*deferred), 0);
	if (!deferred)
		return 0;
	__sync_fetch_and_add(&state.deferred_left, -1);
	deferred->epoch = stack_epoch();
	number = append_stack(scratch->user, scratch->walk.count, STACK_INCOMPLETE);
	if (number == STACK_LOST || deferred->epoch != stack_epoch()) {
		bpf_ringbuf_discard(deferred, 0);
		return 0;
	}
	deferred->pid = scratch->tgid;
	deferred->number = number;
	deferred->ip = regs->ip;
	deferred->sp = regs->sp;
	deferred->bp = regs->bp;
	deferred->bx = regs->bx;
	deferred->process = scratch->process;
	deferred->count = copy_stack(deferred, regs->sp);
	bpf_ringbuf_submit(deferred, 0);
	return number;
}

/* --- */

static __always_inline void count_stop(struct profile_counts *counts, __u32 stop)
{
	asm volatile("%0 &= 15" : "+r"(stop));
	counts->stops[stop]++;
}

__u32 number_user_stack(struct scratch *scratch, const struct user_registers *regs,
			__u64 generation, bool is_remembered, struct profile_counts *counts);

/* The number of the stack of these registers, by the mappings in `scratch`. */
__noinline __u32 number_user_stack(struct scratch *scratch, const struct user_registers *regs,
				   __u64 generation, bool is_remembered,
				   struct profile_counts *counts)
{
	__u32 number, stop = 0, known = 0, epoch = stack_epoch();
	struct user_set *set = 0;
	struct user_walk *walk;
	enum stack_end end;

	if (!scratch || !regs || !counts)
		return STACK_LOST;
	walk = &scratch->walk;
	if (is_remembered)
		set = user_set_of(regs, generation);
	if (set)
		known = recognise_user(scratch, regs, generation, epoch, set, &stop);
	if (known) {
		counts->user_recognised++;
		if (!config.recheck || ++scratch->user_checks < config.recheck) {
			count_stop(counts, stop);
			scratch->is_incomplete = stack_end_of(stop) == STACK_INCOMPLETE;
			return known;
		}
		scratch->user_checks = 0;
	}
	walk_stack(scratch, regs, &scratch->process, scratch->lacks != UNWIND_GOES_ON);
	stop = scratch->lacks && walk->stop != UNWIND_TRUNCATED ? scratch->lacks : walk->stop;
	count_stop(counts, stop);
	end = stack_end_of(stop);
	scratch->is_incomplete = end == STACK_INCOMPLETE;
	if (stop == UNWIND_NO_TABLE && !known) {
		number = defer_stack(scratch, regs);
		if (number)
			return number;
	}
	number = stack_number(scratch->user, walk->count, end, hash_more(walk->hash, end));
	if (known) {
		counts->user_checked++;
		counts->user_wrong += number != known;
	}
	if (set)
		remember_user(scratch, regs, generation, stop, number, epoch, set);
	return number;
}

/* What the walk of a process depends on beside its stack: the generation of its mappings; or if
 * they are not known, its program, by an address of the kernel that forked children have as well.
 */
static __always_inline __u64 generation_of(struct task_struct *task,
					   const struct unwind_process *process)
{
	return process->generation ? process->generation : (__u64)BPF_CORE_READ(task, mm, exe_file);
}

/* The number of the current thread's stack, from these registers. Stacks of places that a thread
 * does not come to again need not be remembered. */
static __always_inline __u32 user_stack(struct task_struct *task, __u32 tgid,
					struct scratch *scratch, const struct user_registers *regs,
					bool is_remembered, struct profile_counts *counts)
{
	scratch->tgid = tgid;
	scratch->lacks = find_mappings(scratch, task, tgid, &scratch->process);
	return number_user_stack(scratch, regs, generation_of(task, &scratch->process),
				 is_remembered, counts);
}

#endif
