/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/mapping_cache.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/user_space.h"

/* A walk takes some microseconds, but the walker may be preempted for a while. */
#define KEPT_NS (2 * NS_PER_S)

struct identified_file {
	struct words identity;
	bool is_known;
};

struct mapping_cache {
	struct unwind_store *store;
	struct unwind_table_cache *tables;
	struct recorded_mappings *recorded; /* NULL: none */
	uint64_t page, generation;
	size_t too_many;
	struct walk_mappings words; /* that are put together */
	struct {
		ARRAY(struct identified_file);
	} files; /* of the mappings that are taken, by their number */
	MAP(uint64_t, struct cached_mappings *) by_hash; /* of what is in use */
	STAILQ_HEAD(, cached_mappings) released;         /* the one that has waited longest first */
};

struct error *mapping_cache_create(struct unwind_store *store, struct unwind_table_cache *tables,
				   struct mapping_cache **ret)
{
	struct mapping_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return &error_no_memory;
	cache->store = store;
	cache->tables = tables;
	cache->page = (uint64_t)sysconf(_SC_PAGESIZE);
	STAILQ_INIT(&cache->released);
	*ret = cache;
	return NULL;
}

void mapping_cache_tell(struct mapping_cache *cache, struct recorded_mappings *recorded)
{
	cache->recorded = recorded;
}

size_t mapping_cache_too_many(const struct mapping_cache *cache)
{
	return cache->too_many;
}

static size_t bytes_of(const struct cached_mappings *space)
{
	return space->count * sizeof(struct unwind_mapping);
}

static uint32_t bitmap_words(const struct cached_mappings *space)
{
	return space->count * (uint32_t)UNWIND_MAPPING_WORDS;
}

static void destroy_mappings(struct mapping_cache *cache, struct cached_mappings *space)
{
	for (size_t i = 0; i < space->tables.count; i++)
		unwind_table_cache_release(cache->tables, space->tables.items[i]);
	array_deinit(&space->tables);
	if (space->location)
		unwind_table_cache_give_back_words(cache->tables, space->location,
						   bitmap_words(space), space->share);
	free(space);
}

/* --- the words of one process --- */

static bool has_same_table(const struct unwind_mapping *a, const struct unwind_mapping *b)
{
	return a->kind == b->kind && a->table == b->table && a->delta == b->delta;
}

bool walk_mappings_add(struct walk_mappings *mappings, const struct unwind_mapping *mapping)
{
	struct unwind_mapping *last =
		mappings->count ? &mappings->items[mappings->count - 1] : NULL;

	if (last && last->end == mapping->start && has_same_table(last, mapping)) {
		last->end = mapping->end;
		return true;
	}
	return array_push(mappings, *mapping);
}

static void close_gaps(struct walk_mappings *mappings)
{
	size_t kept = 0;

	for (size_t i = 1; i < mappings->count; i++) {
		const struct unwind_mapping *mapping = &mappings->items[i];

		if (mapping->kind == UNWIND_MAPPING_POINTER &&
		    has_same_table(&mappings->items[kept], mapping))
			mappings->items[kept].end = mapping->end;
		else
			mappings->items[++kept] = *mapping;
	}
	mappings->count = mappings->count ? kept + 1 : 0;
}

size_t walk_mappings_fit(struct walk_mappings *mappings, size_t most)
{
	size_t dropped;

	if (mappings->count <= most)
		return 0;
	close_gaps(mappings);
	if (mappings->count <= most)
		return 0;
	dropped = mappings->count - most;
	mappings->count = most;
	return dropped;
}

/* --- tables of its files --- */

static bool use_table(struct mapping_cache *cache, struct cached_mappings *space,
		      struct cached_table *table)
{
	size_t count = space->tables.count;

	if (count && space->tables.items[count - 1] == table)
		return true;
	if (!array_push(&space->tables, table))
		return false;
	unwind_table_cache_use(cache->tables, table);
	return true;
}

static void take_table(struct mapping_cache *cache, struct cached_mappings *space,
		       const struct cached_table *table, const struct profile_mapping *mapping,
		       struct unwind_mapping *ret)
{
	uint64_t bias;

	switch (table->state) {
	case CACHED_TABLE_PENDING:
		ret->kind = UNWIND_MAPPING_PENDING;
		space->waits = true;
		break;
	case CACHED_TABLE_NO_CFI:
		ret->kind = UNWIND_MAPPING_POINTER;
		break;
	case CACHED_TABLE_READY:
		if (!file_bias(table->segments.items, table->segments.count, cache->page, mapping,
			       &bias))
			break;
		ret->table = table->location;
		ret->delta = bias + table->base;
		break;
	case CACHED_TABLE_FAILED:
		break;
	}
}

static bool is_file(const struct profile_mapping *mapping)
{
	const enum mapped_kind kind = mapped_kind(mapping);

	return mapping->end <= USER_SPACE_LIMIT && (kind == MAPPED_FILE || kind == MAPPED_VDSO);
}

/*
 * A file with the build-id of a table is taken for the file of that table, and its process is not
 * asked: the table was made from a file that only root or we can have written. A process that has a
 * file with the build-id of another spoils its own stacks alone.
 */
static bool has_known_build_id(const struct mapping_cache *cache,
			       const struct profile_mapping *mapping, struct words *ret)
{
	return mapped_file_by_build_id(mapping, ret) &&
	       unwind_table_cache_is_ready(cache->tables, ret);
}

