/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map (base/map.h) from up to three words (numbers, or addresses of interned names) to a number,
 * mostly the index of an item that is made when its key is seen first.
 *
 *	uint32_t *number = word_map_at(&map, (struct words){ { (uintptr_t)name } });
 *	if (!number)
 *		return &error_no_memory;
 *	if (*number == WORD_MAP_NEW)
 *		*number = make(name);
 */
#ifndef BASE_WORD_MAP_H
#define BASE_WORD_MAP_H

#include "base/map.h"

struct words {
	uint64_t w[3];
};

/* No number that may be stored. */
#define WORD_MAP_NEW UINT32_MAX

struct word_map {
	MAP(struct words, uint32_t);
};

/* The address of the number, which is WORD_MAP_NEW the first time; valid until the next call. NULL
 * without memory. All zero is an empty map. */
static inline uint32_t *word_map_at(struct word_map *map, struct words key)
{
	bool is_new;
	uint32_t *number = map_add(map, key, &is_new);

	if (number && is_new)
		*number = WORD_MAP_NEW;
	return number;
}

/* Make room for so many at once, where that is known. False without memory; the map is as it was.
 */
static inline bool word_map_reserve(struct word_map *map, size_t count)
{
	return map_reserve(map, count);
}

/* The number, or WORD_MAP_NEW. */
static inline uint32_t word_map_find(const struct word_map *map, struct words key)
{
	const uint32_t *number = map_find(map, key);

	return number ? *number : WORD_MAP_NEW;
}

static inline void word_map_deinit(struct word_map *map)
{
	map_deinit(map);
}

#endif
