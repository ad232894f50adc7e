/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables on disk, so that each file is looked at once: $XDG_CACHE_HOME/ctprof/unwind or
 * ~/.cache/ctprof/unwind, and a file there for each build-id.
 *
 *	struct unwind_cache *cache;
 *	err = unwind_cache_open(&cache);
 *	if (!err && !unwind_cache_read(cache, build_id, &table)) {
 *		make(&table);
 *		unwind_cache_write(cache, build_id, &table);
 *	}
 *
 * A wrong table gives wrong stacks, so nothing is believed: the directory and the file must be ours
 * and nobody else's to write, the file must be of this form and whole (unwind/table_file.h),
 * and each number in it in bounds. What is not is as if it were not there. A file appears whole, by
 * its name, or not at all, and two who write the same do no harm.
 *
 * All functions may be called by several threads at once.
 */
#ifndef UNWIND_CACHE_H
#define UNWIND_CACHE_H

#include "unwind/build.h"

struct unwind_cache;

/* Where it usually is. Makes the directory. A home that is not ours (sudo) has none of ours:
 * /var/cache/ctprof/unwind then for root. Fails when there is none that is safe, and says why. */
struct error *unwind_cache_open(struct unwind_cache **ret) MUST_CHECK;

/* The same at `path`, for tests. */
struct error *unwind_cache_open_at(const char *path, struct unwind_cache **ret) MUST_CHECK;

/* Takes NULL. */
void unwind_cache_close(struct unwind_cache *cache);
DEFINE_CLEANUP(unwind_cache_close, struct unwind_cache *)

/* False: there is none that can be believed; `ret` is untouched. Takes a NULL cache. */
bool unwind_cache_read(struct unwind_cache *cache, struct text build_id, struct unwind_table *ret);

/* Keep a table. What fails is not worth telling: it will be made again. Those that were not
 * read for the longest time are removed when all are more than `UNWIND_CACHE_BYTES`. Takes a NULL
 * cache. */
void unwind_cache_write(struct unwind_cache *cache, struct text build_id,
			const struct unwind_table *table);

#define UNWIND_CACHE_BYTES ((uint64_t)1 << 30)

#endif
