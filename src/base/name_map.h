/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A map from texts, of which it keeps copies, to numbers: for looking up by name what two snapshots
 * have, whose names are interned apart.
 */
#ifndef BASE_NAME_MAP_H
#define BASE_NAME_MAP_H

#include "base/names.h"
#include "base/text.h"
#include "base/word_map.h"

struct name_map {
	struct arena arena; /* of copies of the texts */
	struct names names;
	struct word_map numbers;
};

void name_map_init(struct name_map *map);

/* A text that is there already keeps its number. False without memory. */
bool name_map_put(struct name_map *map, struct text text, uint32_t number);

/* The number, or WORD_MAP_NEW. */
uint32_t name_map_find(const struct name_map *map, struct text text);

void name_map_deinit(struct name_map *map);

#endif
