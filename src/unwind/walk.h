/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * One step of a walk over a user stack: from a frame to its caller, by unwind tables. The same code
 * runs in the kernel and on this side of it, and reads by four functions: `struct unwind_memory`
 * here; a program of the kernel defines them itself.
 *
 *	struct unwind_walk w = { .ip = ip, .sp = sp, .bp = bp, .bx = bx, .known = UNWIND_KNOWS_ALL,
 *				 .is_exact = 1, .space = process.space, .count = process.count };
 *	do
 *		keep(w.ip);
 *	while (unwind_step(&w, memory) == UNWIND_GOES_ON);
 *
 * A walk depends on the initial registers, on the tables, and on some words of the stack: return
 * addresses, and saved registers from which a CFA was computed. unwind_used() reports these words.
 * If all of them are unchanged, the walk is too, since each step follows from the one before by the
 * same rule. Saved registers that were not used may differ: without frame pointers they are data.
 *
 * A return address is looked up one byte before, since a call may be the last instruction of its
 * function. An interrupted address is looked up as it is (`is_exact`): the innermost one, and the
 * one below a signal frame.
 *
 * The searches have no branches: the BPF verifier would follow each path through them. Indices are
 * bounded right before their use, where the compiler cannot remove the check.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "unwind/walk_state.h"

#ifndef __bpf__
#include <stdbool.h>
#define UNWIND_INLINE static inline
#define UNWIND_PART   static inline
#define UNWIND_UNROLL
#else
#define UNWIND_INLINE static __always_inline
/* Verified by itself. */
#define UNWIND_PART   __noinline
#define UNWIND_UNROLL _Pragma("clang loop unroll(full)")
#endif

#ifdef __bpf__
#define UNWIND_BOUND(number, mask) asm volatile("%0 &= %1" : "+r"(number) : "i"(mask))
#else
#define UNWIND_BOUND(number, mask) (number) &= (mask)
#endif

/* Any number of 64 bits, as far as the compiler knows: else it would make comparisons, and with
 * them branches, of differences. */
#define UNWIND_ANY(number) asm volatile("" : "+r"(number))

/* --- how it reads --- */

#ifdef __bpf__
/* A word of the stack; false: it cannot be read. */
static __always_inline bool unwind_word(struct unwind_memory *memory, __u64 address, __u64 *ret);
/* A register of the innermost frame, by its DWARF number; false: it is not known. */
static __always_inline bool unwind_register(struct unwind_memory *memory, __u32 number, __u64 *ret);
/* The chunk of UNWIND_CHUNK words that has the location; NULL: there is none. */
static __always_inline const __u32 *unwind_chunk(struct unwind_memory *memory, __u32 location);
/* The rule at an address of the table of the mapping that was met last, which unwind_find_rule
 * tells the number of; NULL: there is none. */
static __always_inline const struct unwind_rule *unwind_rule(struct unwind_walk *w,
							     struct unwind_memory *memory,
							     __u64 address);
/* The word at this address decides where the walk goes. */
static __always_inline void unwind_used(struct unwind_memory *memory, __u64 address);
/* Is the machine an x86_64? */
static __always_inline bool unwind_is_x86(void);
#else
struct unwind_memory {
	bool (*word)(void *context, __u64 address, __u64 *ret);
	bool (*reg)(void *context, __u32 number, __u64 *ret);
	const __u32 *(*chunk)(void *context, __u32 location);
	const struct unwind_rule *(*rule)(void *context, __u32 number);
	void (*used)(void *context, __u64 address); /* NULL: not wanted */
	void *context;
};

static inline bool unwind_word(struct unwind_memory *memory, __u64 address, __u64 *ret)
{
	return memory->word(memory->context, address, ret);
}

static inline bool unwind_register(struct unwind_memory *memory, __u32 number, __u64 *ret)
{
	return memory->reg(memory->context, number, ret);
}

static inline const __u32 *unwind_chunk(struct unwind_memory *memory, __u32 location)
{
	return memory->chunk(memory->context, location);
}

