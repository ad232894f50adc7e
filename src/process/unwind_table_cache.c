/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/unwind_table_cache.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "os/process_user.h"
#include "process/table_builders.h"

/* A file that other processes could not show is requested from the next process at once, so often;
 * then with ever longer pauses. */
#define TRIES_AT_ONCE 3
#define TRIES_MAX     12

/* Large files that are kept open, and those of them that are of other users than root and
 * ourselves.
 */
#define OUTLINED_MAX  256
#define UNTRUSTED_MAX 64

/* The most runs of blocks in one request for parts, and blocks in a run. Small requests bring the
 * first of many parts early. */
#define PARTS_MAX       64
#define PART_BLOCKS_MAX 16

/* No more unused tables are kept, however small. */
#define UNUSED_MAX 4096

struct unwind_table_cache {
	struct unwind_store *store;
	struct table_builders *builders;
	size_t kept_bytes; /* of the store, beyond which unused tables are removed */
	struct user_shares bytes, rules;
	MAP(struct words, struct cached_table *) by_identity;
	TAILQ_HEAD(, cached_table) unused; /* the one that was used last is last */
	size_t unused_count;
	TAILQ_HEAD(, cached_table) outlined;
	size_t outlined_count, untrusted_count;
	struct unwind_table_cache_use use;
	char without_room[128]; /* names of files */
};

struct error *unwind_table_cache_create(const struct unwind_table_cache_options *options,
					struct unwind_table_cache **ret)
{
	_cleanup_(unwind_table_cache_destroy) struct unwind_table_cache *cache =
		calloc(1, sizeof(*cache));
	struct unwind_cache *disk = NULL;
	struct error *err;

	if (!cache)
		return &error_no_memory;
	cache->store = options->store;
	cache->kept_bytes = options->max_bytes / 4 * 3;
	user_shares_init(&cache->bytes, options->max_bytes);
	user_shares_init(&cache->rules, unwind_store_use(options->store).max_rules);
	TAILQ_INIT(&cache->unused);
	TAILQ_INIT(&cache->outlined);
	/* Without a disk cache all tables are made again, and are as good. */
	if (!options->no_disk)
		error_destroy(unwind_cache_open(&disk));
	err = table_builders_create(disk, options->kept, options->limit, &cache->builders);
	if (!err)
		*ret = take_ptr(cache);
	return err;
}

void unwind_table_cache_limit_users(struct unwind_table_cache *cache, share_user_of *user_of)
{
	cache->bytes.user_of = user_of;
	cache->rules.user_of = user_of;
}

void unwind_table_cache_wait(struct unwind_table_cache *cache, uint64_t until_ns)
{
	table_builders_wait(cache->builders, until_ns);
}

/* --- tables that come and go --- */

static struct cached_table *add_table(struct unwind_table_cache *cache,
				      const struct words *identity)
{
	struct cached_table *table = calloc(1, sizeof(*table));
	struct cached_table **slot = table ? map_add(&cache->by_identity, *identity, NULL) : NULL;

	if (!slot) {
		free(table);
		return NULL;
	}
	*slot = table;
	table->identity = *identity;
	table->state = CACHED_TABLE_FAILED;
	table->fd = -1;
	TAILQ_INSERT_TAIL(&cache->unused, table, unused);
	cache->unused_count++;
	return table;
}

static void forget_outline(struct unwind_table_cache *cache, struct cached_table *table)
{
	if (table->fd < 0)
		return;
	TAILQ_REMOVE(&cache->outlined, table, outlined);
	cache->outlined_count--;
	cache->untrusted_count -= table->is_untrusted;
	table_builders_close(cache->builders, table->user, take_fd(table->fd));
}

/* May it be removed? Builders have pointers to some. */
static bool is_idle(const struct cached_table *table)
{
	return table->state != CACHED_TABLE_PENDING && !table->awaits_parts;
}

/* An unused and idle table. */
static void remove_table(struct unwind_table_cache *cache, struct cached_table *table)
{
	forget_outline(cache, table);
	TAILQ_REMOVE(&cache->unused, table, unused);
	cache->unused_count--;
	map_remove(&cache->by_identity, table->identity);
	if (table->state == CACHED_TABLE_READY) {
		unwind_store_remove(cache->store, table->location);
		user_shares_give_back(&cache->bytes, table->share, table->bytes);
		cache->use.tables--;
	}
	array_deinit(&table->segments);
	free(table);
}

