/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The values that every recorder of kstats is given, so that what each made of them can be
 * compared: kstats_value(0) to kstats_value(KSTATS_VALUE_COUNT - 1), of all lengths from 0 to 64
 * bits. In any order, by any thread: each is worked out from its number (splitmix64, Steele and
 * others, 2014).
 *
 * Freestanding: for kernel modules, BPF programs and user space.
 */
#ifndef TESTS_KSTATS_VALUES_H
#define TESTS_KSTATS_VALUES_H

#define KSTATS_VALUE_COUNT 1000000
#define KSTATS_VALUE_SEED  0x6b73746174733163ull

static inline __attribute__((always_inline)) unsigned long long kstats_value(
	unsigned long long number)
{
	unsigned long long mixed = KSTATS_VALUE_SEED + (number + 1) * 0x9e3779b97f4a7c15ull;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ull;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebull;
	mixed ^= mixed >> 31;
	return mixed >> (mixed & 63);
}

#endif
