/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User stacks of threads that are off the CPU, where the stack was not taken when they left it:
 * they left before the profile began, stacks are taken late, or unwind tables were missing.
 *
 * A program can read the memory of the current thread only, and these may not run for hours. Their
 * registers are known (struct profile_record), and their stacks can be read from outside
 * (process_vm_readv(2)), and walked as src/sched/user_stack.bpf.h does it. A thread that runs
 * meanwhile keeps its kernel stack alone for that wait.
 */
#ifndef SCHED_FIRST_STACKS_H
#define SCHED_FIRST_STACKS_H

#include "base/guard.h"
#include "process/unwinder.h"
#include "sched/profile_memory.h"
#include "unwind/user_unwind.h"
#include "unwind/window.h"

/* All zero but for what the caller sets. */
struct first_stacks {
	struct profile_chunks *chunks;
	struct unwinder *unwinder; /* NULL: walks go by frame pointers */
	struct guard *guard;       /* for reading memory; NULL: a thread that hangs, hangs us */
	bool only_tables;          /* never by frame pointers */
	unsigned most_frames;
	/* --- for first_stacks.c --- */
	size_t next;     /* in a pass: the number of a thread, or a place in `lacking` */
	uint32_t taken;  /* of state.lacking_count */
	bool is_overrun; /* threads were added that are not in `lacking` */
	struct {
		ARRAY(struct lacking_stack {
			uint32_t thread;
			bool is_over;
			uint64_t walked_ns; /* with what was known then */
		});
	} lacking;
};

/* Take the stacks of all such threads. One whose memory cannot be read in time gets none now. Looks
 * at all records, which takes some 50 ns each. */
void first_stacks_take(struct first_stacks *stacks);

/* Take over which threads have left their CPUs with an incomplete stack, from programs that have
 * room for LACKING_MAX of them. */
void first_stacks_collect(struct first_stacks *stacks);

/* Are there any that first_stacks_collect() has not taken over? */
bool first_stacks_has_new(const struct first_stacks *stacks);

/* How many are to be looked at. */
size_t first_stacks_lacking(const struct first_stacks *stacks);

/* Take the stacks of those whose processes were published after the last walk. */
void first_stacks_take_lacking(struct first_stacks *stacks);

void first_stacks_deinit(struct first_stacks *stacks);

/*
 * The stack of one thread, by the registers in its record and the memory that `window` reads:
 * at most `most` > 0 frames, innermost first. Returns how many, and why the walk ended. The
 * registers and the memory are the thread's own, and may be anything. `store` NULL: by frame
 * pointers.
 */
size_t first_stacks_walk(const struct profile_record *t, const struct unwind_store *store,
			 const struct unwind_process *process, struct unwind_window *window,
			 bool only_tables, size_t most, uint64_t *frames,
			 enum unwind_stop *ret_stop);

#endif
