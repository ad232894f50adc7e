/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/image_memory.h"

/* Do not charge small spaces: looking up the user of every new process costs more. Programs with
 * 100 libraries have 8 KiB. */
#define FREE_BYTES ((size_t)16 << 10)

void image_memory_init(struct image_memory *memory, size_t max)
{
	*memory = (struct image_memory){ .max = max };
	user_shares_init(&memory->shares, max);
	arena_init(&memory->arena, max);
	names_init(&memory->names, &memory->arena);
}

void image_memory_deinit(struct image_memory *memory)
{
	user_shares_deinit(&memory->shares);
	names_deinit(&memory->names);
	arena_deinit(&memory->arena);
}

bool image_memory_has_room(const struct image_memory *memory, size_t bytes)
{
	size_t used = memory->used + memory->arena.used;

	return used <= memory->max && bytes <= memory->max - used;
}

static uint32_t share_of(struct image_memory *memory, struct image_payer *payer)
{
	if (!payer->is_known) {
		payer->share = user_shares_of(&memory->shares, payer->pid);
		payer->is_known = true;
	}
	return payer->share;
}

/* Names are never freed, so the first user of one is charged. */
const struct name *image_memory_name(struct image_memory *memory, struct image_payer *payer,
				     struct text text)
{
	const struct name *name = names_find(&memory->names, text.bytes, text.length);
	const size_t bytes = sizeof(*name) + text.length + 1;

	if (name)
		return name;
	if (!user_shares_have(&memory->shares, share_of(memory, payer), bytes))
		return NULL;
	name = names_intern(&memory->names, text.bytes, text.length);
	if (name)
		user_shares_take(&memory->shares, payer->share, bytes);
	return name;
}

/* --- spaces --- */

bool image_memory_create_space(struct image_memory *memory, struct address_space **space)
{
	if (!*space) {
		*space = address_space_create();
		memory->used += *space ? address_space_bytes(*space) : 0;
	}
	return *space;
}

/* A space counts once, however many images share it. */
void image_memory_drop(struct image_memory *memory, struct address_space *space)
{
	if (space && space->users == 1) {
		memory->used -= address_space_bytes(space);
		user_shares_give_back(&memory->shares, space->payer, space->paid);
	}
	address_space_release(space);
}

static bool may_grow(struct image_memory *memory, struct image_payer *payer,
		     const struct address_space *space)
{
	return address_space_bytes(space) <= FREE_BYTES ||
	       user_shares_have(&memory->shares, share_of(memory, payer), 1);
}

/* Charge a space that has grown. */
static void settle(struct image_memory *memory, struct image_payer *payer,
		   struct address_space *space)
{
	const size_t bytes = address_space_bytes(space);

	if (bytes <= FREE_BYTES || bytes == space->paid)
		return;
	user_shares_give_back(&memory->shares, space->payer, space->paid);
	space->payer = share_of(memory, payer);
	space->paid = bytes;
	user_shares_take(&memory->shares, space->payer, bytes);
}

bool image_memory_put(struct image_memory *memory, struct image_payer *payer,
		      struct address_space **space, const struct profile_mapping *mapping)
{
	const struct address_space *before;
	size_t bytes;

	if (!image_memory_create_space(memory, space))
		return false;
	before = *space;
	bytes = address_space_bytes(before);
	/* A copy of it, or half as much again. */
	if (!image_memory_has_room(memory, bytes + sizeof(*mapping) * 8) ||
	    !may_grow(memory, payer, before) || !address_space_put(space, mapping))
		return false;
	/* Other images that share the space keep the old one. */
	memory->used += address_space_bytes(*space);
	memory->used -= *space == before ? bytes : 0;
	settle(memory, payer, *space);
	return true;
}
