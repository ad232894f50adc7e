/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the names of addresses from one profile to the next, for profiles that are read repeatedly:
 * `--interval`, the server, live flame graphs.
 *
 *	struct symbol_cache *cache = symbol_cache_create();
 *	while (reading) {
 *		err = symbolise_kernel_cached(profile, cache);
 *		err = symbolise_user(profile, &(struct symbolise_options){ .cache = cache, ... });
 *	}
 *	symbol_cache_destroy(cache);
 *
 * Most addresses of a reading were also in the one before, and opening and indexing their files
 * again is the largest cost of a reading. The files of new addresses stay open for a while
 * (profile/binary_cache.h).
 *
 * The key of an address is the build-id of its file and the offset within it. Only files that no
 * other user can have written are cached (origin_is_trusted_file()), since anyone can write a file
 * with another's build-id. The kernel's symbols are read again after one minute if an address had
 * no symbol, because modules and BPF programs may have been loaded, and after ten minutes in any
 * case, because others may have been unloaded.
 */
#ifndef PROFILE_SYMBOL_CACHE_H
#define PROFILE_SYMBOL_CACHE_H

#include "elf/kallsyms.h"
#include "profile/profile.h"

struct symbol_cache;
struct binary_cache;

/* NULL without memory. */
struct symbol_cache *symbol_cache_create(void);
/* The same, but the files that stay open take at most so much memory: 0 closes them at once. */
struct symbol_cache *symbol_cache_create_within(size_t binary_bytes);
/* Takes NULL. */
void symbol_cache_destroy(struct symbol_cache *cache);
DEFINE_CLEANUP(symbol_cache_destroy, struct symbol_cache *)

/* --- for symbolise.c --- */

struct inlined_name {
	const struct name *name, *source;
	uint32_t line;
};

/* The symbol at an address of a file. */
struct cached_symbol {
	const struct name *name, *source; /* NULL name: no symbol there */
	uint64_t address;                 /* virtual address in the ELF file */
	uint64_t offset;                  /* from the start of the function */
	uint32_t line;
	uint32_t inlined_count; /* of `inlined`, outermost first */
	const struct inlined_name *inlined;
};

/* An address of a file as a process has it mapped. */
struct symbol_place {
	const struct profile_mapping *mapping; /* has a build-id */
	uint64_t offset;                       /* in the file */
	unsigned role;                         /* enum frame_role */
};

/* Look up an address. `*ret` points into the cache, and is valid until the next symbol_cache_find()
 * or symbol_cache_add(). When the cache is full, symbols that were not looked up for the longest
 * time are dropped first. */
bool symbol_cache_find(struct symbol_cache *cache, const struct symbol_place *place,
		       struct cached_symbol *ret);
/* Add a copy of `symbol`. Nothing is added if there is no memory. */
void symbol_cache_add(struct symbol_cache *cache, const struct symbol_place *place,
		      const struct cached_symbol *symbol);

/* Binaries that stay open, for addresses that are not there. */
struct binary_cache *symbol_cache_binaries(struct symbol_cache *cache);

/* The kernel's symbols, read from /proc/kallsyms if they are missing or too old. The cache owns
 * them. */
struct error *symbol_cache_kernel(struct symbol_cache *cache,
				  const struct kallsyms **ret) MUST_CHECK;
/* Note that a kernel address had no symbol, so that they are read again within a minute. */
void symbol_cache_lacks_kernel(struct symbol_cache *cache);

/* Lookups that found an address, and that did not: for tests and measurements. */
struct symbol_cache_counts {
	uint64_t hits, misses;
};
struct symbol_cache_counts symbol_cache_counts(const struct symbol_cache *cache);

#endif
