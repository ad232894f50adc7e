/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A walk over the user stack of the current thread (unwind/walk.h): the registers that it begins
 * with, and reading the stack.
 */
#ifndef SCHED_USER_WALK_BPF_H
#define SCHED_USER_WALK_BPF_H

#include "sched/process_mappings.bpf.h"
#include "unwind/walk.h"

/* --- the registers with which a thread left user space --- */

struct user_registers {
	__u64 ip, sp, bp, bx;
	__u64 regs; /* where they are */
	/* At the first instruction of a function its caller is not in a frame yet, but on top of
	 * the stack. */
	__u32 is_entry;
	/* Where it came into the kernel, which is the same in each process of a program, at
	 * whatever addresses it is: the system call, and a part of the address. 0: an interrupt or
	 * a fault. */
	__u32 place;
};

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
		/* arch/x86/entry: it is -1 in an interrupt, and else the system call. */
		if ((long)regs->orig_ax != -1)
			ret->place = (__u32)regs->orig_ax << 12 | (ret->ip & 4095) | 1;
	} else if (bpf_core_field_exists(arm->pc)) {
		ret->ip = BPF_CORE_READ(arm, pc);
		ret->sp = BPF_CORE_READ(arm, sp);
		ret->bp = BPF_CORE_READ(arm, regs[29]);
		ret->place = (ret->ip & 4095) | 1;
	} else {
		return false;
	}
	return ret->ip && ret->ip < USER_SPACE_LIMIT;
}

/* The offset of a register in pt_regs, by its DWARF number (System V ABI, AMD64, figure 3.36); ~0:
 * not there. */
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

/* --- what the walker reads --- */

/* Reading the stack word by word is most of the cost of a walk, so the top of the stack is copied
 * at once, and most words are found in the copy. */

static __always_inline bool unwind_word(struct unwind_memory *memory, __u64 address, __u64 *ret)
{
	__u64 distance = address - memory->top, word = distance >> 3;

	if (word < memory->words && !(distance & 7)) {
		asm volatile("%0 &= 255" : "+r"(word));
		*ret = memory->copy[word];
		return true;
	}
	if (bpf_probe_read_user(&memory->word, 8, (void *)address))
		return false;
	*ret = memory->word;
	return true;
}

static __always_inline void unwind_used(struct unwind_memory *memory, __u64 address)
{
	__u64 distance = address - memory->top, word = distance >> 3;
	__u32 slot = memory->slots;

	if (slot >= USER_SLOTS || word > USER_WORD_MAX || distance & 7) {
		memory->slots = USER_SLOTS + 1;
		return;
	}
	asm volatile("%0 &= 63" : "+r"(slot));
	memory->used[slot] = word;
	memory->slots++;
	if (word < memory->words && word < TOP_WORDS - 1 && word > memory->reach)
		memory->reach = word;
}

static __always_inline bool unwind_register(struct unwind_memory *memory, __u32 number, __u64 *ret)
{
	__u32 place;

	if (!bpf_core_field_exists(struct pt_regs, r15))
		return false;
	place = register_place(number);
	if (place == ~0u || bpf_probe_read_kernel(&memory->word, 8, (void *)(memory->regs + place)))
		return false;
	*ret = memory->word;
	return true;
}

static __always_inline bool unwind_is_x86(void)
{
	return bpf_core_field_exists(struct pt_regs, r15);
}

static __always_inline const __u32 *unwind_chunk(struct unwind_memory *memory, __u32 place)
{
	__u32 chunk = place >> UNWIND_CHUNK_BITS, zero = 0;
	void *map = bpf_map_lookup_elem(&unwind_chunks, &chunk);

	(void)memory;
	return map ? bpf_map_lookup_elem(map, &zero) : 0;
}

static __always_inline const struct unwind_rule *unwind_rule(struct unwind_walk *w,
							     struct unwind_memory *memory,
							     __u64 address)
{
	__u64 key = (__u64)w->table << 32 | (__u32)address;
	__u64 place = key * 0x9e3779b97f4a7c15ull >> 55;
	const struct unwind_rule *found;
	struct rule_at_hand *rule;
	__u32 number;

	if (address >> 32)
		return 0;
	asm volatile("%0 &= 511" : "+r"(place));
	rule = &memory->rules[place];
	if (rule->key == key && rule->generation == w->generation)
		return &rule->rule;
	number = unwind_find_rule(w, memory, address);
	found = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!found)
		return 0;
	rule->key = key;
	rule->generation = w->generation;
	rule->rule = *found;
	return &rule->rule;
}

