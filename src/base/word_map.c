/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/word_map.h"

#include <stdint.h>
#include <stdlib.h>

struct word_map_slot {
	struct words key;
	uint32_t value;
	bool taken;
};

/* Multiply and fold, a round for each word. Numbers may come out of a file, so where a key lands
 * depends on where the slots are, which nobody outside knows. */
static size_t hash_of(const struct word_map *map, const struct words *key)
{
	uint64_t hash = 0x9e3779b97f4a7c15u ^ (uintptr_t)map->slots;

	for (size_t i = 0; i < 3; i++) {
		unsigned __int128 mixed =
			(unsigned __int128)(hash ^ key->w[i]) * 0xd6e8feb86659fd93u;

		hash = (uint64_t)mixed ^ (uint64_t)(mixed >> 64);
	}
	return (size_t)hash;
}

static bool is_same(const struct words *a, const struct words *b)
{
	return a->w[0] == b->w[0] && a->w[1] == b->w[1] && a->w[2] == b->w[2];
}

/* The slot of the key, or the free one where it belongs. */
static struct word_map_slot *slot_of(const struct word_map *map, const struct words *key)
{
	size_t i = hash_of(map, key) & (map->room - 1);

	while (map->slots[i].taken && !is_same(&map->slots[i].key, key))
		i = (i + 1) & (map->room - 1);
	return &map->slots[i];
}

static bool grow_to(struct word_map *map, size_t room)
{
	struct word_map wider = { .count = map->count, .room = room };

	wider.slots = calloc(wider.room, sizeof(*wider.slots));
	if (!wider.slots)
		return false;
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].taken)
			*slot_of(&wider, &map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = wider;
	return true;
}

static bool grow(struct word_map *map)
{
	return grow_to(map, map->room ? map->room * 2 : 64);
}

bool word_map_reserve(struct word_map *map, size_t count)
{
	size_t room = 64;

	while (room < SIZE_MAX / 4 && room / 4 * 3 < count)
		room *= 2;
	return room <= map->room || grow_to(map, room);
}

uint32_t *word_map_at(struct word_map *map, struct words key)
{
	struct word_map_slot *slot;

	/* At most three in four taken. */
	if (map->count * 4 >= map->room * 3 && !grow(map))
		return NULL;
	slot = slot_of(map, &key);
	if (!slot->taken) {
		*slot = (struct word_map_slot){ key, WORD_MAP_NEW, true };
		map->count++;
	}
	return &slot->value;
}

uint32_t word_map_find(const struct word_map *map, struct words key)
{
	const struct word_map_slot *slot = map->room ? slot_of(map, &key) : NULL;

	return slot && slot->taken ? slot->value : WORD_MAP_NEW;
}

void word_map_deinit(struct word_map *map)
{
	free(map->slots);
	*map = (struct word_map){ 0 };
}
