/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Kernel stacks, walked or recognised without a walk.
 *
 * Walking takes microseconds, more than all the rest of a switch. Threads mostly block where they
 * or others have blocked before, so a walk is remembered as the *slots* of the stack that its
 * return addresses were found in: when they hold the same addresses the next time, the stack is the
 * same.
 *
 * Where a slot is must be the same each time. Since the kernel starts each system call at a random
 * depth (CONFIG_RANDOMIZE_KSTACK_OFFSET), neither addresses nor distances to the top of the stack
 * are. Distances from the present stack pointer are, for that comes after the offset; and so are
 * those of the last few words from the user's registers, which come before. The address of what the
 * program was called with is on that stack, and stands for the stack pointer.
 *
 * If the slots are those of the return addresses, an equal content means an equal stack: from the
 * innermost frame outwards, where the next slot is follows from the slot and the address in it.
 * That they are is inferred: the kernel tells the addresses of a walk and not where they were. So
 * all words that hold any address of the walk are taken for candidates, and those that do not when
 * the same stack was walked again are dropped; the addresses of the walk must stand in the
 * remaining ones in order. What is left to chance is measured: one in `config.recheck` stacks that
 * were recognised is walked as well, and a difference is counted, and shown.
 */
#ifndef SCHED_KERNEL_STACK_BPF_H
#define SCHED_KERNEL_STACK_BPF_H

#include "sched/known_stack.bpf.h"
#include "sched/user_walk.bpf.h"

#define KERNEL_SETS 256 /* of stacks, by where their threads came into the kernel */
#define KERNEL_WAYS 4   /* stacks of one set */
#define SLOTS       40  /* of one stack */
#define LAST_WORDS  4   /* before the registers: counted from there */
#define FRUITLESS   16  /* walks of a set in vain, and then only each 16th is remembered */

struct slot_memory {
	struct known_stack known;
	__u32 count;
	/* The word, from the stack pointer; or with LAST_WORDS added to 0x8000, back from the
	 * registers.
	 */
	__u16 at[SLOTS];
	/* Code of the kernel is near other code of it: what the addresses have in common, and what
	 * is left of each.
	 */
	__u32 high;
	__u32 address[SLOTS];
};

struct kernel_set {
	__u32 misses; /* stacks that were remembered since one was recognised */
	__u32 next;   /* the way that is taken for the next one */
	struct slot_memory ways[KERNEL_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERNEL_SETS);
	__type(key, __u32);
	__type(value, struct kernel_set);
} kernel_sets SEC(".maps");

static __always_inline __u64 address_at(const struct slot_memory *memory, __u32 slot)
{
	return (__u64)memory->high << 32 | memory->address[slot];
}

/* The live stack from `ctx` to the user's registers. False: it is too long. */
static __always_inline bool read_raw(struct scratch *scratch, const void *ctx, __u64 registers,
				     __u32 *ret_words)
{
	__u64 length = registers - (__u64)ctx;

	if (length >= RAW_WORDS * 8 || length < LAST_WORDS * 8)
		return false;
	/* A bound that older verifiers see wherever the compiler keeps the number. */
	asm volatile("%0 &= 2047" : "+r"(length));
	if (bpf_probe_read_kernel(scratch->raw, length, ctx))
		return false;
	*ret_words = length >> 3;
	return true;
}

static __always_inline __u32 word_of(__u16 at, __u32 words)
{
	return at & 0x8000 ? words - (at & 0x7fff) : at;
}

static __always_inline bool slots_match(struct scratch *scratch, struct slot_memory *memory,
					__u32 words)
{
	__u32 count = memory->count;

	for (__u32 i = 0; i < SLOTS; i++) {
		__u32 word;

		if (i >= count)
			break;
		word = word_of(memory->at[i], words);
		asm volatile("%0 &= 255" : "+r"(word));
		if (scratch->raw[word] != address_at(memory, i))
			return false;
	}
	return count != 0;
}

__u32 recognise_stack(struct scratch *scratch, struct kernel_set *set, __u32 words, __u32 era);

