/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event on one CPU, and the memory that the kernel writes its records into
 * (perf_event_open(2), "MMAP layout").
 */
#ifndef PROCESS_PERF_RING_H
#define PROCESS_PERF_RING_H

#include <linux/perf_event.h>

#include "base/text.h"

struct perf_ring {
	int fd;
	void *memory; /* the kernel's page, then the records */
	size_t bytes; /* of the records, a power of two */
};

/* More room for the records of a CPU is none. */
#define PERF_RING_BYTES_MAX ((size_t)64 << 20)

/*
 * Open the event on this CPU, for all processes. `bytes` is rounded up to a power of two; where
 * that cannot be had, it is halved down to a page. Returns 0 or an errno: ENODEV of a CPU that is
 * offline. `ret` is then as after closing.
 */
int perf_ring_open(const struct perf_event_attr *attr, int cpu, size_t bytes,
		   struct perf_ring *ret);

/* Takes one that did not open, or was closed. */
void perf_ring_close(struct perf_ring *ring);

/*
 * Copy all records that are in it now, one behind the other, to `ret`, which has room for
 * `ring->bytes`, and give the kernel their room back. Returns how many bytes they are.
 */
size_t perf_ring_take(struct perf_ring *ring, char *ret);

/* What is between the two positions of a ring of `bytes` bytes, without what it wraps around;
 * a writer that overtook its reader leaves the newest `bytes`. Returns how many bytes they are. */
size_t perf_ring_copy(const char *ring, size_t bytes, uint64_t tail, uint64_t head, char *ret);

#endif
