/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory that the programs of a profile write and user space maps: records of threads, and
 * stacks, both in chunks that are added while the programs run.
 */
#ifndef SCHED_PROFILE_MEMORY_H
#define SCHED_PROFILE_MEMORY_H

#include "bpf/memory_chunks.h"
#include "sched/profile_record.h"
#include "sched/tracker.h"

struct profile_chunks {
	struct profile_state *state; /* shared with the programs */
	struct tracker tracker;      /* the records */
	struct memory_chunks stacks[STACK_POOLS];
	uint64_t most_words;  /* if all of the memory were for stacks */
	uint64_t most_stacks; /* that the programs can find again */
	size_t budget;        /* in bytes, for both together */
	uint64_t first_words; /* in use when the other pool was emptied */
	uint64_t refused_ns;  /* CLOCK_MONOTONIC: when no more was to be had; 0: it was */
	uint64_t words_seen, records_seen; /* in use when profile_chunks_fills was called last */
};

/* Room for so many stacks of usual depth at the start, and for `bytes` at most, as far as `limit`
 * allows it, which is borrowed. Fails if it allows no stacks. */
struct error *profile_chunks_init(struct profile_chunks *chunks, struct profile_state *state,
				  struct track_state *track, int records_map, int stack_map,
				  size_t stacks, size_t bytes,
				  struct memory_limit *limit) MUST_CHECK;

/* More, when little is left; nothing once the bound is reached, for then it is counted as lost. */
struct error *profile_chunks_grow(struct profile_chunks *chunks) MUST_CHECK;

/* Have the programs used much of the free room since the last call? They will need more soon. */
bool profile_chunks_fills(struct profile_chunks *chunks);

/* NULL: there is none. */
struct profile_record *profile_chunks_thread(const struct profile_chunks *chunks, uint32_t number);

/* The frames of a stack, innermost first; 0 of none. */
size_t profile_chunks_stack(const struct profile_chunks *chunks, uint32_t number,
			    const __u64 **ret_frames, enum stack_end *ret_end);

/* The stack `whole` stands for this one from now on. */
void profile_chunks_move(struct profile_chunks *chunks, uint32_t number, uint32_t whole);

/* Put a stack, in the form of the BPF programs; STACK_LOST without room. */
uint32_t profile_chunks_put(struct profile_chunks *chunks, const uint64_t *frames, size_t count,
			    enum stack_end end);

/*
 * Stacks are in one of two pools, which are freed as a whole: when the pool of this epoch has grown
 * (profile_chunks_has_grown), the next epoch begins with the other pool. Holders of stack numbers
 * of the previous pool put these stacks again or drop them; then that pool is emptied.
 */

/* Is there more in it than twice what was there when the other was emptied, or hardly room? */
bool profile_chunks_has_grown(const struct profile_chunks *chunks);

/* Switch to the other pool, which must be empty. On return no program writes to the old one. */
struct error *profile_chunks_begin_epoch(struct profile_chunks *chunks) MUST_CHECK;

/* Is that stack in the pool of the epoch before? */
bool profile_chunks_is_before(const struct profile_chunks *chunks, uint32_t number);

/* Empty the pool of the epoch before; its numbers are invalid from now on. */
void profile_chunks_empty(struct profile_chunks *chunks);

void profile_chunks_deinit(struct profile_chunks *chunks);

#endif
