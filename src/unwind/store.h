/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes unwind tables to the memory that walkers read (unwind/pool.h): locations, rules of all
 * tables, tables.
 *
 *	struct unwind_store *store;
 *	err = unwind_store_create(&(struct unwind_store_options){ .max_bytes = ... }, &store);
 *	err = unwind_store_put(store, &table, &location);
 *	mapping.table = location;
 *	mapping.delta = bias + table.base;
 *	...
 *	unwind_store_remove(store, location);
 *
 * The creator of the store provides chunks: maps that BPF programs read, or plain memory. A walker
 * that reads a location while it is freed and reused reads garbage within the chunk; so free only
 * what no walker can still refer to.
 *
 * Not thread-safe.
 */
#ifndef UNWIND_STORE_H
#define UNWIND_STORE_H

#include "unwind/build.h"

struct unwind_store;

struct unwind_store_options {
	size_t max_bytes;   /* of all chunks; 0: UNWIND_CHUNKS_MAX of them */
	uint32_t max_rules; /* 0: UNWIND_RULES_MAX */
	/* Add a chunk of UNWIND_CHUNK words and 64 bytes more, zeroed, which lives as long as the
	 * store. NULL: calloc. */
	struct error *(*add_chunk)(void *context, uint32_t number, uint32_t **ret);
	/* Memory for UNWIND_RULES_MAX rules. NULL: allocate it. */
	struct unwind_rule *rules;
	void *context;
};

struct error *unwind_store_create(const struct unwind_store_options *options,
				  struct unwind_store **ret) MUST_CHECK;
/* Takes NULL. */
void unwind_store_destroy(struct unwind_store *store);
DEFINE_CLEANUP(unwind_store_destroy, struct unwind_store *)

/* Take words, zeroed, in one chunk, at a location that is a multiple of 8. Fails without effect if
 * there is no room. */
struct error *unwind_store_take(struct unwind_store *store, uint32_t words,
				uint32_t *ret_location) MUST_CHECK;
void unwind_store_give_back(struct unwind_store *store, uint32_t location, uint32_t words);

/* The words at a location; NULL: it is 0, or in no chunk. */
uint32_t *unwind_store_at(const struct unwind_store *store, uint32_t location);

/* The number of a rule, the same for equal ones. When there is no room for another one it is
 * UNWIND_NUMBER_OTHER, and counted. */
uint32_t unwind_store_rule(struct unwind_store *store, const struct unwind_rule *rule);

/* Rule of a number; NULL: there is none. */
const struct unwind_rule *unwind_store_rule_at(const struct unwind_store *store, uint32_t number);

/* A table with its blocks. On failure nothing of it stays. */
struct error *unwind_store_put(struct unwind_store *store, const struct unwind_table *table,
			       uint32_t *ret_location) MUST_CHECK;
void unwind_store_remove(struct unwind_store *store, uint32_t location);

/* --- tables of which parts are made when a walk needs them --- */

/* Has a walk needed blocks of the table that are not made? Up to `most` adjacent ones that it has:
 * the first at or behind number `*ret_first`, and how many. False: there are none. */
bool unwind_store_wanted(const struct unwind_store *store, uint32_t location, uint32_t most,
			 uint32_t *ret_first, uint32_t *ret_count);

/* Mark the block that has the address of the table as needed, unless it is made. */
void unwind_store_want(const struct unwind_store *store, uint32_t location, uint64_t address);

/* Put blocks of a part into the table, from number `first` on: those that are not made yet. On
 * failure none of them. */
struct error *unwind_store_fill(struct unwind_store *store, uint32_t location, uint32_t first,
				const struct unwind_table *part) MUST_CHECK;

/* So many blocks will not be made: nothing is known of their code. */
void unwind_store_give_up(struct unwind_store *store, uint32_t location, uint32_t first,
			  uint32_t count);

struct unwind_store_use {
	size_t chunk_bytes; /* that chunks take */
	size_t used_bytes;  /* of these */
	size_t rules, max_rules;
	size_t rules_refused; /* times that one found no room */
};
struct unwind_store_use unwind_store_use(const struct unwind_store *store);

#endif
