/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The maps of a profile, and how room in them is found.
 *
 * Nothing here is allocated from the memory allocator while a CPU switches, but for elements of
 * hashes without preallocation, which the kernel keeps in reserve for that (kernel/bpf/memalloc.c,
 * Linux 6.1).
 */
#ifndef SCHED_PROFILE_MAPS_BPF_H
#define SCHED_PROFILE_MAPS_BPF_H

#include "sched/profile_record.h"

#define TRACK_RECORD struct profile_record
#include "sched/track.bpf.h"

#include "unwind/walk_state.h"

/* Set before loading: code for what is not wanted is removed by the verifier. */
const volatile struct profile_config config;
struct profile_state state;

/* --- scratch memory --- */

/* One per kind of program and CPU, since programs may interrupt each other. */
enum scratch_user {
	SCRATCH_SWITCH,
	SCRATCH_SAMPLE,
	SCRATCH_PROBE,
	SCRATCH_WAKING,
	SCRATCH_TASKS,
	SCRATCH_LATE,
	SCRATCH_USERS
};

#define RAW_WORDS  256 /* of a kernel stack, to know it again */
#define TOP_WORDS  256 /* of a user stack */
#define USER_SLOTS 64  /* that decide on a walk of one */

/* Rules that were found last, by where, for the same code is met again and again. A table's place
 * may become another's: but not for processes of the same generation. */
#define RULES_AT_HAND 512

struct rule_at_hand {
	__u64 key; /* address in its table, and the table above; 0: none */
	__u64 generation;
	struct unwind_rule rule;
};

#define USER_WORD_MAX 0xffff /* how far they may be behind the stack pointer */

/* The memory that a walk of a user stack reads (unwind/walk.h). */
struct unwind_memory {
	__u64 top;              /* where the copy is from: the stack pointer */
	__u64 regs;             /* where the registers are */
	__u64 word;             /* that was read by itself */
	__u32 words;            /* of the copy; 0: there is none */
	__u32 reach;            /* the last of these that a copy has */
	__u32 slots;            /* in `used`; more than USER_SLOTS: too many, or elsewhere */
	__u16 used[USER_SLOTS]; /* words behind the stack pointer that decide on the walk */
	__u64 copy[TOP_WORDS];
	struct rule_at_hand rules[RULES_AT_HAND];
};

/* A walk that is going on. */
struct user_walk {
	struct unwind_walk at;
	struct unwind_memory memory;
	__u64 hash;
	__u32 count, most, stop;
};

/* A scan of the mappings of a process (sched/process_mappings.bpf.h). */
struct mapping_scan {
	__u64 next; /* where the rest begins */
	/* The slot of the tree that is looked at, and its addresses; and of its node how many
	 * slots it has, the end of the last one, and which of them it is. */
	__u64 slot, start, end, node_end;
	__u32 slots, number;
	__u32 tgid, process_slot, count;
	bool is_leaf, has_ended, lacks;
};

struct scratch {
	__u64 user[PROFILE_USER_FRAMES_MAX];
	__u64 kernel[PROFILE_KERNEL_FRAMES_MAX + 1];
	__u64 raw[RAW_WORDS];
	struct user_walk walk;
	struct mapping_scan scan;
	struct unwind_process process; /* the mappings that the walk uses */
	__u32 tgid;                    /* whose they are */
	__u32 lacks;                   /* enum unwind_stop: why they are incomplete */
	__u32 kernel_frames;           /* of the last walk in `kernel` */
	__u32 is_incomplete;           /* the last stack of user space */
	__u32 busy;
	__u32 kernel_checks, user_checks; /* stacks that were recognised since one was walked too */
	__u64 words_hash;                 /* of the words that decide on a user stack */
	__u32 next_way;                   /* of a set of user stacks, if all are taken */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_USERS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct scratch *scratch_of(enum scratch_user user)
{
	__u32 key = user;

	return bpf_map_lookup_elem(&scratches, &key);
}

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct profile_counts);
} counters SEC(".maps");

static __always_inline struct profile_counts *counts_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

/* --- stacks --- */

struct stack_pool_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct stack_chunk));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, STACK_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct stack_pool_chunk);
} stack_pool SEC(".maps");

