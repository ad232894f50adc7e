/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User stacks whose walk in the kernel met code whose table, or part of a table, was not made yet
 * (UNWIND_NO_TABLE). The program puts the frames that it found into a record of their own, and
 * sends the registers and the top of the stack here (struct deferred_stack). When the table is
 * made, the same walk is done in that copy, and the record says which stack stands for it
 * (STACK_MOVED). What was counted for the record is then counted for the whole stack.
 *
 * The words of the copy also tell which other parts of tables the walk will need. Behind the copy
 * the stack is read as it is now: a thread that has returned from there since has overwritten the
 * end of the copy, which is compared.
 *
 * Copies are bounded in number, also those of one process, and kept for a short time: what a table
 * comes too late for stays incomplete.
 */
#ifndef SCHED_DEFERRED_STACKS_H
#define SCHED_DEFERRED_STACKS_H

#include "base/guard.h"
#include "process/unwinder.h"
#include "sched/profile_memory.h"
#include "unwind/window.h"

struct ring_buffer;

struct deferred_stacks {
	struct profile_chunks *chunks;
	struct unwinder *unwinder;
	struct guard *guard; /* for reading memory; NULL: a process that hangs, hangs us */
	bool only_tables;    /* never by frame pointers */
	unsigned most_frames;
	struct ring_buffer *ring;
	struct {
		ARRAY(struct pending_stack);
	} pending;
	size_t next; /* in a pass over these */
	/* Of the walks that ended with UNWIND_NO_TABLE, how those ended that are done again. */
	uint64_t done, ends[UNWIND_STOPS];
};

/* `ring` is the map that programs put them into; from then on they may. */
struct error *deferred_stacks_open(struct deferred_stacks *stacks, int ring) MUST_CHECK;

/* Take those that came, and request the parts of tables that they need. */
void deferred_stacks_collect(struct deferred_stacks *stacks);

/* Walk those again whose tables may have been made since. */
void deferred_stacks_walk(struct deferred_stacks *stacks);

/* Takes an empty one. */
void deferred_stacks_close(struct deferred_stacks *stacks);

/*
 * Walk in the copy, and behind it in the memory that `window` reads, by what the process has mapped
 * now: at most `most` > 0 frames, innermost first. Returns how many; 0: the frames that were found
 * before are not the first of them, because the process has other mappings now. The copy and the
 * memory are the process's own and may be anything.
 */
size_t deferred_stack_walk(const struct deferred_stack *stack, const struct unwind_store *store,
			   const struct unwind_process *process, struct unwind_window *window,
			   bool only_tables, size_t most, const __u64 *found, size_t found_count,
			   uint64_t *frames, enum unwind_stop *ret_stop);

#endif
