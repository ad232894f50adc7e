/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cache of unwind tables on disk, so that each binary is analysed only once: in
 * $XDG_CACHE_HOME/ctprof/unwind or ~/.cache/ctprof/unwind, with a file for each build-id.
 *
 *	struct unwind_cache *cache;
 *	err = unwind_cache_open(&cache);
 *	if (!err && !unwind_cache_read(cache, build_id, &table)) {
 *		make(&table);
 *		unwind_cache_write(cache, build_id, &table);
 *	}
 *
 * A wrong table gives wrong stacks, so a file is verified: the directory and the file must belong
 * to this user and be writable by no other, the file must be complete and of this format
 * (unwind/table_file.h), and each number in it within bounds. Any other file is ignored. Files are
 * created atomically; concurrent writers of the same file are harmless.
 *
 * All functions may be called by several threads at once.
 */
#ifndef UNWIND_CACHE_H
#define UNWIND_CACHE_H

#include "unwind/build.h"

struct unwind_cache;

/* Open the cache in its usual directory, and create that. If the home directory belongs to another
 * user (sudo), root uses /var/cache/ctprof/unwind. Fails with a reason if there is no safe
 * directory. */
struct error *unwind_cache_open(struct unwind_cache **ret) MUST_CHECK;

/* The same at `path`, for tests. */
struct error *unwind_cache_open_at(const char *path, struct unwind_cache **ret) MUST_CHECK;

/* Takes NULL. */
void unwind_cache_close(struct unwind_cache *cache);
DEFINE_CLEANUP(unwind_cache_close, struct unwind_cache *)

/* False: there is no valid file; `ret` is untouched. Takes a NULL cache. */
bool unwind_cache_read(struct unwind_cache *cache, struct text build_id, struct unwind_table *ret);

/* Keep a table. What fails is not worth telling: it will be made again. Those that were not
 * read for the longest time are removed when all are more than `UNWIND_CACHE_BYTES`. Takes a NULL
 * cache. */
void unwind_cache_write(struct unwind_cache *cache, struct text build_id,
			const struct unwind_table *table);

#define UNWIND_CACHE_BYTES ((uint64_t)1 << 30)

#endif