/*
 * 64 bits of a hash stand for a stack: of a million stacks two are the same by chance once in 30
 * million profiles. bpf_get_stackid() has as many places as stacks are hoped for, and loses or
 * mixes up those that fall together.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u32);
} stack_numbers SEC(".maps");

#define HASH_START 0x9e3779b97f4a7c15ull

static __always_inline __u32 stack_epoch(void)
{
	return *(volatile __u32 *)&state.stack_epoch;
}

static __always_inline __u64 hash_more(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdull;
	return hash ^ hash >> 32;
}

/* Hashes begin with the epoch, so that a stack of an earlier epoch is not found again. */
static __always_inline __u64 stack_hash_start(void)
{
	return hash_more(HASH_START, stack_epoch());
}

/* Put a stack into the pool. */
static __noinline __u32 append_stack(const __u64 *frames, __u32 count, __u32 end)
{
	struct stack_room *room = &state.stack_rooms[stack_epoch() & (STACK_POOLS - 1)];
	__u64 at, header = STACK_HEADER(count, end);
	__u32 chunk, word, zero = 0;
	struct stack_chunk *memory;
	void *map;

	if (!frames || count > PROFILE_USER_FRAMES_MAX || room->next + count + 1 > room->end)
		return STACK_LOST;
	at = __sync_fetch_and_add(&room->next, count + 1);
	if (at + count + 1 > room->end)
		return STACK_LOST;
	__sync_fetch_and_add(&room->count, 1);
	chunk = at >> STACK_CHUNK_BITS;
	word = at & (STACK_CHUNK - 1);
	map = bpf_map_lookup_elem(&stack_pool, &chunk);
	if (!map)
		return STACK_LOST;
	memory = bpf_map_lookup_elem(map, &zero);
	if (!memory)
		return STACK_LOST;
	memory->words[word] = header;
	/* The bound again, behind what the compiler knows. */
	asm volatile("" : "+r"(count));
	if (count > PROFILE_USER_FRAMES_MAX)
		return STACK_LOST;
	bpf_probe_read_kernel(&memory->words[word + 1], count * sizeof(__u64), frames);
	return (__u32)at;
}

/* A stack that is not in the pool yet. */
static __noinline __u32 put_stack(const __u64 *frames, __u32 count, __u32 end, __u64 hash)
{
	__u32 number, *known;

	if (!frames)
		return STACK_LOST;
	number = append_stack(frames, count, end);
	if (number == STACK_LOST)
		return STACK_LOST;
	if (!bpf_map_update_elem(&stack_numbers, &hash, &number, BPF_NOEXIST))
		return number;
	/* Another CPU was faster, or there is no room. */
	known = bpf_map_lookup_elem(&stack_numbers, &hash);
	return known ? *known : STACK_LOST;
}

static __always_inline __u32 stack_number(const __u64 *frames, __u32 count, enum stack_end end,
					  __u64 hash)
{
	__u32 *known = bpf_map_lookup_elem(&stack_numbers, &hash);

	return known ? *known : put_stack(frames, count, end, hash);
}

/* --- unwind tables (unwind/pool.h) --- */

struct unwind_map_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, UNWIND_CHUNK_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_CHUNKS_MAX);
	__type(key, __u32);
	__array(values, struct unwind_map_chunk);
} unwind_chunks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_RULES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_rule);
} unwind_rules SEC(".maps");

/* Keyed by process, in the PID namespace of ctprof. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, __u32);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

/* Processes whose mappings user space should read (again), and the generation that was incomplete.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} unwind_asked SEC(".maps");

/* Of struct deferred_stack. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, DEFERRED_RING_BYTES);
} deferred_stacks SEC(".maps");

/* --- what is counted --- */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct count_key);
	__type(value, struct count_value);
} counted SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct slot_key);
	__type(value, struct slot_value);
} slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LATENCY_HISTOGRAM(LATENCY_SHARDS, 0, 0));
	__type(key, __u32);
	__type(value, struct latency_slots);
} latencies SEC(".maps");

/* Cgroup ID to its place in `latencies`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LATENCY_PLACES);
	__type(key, __u64);
	__type(value, __u32);
} latency_places SEC(".maps");

/* Preallocated: one switch may add many entries, and the kernel's reserve for growing hashes has
 * only a few. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct runner_key);
	__type(value, __u64);
} runners SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct longest_blocks);
} longest SEC(".maps");

/* An interval whose stacks are taken as soon as its thread is on the CPU. */
struct pending_count {
	__u32 is_there;
	struct count_key key;
	struct count_value value;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pending_count);
} pending SEC(".maps");

static __always_inline struct pending_count *pending_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&pending, &zero);
}

/* --- targets --- */

/* Numbers of our PID namespace. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} target_processes SEC(".maps"), target_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} wanted_cpus SEC(".maps");

/* For each event: is it at the first instruction of a user-space function? */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} entry_events SEC(".maps");

#endif
