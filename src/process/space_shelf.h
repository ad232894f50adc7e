/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes have mapped where, in the memory of unwind tables: equal ones are one, as of a
 * process and the children that it forked.
 *
 *	struct shelf_space *space = space_shelf_put(shelf, pid, mappings);
 *	...                                              tell programs in the kernel of it
 *	space_shelf_release(shelf, space);               when they know of another one
 *	space_shelf_give_back(shelf, now);
 *
 * A walk that has begun may go on in a space that is released, and in its tables. So these are
 * given back some time later.
 */
#ifndef PROCESS_SPACE_SHELF_H
#define PROCESS_SPACE_SHELF_H

#include "process/address_space.h"
#include "process/table_shelf.h"

struct space_shelf;

/* Readable for all; written by the shelf. */
struct shelf_space {
	LIST_ENTRY(shelf_space) same; /* with the same hash */
	STAILQ_ENTRY(shelf_space) released;
	uint32_t place, count; /* in the store */
	uint32_t share;        /* of the user who is charged for them */
	uint64_t generation;
	bool waits;        /* for tables that are being made */
	bool has_unknown;  /* files that could not be told from others */
	bool has_pointers; /* some of it is walked by frame pointers */
	uint32_t users;
	uint64_t hash, released_ns;
	struct {
		ARRAY(struct shelf_table *);
	} tables; /* used; some several times */
};

/* Both are not owned. */
struct error *space_shelf_create(struct unwind_store *store, struct table_shelf *tables,
				 struct space_shelf **ret) MUST_CHECK;

/* The space of a process, with one user more. NULL: there is no room. */
struct shelf_space *space_shelf_put(struct space_shelf *shelf, uint32_t pid,
				    const struct address_space *mappings);

/* Takes NULL. */
void space_shelf_release(struct space_shelf *shelf, struct shelf_space *space);

/* What was released long enough before `now_ns` (CLOCK_MONOTONIC). */
void space_shelf_give_back(struct space_shelf *shelf, uint64_t now_ns);

/* Mappings that were too many, since the start. */
size_t space_shelf_too_many(const struct space_shelf *shelf);

/* All must be released. Takes NULL. */
void space_shelf_destroy(struct space_shelf *shelf);
DEFINE_CLEANUP(space_shelf_destroy, struct space_shelf *)

#endif