static inline bool unwind_is_x86(void)
{
#ifdef __x86_64__
	return true;
#else
	return false;
#endif
}

static inline void unwind_used(struct unwind_memory *memory, __u64 address)
{
	if (memory->used)
		memory->used(memory->context, address);
}
#endif

/* --- where it is --- */

UNWIND_INLINE __u64 unwind_pair(const __u32 *chunk, __u32 at)
{
	UNWIND_BOUND(at, UNWIND_CHUNK - 1);
	return *(const __u64 *)&chunk[at];
}

UNWIND_INLINE __u32 unwind_single(const __u32 *chunk, __u32 at)
{
	UNWIND_BOUND(at, UNWIND_CHUNK - 1);
	return chunk[at];
}

/* The mapping that has `pc` into `w`; what it is, or UNWIND_MAPPINGS: there is none. */
UNWIND_PART __u32 unwind_find_mapping(struct unwind_walk *w, struct unwind_memory *memory, __u64 pc)
{
	const __u32 *chunk;
	__u64 count;
	__u32 low = 0, first, at;

	if (!w || !memory)
		return UNWIND_MAPPINGS;
	if (pc >= w->start && pc < w->end)
		return w->kind;
	first = w->space;
	chunk = unwind_chunk(memory, first);
	if (!chunk || !w->count)
		return UNWIND_MAPPINGS;
	count = w->count;
	UNWIND_ANY(count);
	/* The last that begins at or before it: `low` grows by halves. */
	UNWIND_UNROLL
	for (int bit = 13; bit >= 0; bit--) {
		__u64 probe = low + (1u << bit), start, fits;

		start = unwind_pair(chunk, first + (__u32)probe * UNWIND_MAPPING_WORDS);
		fits = (start - pc - 1) >> 63 & (probe - count) >> 63;
		low += (__u32)fits << bit;
	}
	at = first + low * UNWIND_MAPPING_WORDS;
	w->start = unwind_pair(chunk, at);
	w->end = unwind_pair(chunk, at + 2);
	w->delta = unwind_pair(chunk, at + 4);
	w->table = unwind_single(chunk, at + 6);
	w->kind = unwind_single(chunk, at + 7);
	return pc >= w->start && pc < w->end ? w->kind : UNWIND_MAPPINGS;
}

/* --- which rule it has --- */

UNWIND_INLINE __u32 unwind_page_start(const __u32 *chunk, __u32 block, __u32 page)
{
	return UNWIND_ROWS_BEFORE(unwind_single(chunk, block + (page >> 1)), page);
}

/* Have a block made. Only here a walker writes into unwind memory. */
UNWIND_INLINE void unwind_want(const __u32 *chunk, __u32 at)
{
	UNWIND_BOUND(at, UNWIND_CHUNK - 1);
	(void)__sync_val_compare_and_swap((__u32 *)&chunk[at], UNWIND_PLACE_UNMADE,
					  UNWIND_PLACE_WANTED);
}

/* The number of the rule at an address of the table. */
UNWIND_PART __u32 unwind_find_rule(struct unwind_walk *w, struct unwind_memory *memory,
				   __u64 address)
{
	const __u32 *chunk;
	__u64 block_number = address >> UNWIND_BLOCK_BITS;
	__u32 block, page = (__u32)(address >> UNWIND_PAGE_BITS) & (UNWIND_PAGES - 1);
	__u64 offset = address & ((1u << UNWIND_PAGE_BITS) - 1);
	__u64 count;
	__u32 first, low = 0, at;

	if (!w || !memory)
		return UNWIND_NUMBER_NONE;
	chunk = unwind_chunk(memory, w->table);
	if (!chunk || block_number >= unwind_single(chunk, w->table))
		return UNWIND_NUMBER_NONE;
	at = w->table + 1 + (__u32)block_number;
	block = unwind_single(chunk, at);
	if (block == UNWIND_PLACE_POINTER)
		return UNWIND_NUMBER_POINTER;
	if (block && block < UNWIND_PLACE_FIRST) {
		unwind_want(chunk, at);
		w->is_unmade = 1;
		/* The next walk like this one may find it. */
		w->failed++;
		return UNWIND_NUMBER_UNMADE;
	}
	chunk = block ? unwind_chunk(memory, block) : 0;
	if (!chunk)
		return UNWIND_NUMBER_NONE;
	first = unwind_page_start(chunk, block, page);
	count = unwind_page_start(chunk, block, page + 1) - first;
	first += block + UNWIND_BLOCK_HEAD - 1;
	UNWIND_ANY(count);
	UNWIND_ANY(offset);
	/* The number of rows of the page that begin at or before the address. */
	UNWIND_UNROLL
	for (int bit = 7; bit >= 0; bit--) {
		__u64 probe = low + (1u << bit), fits;
		__u32 row;

		row = unwind_single(chunk, first + (__u32)probe);
		fits = ((__u64)UNWIND_ROW_OFFSET(row) - offset - 1) >> 63 &
		       (probe - count - 1) >> 63;
		low += (__u32)fits << bit;
	}
	return UNWIND_ROW_RULE(unwind_single(chunk, first + low));
}

