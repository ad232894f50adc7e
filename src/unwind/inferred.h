/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of code that no call frame information describes, from its instructions: how far the stack
 * pointer is from where the caller's return address is, along all ways through a function from its
 * first instruction on.
 *
 *	inferred_init(&inferred, elf, begin);
 *	inferred_look(&inferred, start, end);
 *	inferred_show(&inferred, start, end, visit, context);
 *	inferred_deinit(&inferred);
 *
 * Functions begin at symbols, at targets of calls, and where code goes on behind the end of
 * another. What is found of a function counts when its ways agree with each other: two that meet
 * have the same distance, and one that returns has the return address on top of the stack. Else
 * nothing is said about it. Code that an indirect jump leads to has the state of the last such jump
 * before it, if it agrees.
 *
 * Only x86_64. Instructions are decoded by capstone. The code may be hostile: each byte of it is
 * decoded at most once, and each instruction is followed a bounded number of times.
 */
#ifndef UNWIND_INFERRED_H
#define UNWIND_INFERRED_H

#include "elf/elf.h"
#include "unwind/cfi.h"

/* Code of a file that is looked at; nothing is said about what is behind. */
#define INFERRED_BYTES_MAX ((uint64_t)2 << 20)

struct inferred {
	const struct elf *elf;
	uint64_t begin; /* where the file begins to run, without a caller; 0: nowhere */
	struct entry_symbols *entries; /* where functions may begin; NULL: they were not read yet */
	uint64_t bytes;                /* that were looked at */
	uint64_t last, last_end;       /* the last stretch, as it was asked for */
	struct flow *flow;             /* what is known of the last stretch; NULL: there was none */
	size_t functions;              /* of which something is said */
	size_t refused;                /* whose ways do not agree */
};

void inferred_init(struct inferred *inferred, const struct elf *elf, uint64_t begin);

/* Look at the code from `start` to `end`, or as much of it as is left, unless that was the last
 * stretch. False without memory. */
bool inferred_look(struct inferred *inferred, uint64_t start, uint64_t end);

/* Is something known of this address, of the stretch that was looked at last? */
bool inferred_says(const struct inferred *inferred, uint64_t address);

/* Show the rules of that stretch from `start` to `end`, in order of addresses; what nothing is
 * known of has UNWIND_RULE_NONE. False if `visit` said so. */
bool inferred_show(const struct inferred *inferred, uint64_t start, uint64_t end, cfi_visit *visit,
		   void *context);

/* Takes an empty one. */
void inferred_deinit(struct inferred *inferred);

#endif