/* --- a walk --- */

struct walk_context {
	struct scratch *scratch;
};

/* Walk one frame; returning 1 ends the walk. */
static long walk_frame(__u32 index, struct walk_context *context)
{
	struct scratch *scratch = context->scratch;
	struct user_walk *walk;
	__u32 place;

	(void)index;
	if (!scratch)
		return 1;
	walk = &scratch->walk;
	walk->stop = unwind_step(&walk->at, &walk->memory);
	if (walk->stop)
		return 1;
	if (walk->count >= walk->most) {
		walk->stop = UNWIND_TRUNCATED;
		return 1;
	}
	place = walk->count & (PROFILE_USER_FRAMES_MAX - 1);
	asm volatile("%0 &= 1023" : "+r"(place));
	scratch->user[place] = walk->at.ip;
	walk->hash = hash_more(walk->hash, walk->at.ip);
	walk->count++;
	return 0;
}

/* Copy words from the stack pointer on; fewer if no more are mapped. */
static __always_inline __u32 copy_top(struct unwind_memory *memory, __u64 sp)
{
	__u64 bytes;

	if (!bpf_probe_read_user(memory->copy, TOP_WORDS * 8, (void *)sp))
		return TOP_WORDS;
	bytes = 4096 - (sp & 4095);
	if (bytes >= TOP_WORDS * 8)
		return 0;
	asm volatile("%0 &= 2040" : "+r"(bytes));
	if (bpf_probe_read_user(memory->copy, bytes, (void *)sp))
		return 0;
	return bytes >> 3;
}

static __always_inline void begin_walk(struct user_walk *walk, const struct user_registers *regs,
				       const struct unwind_process *process)
{
	struct unwind_walk *at = &walk->at;

	at->ip = regs->ip;
	at->sp = regs->sp;
	at->bp = regs->bp;
	at->bx = regs->bx;
	at->known = UNWIND_KNOWS_ALL;
	at->is_exact = 1;
	at->turns = 0;
	at->only_tables = config.unwind == UNWIND_BY_TABLES;
	at->space = process->space;
	at->count = process->count;
	at->generation = process->generation;
	at->bp_from = 0;
	at->bx_from = 0;
	at->used = 0;
	at->failed = 0;
	at->is_unmade = 0;
	at->start = 1;
	at->end = 0;
	walk->memory.top = regs->sp;
	walk->memory.regs = regs->regs;
	walk->memory.slots = 0;
	walk->memory.reach = 0;
	walk->memory.words = copy_top(&walk->memory, regs->sp);
	walk->hash = hash_more(stack_hash_start(), regs->ip);
	walk->count = 1;
	walk->most = config.user_depth;
}

/* Everything by frame pointers, as if all were of one mapping. */
static __always_inline void without_tables(struct scratch *scratch,
					   const struct user_registers *regs)
{
	struct user_walk *walk = &scratch->walk;
	__u64 caller;

	walk->at.start = 0;
	walk->at.end = USER_SPACE_LIMIT;
	walk->at.kind = UNWIND_MAPPING_POINTER;
	if (!regs->is_entry || walk->most <= 1 || !walk->memory.words)
		return;
	caller = walk->memory.copy[0];
	if (caller >= UNWIND_USER_LOWEST && caller < USER_SPACE_LIMIT) {
		scratch->user[1] = caller;
		walk->hash = hash_more(walk->hash, caller);
		walk->count = 2;
	}
}

static __always_inline void walk_stack(struct scratch *scratch, const struct user_registers *regs,
				       const struct unwind_process *process, bool by_pointers)
{
	struct walk_context context = { .scratch = scratch };

	scratch->user[0] = regs->ip;
	begin_walk(&scratch->walk, regs, process);
	if (by_pointers)
		without_tables(scratch, regs);
	bpf_loop(PROFILE_USER_FRAMES_MAX, walk_frame, &context, 0);
}

#endif