#ifndef __bpf__
static inline const struct unwind_rule *unwind_rule(struct unwind_walk *w,
						    struct unwind_memory *memory, __u64 address)
{
	return memory->rule(memory->context, unwind_find_rule(w, memory, address));
}
#endif

/* --- the step --- */

/* All memory is read here. An address is made of registers and words of the target, so it may be
 * any number: one below the limit leaves room for the 8 bytes behind it. */
UNWIND_INLINE bool unwind_read(struct unwind_walk *w, struct unwind_memory *memory, __u64 address,
			       __u64 *ret)
{
	if (address < USER_SPACE_LIMIT && unwind_word(memory, address, ret))
		return true;
	w->failed++;
	return false;
}

UNWIND_INLINE void unwind_use(struct unwind_walk *w, struct unwind_memory *memory, __u64 from,
			      __u32 which)
{
	if (from)
		unwind_used(memory, from);
	else
		w->used |= which;
}

UNWIND_INLINE __u32 unwind_to(struct unwind_walk *w, __u64 ip, __u64 sp, bool is_signal)
{
	if (!ip)
		return UNWIND_COMPLETE;
	if (ip < UNWIND_USER_LOWEST || ip >= USER_SPACE_LIMIT || sp & 7 || sp >= USER_SPACE_LIMIT)
		return UNWIND_NO_SENSE;
	/* Callers are further up, but for those on another stack. */
	if (sp <= w->sp && w->turns++ >= UNWIND_TURNS_MAX)
		return UNWIND_NO_SENSE;
	w->ip = ip;
	w->sp = sp;
	w->is_exact = is_signal;
	w->known &= ~UNWIND_KNOWS_OTHER;
	return UNWIND_GOES_ON;
}

/* Step by the frame pointer, as the kernel does (perf_callchain_user() in arch/x86/events/core.c).
 */
UNWIND_PART __u32 unwind_by_pointer(struct unwind_walk *w, struct unwind_memory *memory)
{
	__u64 bp, next, ip;

	if (!w || !memory || !(w->known & UNWIND_KNOWS_BP))
		return UNWIND_POINTER_END;
	bp = w->bp;
	unwind_use(w, memory, w->bp_from, UNWIND_KNOWS_BP);
	if (bp < w->sp || bp & 7 || bp >= USER_SPACE_LIMIT)
		return UNWIND_POINTER_END;
	if (!unwind_read(w, memory, bp, &next) || !unwind_read(w, memory, bp + 8, &ip))
		return UNWIND_POINTER_END;
	unwind_used(memory, bp + 8);
	/* Otherwise it was no frame pointer. */
	if (ip < UNWIND_USER_LOWEST || ip >= USER_SPACE_LIMIT ||
	    unwind_find_mapping(w, memory, ip - 1) == UNWIND_MAPPINGS)
		return UNWIND_POINTER_END;
	w->bp = next;
	w->bp_from = bp;
	w->known &= ~UNWIND_KNOWS_BX;
	return unwind_to(w, ip, bp + 16, false);
}

