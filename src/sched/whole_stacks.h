/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completing the kernel stacks of threads that slept when they were first seen.
 *
 * The kernel gives the stack of another, sleeping thread without the scheduler's functions. When
 * the same wait is seen as it begins, its stack has them. To the reader of a profile both are one
 * place, so the stack that has the same return addresses and those of the scheduler stands for the
 * one without.
 */
#ifndef SCHED_WHOLE_STACKS_H
#define SCHED_WHOLE_STACKS_H

#include <linux/types.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/names.h"
#include "base/word_map.h"
#include "elf/kallsyms.h"

struct whole_stacks {
	const struct kallsyms *symbols; /* NULL: nothing is known, and nothing made whole */
	struct arena arena;
	struct names outlines;      /* stacks without the scheduler's functions, as bytes */
	struct word_map by_outline; /* to `found` */
	struct {
		ARRAY(struct whole_stack {
			uint32_t number;
			uint64_t ns;
		});
	} found;
};

void whole_stacks_init(struct whole_stacks *stacks, const struct kallsyms *symbols);
void whole_stacks_deinit(struct whole_stacks *stacks);

/* Add a stack, innermost first, in which `ns` were spent. One that is not whole is ignored; of
 * several with the same outline the one with most time counts. */
struct error *whole_stacks_add(struct whole_stacks *stacks, const __u64 *frames, size_t count,
			       uint32_t number, uint64_t ns) MUST_CHECK;

/* The number of the whole stack that stands for this one; `number` itself where none does. */
uint32_t whole_stacks_find(const struct whole_stacks *stacks, const __u64 *frames, size_t count,
			   uint32_t number);

#endif
