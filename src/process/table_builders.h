/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that build unwind tables, so that no other thread waits for files.
 *
 *	table_builders_ask(builders, pid, &mapping, &identity, owner);
 *	...
 *	while ((built = table_builders_take(builders))) {
 *		use(built->owner, &built->file);
 *		built_table_destroy(built);
 *	}
 *
 * A file may hang (NFS, FUSE), even when it is closed. A thread that hangs is left behind and
 * replaced, up to a bound; what the threads share lives as long as one of them. Files of a user
 * other than root and our own get half of the threads, and none while one of them hangs.
 */
#ifndef PROCESS_TABLE_BUILDERS_H
#define PROCESS_TABLE_BUILDERS_H

#include "base/memory_limit.h"
#include "process/mapped_file.h"

struct table_builders;

struct built_table {
	void *owner; /* the caller's */
	struct mapped_file file;
	/* The answer to table_builders_ask_parts(); `file` has the outcome. */
	struct {
		ARRAY(struct table_part);
	} parts;
};
void built_table_destroy(struct built_table *made);

/* `cache` may be NULL, and is the builders' from here on, also on failure. Files are kept in
 * `kept`, and `limit` is asked before one is read, which may be NULL, too. */
struct error *table_builders_create(struct unwind_cache *cache, struct kept *kept,
				    struct memory_limit *limit,
				    struct table_builders **ret) MUST_CHECK;

/* Files of a user are built in the order of requests. False: memory is short, or too many files of
 * the user wait. */
bool table_builders_ask(struct table_builders *builders, uint32_t pid,
			const struct profile_mapping *mapping, const struct words *identity,
			bool may_outline, void *owner);

/* Parts of the table of an outlined file that the process has (mapped_file_make_parts()), of which
 * `parts` says where they are. They come before files. The descriptor stays the caller's. */
bool table_builders_ask_parts(struct table_builders *builders, uint32_t pid, int fd,
			      const struct words *identity, uint64_t base,
			      const struct table_part *parts, size_t count, void *owner);

/* Close the descriptor of an outlined file of a user, which is the builders' from here on. */
void table_builders_close(struct table_builders *builders, uint32_t user, int fd);

/* Take a finished table; the caller owns it, and takes its descriptor, if it has one. NULL: there
 * is none. */
struct built_table *table_builders_take(struct table_builders *builders);

/* Wait until one is ready, or that time (CLOCK_MONOTONIC). */
void table_builders_wait(struct table_builders *builders, uint64_t until_ns);

/* Does not wait for the threads, which close all files. Takes NULL. */
void table_builders_destroy(struct table_builders *builders);
DEFINE_CLEANUP(table_builders_destroy, struct table_builders *)

#endif