/*
 * Code that nothing describes may have no frame pointer and say all the same where its caller is,
 * by what it does when its callee has returned: it removes its frame (add $N,%rsp) and returns. So
 * do the trampolines of Python, through which it calls itself.
 */
#define UNWIND_ADD_SP      0x00c48348u /* without the N behind it */
#define UNWIND_ADD_SP_MASK 0x00ffffffu
#define UNWIND_RET         0xc3u

UNWIND_PART __u32 unwind_by_code(struct unwind_walk *w, struct unwind_memory *memory)
{
	__u64 code, frame = 0, ip;

	if (!w || !memory || w->is_exact || !unwind_is_x86() || w->ip >= USER_SPACE_LIMIT ||
	    !unwind_word(memory, w->ip, &code))
		return UNWIND_NO_RULE;
	if ((code & UNWIND_ADD_SP_MASK) == UNWIND_ADD_SP) {
		frame = code >> 24 & 0xff;
		code >>= 32;
	}
	if ((code & 0xff) != UNWIND_RET || frame >= 0x80 || frame & 7 ||
	    !unwind_read(w, memory, w->sp + frame, &ip))
		return UNWIND_NO_RULE;
	unwind_used(memory, w->sp + frame);
	return unwind_to(w, ip, w->sp + frame + 8, false);
}

/* The value that the CFA of a rule is counted from. */
UNWIND_INLINE bool unwind_base(struct unwind_walk *w, struct unwind_memory *memory,
			       const struct unwind_rule *rule, __u64 *ret)
{
	switch (rule->base) {
	case UNWIND_BASE_SP:
		*ret = w->sp;
		return true;
	case UNWIND_BASE_BP:
		unwind_use(w, memory, w->bp_from, UNWIND_KNOWS_BP);
		*ret = w->bp;
		return w->known & UNWIND_KNOWS_BP;
	case UNWIND_BASE_BX:
		unwind_use(w, memory, w->bx_from, UNWIND_KNOWS_BX);
		*ret = w->bx;
		return w->known & UNWIND_KNOWS_BX;
	default:
		w->used |= UNWIND_KNOWS_OTHER;
		return w->known & UNWIND_KNOWS_OTHER && unwind_register(memory, rule->number, ret);
	}
}

UNWIND_INLINE __u32 unwind_cfa(struct unwind_walk *w, struct unwind_memory *memory,
			       const struct unwind_rule *rule, __u64 *ret)
{
	__u64 cfa;

	if (!unwind_base(w, memory, rule, &cfa))
		return UNWIND_NO_REGISTER;
	cfa += (__u64)(__s64)rule->cfa_offset;
	if (rule->flags & UNWIND_DEREF) {
		unwind_used(memory, cfa);
		if (!unwind_read(w, memory, cfa, &cfa))
			return UNWIND_NO_MEMORY;
		cfa += (__u64)(__s64)rule->addend;
	}
	if (rule->flags & UNWIND_PLT && (w->ip & 15) >= rule->number)
		cfa += 8;
	*ret = cfa;
	return UNWIND_GOES_ON;
}

/* The address of a location. */
UNWIND_INLINE __u64 unwind_where(const struct unwind_walk *w, __u64 cfa, __u32 location,
				 __s64 words)
{
	__u64 from = location == UNWIND_AT_CFA ? cfa : location == UNWIND_AT_SP ? w->sp : w->bp;

	return from + (__u64)words * 8;
}

UNWIND_INLINE __u32 unwind_return(struct unwind_walk *w, struct unwind_memory *memory,
				  const struct unwind_rule *rule, __u64 cfa, __u64 *ret)
{
	__u64 from;

	if (rule->ra == UNWIND_IN_REG) {
		w->used |= UNWIND_KNOWS_OTHER;
		return w->known & UNWIND_KNOWS_OTHER && unwind_register(memory, rule->number, ret)
			       ? UNWIND_GOES_ON
			       : UNWIND_NO_REGISTER;
	}
	from = unwind_where(w, cfa, rule->ra, rule->ra_offset);
	unwind_used(memory, from);
	return unwind_read(w, memory, from, ret) ? UNWIND_GOES_ON : UNWIND_NO_MEMORY;
}

