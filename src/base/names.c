/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

void names_init(struct names *names, struct arena *arena)
{
	*names = (struct names){ .arena = arena };
}

/* Names come from files that others wrote: a start value they cannot know (the kernel gives every
 * process sixteen random bytes, getauxval(3)) keeps them from choosing names that collide. */
static uint32_t hash_seed(void)
{
	static uint32_t seed;

	if (!seed) {
		memcpy(&seed, (const void *)getauxval(AT_RANDOM), sizeof(seed));
		seed |= 1;
	}
	return seed;
}

/* FNV-1a, then mixed, since the table takes the low bits. */
static uint32_t hash_bytes(const unsigned char *bytes, size_t length)
{
	uint32_t hash = hash_seed();

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	hash ^= hash >> 15;
	hash *= 0x2c1b3c6du;
	return hash ^ hash >> 12;
}

static const struct name **find_slot(const struct names *names, uint32_t hash, const void *bytes,
				     size_t length)
{
	for (size_t i = hash;; i++) {
		const struct name **slot = &names->slots[i & (names->room - 1)];

		if (!*slot || ((*slot)->hash == hash && (*slot)->length == length &&
			       memcmp((*slot)->bytes, bytes, length) == 0))
			return slot;
	}
}

static int grow(struct names *names)
{
	size_t old_room = names->room;
	const struct name **old = names->slots;

	names->room = old_room ? old_room * 2 : 256;
	names->slots = calloc(names->room, sizeof(*names->slots));
	if (!names->slots) {
		names->slots = old;
		names->room = old_room;
		return -1;
	}
	for (size_t i = 0; i < old_room; i++)
		if (old[i])
			*find_slot(names, old[i]->hash, old[i]->bytes, old[i]->length) = old[i];
	free(old);
	return 0;
}

const struct name *names_intern(struct names *names, const void *bytes, size_t length)
{
	uint32_t hash = hash_bytes(bytes, length);
	const struct name **slot;
	struct name *name;

	if (length > UINT32_MAX - 1)
		return NULL;
	if (names->count >= names->room / 2 && grow(names))
		return NULL;
	slot = find_slot(names, hash, bytes, length);
	if (*slot)
		return *slot;
	name = arena_alloc(names->arena, sizeof(*name) + length + 1);
	if (!name)
		return NULL;
	name->hash = hash;
	name->length = (uint32_t)length;
	memcpy(name->bytes, bytes, length);
	*slot = name;
	names->count++;
	return name;
}

const struct name *names_find(const struct names *names, const void *bytes, size_t length)
{
	return names->room ? *find_slot(names, hash_bytes(bytes, length), bytes, length) : NULL;
}

void names_deinit(struct names *names)
{
	free(names->slots);
	names->slots = NULL;
	names->count = names->room = 0;
}

int name_compare(const struct name *a, const struct name *b)
{
	size_t shorter;
	int order;

	if (a == b || !a || !b)
		return (a != NULL) - (b != NULL);
	shorter = a->length < b->length ? a->length : b->length;
	order = memcmp(a->bytes, b->bytes, shorter);
	return order ? order : (a->length > b->length) - (a->length < b->length);
}
