/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums of what hostile files hold: they stop at the largest number and do not start again at zero.
 */
#ifndef BASE_SUM_H
#define BASE_SUM_H

#include <stdint.h>

static inline void sum_add(uint64_t *total, uint64_t more)
{
	if (__builtin_add_overflow(*total, more, total))
		*total = UINT64_MAX;
}

/* value * times / parts, to the nearest; `parts` is not 0. */
static inline uint64_t sum_scaled(uint64_t value, uint64_t times, uint64_t parts)
{
	const unsigned __int128 all = (unsigned __int128)value * times + parts / 2;

	return all / parts > UINT64_MAX ? UINT64_MAX : (uint64_t)(all / parts);
}

#endif
