/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that make unwind tables, so that nobody else waits for files.
 *
 *	table_makers_ask(makers, pid, &mapping, &identity, number);
 *	...
 *	while ((made = table_makers_take(makers))) {
 *		use(made->number, &made->file);
 *		made_table_destroy(made);
 *	}
 *
 * A file may hang (NFS, FUSE). A thread that does is left behind, and another one takes its place,
 * up to a bound; what they share lives as long as one of them. Files of one user, other than root
 * and our own, have half of the threads, and none while one of them hangs.
 */
#ifndef PROCESS_TABLE_MAKERS_H
#define PROCESS_TABLE_MAKERS_H

#include "process/mapped_file.h"

struct table_makers;

/* What came out. */
struct made_table {
	uint32_t number; /* the caller's */
	struct mapped_file file;
};
void made_table_destroy(struct made_table *made);

/* `cache` may be NULL, and is the makers' from here on, also on failure. Files are kept in `kept`,
 * which may be NULL. */
struct error *table_makers_create(struct unwind_cache *cache, struct kept *kept,
				  struct table_makers **ret) MUST_CHECK;

/* What a user's process asks for first is made first. False without memory, or when too many files
 * of the user wait. */
bool table_makers_ask(struct table_makers *makers, uint32_t pid,
		      const struct profile_mapping *mapping, const struct words *identity,
		      uint32_t number);

/* One that is ready, which becomes the caller's; NULL: none. */
struct made_table *table_makers_take(struct table_makers *makers);

/* Until one is ready, or that time (CLOCK_MONOTONIC). */
void table_makers_wait(struct table_makers *makers, uint64_t until_ns);

/* Waits for nobody. Takes NULL. */
void table_makers_destroy(struct table_makers *makers);
DEFINE_CLEANUP(table_makers_destroy, struct table_makers *)

#endif
