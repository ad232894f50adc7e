/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Kernel stacks, walked or recognised without a walk.
 *
 * Walking takes a microsecond, more than all the rest of a switch. A thread mostly blocks where it
 * blocked last, so the walk is remembered as the *slots* of the stack that its return addresses
 * were found in: when they hold the same addresses the next time, the stack is the same.
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

#include "sched/profile_maps.bpf.h"

#define REMEMBERED 4  /* stacks of a thread that blocks, by where it left user space */
#define LEAVING    2  /* and of one that could go on, by what it came into the kernel for */
#define SLOTS      40 /* of one stack */
#define LAST_WORDS 4  /* before the registers: counted from there */
#define FRUITLESS  6  /* walks in vain, and then only each 16th is remembered */

struct slot_memory {
	__u32 number; /* of the stack; 0: nothing is remembered */
	__u32 walked; /* what the last walk found */
	__u16 count;
	__u16 misses;
	/* The word, from the stack pointer; or with LAST_WORDS added to 0x8000, back from the
	 * registers.
	 */
	__u16 at[SLOTS];
	/* Code of the kernel is near other code of it: what the addresses have in common, and what
	 * is left of each. This memory is taken for each new thread.
	 */
	__u32 high;
	__u32 address[SLOTS];
};

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

int slots_match(struct scratch *scratch, struct slot_memory *memory, __u32 words);

__noinline int slots_match(struct scratch *scratch, struct slot_memory *memory, __u32 words)
{
	__u32 count;

	if (!scratch || !memory)
		return false;
	count = memory->count;
	for (__u32 i = 0; i < SLOTS; i++) {
		__u32 word;

		if (i >= count)
			break;
		word = word_of(memory->at[i], words);
		asm volatile("%0 &= 255" : "+r"(word));
		if (scratch->raw[word] != address_at(memory, i))
			return false;
	}
	return true;
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

/* `scratch->kernel` is a walk of `frames`, whose stack has this number. */
int remember_stack(struct scratch *scratch, struct slot_memory *memory, __u32 words, __u32 frames,
		   __u32 number);

__noinline int remember_stack(struct scratch *scratch, struct slot_memory *memory, __u32 words,
			      __u32 frames, __u32 number)
{
	struct slot_search s = { 0 };

	if (!scratch || !memory)
		return 0;
	s.scratch = scratch;
	s.memory = memory;
	s.words = words;
	s.frames = frames;
	if (memory->number == number && memory->count) {
		bpf_loop(SLOTS, keep_slot, &s, 0);
	} else {
		if (memory->misses < 0xff00)
			memory->misses++;
		if (memory->misses > FRUITLESS && memory->misses & 15) {
			memory->number = 0;
			return 0;
		}
		memory->high = scratch->kernel[0] >> 32;
		bpf_loop(PROFILE_KERNEL_FRAMES_MAX, filter_frame, &s, 0);
		bpf_loop(RAW_WORDS, find_slot, &s, 0);
	}
	memory->count = s.count;
	memory->number = is_in_order(scratch, memory, frames) ? number : 0;
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

/* Walk the stack of the current thread into scratch->kernel. Returns how many bytes it has there,
 * and how many of our own frames were skipped (0: their number is not known yet). */
static __always_inline long walk_here(void *ctx, struct scratch *scratch, enum stack_site site,
				      __u32 *ret_own)
{
	/* Another CPU may set it meanwhile; both values are right. */
	__u32 own = *(volatile __u32 *)&state.own_frames[site];
	long bytes = bpf_get_stack(ctx, scratch->kernel, KERNEL_STACK_BYTES, own & 0xff);

	if (!own && bytes >= OWN_FRAMES_MAX * 8 && !state.first_walks[site][0])
		__builtin_memcpy(state.first_walks[site], scratch->kernel, OWN_FRAMES_MAX * 8);
	*ret_own = own;
	return bytes;
}

#endif
