/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps binaries open from one profile to the next, for those that are read repeatedly.
 *
 *	struct binary_cache *cache = binary_cache_create(BINARY_CACHE_BYTES);
 *	binary_cache_forget_old(cache);                         at each reading
 *	if (!binary_cache_take(cache, mapping, &opened))
 *		open it;
 *	...                                                     look up addresses
 *	binary_cache_put(cache, mapping, &opened);
 *	binary_cache_destroy(cache);
 *
 * A busy host has a few new addresses of the same programs in each reading. To read and sort all
 * functions of a compiler for each of them was most of the cost of a reading.
 *
 * Its key is the build-id, so only files that no other user can have written may be put there
 * (profile/symbol_cache.h). What is taken is the caller's: a look-up that hangs keeps no other one
 * waiting. The memory and the descriptors are bounded; what was not used for the longest time is
 * closed first. After a minute without use it is closed in any case, for an open file keeps its
 * file system mounted; and ten minutes after it was opened, for a debug file may have come since.
 */
#ifndef PROFILE_BINARY_CACHE_H
#define PROFILE_BINARY_CACHE_H

#include "profile/symbol_files.h"

#define BINARY_CACHE_BYTES ((size_t)24 << 20)
/* Each has up to two descriptors. */
#define BINARY_CACHE_FILES 64

struct binary_cache;

/* NULL without memory. */
struct binary_cache *binary_cache_create(size_t bytes_most);
/* Takes NULL. */
void binary_cache_destroy(struct binary_cache *cache);

/* Close what is too old. */
void binary_cache_forget_old(struct binary_cache *cache);

/* Take the binary with the build-id of the mapping, which has one; `ret` is closed before. The file
 * may have changed since (binary_is_current()), and binary_restart() must come before a search. */
bool binary_cache_take(struct binary_cache *cache, const struct profile_mapping *mapping,
		       struct symbol_binary *ret);

/* Give a binary to the cache, which may close it at once. `binary` is closed then. */
void binary_cache_put(struct binary_cache *cache, const struct profile_mapping *mapping,
		      struct symbol_binary *binary);

/* The bytes and the number of binaries that are there. */
size_t binary_cache_bytes(const struct binary_cache *cache);
size_t binary_cache_count(const struct binary_cache *cache);

#endif
