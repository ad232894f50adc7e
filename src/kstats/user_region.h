/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the shared memory of libkstats (shared_memory.h) of another program.
 *
 * The program may be hostile and change the memory at any time. So it is mapped only if it is
 * sealed against shrinking and no access to it can fault, and if a copy of its header agrees with
 * its size. Then its counts may be wrong, but reading them is safe.
 */
#ifndef KSTATS_USER_REGION_H
#define KSTATS_USER_REGION_H

#include "kstats/distribution.h"
#include "kstats/recorder.h"
#include "kstats/shared_memory.h"

struct kstats_region {
	int fd;                             /* owned */
	struct kstats_shared_header *bytes; /* all of it; may change at any time */
	struct kstats_shared_header header; /* a copy that was checked; name ends with NUL */
	size_t size;
	unsigned cpus;      /* number of possible CPUs */
	uint64_t looked_at; /* bytes of tables that were read so far */
};

/* The number of bits in the kernel's CPU masks (sched_getaffinity(2)). libkstats makes this many
 * tables if it cannot find the number of possible CPUs, in a container without /sys. */
unsigned kstats_region_mask_cpus(void);

/* Map the file behind `fd`, which is taken over, also by an error; to be written to as well where
 * `writable`. The error's code is EPROTO when this is not what libkstats makes, and E2BIG when it
 * has tables for more CPUs than this host may have, and not kstats_region_mask_cpus(). */
struct error *kstats_region_map(int fd, bool writable, struct kstats_region *ret) MUST_CHECK;
void kstats_region_unmap(struct kstats_region *region);

bool kstats_region_is_active(const struct kstats_region *region);

/*
 * Read the counts since the last reset, by CPU, into `table`, which is empty and has the region's
 * frac_bits: at most `rows` rows.
 *
 * If a reset intervenes, read again, a few times at most. The code is EAGAIN for a metric that is
 * being reset continuously, and ENOSPC for one with more rows.
 */
struct error *kstats_region_read(struct kstats_region *region, size_t rows,
				 struct kstats_table *table) MUST_CHECK;
/* The same of all CPUs together. To be cleared (kstats_distribution_clear). */
struct error *kstats_region_add_up(struct kstats_region *region,
				   struct kstats_distribution *ret) MUST_CHECK;
/* How long it has recorded; all 0: unknown. */
struct kstats_recorded_time kstats_region_recorded(const struct kstats_region *region);

/* The region was mapped to be written to. */
struct error *kstats_region_command(const struct kstats_region *region,
				    enum kstats_command command) MUST_CHECK;

#endif