/* Drop unused tables of one user, or of all users. */
static bool drop_unused(struct unwind_table_cache *cache, uint32_t share)
{
	struct cached_table *table;

	TAILQ_FOREACH(table, &cache->unused, unused)
	if (table->state == CACHED_TABLE_READY && is_idle(table) &&
	    (share == USER_SHARE_NONE || table->share == share)) {
		remove_table(cache, table);
		return true;
	}
	return false;
}

bool unwind_table_cache_make_room(struct unwind_table_cache *cache)
{
	return drop_unused(cache, USER_SHARE_NONE);
}

/* Make room in a user's share, by evicting unused tables of the user. */
static bool make_room_in_share(struct unwind_table_cache *cache, uint32_t share, size_t bytes)
{
	while (!user_shares_have(&cache->bytes, share, bytes))
		if (bytes > cache->bytes.max_one || !drop_unused(cache, share))
			return false;
	return true;
}

bool unwind_table_cache_take_words(struct unwind_table_cache *cache, uint32_t pid, uint32_t words,
				   uint32_t *ret_location, uint32_t *ret_share)
{
	const uint32_t share = user_shares_of(&cache->bytes, pid);
	const size_t bytes = words * sizeof(uint32_t);
	struct error *err;

	if (!make_room_in_share(cache, share, bytes))
		return false;
	while ((err = unwind_store_take(cache->store, words, ret_location))) {
		error_destroy(err);
		if (!unwind_table_cache_make_room(cache))
			return false;
	}
	user_shares_take(&cache->bytes, share, bytes);
	*ret_share = share;
	return true;
}

void unwind_table_cache_give_back_words(struct unwind_table_cache *cache, uint32_t location,
					uint32_t words, uint32_t share)
{
	unwind_store_give_back(cache->store, location, words);
	user_shares_give_back(&cache->bytes, share, words * sizeof(uint32_t));
}

static void keep_bounds(struct unwind_table_cache *cache)
{
	struct cached_table *table = TAILQ_FIRST(&cache->unused), *next;

	for (; table && cache->unused_count > UNUSED_MAX; table = next) {
		next = TAILQ_NEXT(table, unused);
		if (is_idle(table))
			remove_table(cache, table);
	}
	while (unwind_store_use(cache->store).used_bytes > cache->kept_bytes &&
	       unwind_table_cache_make_room(cache))
		;
}

void unwind_table_cache_use(struct unwind_table_cache *cache, struct cached_table *table)
{
	if (table->users++)
		return;
	TAILQ_REMOVE(&cache->unused, table, unused);
	cache->unused_count--;
}

void unwind_table_cache_release(struct unwind_table_cache *cache, struct cached_table *table)
{
	if (--table->users)
		return;
	TAILQ_INSERT_TAIL(&cache->unused, table, unused);
	cache->unused_count++;
	keep_bounds(cache);
}

