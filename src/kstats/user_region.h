/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory in which a program counts with libkstats (shared_memory.h), as others see it.
 *
 * It belongs to somebody else, who may be hostile and change it at any time. So it is mapped only
 * once it is sealed against shrinking, no page of it can fail to be there, and what says how large
 * it is was copied and agrees with how large it is. What it counts may then be nonsense, but we
 * come to no harm.
 */
#ifndef KSTATS_USER_REGION_H
#define KSTATS_USER_REGION_H

#include "kstats/recorder.h"
#include "kstats/shared_memory.h"

struct kstats_region {
	int fd;                             /* owned */
	struct kstats_shared_header *bytes; /* all of it; may change at any time */
	struct kstats_shared_header header; /* a copy that was checked; name ends with NUL */
	size_t size;
};

/* Map the file behind `fd`, which is taken over, also by an error; to be written to as well where
 * `writable`. The error's code is EPROTO when this is not what libkstats makes. */
struct error *kstats_region_map(int fd, bool writable, struct kstats_region *ret) MUST_CHECK;
void kstats_region_unmap(struct kstats_region *region);

bool kstats_region_is_active(const struct kstats_region *region);

/* What was counted since the last reset, by CPU, into `table`, which is empty and has the region's
 * frac_bits. */
struct error *kstats_region_read(const struct kstats_region *region,
				 struct kstats_table *table) MUST_CHECK;
/* Of all values since the last reset. */
struct error *kstats_region_count(const struct kstats_region *region, uint64_t *ret) MUST_CHECK;

/* The region was mapped to be written to. */
struct error *kstats_region_command(const struct kstats_region *region,
				    enum kstats_command command) MUST_CHECK;

#endif
