/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/huge_pages.h"

#define BLOCK_BYTES ((size_t)64 * 1024)

/* Beyond this size, an arena grows by large blocks that are populated at once: page faults took a
 * tenth of the time of a capture of ten thousand threads. */
#define SMALL_BYTES ((size_t)512 * 1024)
#define LARGE_BYTES HUGE_PAGE_BYTES

struct arena_block {
	struct arena_block *older;
	size_t used, room;
	bool is_large;
	alignas(max_align_t) unsigned char bytes[];
};

void arena_init(struct arena *arena, size_t limit)
{
	*arena = (struct arena){ .limit = limit };
}

static struct arena_block *add_block(struct arena *arena, size_t room)
{
	size_t total, left = arena->used > arena->limit ? 0 : arena->limit - arena->used;
	bool large = arena->used >= SMALL_BYTES && room <= LARGE_BYTES / 4 && left >= LARGE_BYTES;
	struct arena_block *block;

	if (__builtin_add_overflow(sizeof(*block), room, &total))
		return NULL;
	if (large)
		total = LARGE_BYTES;
	if (total > left)
		return NULL;
	block = large ? huge_page_map() : calloc(1, total);
	if (!block)
		return NULL;
	block->is_large = large;
	block->room = total - sizeof(*block);
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

static size_t rounded_up(size_t size)
{
	return (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
}

void arena_trim(struct arena *arena, void *memory, size_t was, size_t size)
{
	struct arena_block *block = arena->newest;

	if (block && (unsigned char *)memory + rounded_up(was) == block->bytes + block->used)
		block->used -= rounded_up(was) - rounded_up(size);
}

void arena_deinit(struct arena *arena)
{
	struct arena_block *block = arena->newest;

	while (block) {
		struct arena_block *older = block->older;

		if (block->is_large)
			munmap(block, LARGE_BYTES);
		else
			free(block);
		block = older;
	}
	arena->newest = NULL;
	arena->used = 0;
}