/* Is the name in the list? */
static bool is_named(const char *list, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

static void note_no_room(struct unwind_table_cache *cache, const struct cached_table *table)
{
	const char *path = table->path ? table->path->bytes : "", *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *list = cache->without_room;
	const size_t used = strlen(list), room = sizeof(cache->without_room) - used;
	const char *more = ", ...";

	cache->use.no_room++;
	if (!*name || is_named(list, name) || (used && text_ends(text_of(list), text_of(more))))
		return;
	if (strlen(name) + sizeof(", ") + strlen(more) < room)
		snprintf(list + used, room, "%s%s", used ? ", " : "", name);
	else if (used)
		snprintf(list + used, room, "%s", more);
}

const char *unwind_table_cache_without_room(const struct unwind_table_cache *cache)
{
	return *cache->without_room ? cache->without_room : NULL;
}

/* --- requests --- */

static bool make_room_in_shares(struct unwind_table_cache *cache, const struct cached_table *table,
				size_t bytes)
{
	return make_room_in_share(cache, table->share, bytes) &&
	       user_shares_have(&cache->rules, table->rule_share, 1);
}

/* An outline keeps the file open. Without room for another one tables are made at once. */
static bool may_outline(const struct unwind_table_cache *cache, struct cached_table *table)
{
	table->user = process_user(table->pid);
	table->is_untrusted = process_user_is_stranger(table->user);
	return cache->outlined_count < OUTLINED_MAX &&
	       (!table->is_untrusted || cache->untrusted_count < UNTRUSTED_MAX);
}

static void request(struct unwind_table_cache *cache, struct cached_table *table, uint32_t pid,
		    const struct profile_mapping *mapping)
{
	table->pid = pid;
	table->path = mapping->path;
	table->share = user_shares_of(&cache->bytes, pid);
	table->rule_share = user_shares_of(&cache->rules, pid);
	if (!make_room_in_shares(cache, table, 1)) {
		note_no_room(cache, table);
		return;
	}
	table->asked_ns = clock_ns(CLOCK_MONOTONIC);
	table->tries += table->tries < TRIES_MAX;
	if (!table_builders_ask(cache->builders, pid, mapping, &table->identity,
				may_outline(cache, table), table)) {
		cache->use.failed++;
		return;
	}
	table->state = CACHED_TABLE_PENDING;
	cache->use.asked++;
}

static bool is_worth_another_try(const struct cached_table *table, uint32_t pid)
{
	uint64_t pause_ns = table->tries < TRIES_AT_ONCE ? 0 : NS_PER_S << table->tries;

	return table->state == CACHED_TABLE_FAILED && table->pid != pid &&
	       clock_ns(CLOCK_MONOTONIC) - table->asked_ns >= pause_ns;
}

struct cached_table *unwind_table_cache_find(struct unwind_table_cache *cache, uint32_t pid,
					     const struct profile_mapping *mapping,
					     const struct words *identity)
{
	struct cached_table **found = map_find(&cache->by_identity, *identity);
	struct cached_table *table = found ? *found : add_table(cache, identity);

	if (!table)
		cache->use.failed++;
	else if (!found || is_worth_another_try(table, pid))
		request(cache, table, pid, mapping);
	return table;
}

bool unwind_table_cache_is_ready(const struct unwind_table_cache *cache,
				 const struct words *identity)
{
	struct cached_table *const *found = map_find(&cache->by_identity, *identity);

	return found && (*found)->state == CACHED_TABLE_READY;
}

/* --- tables that are built --- */

static struct error *put_words(struct unwind_table_cache *cache, struct cached_table *table,
			       const struct unwind_table *made, const struct table_part *part)
{
	return part ? unwind_store_fill(cache->store, table->location, part->first, made)
		    : unwind_store_put(cache->store, made, &table->location);
}

/* Put a table into the store, or a part of one that is there (`part`; else NULL), and charge its
 * users. False: there is no room, also without tables that are unused. */
static bool keep_words(struct unwind_table_cache *cache, struct cached_table *table,
		       const struct unwind_table *made, const struct table_part *part)
{
	struct unwind_store_use before, after;
	struct error *err;

	for (;;) {
		before = unwind_store_use(cache->store);
		err = put_words(cache, table, made, part);
		if (!err)
			break;
		error_destroy(err);
		if (!unwind_table_cache_make_room(cache))
			return false;
	}
	after = unwind_store_use(cache->store);
	table->bytes += after.used_bytes - before.used_bytes;
	user_shares_take(&cache->bytes, table->share, after.used_bytes - before.used_bytes);
	/* Rules stay. */
	user_shares_take(&cache->rules, table->rule_share, after.rules - before.rules);
	return true;
}

static void put_table(struct unwind_table_cache *cache, struct cached_table *table,
		      struct mapped_file *file)
{
	const size_t bytes = file->table.words.count * sizeof(uint32_t);

	/* This does not count as a try for other users: they may have the file, too, and room for
	 * it. */
	if (!make_room_in_shares(cache, table, bytes)) {
		note_no_room(cache, table);
		table->tries--;
		return;
	}
	if (!keep_words(cache, table, &file->table, NULL)) {
		note_no_room(cache, table);
		table->pid = 0;
		return;
	}
	table->state = CACHED_TABLE_READY;
	table->base = file->table.base;
	cache->use.tables++;
	if (file->outcome == TABLE_OUTLINED) {
		table->fd = take_fd(file->fd);
		TAILQ_INSERT_TAIL(&cache->outlined, table, outlined);
		cache->outlined_count++;
		cache->untrusted_count += table->is_untrusted;
	}
	array_deinit(&table->segments);
	memcpy(&table->segments, &file->segments, sizeof(table->segments));
	memset(&file->segments, 0, sizeof(file->segments));
}

static void take_file(struct unwind_table_cache *cache, struct cached_table *table,
		      struct mapped_file *file)
{
	table->state = CACHED_TABLE_FAILED;
	table->inode = file->inode;
	switch (file->outcome) {
	case TABLE_FAILED:
		cache->use.failed++;
		break;
	case TABLE_NO_ROOM:
		note_no_room(cache, table);
		break;
	case TABLE_NO_CFI:
		table->state = CACHED_TABLE_NO_CFI;
		break;
	case TABLE_MADE:
	case TABLE_OUTLINED:
	case TABLE_FROM_CACHE:
		cache->use.made += file->outcome != TABLE_FROM_CACHE;
		cache->use.from_cache += file->outcome == TABLE_FROM_CACHE;
		put_table(cache, table, file);
		break;
	}
}

/* --- parts of tables --- */

static bool keep_part(struct unwind_table_cache *cache, struct cached_table *table,
		      const struct table_part *part)
{
	if (!make_room_in_shares(cache, table, part->table.words.count * sizeof(uint32_t)) ||
	    !keep_words(cache, table, &part->table, part))
		return false;
	cache->use.parts++;
	return true;
}

static void take_parts(struct unwind_table_cache *cache, struct cached_table *table,
		       const struct built_table *built)
{
	if (built->file.outcome == TABLE_NO_ROOM)
		note_no_room(cache, table);
	for (size_t i = 0; i < built->parts.count; i++) {
		const struct table_part *part = &built->parts.items[i];

		if (part->is_made && keep_part(cache, table, part))
			continue;
		if (part->is_made)
			note_no_room(cache, table);
		unwind_store_give_up(cache->store, table->location, part->first, part->count);
	}
	table->awaits_parts = false;
}

static void request_parts(struct unwind_table_cache *cache, struct cached_table *table)
{
	struct table_part parts[PARTS_MAX];
	uint32_t first = 0, count;
	size_t found = 0;

	for (; found < PARTS_MAX &&
	       unwind_store_wanted(cache->store, table->location, PART_BLOCKS_MAX, &first, &count);
	     first += count)
		parts[found++] = (struct table_part){ .first = first, .count = count };
	table->awaits_parts = found && table_builders_ask_parts(cache->builders, table->pid,
								table->fd, &table->identity,
								table->base, parts, found, table);
}

bool unwind_table_cache_request_parts(struct unwind_table_cache *cache)
{
	struct cached_table *table;
	bool awaits = false;

	TAILQ_FOREACH(table, &cache->outlined, outlined)
	{
		if (!table->awaits_parts)
			request_parts(cache, table);
		awaits |= table->awaits_parts;
	}
	return awaits;
}

/* An outline that there was no room for. */
static void close_refused(struct unwind_table_cache *cache, struct built_table *built)
{
	const struct cached_table *table = built->owner;

	if (built->file.fd >= 0)
		table_builders_close(cache->builders, table->user, take_fd(built->file.fd));
}

size_t unwind_table_cache_collect(struct unwind_table_cache *cache)
{
	struct built_table *built;
	size_t count = 0;

	while ((built = table_builders_take(cache->builders))) {
		if (built->parts.count) {
			take_parts(cache, built->owner, built);
		} else {
			take_file(cache, built->owner, &built->file);
			close_refused(cache, built);
			count++;
		}
		built_table_destroy(built);
	}
	cache->use.answered += count;
	if (count)
		keep_bounds(cache);
	return count;
}

struct unwind_table_cache_use unwind_table_cache_usage(const struct unwind_table_cache *cache)
{
	return cache->use;
}

void unwind_table_cache_destroy(struct unwind_table_cache *cache)
{
	if (!cache)
		return;
	map_for_each(&cache->by_identity, slot)
	{
		forget_outline(cache, slot->value);
		array_deinit(&slot->value->segments);
		free(slot->value);
	}
	table_builders_destroy(cache->builders);
	map_deinit(&cache->by_identity);
	user_shares_deinit(&cache->bytes);
	user_shares_deinit(&cache->rules);
	free(cache);
}