/* All of them before anything is changed: each may be a call that may hang (base/guard.h). */
static bool identify_files(struct mapping_cache *cache, uint32_t pid,
			   const struct address_space *mappings)
{
	cache->files.count = 0;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct profile_mapping *mapping = &mappings->items[i];
		struct identified_file file = { 0 };

		if (is_file(mapping))
			file.is_known = has_known_build_id(cache, mapping, &file.identity) ||
					mapped_file_identify(pid, mapping, &file.identity);
		if (!array_push(&cache->files, file))
			return false;
	}
	return true;
}

static bool cache_mapping(struct mapping_cache *cache, struct cached_mappings *space, uint32_t pid,
			  const struct profile_mapping *mapping, const struct identified_file *file)
{
	const enum mapped_kind kind = mapped_kind(mapping);
	struct unwind_mapping made = {
		.start = mapping->start,
		.end = mapping->end,
		.kind = UNWIND_MAPPING_TABLE,
	};
	struct cached_table *table = NULL;

	/* For example, the vsyscall page, which no walk enters. */
	if (mapping->end > USER_SPACE_LIMIT)
		return true;
	if (kind == MAPPED_MEMORY) {
		made.kind = UNWIND_MAPPING_POINTER;
	} else if (kind != MAPPED_OTHER) {
		if (file->is_known)
			table = unwind_table_cache_find(cache->tables, pid, mapping,
							&file->identity);
		space->has_unknown |= !table;
	}
	if (table) {
		if (!use_table(cache, space, table))
			return false;
		recorded_mappings_learn(cache->recorded, mapping, table);
		take_table(cache, space, table, mapping, &made);
	}
	space->has_pointers |= made.kind == UNWIND_MAPPING_POINTER;
	return walk_mappings_add(&cache->words, &made);
}

static bool take_mappings(struct mapping_cache *cache, struct cached_mappings *space, uint32_t pid,
			  const struct address_space *mappings)
{
	cache->words.count = 0;
	for (size_t i = 0; i < mappings->count; i++)
		if (!cache_mapping(cache, space, pid, &mappings->items[i], &cache->files.items[i]))
			return false;
	cache->too_many += walk_mappings_fit(&cache->words, UNWIND_MAPPINGS_MAX);
	space->count = (uint32_t)cache->words.count;
	return true;
}

/* --- where it is --- */

static uint64_t hash_words(const struct walk_mappings *words)
{
	const uint64_t *word = (const uint64_t *)words->items;
	uint64_t hash = words->count;

	for (size_t i = 0; i < words->count * sizeof(*words->items) / 8; i++) {
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash;
}

static struct cached_mappings *find_same(const struct mapping_cache *cache, uint64_t hash)
{
	struct cached_mappings **found = map_find(&cache->by_hash, hash);

	return found && (*found)->count == cache->words.count &&
			       memcmp(unwind_store_at(cache->store, (*found)->location),
				      cache->words.items, bytes_of(*found)) == 0
		       ? *found
		       : NULL;
}

static bool put_words(struct mapping_cache *cache, struct cached_mappings *space, uint32_t pid)
{
	if (!unwind_table_cache_take_words(cache->tables, pid, bitmap_words(space),
					   &space->location, &space->share)) {
		space->location = 0;
		return false;
	}
	memcpy(unwind_store_at(cache->store, space->location), cache->words.items, bytes_of(space));
	return true;
}

struct cached_mappings *mapping_cache_put(struct mapping_cache *cache, uint32_t pid,
					  const struct address_space *mappings)
{
	struct cached_mappings *space, *same;

	if (!identify_files(cache, pid, mappings))
		return NULL;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	if (!take_mappings(cache, space, pid, mappings) || !space->count) {
		destroy_mappings(cache, space);
		return NULL;
	}
	space->hash = hash_words(&cache->words);
	same = find_same(cache, space->hash);
	if (!same && put_words(cache, space, pid)) {
		struct cached_mappings **slot;
		bool is_new;

		same = space;
		space->generation = ++cache->generation;
		/* Others with the same hash, or without memory, are not shared. */
		slot = map_add(&cache->by_hash, space->hash, &is_new);
		if (slot && is_new)
			*slot = space;
	} else {
		destroy_mappings(cache, space);
	}
	if (same)
		same->users++;
	return same;
}

void mapping_cache_release(struct mapping_cache *cache, struct cached_mappings *space)
{
	struct cached_mappings **slot;

	if (!space || --space->users)
		return;
	slot = map_find(&cache->by_hash, space->hash);
	if (slot && *slot == space)
		map_remove(&cache->by_hash, space->hash);
	space->released_ns = clock_ns(CLOCK_MONOTONIC);
	STAILQ_INSERT_TAIL(&cache->released, space, released);
}

void mapping_cache_give_back(struct mapping_cache *cache, uint64_t now_ns)
{
	struct cached_mappings *space;

	while ((space = STAILQ_FIRST(&cache->released)) && now_ns - space->released_ns > KEPT_NS &&
	       now_ns > space->released_ns) {
		STAILQ_REMOVE_HEAD(&cache->released, released);
		destroy_mappings(cache, space);
	}
}

void mapping_cache_destroy(struct mapping_cache *cache)
{
	if (!cache)
		return;
	mapping_cache_give_back(cache, UINT64_MAX);
	array_deinit(&cache->words);
	array_deinit(&cache->files);
	map_deinit(&cache->by_hash);
	free(cache);
}
