/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Find metrics of libkstats among the mappings of a process.
 *
 * A metric is a memfd that a process has mapped. (Only the process can map a file, while others can
 * send it a descriptor.) It is opened by the mapping, which needs CAP_CHECKPOINT_RESTORE, or by the
 * descriptor that libkstats keeps of it.
 *
 * All these functions query the kernel about another process and may hang, for example while
 * another thread holds the lock of its memory map.
 */
#ifndef KSTATS_USER_FOUND_H
#define KSTATS_USER_FOUND_H

#include <stdio.h>
#include <sys/types.h>

#include "kstats/user_region.h"

/* A metric that a process has mapped, by the kernel's word. */
struct user_found {
	uint32_t pid;
	uint64_t start, end, inode;
	dev_t device;
	char name[KSTATS_SHARED_NAME_MAX + 1];
};

/* `visit` ends the search by false. */
typedef bool user_found_visit(void *context, const struct user_found *found);

/* Each metric that a process has mapped, until the calling thread has used `time_ns` of a CPU for
 * it (0: no limit). Returns 0, the errno of its maps, or ETIME. */
int user_found_each(uint32_t pid, uint64_t time_ns, user_found_visit *visit, void *context);
/* The same of its maps as they are read from a file. */
int user_found_read(FILE *maps, uint32_t pid, uint64_t time_ns, user_found_visit *visit,
		    void *context);

struct error *user_found_open(const struct user_found *found, bool writable,
			      struct kstats_region *ret) MUST_CHECK;
/* Why one cannot be opened. */
struct error *user_found_refused(const struct user_found *found, int failed) MUST_CHECK;

#endif
