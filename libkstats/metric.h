/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A metric in its own program. These values are in private memory: the program trusts no address
 * or size in shared memory, which other processes may overwrite.
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
	/* The members that kstats_record() reads fit in one cache line. */
	char *tables; /* of KSTATS_PART_OWN */
	size_t table_bytes;
	struct kstats_shared_header *header;
	ptrdiff_t rseq_offset; /* from the thread pointer to the thread's rseq area */
	unsigned cpus, frac_bits;
	/* The rest. */
	struct kstats *next;
	size_t size; /* of the shared memory */
	int fd;      /* of the memfd, unless the program has closed it since */
	dev_t device;
	ino_t inode;
	char name[KSTATS_SHARED_NAME_MAX + 1];
} __attribute__((aligned(64)));

/* Did the C library register restartable sequences of each thread with the kernel? */
bool kstats_has_rseq(void);
/* The offset of each thread's rseq area from its thread pointer. */
ptrdiff_t kstats_rseq_offset(void);

#endif
