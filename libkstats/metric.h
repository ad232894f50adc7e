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

#include "kstats/shared_counts.h"
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
	pid_t maker; /* the process that made it, and not one that it forked */
	char name[KSTATS_SHARED_NAME_MAX + 1];
} __attribute__((aligned(64)));

/* The metrics of this process: one function at a time changes or walks the list. */
void kstats_metrics_lock(void);
void kstats_metrics_unlock(void);
struct kstats *kstats_metrics_first(void);

struct kstats_now kstats_clock(void);
/* The memory of a metric, without its file if the program closed that. */
struct kstats_shared_region kstats_region_of(const struct kstats *key);

/* A metric that is deleted, if it is to be saved at exit. */
void kstats_save_deleted(const struct kstats *key);

/* The values of so many CPUs since the last reset, added up in `into`, which has all slots. -1 and
 * errno: EAGAIN. */
int kstats_read_cpus(const struct kstats *key, unsigned first, unsigned count,
		     struct kstats_shared_slot *into);

/* Did the C library register restartable sequences of each thread with the kernel? */
bool kstats_has_rseq(void);
/* The offset of each thread's rseq area from its thread pointer. */
ptrdiff_t kstats_rseq_offset(void);

#endif
