/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one process has mapped where, in the words that walkers read (struct unwind_mapping).
 *
 *	struct process_space space = { 0 };
 *	for each executable mapping, by start:
 *		process_space_add(&space, &mapping)
 *	dropped = process_space_fit(&space, UNWIND_MAPPINGS_MAX);
 */
#ifndef PROCESS_SPACE_H
#define PROCESS_SPACE_H

#include "base/array.h"
#include "profile/profile.h"
#include "unwind/pool.h"

/* A piece of a file that is loaded (PT_LOAD). */
struct file_segment {
	uint64_t offset, bytes; /* in the file */
	uint64_t address;       /* of the file: p_vaddr */
	bool is_code;
};

/*
 * How far an address of the process is from that of the file: process - file, modulo 2^64. Of the
 * segment that the mapping is of, for linkers (lld, mold, gold) leave gaps between segments in
 * memory that are not there in the file; one that may be executed before others. The mapping may be
 * a part of it, or go beyond. `page` is in bytes. False: it is of no segment.
 */
bool file_bias(const struct file_segment *segments, size_t count, uint64_t page,
	       const struct profile_mapping *mapping, uint64_t *ret);

/* All zero is empty. */
struct process_space {
	ARRAY(struct unwind_mapping); /* by start, disjoint */
};

/* One that begins where the last one ends or beyond; it goes on with that if it says the same.
 * False without memory. */
bool process_space_add(struct process_space *space, const struct unwind_mapping *mapping);

/* At most so many: gaps between code that its process made are closed first, then those at the end
 * are dropped. Returns how many were. */
size_t process_space_fit(struct process_space *space, size_t most);

void process_space_deinit(struct process_space *space);

#endif
