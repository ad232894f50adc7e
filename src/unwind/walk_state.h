/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The state of a walk (unwind/walk.h).
 */
#ifndef UNWIND_WALK_STATE_H
#define UNWIND_WALK_STATE_H

#include "base/user_space.h"
#include "unwind/pool.h"

#define UNWIND_USER_LOWEST 4096

/* Stacks that a walk goes on from: of signals, of coroutines. More is a circle. */
#define UNWIND_TURNS_MAX 8

enum { UNWIND_KNOWS_BP = 1, UNWIND_KNOWS_BX = 2, UNWIND_KNOWS_OTHER = 4, UNWIND_KNOWS_ALL = 7 };

/* The memory that the walker reads; its includer defines it. */
struct unwind_memory;

struct unwind_walk {
	__u64 ip, sp, bp, bx;
	__u32 known;    /* of these, bits */
	__u32 is_exact; /* `ip` was not called from */
	__u32 turns;
	__u32 only_tables; /* never by frame pointers */
	/* The mappings of the process. */
	__u32 space, count;
	__u64 generation;
	/* The addresses from which registers were read; 0: they are those of the innermost frame.
	 */
	__u64 bp_from, bx_from;
	__u32 used;   /* registers of the innermost frame that mattered, bits as of `known` */
	__u32 failed; /* reads */
	/* The mapping that was met last; start 1 and end 0 of none. */
	__u64 start, end, delta;
	__u32 table, kind;
	__u32 is_unmade; /* a part of a table was wanted that is not made yet */
};

#endif
