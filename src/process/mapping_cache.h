/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings of processes as walkers read them (struct unwind_mapping), in the unwind memory.
 * Equal ones are stored once: those of a process and of the children that it forked.
 *
 *	struct cached_mappings *mappings = mapping_cache_put(cache, pid, space);
 *	...                                              publish them
 *	mapping_cache_release(cache, mappings);          when others are published
 *	mapping_cache_give_back(cache, now);
 *
 * A walk that has begun may go on in mappings that are released, and in their tables. So these are
 * given back some time later.
 */
#ifndef PROCESS_MAPPING_CACHE_H
#define PROCESS_MAPPING_CACHE_H

#include "process/address_space.h"
#include "process/recorded_mappings.h"

struct mapping_cache;

/* Readable for all; written by the cache. */
struct cached_mappings {
	STAILQ_ENTRY(cached_mappings) released;
	uint32_t location, count; /* in the store */
	uint32_t share;           /* of the user who is charged for them */
	uint64_t generation;
	bool waits;        /* for tables that are being built */
	bool has_unknown;  /* files that could not be identified */
	bool has_pointers; /* some of it is walked by frame pointers */
	uint32_t users;
	uint64_t hash, released_ns;
	struct {
		ARRAY(struct cached_table *);
	} tables; /* used; some several times */
};

/* Both are not owned. */
struct error *mapping_cache_create(struct unwind_store *store, struct unwind_table_cache *tables,
				   struct mapping_cache **ret) MUST_CHECK;

/* From now on, make files known whose tables are there. Not owned. */
void mapping_cache_tell(struct mapping_cache *cache, struct recorded_mappings *recorded);

/* Add a user to the mappings of a process. NULL: there is no room. */
struct cached_mappings *mapping_cache_put(struct mapping_cache *cache, uint32_t pid,
					  const struct address_space *mappings);

/* Takes NULL. */
void mapping_cache_release(struct mapping_cache *cache, struct cached_mappings *space);

/* Give back what was released long enough before `now_ns` (CLOCK_MONOTONIC). */
void mapping_cache_give_back(struct mapping_cache *cache, uint64_t now_ns);

/* Mappings that were dropped because a process had too many. */
size_t mapping_cache_too_many(const struct mapping_cache *cache);

/* All must be released. Takes NULL. */
void mapping_cache_destroy(struct mapping_cache *cache);
DEFINE_CLEANUP(mapping_cache_destroy, struct mapping_cache *)

/* --- the words of one process --- */

/* All zero is empty. */
struct walk_mappings {
	ARRAY(struct unwind_mapping); /* by start, disjoint */
};

/* Append one that begins where the last one ends or later; it extends the last one if both have
 * the same table. False without memory. */
bool walk_mappings_add(struct walk_mappings *mappings, const struct unwind_mapping *mapping);

/* Reduce them to `most`: close gaps between memory with code that the process made, then drop those
 * at the end. Returns how many were dropped. */
size_t walk_mappings_fit(struct walk_mappings *mappings, size_t most);

#endif
