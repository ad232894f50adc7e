/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets of CPUs as the kernel prints them, "0-3,8" (bitmap_print_to_pagebuf, lib/bitmap.c).
 */
#ifndef OS_CPULIST_H
#define OS_CPULIST_H

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

struct cpus {
	ARRAY(uint32_t);
};
static inline void cpus_deinit_guard(struct cpus *cpus)
{
	array_deinit(cpus);
}

/* More CPUs than any kernel has; a number beyond it is not a CPU. */
#define CPU_MAX 262144u

/*
 * Parse into `ret`, ascending and without repetition; what it held is replaced. Empty pieces are
 * passed over. False for anything that is not a list ("3-1", "x", CPUs above CPU_MAX), or without
 * memory.
 */
bool cpulist_parse(struct text list, struct cpus *ret);

/* The CPUs whose bits are set, as sched_getaffinity(2) fills a mask of longs. */
bool cpus_from_mask(const unsigned long *mask, size_t bytes, struct cpus *ret);

/* The list as the kernel prints it; the caller frees it. NULL: no memory. `cpus` ascend without
 * repetition. */
char *cpulist_text(const struct cpus *cpus);

/* The CPUs that this host may ever have. Their numbers may have gaps: maps with a value for each
 * CPU have `count` values, in this order. */
struct error *cpus_list_possible(struct cpus *ret) MUST_CHECK;

/* One more than the largest possible CPU number of this host; 0: unknown. */
uint32_t cpus_possible(void);

#endif
