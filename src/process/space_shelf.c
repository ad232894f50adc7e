/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/space_shelf.h"

#include "base/clock.h"
#include "base/user_space.h"
#include "process/space.h"

#define BUCKETS 1024

/* A walk takes some microseconds; whoever is in one may lose its CPU for a while. */
#define KEPT_NS (2 * NS_PER_S)

LIST_HEAD(space_bucket, shelf_space);

struct identified {
	struct words identity;
	bool is_known;
};

struct space_shelf {
	struct unwind_store *store;
	struct table_shelf *tables;
	uint64_t page, generation;
	size_t too_many;
	struct process_space words; /* that are put together */
	struct {
		ARRAY(struct identified);
	} files; /* of the mappings that are taken, by their number */
	struct space_bucket buckets[BUCKETS];
	STAILQ_HEAD(, shelf_space) released; /* the one that has waited longest first */
};

struct error *space_shelf_create(struct unwind_store *store, struct table_shelf *tables,
				 struct space_shelf **ret)
{
	struct space_shelf *shelf = calloc(1, sizeof(*shelf));

	if (!shelf)
		return &error_no_memory;
	shelf->store = store;
	shelf->tables = tables;
	shelf->page = (uint64_t)sysconf(_SC_PAGESIZE);
	STAILQ_INIT(&shelf->released);
	*ret = shelf;
	return NULL;
}

size_t space_shelf_too_many(const struct space_shelf *shelf)
{
	return shelf->too_many;
}

static size_t bytes_of(const struct shelf_space *space)
{
	return space->count * sizeof(struct unwind_mapping);
}

static uint32_t words_of(const struct shelf_space *space)
{
	return space->count * (uint32_t)UNWIND_MAPPING_WORDS;
}

static void destroy_space(struct space_shelf *shelf, struct shelf_space *space)
{
	for (size_t i = 0; i < space->tables.count; i++)
		table_shelf_release(shelf->tables, space->tables.items[i]);
	array_deinit(&space->tables);
	if (space->place)
		table_shelf_give_back_words(shelf->tables, space->place, words_of(space),
					    space->share);
	free(space);
}

/* --- what it says --- */

static bool use_table(struct space_shelf *shelf, struct shelf_space *space,
		      struct shelf_table *table)
{
	size_t count = space->tables.count;

	if (count && space->tables.items[count - 1] == table)
		return true;
	if (!array_push(&space->tables, table))
		return false;
	table_shelf_use(shelf->tables, table);
	return true;
}

static void take_table(struct space_shelf *shelf, struct shelf_space *space,
		       const struct shelf_table *table, const struct profile_mapping *mapping,
		       struct unwind_mapping *ret)
{
	uint64_t bias;

	switch (table->state) {
	case SHELF_LATER:
		ret->kind = UNWIND_MAPPING_LATER;
		space->waits = true;
		break;
	case SHELF_SILENT:
		ret->kind = UNWIND_MAPPING_POINTER;
		break;
	case SHELF_TABLE:
		if (!file_bias(table->segments.items, table->segments.count, shelf->page, mapping,
			       &bias))
			break;
		ret->table = table->place;
		ret->delta = bias + table->base;
		break;
	case SHELF_NOTHING:
		break;
	}
}

/* All of them before anything is changed: each is a call that may hang (base/guard.h). */
static bool identify_files(struct space_shelf *shelf, uint32_t pid,
			   const struct address_space *mappings)
{
	shelf->files.count = 0;
	for (size_t i = 0; i < mappings->count; i++) {
		const struct profile_mapping *mapping = &mappings->items[i];
		const enum mapped_kind kind = mapped_kind(mapping);
		struct identified file = { 0 };

		if (mapping->end <= USER_SPACE_LIMIT &&
		    (kind == MAPPED_FILE || kind == MAPPED_VDSO))
			file.is_known = mapped_file_identify(pid, mapping, &file.identity);
		if (!array_push(&shelf->files, file))
			return false;
	}
	return true;
}

