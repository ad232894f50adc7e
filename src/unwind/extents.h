/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocated parts of a chunk, in units of 8 words: a bit each, so that freed units join free
 * neighbours, and freeing needs no memory.
 *
 *	struct unwind_extents extents = { 0 };
 *	if (unwind_extents_take(&extents, 3, &first))
 *		unwind_extents_give_back(&extents, first, 3);
 *
 * All zero means that all is free.
 */
#ifndef UNWIND_EXTENTS_H
#define UNWIND_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/pool.h"

#define UNWIND_UNIT_WORDS  8
#define UNWIND_CHUNK_UNITS (UNWIND_CHUNK / UNWIND_UNIT_WORDS)

struct unwind_extents {
	uint64_t taken[UNWIND_CHUNK_UNITS / 64];
	uint32_t too_many; /* no so many free ones are together; 0: not known */
};

/* Take adjacent units, more than 0, at the first possible position. False: there is none. */
bool unwind_extents_take(struct unwind_extents *extents, uint32_t units, uint32_t *ret);

/* These, which were taken. */
void unwind_extents_give_back(struct unwind_extents *extents, uint32_t first, uint32_t units);

#endif
