/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pool.h"

#include <stdlib.h>

struct pool_block {
	struct pool_block *next, *previous;
	_Alignas(max_align_t) unsigned char bytes[];
};

static void pool_link(struct pool *pool, struct pool_block *block)
{
	block->previous = NULL;
	block->next = pool->first;
	if (pool->first)
		pool->first->previous = block;
	pool->first = block;
}

static void pool_unlink(struct pool *pool, struct pool_block *block)
{
	if (block->previous)
		block->previous->next = block->next;
	else
		pool->first = block->next;
	if (block->next)
		block->next->previous = block->previous;
}

static struct pool_block *block_of(void *bytes)
{
	return (struct pool_block *)(void *)((char *)bytes - offsetof(struct pool_block, bytes));
}

void *pool_realloc(void *context, void *bytes, size_t size)
{
	struct pool *pool = context;
	struct pool_block *old = bytes ? block_of(bytes) : NULL, *block;

	if (old)
		pool_unlink(pool, old);
	block = realloc(old, sizeof(*block) + size);
	if (!block) {
		if (old)
			pool_link(pool, old);
		longjmp(pool->escape, 1);
	}
	pool_link(pool, block);
	return block->bytes;
}

void *pool_malloc(void *context, size_t size)
{
	return pool_realloc(context, NULL, size);
}

void pool_free(void *context, void *bytes)
{
	if (!bytes)
		return;
	pool_unlink(context, block_of(bytes));
	free(block_of(bytes));
}

void pool_deinit(struct pool *pool)
{
	while (pool->first) {
		struct pool_block *block = pool->first;

		pool->first = block->next;
		free(block);
	}
}
