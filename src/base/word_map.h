/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from up to three words (numbers, or addresses of interned things) to a number.
 *
 *	uint32_t *number = word_map_at(&map, (struct words){ { (uintptr_t)name } });
 *	if (!number)
 *		return &error_no_memory;
 *	if (*number == WORD_MAP_NEW)
 *		*number = make(name);
 */
#ifndef BASE_WORD_MAP_H
#define BASE_WORD_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
	uint64_t w[3];
};

/* No value that may be stored. */
#define WORD_MAP_NEW UINT32_MAX

struct word_map {
	struct word_map_slot *slots;
	size_t count, room; /* room is zero or a power of two */
};

/* The place of the value, which is WORD_MAP_NEW the first time; valid until the next call. NULL
 * without memory. All zero is an empty map. */
uint32_t *word_map_at(struct word_map *map, struct words key);

/* Room for so many, where that is known: growing there step by step takes longer. False without
 * memory; the map is as it was. */
bool word_map_reserve(struct word_map *map, size_t count);

/* The value, or WORD_MAP_NEW. */
uint32_t word_map_find(const struct word_map *map, struct words key);

void word_map_deinit(struct word_map *map);

#endif
