/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/name_map.h"

#include <stdint.h>

static struct words name_words(const struct name *name)
{
	return (struct words){ { (uintptr_t)name } };
}

void name_map_init(struct name_map *map)
{
	*map = (struct name_map){ 0 };
	arena_init(&map->arena, SIZE_MAX / 2);
	names_init(&map->names, &map->arena);
}

bool name_map_put(struct name_map *map, struct text text, uint32_t number)
{
	const struct name *name = names_intern(&map->names, text.bytes, text.length);
	uint32_t *place = name ? word_map_at(&map->numbers, name_words(name)) : NULL;

	if (place && *place == WORD_MAP_NEW)
		*place = number;
	return place != NULL;
}

uint32_t name_map_find(const struct name_map *map, struct text text)
{
	const struct name *name = names_find(&map->names, text.bytes, text.length);

	return name ? word_map_find(&map->numbers, name_words(name)) : WORD_MAP_NEW;
}

void name_map_deinit(struct name_map *map)
{
	word_map_deinit(&map->numbers);
	names_deinit(&map->names);
	arena_deinit(&map->arena);
}
