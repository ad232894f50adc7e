/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A metric as its own program has it: in memory of its own, so that nobody who writes into what is
 * shared can lead the program astray.
 */
#ifndef LIBKSTATS_METRIC_H
#define LIBKSTATS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <kstats.h>

#include "kstats/shared_memory.h"

struct kstats {
	/* What recording needs: one line of the cache. */
	char *tables; /* of KSTATS_PART_OWN */
	size_t table_bytes;
	struct kstats_shared_header *header;
	ptrdiff_t rseq_offset; /* of a thread's area, from its pointer */
	unsigned cpus, frac_bits;
	/* The rest. */
	struct kstats *next;
	size_t size; /* of what is shared */
	int fd;      /* of the memfd, if the program has not closed it since */
	dev_t device;
	ino_t inode;
	char name[KSTATS_SHARED_NAME_MAX + 1];
} __attribute__((aligned(64)));

/* Did the C library register an area of each thread with the kernel, for restartable sequences? */
bool kstats_has_rseq(void);
/* Where each thread's area is, from its pointer. */
ptrdiff_t kstats_rseq_offset(void);

#endif
