/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbol_cache.h"

#include "base/clock.h"
#include "profile/binary_cache.h"

/* Limits of a generation. A busy host has fewer addresses in a reading; where programs come and go,
 * each has some that are never asked for again. A generation ends when its names take half of
 * BYTES_MAX. */
#define SYMBOLS_MAX ((size_t)1 << 15)
#define BYTES_MAX   ((size_t)16 << 20)

/* /proc/kallsyms is read again after the first time if an address had no name (modules and BPF
 * programs are loaded), else after the second (unloaded code may have left its addresses to other
 * code). */
#define KERNEL_LACKING_NS (60 * (uint64_t)NS_PER_S)
#define KERNEL_AGE_NS     (600 * (uint64_t)NS_PER_S)

/* `first` is the index in `inlined` of the functions inlined at the address. */
struct kept_symbol {
	struct cached_symbol symbol;
	uint32_t first;
};

struct generation {
	struct arena arena;
	struct names names;     /* of functions and sources; also build-ids */
	struct word_map places; /* key_of() to an index in `symbols` */
	struct {
		ARRAY(struct kept_symbol);
	} symbols;
	struct {
		ARRAY(struct inlined_name);
	} inlined;
};

/* Two generations. The current one has everything that was looked up since it began; lookups copy
 * from the previous one. When the current one is full, the previous one is dropped, and with it the
 * names that nothing asked for: of replaced files and ended programs. */
struct symbol_cache {
	struct generation generations[2];
	unsigned now; /* the index of the current generation */
	struct symbol_cache_counts counts;
	struct binary_cache *binaries;
	struct kallsyms *kernel; /* NULL: not read yet */
	uint64_t kernel_ns;      /* CLOCK_MONOTONIC: when `kernel` was read */
	bool lacks_kernel;       /* an address had no name in `kernel` */
};

static void begin_empty(struct generation *generation)
{
	arena_init(&generation->arena, BYTES_MAX);
	names_init(&generation->names, &generation->arena);
}

static void empty(struct generation *generation)
{
	word_map_deinit(&generation->places);
	array_deinit(&generation->symbols);
	array_deinit(&generation->inlined);
	names_deinit(&generation->names);
	arena_deinit(&generation->arena);
}

struct symbol_cache *symbol_cache_create(void)
{
	return symbol_cache_create_within(BINARY_CACHE_BYTES);
}

struct symbol_cache *symbol_cache_create_within(size_t binary_bytes)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	for (size_t i = 0; i < array_length(cache->generations); i++)
		begin_empty(&cache->generations[i]);
	cache->binaries = binary_cache_create(binary_bytes);
	if (cache->binaries)
		return cache;
	symbol_cache_destroy(cache);
	return NULL;
}

void symbol_cache_destroy(struct symbol_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < array_length(cache->generations); i++)
		empty(&cache->generations[i]);
	binary_cache_destroy(cache->binaries);
	kallsyms_destroy(cache->kernel);
	free(cache);
}

struct binary_cache *symbol_cache_binaries(struct symbol_cache *cache)
{
	return cache->binaries;
}

struct symbol_cache_counts symbol_cache_counts(const struct symbol_cache *cache)
{
	return cache->counts;
}

/* --- addresses --- */

/* The mapping's file offset is part of the key because it decides which segment of the file the
 * place's offset is in. */
static struct words key_of(const struct name *id, const struct symbol_place *place)
{
	return (struct words){ { (uintptr_t)id, place->offset,
				 place->mapping->file_offset << 1 | (place->role & 1) } };
}

static void begin_when_full(struct symbol_cache *cache)
{
	const struct generation *current = &cache->generations[cache->now];

	if (current->symbols.count < SYMBOLS_MAX && current->arena.used <= BYTES_MAX / 2)
		return;
	cache->now = !cache->now;
	empty(&cache->generations[cache->now]);
	begin_empty(&cache->generations[cache->now]);
}

static bool find_in(const struct generation *generation, const struct symbol_place *place,
		    struct cached_symbol *ret)
{
	const struct name *id = names_find(&generation->names, place->mapping->build_id,
					   place->mapping->build_id_length);
	const uint32_t number =
		id ? word_map_find(&generation->places, key_of(id, place)) : WORD_MAP_NEW;

	if (number == WORD_MAP_NEW)
		return false;
	*ret = generation->symbols.items[number].symbol;
	ret->inlined = generation->inlined.items + generation->symbols.items[number].first;
	return true;
}

bool symbol_cache_find(struct symbol_cache *cache, const struct symbol_place *place,
		       struct cached_symbol *ret)
{
	bool is_found;

	begin_when_full(cache);
	is_found = find_in(&cache->generations[cache->now], place, ret);
	if (!is_found && find_in(&cache->generations[!cache->now], place, ret)) {
		is_found = true;
		symbol_cache_add(cache, place, ret);
	}
	*(is_found ? &cache->counts.hits : &cache->counts.misses) += 1;
	return is_found;
}

/* False without memory. */
static bool keep_name(struct generation *generation, const struct name **name)
{
	if (*name)
		*name = names_intern(&generation->names, (*name)->bytes, (*name)->length);
	return *name;
}

static bool keep_inlined(struct generation *generation, const struct cached_symbol *symbol)
{
	for (uint32_t i = 0; i < symbol->inlined_count; i++) {
		struct inlined_name inlined = symbol->inlined[i];

		if (!keep_name(generation, &inlined.name) ||
		    (inlined.source && !keep_name(generation, &inlined.source)) ||
		    !array_push(&generation->inlined, inlined))
			return false;
	}
	return true;
}

void symbol_cache_add(struct symbol_cache *cache, const struct symbol_place *place,
		      const struct cached_symbol *symbol)
{
	struct generation *current = &cache->generations[cache->now];
	const struct name *id = names_intern(&current->names, place->mapping->build_id,
					     place->mapping->build_id_length);
	struct kept_symbol kept = { .symbol = *symbol, .first = (uint32_t)current->inlined.count };
	uint32_t *number;

	if (!id || (symbol->name && !keep_name(current, &kept.symbol.name)) ||
	    (symbol->source && !keep_name(current, &kept.symbol.source)) ||
	    !keep_inlined(current, symbol) || !array_push(&current->symbols, kept))
		return;
	number = word_map_at(&current->places, key_of(id, place));
	if (number)
		*number = (uint32_t)current->symbols.count - 1;
}

/* --- the kernel --- */

struct error *symbol_cache_kernel(struct symbol_cache *cache, const struct kallsyms **ret)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct kallsyms *kernel;
	struct error *err;

	if (!cache->kernel ||
	    now - cache->kernel_ns > (cache->lacks_kernel ? KERNEL_LACKING_NS : KERNEL_AGE_NS)) {
		err = kallsyms_read("/proc/kallsyms", &kernel);
		if (err)
			return err;
		kallsyms_destroy(cache->kernel);
		cache->kernel = kernel;
		cache->kernel_ns = now;
		cache->lacks_kernel = false;
	}
	*ret = cache->kernel;
	return NULL;
}

void symbol_cache_lacks_kernel(struct symbol_cache *cache)
{
	cache->lacks_kernel = true;
}