/* The number of the stack in scratch->raw; 0: it is not known. */
__noinline __u32 recognise_stack(struct scratch *scratch, struct kernel_set *set, __u32 words,
				 __u32 era)
{
	if (!scratch || !set)
		return 0;
	for (int i = 0; i < KERNEL_WAYS; i++) {
		struct slot_memory *memory = &set->ways[i];
		__u32 sequence, number = begin_known(&memory->known, era, &sequence);

		if (number && slots_match(scratch, memory, words) &&
		    end_known(&memory->known, sequence)) {
			if (set->misses)
				set->misses = 0;
			return number;
		}
	}
	return 0;
}

/* --- remembering --- */

struct slot_search {
	struct scratch *scratch;
	struct slot_memory *memory;
	__u32 words, frames;
	__u32 word, count, next; /* `next` frame of the walk that was not met yet */
	__u64 value;
	__u64 bits;
};

static long find_in_walk(__u32 i, struct slot_search *s)
{
	__u32 at = i;

	if (i >= s->frames || !s->scratch)
		return 1;
	asm volatile("%0 &= 127" : "+r"(at));
	if (s->scratch->kernel[at] != s->value)
		return 0;
	s->bits = 1;
	return 1;
}

/* A frame's address as one bit of 64, so that most words are passed over at once. */
static __always_inline __u64 address_bit(__u64 address)
{
	return 1ull << ((address * 0x9e3779b97f4a7c15ull) >> 58);
}

static long filter_frame(__u32 i, struct slot_search *s)
{
	__u32 at = i;

	if (i >= s->frames || !s->scratch)
		return 1;
	asm volatile("%0 &= 127" : "+r"(at));
	s->value |= address_bit(s->scratch->kernel[at]);
	return 0;
}

static long find_slot(__u32 i, struct slot_search *s)
{
	struct slot_search inner = { 0 };
	__u32 word = i, place;
	__u64 value;

	if (i >= s->words || s->count >= SLOTS || !s->scratch || !s->memory)
		return 1;
	asm volatile("%0 &= 255" : "+r"(word));
	value = s->scratch->raw[word];
	if (!(s->value & address_bit(value)) || value >> 32 != s->memory->high)
		return 0;
	inner.scratch = s->scratch;
	inner.frames = s->frames;
	inner.value = value;
	bpf_loop(PROFILE_KERNEL_FRAMES_MAX, find_in_walk, &inner, 0);
	if (!inner.bits)
		return 0;
	place = s->count;
	if (place >= SLOTS)
		return 1;
	s->memory->at[place] = s->words - i <= LAST_WORDS ? 0x8000 | (s->words - i) : i;
	s->memory->address[place] = (__u32)value;
	s->count = place + 1;
	return 0;
}

/* Keep a remembered slot if it still holds its address. */
static long keep_slot(__u32 i, struct slot_search *s)
{
	__u32 from = i, to, word;

	if (i >= SLOTS || !s->memory || !s->scratch || i >= s->memory->count)
		return 1;
	if (from >= SLOTS)
		return 1;
	word = word_of(s->memory->at[from], s->words);
	asm volatile("%0 &= 255" : "+r"(word));
	if (s->scratch->raw[word] != address_at(s->memory, from))
		return 0;
	to = s->count;
	if (to >= SLOTS)
		return 1;
	s->memory->at[to] = s->memory->at[from];
	s->memory->address[to] = s->memory->address[from];
	s->count = to + 1;
	return 0;
}

/* The addresses of the walk must be met in order. Those of the program itself, at the start of the
 * walk, are below the stack pointer: the first that is met begins. */
static long follow_walk(__u32 i, struct slot_search *s)
{
	__u32 at = i, next = s->next;

	if (i >= s->count || i >= SLOTS || !s->memory || !s->scratch)
		return 1;
	if (at >= SLOTS)
		return 1;
	if (next >= s->frames)
		return 1;
	asm volatile("%0 &= 127" : "+r"(next));
	if (s->scratch->kernel[next] == address_at(s->memory, at))
		s->next++;
	return 0;
}

