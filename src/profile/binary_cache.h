/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps binaries open between readings, for profiles that are read repeatedly.
 *
 *	struct binary_cache *cache = binary_cache_create(BINARY_CACHE_BYTES);
 *	binary_cache_forget_old(cache);                         in each reading
 *	if (!binary_cache_take(cache, mapping, &opened))
 *		open it;
 *	...                                                     look up addresses
 *	binary_cache_put(cache, mapping, &opened);
 *	binary_cache_destroy(cache);
 *
 * On a busy host, each reading has a few new addresses in the same programs. Without the cache,
 * most of the cost of a reading is to read and sort all functions of a large program for one
 * address.
 *
 * The key is the build-id, so only files that no other user can have written may be put there
 * (profile/symbol_cache.h). The caller owns a binary that it has taken, so a look-up that hangs
 * does not block others. Memory and descriptors are bounded: the least recently used binary is
 * closed first. A binary is closed after a minute without use, since an open file keeps its file
 * system mounted, and ten minutes after it was opened, since a debug file may have been installed
 * meanwhile.
 */
#ifndef PROFILE_BINARY_CACHE_H
#define PROFILE_BINARY_CACHE_H

#include "profile/symbol_files.h"

#define BINARY_CACHE_BYTES ((size_t)24 << 20)
/* Each has up to two descriptors. */
#define BINARY_CACHE_FILES 64

struct binary_cache;

/* NULL: no memory. */
struct binary_cache *binary_cache_create(size_t bytes_most);
/* Takes NULL. */
void binary_cache_destroy(struct binary_cache *cache);

/* Close binaries that are unused for too long, or that were opened too long ago. */
void binary_cache_forget_old(struct binary_cache *cache);

/* Take the binary with the build-id of the mapping, which must have one, out of the cache. `*ret`
 * must be closed. False: the cache does not have it. The file may have changed since it was opened
 * (binary_is_current()). Call binary_restart() before searching in it. */
bool binary_cache_take(struct binary_cache *cache, const struct profile_mapping *mapping,
		       struct symbol_binary *ret);

/* Give a binary to the cache, which may close it at once. Afterwards `*binary` is closed. */
void binary_cache_put(struct binary_cache *cache, const struct profile_mapping *mapping,
		      struct symbol_binary *binary);

/* The memory of the binaries in the cache, and their number. */
size_t binary_cache_bytes(const struct binary_cache *cache);
size_t binary_cache_count(const struct binary_cache *cache);

#endif
