/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values that all recorders of kstats are given in tests: of all lengths, the same each time.
 *
 *	uint64_t state = KSTATS_VALUES_SEED;
 *	for (unsigned i = 0; i < KSTATS_VALUES; i++)
 *		record(kstats_value(&state));
 *
 * In the kernel as well, so without headers.
 */
#ifndef TESTS_KSTATS_VALUES_H
#define TESTS_KSTATS_VALUES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define KSTATS_VALUES      1000000
#define KSTATS_VALUES_SEED 1

/* A step of splitmix64, shifted by its own last bits. */
static inline uint64_t kstats_value(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return z >> (z & 63);
}

#endif
