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

#endif
