/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is released all at once, with a limit.
 *
 * The author of a file decides how much its reader allocates. An arena refuses to grow beyond
 * `limit`, so a hostile file ends in an error and not in the memory of the machine.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *newest;
	size_t used;  /* bytes obtained from malloc */
	size_t limit; /* bytes that `used` may reach; may be raised at any time */
};

void arena_init(struct arena *arena, size_t limit);

/* `size` zeroed bytes aligned for any type, valid until arena_deinit. NULL: no memory, or limit. */
void *arena_alloc(struct arena *arena, size_t size);

/* Give back what is behind the first `size` bytes of a piece of `was`, which must be as it came:
 * zero. Only of the piece that was allocated last there is something to give back. */
void arena_trim(struct arena *arena, void *memory, size_t was, size_t size);

void arena_deinit(struct arena *arena);

#endif
