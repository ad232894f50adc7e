/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that BPF programs write and user space maps, in chunks that are added while the programs
 * run: arrays in an array of maps.
 */
#ifndef BPF_MEMORY_CHUNKS_H
#define BPF_MEMORY_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"
#include "base/memory_limit.h"

struct memory_chunks {
	struct {
		ARRAY(void *);
	} mapped;
	size_t bytes; /* of one, as it is mapped */
	uint32_t entries, entry_bytes;
	int outer;                  /* the map of them; borrowed */
	uint32_t first;             /* where they begin in it */
	int kept;                   /* the map of the first one; -1: there is none */
	struct memory_limit *limit; /* that is asked before more are added; borrowed. NULL: none */
};

void memory_chunks_init(struct memory_chunks *chunks, int outer, uint32_t first, uint32_t entries,
			uint32_t entry_bytes);

/* Add `count` chunks of zeros, or fewer if it fails, or by the limit; `name` is what bpftool shows.
 * Each change of the outer map waits until no program uses the old one, about 20 ms, so add several
 * at once. */
struct error *memory_chunks_add(struct memory_chunks *chunks, const char *name,
				uint32_t count) MUST_CHECK;

/* Give back all chunks but the first `count`. Nothing may refer to the others any more. */
void memory_chunks_drop(struct memory_chunks *chunks, size_t count);

/* Wait until every program that is running now has ended. There must be a chunk. */
struct error *memory_chunks_wait(const struct memory_chunks *chunks) MUST_CHECK;

void memory_chunks_deinit(struct memory_chunks *chunks);

#endif
