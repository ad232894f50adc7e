/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growable array of any type, in the caller's storage.
 *
 *	struct tids { ARRAY(uint32_t); } tids = { 0 };
 *	if (!array_push(&tids, tid))
 *		return &error_no_memory;
 *	for (size_t i = 0; i < tids.count; i++)
 *		visit(tids.items[i]);
 *	array_deinit(&tids);
 *
 * All zero is an empty array. Items move when it grows: keep indices, not pointers.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY(type)                 \
	struct {                    \
		type *items;        \
		size_t count, room; \
	}

#define array_length(fixed) (sizeof(fixed) / sizeof((fixed)[0]))

/* Make room for `extra` more items. False when out of memory: the array is as it was. */
#define array_reserve(array, extra)                                                       \
	array_reserve_((void **)&(array)->items, &(array)->room, (array)->count, (extra), \
		       sizeof(*(array)->items))

/* Append one item. False when out of memory. */
#define array_push(array, ...) \
	(array_reserve(array, 1) ? ((array)->items[(array)->count++] = (__VA_ARGS__), true) : false)

/* Empty it, to be filled again: it keeps its memory, unless what it held was less than a quarter of
 * that. So the memory of one that is filled again and again follows what it holds. */
#define array_clear(array)                                          \
	((array)->room > 1024 && (array)->count < (array)->room / 4 \
		 ? (free((array)->items), (array)->items = NULL,    \
		    (array)->count = (array)->room = 0)             \
		 : ((array)->count = 0))

/* Give back the room that is not used, of one that will not grow. */
#define array_fit(array)                                                     \
	array_fit_((void **)&(array)->items, &(array)->room, (array)->count, \
		   sizeof(*(array)->items))

/* Remove the first `number` items. */
#define array_drop_first(array, number)                                                 \
	((array)->count -= (number), memmove((array)->items, (array)->items + (number), \
					     (array)->count * sizeof(*(array)->items)))

#define array_deinit(array) \
	(free((array)->items), (array)->items = NULL, (array)->count = (array)->room = 0)

static inline bool array_reserve_(void **items, size_t *room, size_t count, size_t extra,
				  size_t item_size)
{
	size_t want;
	void *moved;

	if (extra <= *room - count)
		return true;
	if (__builtin_add_overflow(count, extra, &want))
		return false;
	if (want < *room + *room / 2)
		want = *room + *room / 2;
	if (want < 8)
		want = 8;
	moved = reallocarray(*items, want, item_size);
	if (!moved)
		return false;
	*items = moved;
	*room = want;
	return true;
}

static inline void array_fit_(void **items, size_t *room, size_t count, size_t item_size)
{
	void *moved = count ? reallocarray(*items, count, item_size) : NULL;

	if (moved) {
		*items = moved;
		*room = count;
	}
}

/* For qsort and bsearch. */
static inline int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sort, and drop repetitions: returns how many are left. */
static inline size_t sort_unique_u32(uint32_t *items, size_t count)
{
	size_t kept = 0;

	if (!count)
		return 0;
	qsort(items, count, sizeof(*items), compare_u32);
	for (size_t i = 1; i < count; i++)
		if (items[i] != items[kept])
			items[++kept] = items[i];
	return kept + 1;
}

#endif
