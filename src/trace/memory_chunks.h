/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that BPF programs write and user space maps, in chunks that are added while the programs
 * run: arrays in an array of maps.
 */
#ifndef TRACE_MEMORY_CHUNKS_H
#define TRACE_MEMORY_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct memory_chunks {
	struct {
		ARRAY(void *);
	} mapped;
	size_t bytes; /* of one, as it is mapped */
	uint32_t entries, entry_bytes;
	int outer; /* the map of them; not ours */
};

void memory_chunks_init(struct memory_chunks *chunks, int outer, uint32_t entries,
			uint32_t entry_bytes);

/* One more, of zeros; `name` is what bpftool shows. */
struct error *memory_chunks_add(struct memory_chunks *chunks, const char *name) MUST_CHECK;

void memory_chunks_deinit(struct memory_chunks *chunks);

#endif