/* A saved register. It may turn out to be of no interest, so it is no failure that it cannot be
 * read. */
UNWIND_INLINE void unwind_saved(struct unwind_walk *w, struct unwind_memory *memory, __u64 from,
				__u64 *value, __u64 *value_from, __u32 which)
{
	if (unwind_read(w, memory, from, value)) {
		*value_from = from;
		w->known |= which;
	} else {
		w->known &= ~which;
	}
}

UNWIND_INLINE __u32 unwind_without_frame(__u32 kind)
{
	switch (kind) {
	case UNWIND_RULE_STOP:
		return UNWIND_COMPLETE;
	case UNWIND_RULE_OTHER:
		return UNWIND_OTHER_RULE;
	default:
		return UNWIND_NO_RULE;
	}
}

UNWIND_PART __u32 unwind_by_rule(struct unwind_walk *w, struct unwind_memory *memory,
				 const struct unwind_rule *rule)
{
	__u64 cfa, ip, bp_at, bx_at;
	__u32 stop;

	if (!w || !memory || !rule)
		return UNWIND_NO_RULE;
	if (rule->kind != UNWIND_RULE_FRAME)
		return unwind_without_frame(rule->kind);
	if (rule->ra == UNWIND_AT_BP || rule->bp == UNWIND_AT_BP || rule->bx == UNWIND_AT_BP) {
		unwind_use(w, memory, w->bp_from, UNWIND_KNOWS_BP);
		if (!(w->known & UNWIND_KNOWS_BP))
			return UNWIND_NO_REGISTER;
	}
	stop = unwind_cfa(w, memory, rule, &cfa);
	if (!stop)
		stop = unwind_return(w, memory, rule, cfa, &ip);
	if (stop)
		return stop;
	bp_at = unwind_where(w, cfa, rule->bp, rule->bp_offset);
	bx_at = unwind_where(w, cfa, rule->bx, rule->bx_offset);
	if (rule->bp == UNWIND_UNKNOWN)
		w->known &= ~UNWIND_KNOWS_BP;
	else if (rule->bp != UNWIND_SAME)
		unwind_saved(w, memory, bp_at, &w->bp, &w->bp_from, UNWIND_KNOWS_BP);
	if (rule->bx == UNWIND_UNKNOWN)
		w->known &= ~UNWIND_KNOWS_BX;
	else if (rule->bx != UNWIND_SAME)
		unwind_saved(w, memory, bx_at, &w->bx, &w->bx_from, UNWIND_KNOWS_BX);
	return unwind_to(w, ip, cfa, rule->flags & UNWIND_SIGNAL);
}

/* From the frame in `w` to its caller. UNWIND_GOES_ON: there it is; else why not, and `w` is of no
 * use any more. */
UNWIND_INLINE __u32 unwind_step(struct unwind_walk *w, struct unwind_memory *memory)
{
	__u64 pc = w->ip - !w->is_exact;
	__u32 kind = unwind_find_mapping(w, memory, pc), stop = UNWIND_NO_RULE;
	const struct unwind_rule *rule;

	if (kind == UNWIND_MAPPINGS)
		return UNWIND_NO_MAPPING;
	if (kind == UNWIND_MAPPING_PENDING)
		return UNWIND_NO_TABLE;
	if (kind == UNWIND_MAPPING_TABLE) {
		rule = unwind_rule(w, memory, pc - w->delta);
		if (!rule)
			return w->is_unmade ? UNWIND_NO_TABLE : UNWIND_NO_RULE;
		if (rule->kind != UNWIND_RULE_POINTER)
			return unwind_by_rule(w, memory, rule);
	}
	if (w->only_tables)
		return UNWIND_NO_RULE;
	if (kind == UNWIND_MAPPING_POINTER)
		stop = unwind_by_code(w, memory);
	return stop == UNWIND_NO_RULE ? unwind_by_pointer(w, memory) : stop;
}

#endif
