/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The map from process numbers to their mappings (struct unwind_process) that the programs in the
 * kernel read. They write there, too: a fork copies what is published
 * of the parent, an exec removes it, and a walk in a new program records it (mapping_record.h).
 */
#ifndef PROCESS_PUBLISHED_H
#define PROCESS_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/recorded_mappings.h"

struct published {
	int map;                            /* not owned */
	struct recorded_mappings *recorded; /* whose slots entries may have; NULL: none */
	struct published_sweep {
		bool goes_on, has_key;
		uint32_t key; /* the next one */
		unsigned passes;
		size_t count; /* of keys in this pass */
		bool has_removed;
	} sweep;
};

/* Publish a process whose tables are complete in the pool. False: there is no room, and the
 * programs do not see the process. */
bool publish(const struct published *published, uint32_t pid, const struct unwind_process *process);

/* Has the program in the kernel recorded this process (process/recorded_mappings.h)? */
bool published_is_recorded(const struct published *published, uint32_t pid,
			   struct unwind_process *ret);

/* Also of a process of which nothing is published. */
void unpublish(const struct published *published, uint32_t pid);

/* Begin to remove stale entries: published before some events were lost, or copied from such. */
void published_sweep_begin(struct published *published);

/* Go on with it, for a bounded time, until no entry is stale: is_stale() says so. */
void published_sweep(struct published *published,
		     bool (*is_stale)(void *context, uint32_t pid,
				      const struct unwind_process *there),
		     void *context);

#endif