static bool take_mapping(struct space_shelf *shelf, struct shelf_space *space, uint32_t pid,
			 const struct profile_mapping *mapping, const struct identified *file)
{
	const enum mapped_kind kind = mapped_kind(mapping);
	struct unwind_mapping made = {
		.start = mapping->start,
		.end = mapping->end,
		.kind = UNWIND_MAPPING_TABLE,
	};
	struct shelf_table *table = NULL;

	/* As the page of vsyscalls: no walk goes there. */
	if (mapping->end > USER_SPACE_LIMIT)
		return true;
	if (kind == MAPPED_MEMORY) {
		made.kind = UNWIND_MAPPING_POINTER;
	} else if (kind != MAPPED_OTHER) {
		if (file->is_known)
			table = table_shelf_find(shelf->tables, pid, mapping, &file->identity);
		space->has_unknown |= !table;
	}
	if (table) {
		if (!use_table(shelf, space, table))
			return false;
		take_table(shelf, space, table, mapping, &made);
	}
	space->has_pointers |= made.kind == UNWIND_MAPPING_POINTER;
	return process_space_add(&shelf->words, &made);
}

static bool take_mappings(struct space_shelf *shelf, struct shelf_space *space, uint32_t pid,
			  const struct address_space *mappings)
{
	shelf->words.count = 0;
	for (size_t i = 0; i < mappings->count; i++)
		if (!take_mapping(shelf, space, pid, &mappings->items[i], &shelf->files.items[i]))
			return false;
	shelf->too_many += process_space_fit(&shelf->words, UNWIND_MAPPINGS_MAX);
	space->count = (uint32_t)shelf->words.count;
	return true;
}

/* --- where it is --- */

static uint64_t hash_words(const struct process_space *words)
{
	const uint64_t *word = (const uint64_t *)words->items;
	uint64_t hash = words->count;

	for (size_t i = 0; i < words->count * sizeof(*words->items) / 8; i++) {
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 32;
	}
	return hash;
}

static struct shelf_space *find_same(const struct space_shelf *shelf,
				     const struct shelf_space *wanted)
{
	struct shelf_space *space;

	LIST_FOREACH(space, &shelf->buckets[wanted->hash % BUCKETS], same)
	if (space->hash == wanted->hash && space->count == wanted->count &&
	    memcmp(unwind_store_at(shelf->store, space->place), shelf->words.items,
		   bytes_of(space)) == 0)
		return space;
	return NULL;
}

static bool put_words(struct space_shelf *shelf, struct shelf_space *space, uint32_t pid)
{
	if (!table_shelf_take_words(shelf->tables, pid, words_of(space), &space->place,
				    &space->share)) {
		space->place = 0;
		return false;
	}
	memcpy(unwind_store_at(shelf->store, space->place), shelf->words.items, bytes_of(space));
	return true;
}

struct shelf_space *space_shelf_put(struct space_shelf *shelf, uint32_t pid,
				    const struct address_space *mappings)
{
	struct shelf_space *space, *same;

	if (!identify_files(shelf, pid, mappings))
		return NULL;
	space = calloc(1, sizeof(*space));
	if (!space)
		return NULL;
	if (!take_mappings(shelf, space, pid, mappings) || !space->count) {
		destroy_space(shelf, space);
		return NULL;
	}
	space->hash = hash_words(&shelf->words);
	same = find_same(shelf, space);
	if (!same && put_words(shelf, space, pid)) {
		same = space;
		space->generation = ++shelf->generation;
		LIST_INSERT_HEAD(&shelf->buckets[space->hash % BUCKETS], space, same);
	} else {
		destroy_space(shelf, space);
	}
	if (same)
		same->users++;
	return same;
}

void space_shelf_release(struct space_shelf *shelf, struct shelf_space *space)
{
	if (!space || --space->users)
		return;
	LIST_REMOVE(space, same);
	space->released_ns = clock_ns(CLOCK_MONOTONIC);
	STAILQ_INSERT_TAIL(&shelf->released, space, released);
}

void space_shelf_give_back(struct space_shelf *shelf, uint64_t now_ns)
{
	struct shelf_space *space;

	while ((space = STAILQ_FIRST(&shelf->released)) && now_ns - space->released_ns > KEPT_NS &&
	       now_ns > space->released_ns) {
		STAILQ_REMOVE_HEAD(&shelf->released, released);
		destroy_space(shelf, space);
	}
}

void space_shelf_destroy(struct space_shelf *shelf)
{
	if (!shelf)
		return;
	space_shelf_give_back(shelf, UINT64_MAX);
	process_space_deinit(&shelf->words);
	array_deinit(&shelf->files);
	free(shelf);
}
