/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES ((size_t)64 * 1024)

struct arena_block {
	struct arena_block *older;
	size_t used, room;
	alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t limit)
{
	*arena = (struct arena){ .limit = limit };
}

static struct arena_block *add_block(struct arena *arena, size_t room)
{
	size_t total;
	struct arena_block *block;

	if (__builtin_add_overflow(sizeof(*block), room, &total) || arena->used > arena->limit ||
	    total > arena->limit - arena->used)
		return NULL;
	block = calloc(1, total);
	if (!block)
		return NULL;
	block->room = room;
	block->older = arena->newest;
	arena->newest = block;
	arena->used += total;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->newest;
	size_t rounded;
	void *memory;

	if (__builtin_add_overflow(size, alignof(max_align_t) - 1, &rounded))
		return NULL;
	rounded &= ~(alignof(max_align_t) - 1);
	if (!block || rounded > block->room - block->used) {
		block = add_block(arena, rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES);
		if (!block)
			return NULL;
	}
	memory = block->bytes + block->used;
	block->used += rounded;
	return memory;
}

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->newest;

	while (block) {
		struct arena_block *older = block->older;

		free(block);
		block = older;
	}
	arena->newest = NULL;
	arena->used = 0;
}
