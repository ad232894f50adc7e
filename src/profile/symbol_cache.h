/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of addresses that are kept from one profile to the next, for profiles that are read again
 * and again: `--interval`, the server, a flame graph that grows.
 *
 *	struct symbol_cache *cache = symbol_cache_create();
 *	while (reading) {
 *		err = symbolise_kernel_cached(profile, cache);
 *		err = symbolise_user(profile, &(struct symbolise_options){ .cache = cache, ... });
 *	}
 *	symbol_cache_destroy(cache);
 *
 * Most addresses of a reading were in the one before. To open and index a file for them costs more
 * than all else about a reading.
 *
 * An address is known by the build-id of its file, and only of files that no other user can have
 * written (origin_is_trusted_file()): the contents of such a file are what the build-id says. The
 * symbols of the kernel are read again after a minute in which an address had none of them, for
 * modules and BPF programs come, and after ten in any case, for others may have gone.
 */
#ifndef PROFILE_SYMBOL_CACHE_H
#define PROFILE_SYMBOL_CACHE_H

#include "elf/kallsyms.h"
#include "profile/profile.h"

struct symbol_cache;

/* NULL without memory. */
struct symbol_cache *symbol_cache_create(void);
/* Takes NULL. */
void symbol_cache_destroy(struct symbol_cache *cache);
DEFINE_CLEANUP(symbol_cache_destroy, struct symbol_cache *)

/* --- for symbolise.c --- */

struct inlined_name {
	const struct name *name, *source;
	uint32_t line;
};

/* What is found at an address of a file. */
struct cached_symbol {
	const struct name *name, *source; /* NULL name: the file has none there */
	uint64_t address;                 /* in the file, as it was looked up */
	uint64_t offset;                  /* from where the function starts */
	uint32_t line;
	uint32_t inlined_count; /* of what was inlined there, from outside in */
	const struct inlined_name *inlined;
};

/* An address of a file as a process has it mapped. */
struct symbol_place {
	const struct profile_mapping *mapping; /* its build-id is known */
	uint64_t offset;                       /* in the file */
	unsigned role;                         /* enum frame_role */
};

/* With too many names, those go first that were not asked for in some minutes. The result lives
 * until the next call of one of these. */
bool symbol_cache_find(struct symbol_cache *cache, const struct symbol_place *place,
		       struct cached_symbol *ret);
/* Copies all of it. Without memory it is not kept. */
void symbol_cache_add(struct symbol_cache *cache, const struct symbol_place *place,
		      const struct cached_symbol *symbol);

/* The functions of the kernel; the cache keeps them. */
struct error *symbol_cache_kernel(struct symbol_cache *cache,
				  const struct kallsyms **ret) MUST_CHECK;
/* An address of the kernel had no name among them: they are read again soon. */
void symbol_cache_lacks_kernel(struct symbol_cache *cache);

/* How often an address was there, and was not: for tests, and to measure. */
struct symbol_cache_counts {
	uint64_t hits, misses;
};
struct symbol_cache_counts symbol_cache_counts(const struct symbol_cache *cache);

#endif
