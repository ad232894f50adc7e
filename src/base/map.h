/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash map from keys of any type to values of any type, in the caller's storage.
 *
 *	struct processes { MAP(uint32_t, struct process *); } by_pid = { 0 };
 *	bool is_new;
 *
 *	process = map_add(&by_pid, pid, &is_new);	// a struct process **
 *	if (!process)
 *		return &error_no_memory;
 *	if (is_new)
 *		*process = open_process(pid);
 *	process = map_find(&by_pid, pid);		// NULL: it is not there
 *	map_for_each(&by_pid, slot)
 *		visit(slot->key, *slot->value);
 *	map_remove(&by_pid, pid);
 *	map_deinit(&by_pid);
 *
 * Keys are compared byte by byte, so a struct must not have padding. A key of type struct text is
 * compared by the bytes that it points at, which stay the caller's and must live as long as the key
 * is in the map.
 *
 * All zero is an empty map. Slots move when the map grows and when a key is removed: no address of
 * a value stays valid beyond the next map_add() or map_remove(). At most four slots in five are in
 * use (open addressing with linear probing), so a map of n keys takes at most 5/2 n slots. The hash
 * has a seed that is new in every process: what a file contains cannot choose keys that collide.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/text.h"

/* `tag` is the hash of the key; 0: the slot is free. */
#define MAP(key_type, value_type)                                                                \
	struct {                                                                                 \
		struct {                                                                         \
			key_type key;                                                            \
			value_type value;                                                        \
			uint32_t tag;                                                            \
		} * slots;                                                                       \
		size_t count, room;                                                              \
		size_t most; /* keys that the map may have; 0: as many as memory has room for */ \
	}

/* The address of the value of a key, or NULL. */
#define map_find(map, ...)                                                               \
	({                                                                               \
		__typeof__((map)->slots) map_found_ = map_find_slot(map, (__VA_ARGS__)); \
		map_found_ ? &map_found_->value : NULL;                                  \
	})

/* The same, as the slot. */
#define map_find_slot(map, key_)                                                          \
	({                                                                                \
		__typeof__((map)->slots->key) map_key_ = (key_);                          \
		__typeof__((map)->slots) map_slot_ =                                      \
			map_find_(MAP_SHAPE_(map), (map)->slots, (map)->room, &map_key_); \
		map_slot_;                                                                \
	})

/* The same, of a new value that is all zero where the key is not there yet; `is_new` may be NULL.
 * Returns NULL without memory, or where the map has `most` keys already. */
#define map_add(map, key_, is_new)                                                     \
	({                                                                             \
		__typeof__((map)->slots) map_added_ = map_add_slot(map, key_, is_new); \
		map_added_ ? &map_added_->value : NULL;                                \
	})

/* The same, as the slot, whose key may be replaced by an equal one, as the copy of a text. */
#define map_add_slot(map, key_, is_new)                                                  \
	({                                                                               \
		__typeof__((map)->slots->key) map_key_ = (key_);                         \
		__typeof__((map)->slots) map_slot_ =                                     \
			map_add_(MAP_SHAPE_(map), (void **)&(map)->slots, &(map)->count, \
				 &(map)->room, (map)->most, &map_key_, is_new);          \
		map_slot_;                                                               \
	})

/* Returns whether the key was there. */
#define map_remove(map, ...)                                                                       \
	({                                                                                         \
		__typeof__((map)->slots->key) map_key_ = (__VA_ARGS__);                            \
		map_remove_(MAP_SHAPE_(map), (map)->slots, &(map)->count, (map)->room, &map_key_); \
	})

/* Make room for `count` keys at once. False without memory; the map is as it was. */
#define map_reserve(map, count) \
	map_reserve_(MAP_SHAPE_(map), (void **)&(map)->slots, &(map)->room, count)

/* Visit all slots, in no order. Nothing may be added or removed meanwhile. */
#define map_for_each(map, slot)                                  \
	for (__typeof__((map)->slots) slot = (map)->slots;       \
	     slot && slot != (map)->slots + (map)->room; slot++) \
		if (slot->tag)

#define map_deinit(map) (free((map)->slots), (map)->slots = NULL, (map)->count = (map)->room = 0)

/* --- what the macros call --- */

struct map_shape {
	uint32_t slot_bytes, tag_offset, key_bytes;
	bool is_text;
};

#define MAP_SHAPE_(map)                                   \
	((struct map_shape){                              \
		sizeof(*(map)->slots),                    \
		offsetof(__typeof__(*(map)->slots), tag), \
		sizeof((map)->slots->key),                \
		_Generic((map)->slots->key, struct text   \
			 : true, default                  \
			 : false),                        \
	})

void *map_find_(struct map_shape shape, const void *slots, size_t room, const void *key);
void *map_add_(struct map_shape shape, void **slots, size_t *count, size_t *room, size_t most,
	       const void *key, bool *is_new);
bool map_remove_(struct map_shape shape, void *slots, size_t *count, size_t room, const void *key);
bool map_reserve_(struct map_shape shape, void **slots, size_t *room, size_t count);

#endif
