/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/radix.h"

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)
#define PASSES     3 /* of 32 bits */

static uint32_t digit_of(const struct radix_key *key, unsigned pass)
{
	return key->key >> pass * DIGIT_BITS & (DIGITS - 1);
}

static void sort_by_digit(const struct radix_key *from, struct radix_key *to, size_t count,
			  unsigned pass, size_t *places)
{
	size_t place = 0;

	for (size_t digit = 0; digit < DIGITS; digit++) {
		const size_t keys = places[digit];

		places[digit] = place;
		place += keys;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit_of(&from[i], pass)]++] = from[i];
}

struct radix_key *radix_sort(struct radix_key *keys, struct radix_key *spare, size_t count)
{
	size_t places[PASSES][DIGITS] = { { 0 } }; /* how many keys have each digit */

	for (size_t i = 0; i < count; i++)
		for (unsigned pass = 0; pass < PASSES; pass++)
			places[pass][digit_of(&keys[i], pass)]++;
	for (unsigned pass = 0; pass < PASSES && count; pass++) {
		struct radix_key *from = keys;

		/* All may have the same. */
		if (places[pass][digit_of(&keys[0], pass)] == count)
			continue;
		sort_by_digit(from, spare, count, pass, places[pass]);
		keys = spare;
		spare = from;
	}
	return keys;
}