__u32 follow_from(struct scratch *scratch, struct slot_memory *memory, __u32 frames, __u32 first);

/* From the frame `first` of the walk, how far do the slots follow it? */
__noinline __u32 follow_from(struct scratch *scratch, struct slot_memory *memory, __u32 frames,
			     __u32 first)
{
	struct slot_search s = { 0 };

	if (!scratch || !memory)
		return 0;
	s.scratch = scratch;
	s.memory = memory;
	s.frames = frames;
	s.count = memory->count;
	s.next = first;
	bpf_loop(SLOTS, follow_walk, &s, 0);
	return s.next;
}

static __always_inline bool is_in_order(struct scratch *scratch, struct slot_memory *memory,
					__u32 frames)
{
	for (__u32 first = 0; first < 8; first++)
		if (follow_from(scratch, memory, frames, first) == frames)
			return true;
	return false;
}

/* The slots of scratch->raw that the walk in scratch->kernel was found in: those of the memory that
 * still are, if it `is_same` stack, or all. False: they do not make it up. */
static __always_inline bool find_slots(struct slot_search *s, bool is_same)
{
	struct slot_memory *memory = s->memory;

	if (is_same) {
		bpf_loop(SLOTS, keep_slot, s, 0);
	} else {
		memory->high = s->scratch->kernel[0] >> 32;
		bpf_loop(PROFILE_KERNEL_FRAMES_MAX, filter_frame, s, 0);
		bpf_loop(RAW_WORDS, find_slot, s, 0);
	}
	memory->count = s->count;
	return is_in_order(s->scratch, memory, s->frames);
}

int remember_stack(struct scratch *scratch, struct kernel_set *set, __u32 words, __u32 number,
		   __u32 era);

/* `scratch->kernel` is a walk of scratch->kernel_frames, whose stack has this number. */
__noinline int remember_stack(struct scratch *scratch, struct kernel_set *set, __u32 words,
			      __u32 number, __u32 era)
{
	struct slot_search s = { 0 };
	struct slot_memory *memory;
	__u32 way = KERNEL_WAYS;
	bool is_same;

	if (!scratch || !set)
		return 0;
	for (__u32 i = 0; i < KERNEL_WAYS; i++)
		if (set->ways[i].known.number == number && set->ways[i].known.era == era)
			way = i;
	if (way == KERNEL_WAYS && set->misses++ > FRUITLESS && set->misses & 15)
		return 0;
	is_same = way < KERNEL_WAYS;
	if (!is_same)
		way = set->next++;
	asm volatile("%0 &= 3" : "+r"(way));
	memory = &set->ways[way];
	if (!lock_known(&memory->known))
		return 0;
	s.scratch = scratch;
	s.memory = memory;
	s.words = words;
	s.frames = scratch->kernel_frames;
	memory->known.era = era;
	memory->known.number = find_slots(&s, is_same) ? number : 0;
	unlock_known(&memory->known);
	return 0;
}

/* A stack with this number was recognised and is another one. */
static __noinline int forget_stack(struct kernel_set *set, __u32 number)
{
	if (!set)
		return 0;
	for (int i = 0; i < KERNEL_WAYS; i++) {
		struct known_stack *known = &set->ways[i].known;

		if (known->number == number && lock_known(known)) {
			known->number = 0;
			unlock_known(known);
		}
	}
	return 0;
}

/* --- walking --- */

struct kernel_walk {
	struct scratch *scratch;
	__u32 count;
	__u64 hash;
};

static long hash_frame(__u32 i, struct kernel_walk *walk)
{
	__u32 at = i;

	if (i >= walk->count || !walk->scratch)
		return 1;
	asm volatile("%0 &= 127" : "+r"(at));
	walk->hash = hash_more(walk->hash, walk->scratch->kernel[at]);
	return 0;
}

__u32 number_walk(struct scratch *scratch, long bytes, struct profile_counts *counts);

