/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/symbol_cache.h"

#include "base/clock.h"

/* More addresses than a busy host has in an hour, and the memory for their names. */
#define SYMBOLS_MAX ((size_t)1 << 19)
#define BYTES_MAX   ((size_t)128 << 20)

/* After so long they are read again if there was code without a name, and else: code that went may
 * have left its address to other code. */
#define KERNEL_LACKING_NS (60 * (uint64_t)NS_PER_S)
#define KERNEL_AGE_NS     (600 * (uint64_t)NS_PER_S)

/* A symbol whose inlined functions are at `first`. */
struct kept_symbol {
	struct cached_symbol symbol;
	uint32_t first;
};

struct symbol_cache {
	struct arena arena;
	struct names names;     /* and build-ids */
	struct word_map places; /* build-id, offset, and where that is mapped, to `symbols` */
	struct {
		ARRAY(struct kept_symbol);
	} symbols;
	struct {
		ARRAY(struct inlined_name);
	} inlined;
	struct symbol_cache_counts counts;
	struct kallsyms *kernel; /* NULL: not read yet */
	uint64_t kernel_ns;      /* when it was */
	bool lacks_kernel;       /* an address had no name since */
};

static void begin_empty(struct symbol_cache *cache)
{
	arena_init(&cache->arena, BYTES_MAX);
	names_init(&cache->names, &cache->arena);
}

static void empty(struct symbol_cache *cache)
{
	word_map_deinit(&cache->places);
	array_deinit(&cache->symbols);
	array_deinit(&cache->inlined);
	names_deinit(&cache->names);
	arena_deinit(&cache->arena);
}

struct symbol_cache *symbol_cache_create(void)
{
	struct symbol_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		begin_empty(cache);
	return cache;
}

void symbol_cache_destroy(struct symbol_cache *cache)
{
	if (!cache)
		return;
	empty(cache);
	kallsyms_destroy(cache->kernel);
	free(cache);
}

struct symbol_cache_counts symbol_cache_counts(const struct symbol_cache *cache)
{
	return cache->counts;
}

/* --- addresses --- */

/* Where a file is mapped from decides which of its segments an offset is in. */
static struct words key_of(const struct name *id, const struct symbol_place *place)
{
	return (struct words){ { (uintptr_t)id, place->offset,
				 place->mapping->file_offset << 1 | (place->role & 1) } };
}

bool symbol_cache_find(struct symbol_cache *cache, const struct symbol_place *place,
		       struct cached_symbol *ret)
{
	const struct name *id;
	uint32_t number;

	if (cache->symbols.count >= SYMBOLS_MAX || cache->arena.used > BYTES_MAX / 2) {
		empty(cache);
		begin_empty(cache);
	}
	id = names_find(&cache->names, place->mapping->build_id, place->mapping->build_id_length);
	number = id ? word_map_find(&cache->places, key_of(id, place)) : WORD_MAP_NEW;
	if (number == WORD_MAP_NEW) {
		cache->counts.misses++;
		return false;
	}
	cache->counts.hits++;
	*ret = cache->symbols.items[number].symbol;
	ret->inlined = cache->inlined.items + cache->symbols.items[number].first;
	return true;
}

/* False without memory. */
static bool keep_name(struct symbol_cache *cache, const struct name **name)
{
	if (*name)
		*name = names_intern(&cache->names, (*name)->bytes, (*name)->length);
	return *name;
}

static bool keep_inlined(struct symbol_cache *cache, const struct cached_symbol *symbol)
{
	for (uint32_t i = 0; i < symbol->inlined_count; i++) {
		struct inlined_name inlined = symbol->inlined[i];

		if (!keep_name(cache, &inlined.name) ||
		    (inlined.source && !keep_name(cache, &inlined.source)) ||
		    !array_push(&cache->inlined, inlined))
			return false;
	}
	return true;
}

void symbol_cache_add(struct symbol_cache *cache, const struct symbol_place *place,
		      const struct cached_symbol *symbol)
{
	const struct name *id = names_intern(&cache->names, place->mapping->build_id,
					     place->mapping->build_id_length);
	struct kept_symbol kept = { .symbol = *symbol, .first = (uint32_t)cache->inlined.count };
	uint32_t *number;

	if (!id || (symbol->name && !keep_name(cache, &kept.symbol.name)) ||
	    (symbol->source && !keep_name(cache, &kept.symbol.source)) ||
	    !keep_inlined(cache, symbol) || !array_push(&cache->symbols, kept))
		return;
	number = word_map_at(&cache->places, key_of(id, place));
	if (number)
		*number = (uint32_t)cache->symbols.count - 1;
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
