/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of small numbers as text: which of a list of fields were measured.
 *
 * Digit k, in hexadecimal, holds numbers 4k to 4k+3, the lowest in its lowest bit: {0, 5} is "12".
 * Trailing zeros may be left out.
 */
#ifndef SNAPSHOT_BITS_H
#define SNAPSHOT_BITS_H

#include <stdint.h>

#include "base/text.h"

#define BITS_MAX   512
#define BITS_WORDS (BITS_MAX / 64)

struct bits {
	uint64_t words[BITS_WORDS];
};

static inline bool bits_has(const struct bits *bits, size_t number)
{
	return bits->words[number / 64] >> (number % 64) & 1;
}

static inline void bits_add(struct bits *bits, size_t number)
{
	bits->words[number / 64] |= (uint64_t)1 << (number % 64);
}

/* Write the digits for numbers below `count`; returns `buffer`. */
#define BITS_TEXT_MAX (BITS_MAX / 4 + 1)
char *bits_format(char *buffer, const struct bits *bits, size_t count);

/* False when it is not such a text, or holds numbers from BITS_MAX on. */
bool bits_parse(struct text text, struct bits *ret);

#endif