/* The number of the stack of `bytes` in scratch->kernel. Stores in scratch->kernel_frames how many
 * frames it has. */
__noinline __u32 number_walk(struct scratch *scratch, long bytes, struct profile_counts *counts)
{
	struct kernel_walk walk = { .scratch = scratch, .hash = stack_hash_start() };
	enum stack_end end = STACK_WHOLE;

	if (!scratch || !counts)
		return STACK_LOST;
	scratch->kernel_frames = 0;
	if (bytes <= 0)
		return STACK_NONE;
	walk.count = (__u64)bytes >> 3;
	/* The walk asks for one more frame than is wanted, to know whether there are more. */
	if (walk.count > config.kernel_depth) {
		walk.count = config.kernel_depth;
		end = STACK_TRUNCATED;
		counts->kernel_truncated++;
	}
	bpf_loop(PROFILE_KERNEL_FRAMES_MAX, hash_frame, &walk, 0);
	scratch->kernel_frames = walk.count;
	return stack_number(scratch->kernel, walk.count, end, walk.hash);
}

#define KERNEL_STACK_BYTES ((PROFILE_KERNEL_FRAMES_MAX + 1) * 8)

/* How many of our own frames are skipped (0: their number is not known yet). Another CPU may set it
 * meanwhile; both values are right. */
static __always_inline __u32 own_frames(enum stack_site site)
{
	return *(volatile __u32 *)&state.own_frames[site];
}

/* Walk the stack of the current thread into scratch->kernel, but for `own` frames. Returns how many
 * bytes it has there. */
static __always_inline long walk_here(void *ctx, struct scratch *scratch, enum stack_site site,
				      __u32 own)
{
	long bytes = bpf_get_stack(ctx, scratch->kernel, KERNEL_STACK_BYTES, own & 0xff);

	if (!own && bytes >= OWN_FRAMES_MAX * 8 && !state.first_walks[site][0])
		__builtin_memcpy(state.first_walks[site], scratch->kernel, OWN_FRAMES_MAX * 8);
	return bytes;
}

/* --- recognised, or walked --- */

/* A kernel thread is in few places, each in others. A thread that could go on was mostly preempted,
 * anywhere in its program. */
static __always_inline struct kernel_set *kernel_set_of(struct task_struct *task,
							const struct user_registers *regs,
							enum stack_site site, bool is_runnable)
{
	__u64 place = task->flags & PF_KTHREAD ? (__u64)task->pid << 32 : regs->place;
	__u32 set;

	place = hash_more(HASH_START + site, place << 1 | is_runnable);
	set = place & (KERNEL_SETS - 1);
	return bpf_map_lookup_elem(&kernel_sets, &set);
}

/* The number of the current thread's kernel stack, which ends at the registers. */
static __always_inline __u32 kernel_stack(void *ctx, struct scratch *scratch, enum stack_site site,
					  struct task_struct *task,
					  const struct user_registers *regs, bool is_runnable,
					  struct profile_counts *counts)
{
	struct kernel_set *set = kernel_set_of(task, regs, site, is_runnable);
	__u32 words = 0, known = 0, number, own = own_frames(site),
	      era = stack_epoch() << 8 | (own & 0xff);

	if (!set || !read_raw(scratch, ctx, (__u64)bpf_task_pt_regs(task), &words))
		return number_walk(scratch, walk_here(ctx, scratch, site, own), counts);
	known = recognise_stack(scratch, set, words, era);
	if (known) {
		counts->recognised++;
		if (!config.recheck || ++scratch->kernel_checks < config.recheck)
			return known;
		scratch->kernel_checks = 0;
	}
	number = number_walk(scratch, walk_here(ctx, scratch, site, own), counts);
	if (known) {
		counts->checked++;
		if (number == known)
			return number;
		counts->wrong++;
		forget_stack(set, known);
	}
	if (number > STACK_LOST && scratch->kernel_frames)
		remember_stack(scratch, set, words, number, era);
	return number;
}

#endif
