/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for a library that does not look whether its malloc failed.
 *
 *	if (setjmp(pool->escape)) {
 *		...			there was no memory: never call the library again
 *		return &error_no_memory;
 *	}
 *	library_call(..., pool_malloc, pool_realloc, pool_free, pool);
 *
 * When there is no more memory, the pool jumps out of the library, whose objects are then in no
 * state to be used or destroyed. What it had is released by pool_deinit.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <setjmp.h>
#include <stddef.h>

struct pool {
	struct pool_block *first;
	jmp_buf escape; /* set before each call into the library */
};

/* The three functions that such libraries take; `context` is the struct pool. All zero is an empty
 * pool. */
void *pool_malloc(void *context, size_t size);
void *pool_realloc(void *context, void *bytes, size_t size);
void pool_free(void *context, void *bytes);

/* Release all there is. */
void pool_deinit(struct pool *pool);

#endif
