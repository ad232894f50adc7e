/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/table_shelf.h"

#include "base/clock.h"

#define BUCKETS 1024

/* Who has a file that others could not show is asked at once, so often; then ever more rarely. */
#define TRIES_AT_ONCE 3
#define TRIES_MAX     12

/* More tables that nobody uses are not kept, however small. */
#define UNUSED_MAX 4096

LIST_HEAD(bucket, shelf_table);

struct table_shelf {
	struct unwind_store *store;
	struct table_makers *makers;
	size_t kept_bytes; /* of the store, beyond which unused ones go */
	struct user_shares bytes, rules;
	struct bucket buckets[BUCKETS];
	TAILQ_HEAD(, shelf_table) unused; /* the one that was used last is last */
	size_t unused_count;
	struct {
		ARRAY(struct shelf_table *);
	} numbered; /* by number; NULL: it is free */
	struct {
		ARRAY(uint32_t);
	} free_numbers;
	struct table_shelf_use use;
};

struct error *table_shelf_create(struct unwind_store *store, struct table_makers *makers,
				 size_t max_bytes, struct table_shelf **ret)
{
	struct table_shelf *shelf = calloc(1, sizeof(*shelf));

	if (!shelf)
		return &error_no_memory;
	shelf->store = store;
	shelf->makers = makers;
	shelf->kept_bytes = max_bytes / 4 * 3;
	user_shares_init(&shelf->bytes, max_bytes);
	user_shares_init(&shelf->rules, unwind_store_use(store).max_rules);
	TAILQ_INIT(&shelf->unused);
	*ret = shelf;
	return NULL;
}

void table_shelf_limit_users(struct table_shelf *shelf, share_user_of *user_of)
{
	shelf->bytes.user_of = user_of;
	shelf->rules.user_of = user_of;
}

static struct bucket *bucket_of(struct table_shelf *shelf, const struct words *identity)
{
	uint64_t hash = identity->w[0] ^ identity->w[1] * 0x9e3779b97f4a7c15 ^ identity->w[2];

	return &shelf->buckets[(hash * 0x9e3779b97f4a7c15 >> 32) % BUCKETS];
}

/* --- tables that come and go --- */

static bool give_number(struct table_shelf *shelf, struct shelf_table *table)
{
	if (shelf->free_numbers.count) {
		table->number = shelf->free_numbers.items[--shelf->free_numbers.count];
		shelf->numbered.items[table->number] = table;
		return true;
	}
	/* Room to give each number back. */
	if (!array_reserve(&shelf->free_numbers, shelf->numbered.count + 1) ||
	    !array_push(&shelf->numbered, table))
		return false;
	table->number = (uint32_t)shelf->numbered.count - 1;
	return true;
}

static struct shelf_table *add_table(struct table_shelf *shelf, const struct words *identity)
{
	struct shelf_table *table = calloc(1, sizeof(*table));

	if (!table || !give_number(shelf, table)) {
		free(table);
		return NULL;
	}
	table->identity = *identity;
	table->state = SHELF_NOTHING;
	LIST_INSERT_HEAD(bucket_of(shelf, identity), table, same);
	TAILQ_INSERT_TAIL(&shelf->unused, table, unused);
	shelf->unused_count++;
	return table;
}

/* One that nobody uses. */
static void remove_table(struct table_shelf *shelf, struct shelf_table *table)
{
	TAILQ_REMOVE(&shelf->unused, table, unused);
	shelf->unused_count--;
	LIST_REMOVE(table, same);
	if (table->state == SHELF_TABLE) {
		unwind_store_remove(shelf->store, table->place);
		user_shares_give_back(&shelf->bytes, table->share, table->bytes);
		shelf->use.tables--;
	}
	shelf->numbered.items[table->number] = NULL;
	shelf->free_numbers.items[shelf->free_numbers.count++] = table->number;
	array_deinit(&table->segments);
	free(table);
}

/* Of a user, or of all. */
static bool drop_unused(struct table_shelf *shelf, uint32_t share)
{
	struct shelf_table *table;

	TAILQ_FOREACH(table, &shelf->unused, unused)
	if (table->state == SHELF_TABLE && (share == USER_SHARE_NONE || table->share == share)) {
		remove_table(shelf, table);
		return true;
	}
	return false;
}

bool table_shelf_make_room(struct table_shelf *shelf)
{
	return drop_unused(shelf, USER_SHARE_NONE);
}

/* So many bytes of a user's share, for which its unused tables go. */
static bool make_room_in_share(struct table_shelf *shelf, uint32_t share, size_t bytes)
{
	while (!user_shares_have(&shelf->bytes, share, bytes))
		if (bytes > shelf->bytes.max_one || !drop_unused(shelf, share))
			return false;
	return true;
}

bool table_shelf_take_words(struct table_shelf *shelf, uint32_t pid, uint32_t words,
			    uint32_t *ret_place, uint32_t *ret_share)
{
	const uint32_t share = user_shares_of(&shelf->bytes, pid);
	const size_t bytes = words * sizeof(uint32_t);
	struct error *err;

	if (!make_room_in_share(shelf, share, bytes))
		return false;
	while ((err = unwind_store_take(shelf->store, words, ret_place))) {
		error_destroy(err);
		if (!table_shelf_make_room(shelf))
			return false;
	}
	user_shares_take(&shelf->bytes, share, bytes);
	*ret_share = share;
	return true;
}

void table_shelf_give_back_words(struct table_shelf *shelf, uint32_t place, uint32_t words,
				 uint32_t share)
{
	unwind_store_give_back(shelf->store, place, words);
	user_shares_give_back(&shelf->bytes, share, words * sizeof(uint32_t));
}

static void keep_bounds(struct table_shelf *shelf)
{
	struct shelf_table *table = TAILQ_FIRST(&shelf->unused), *next;

	for (; table && shelf->unused_count > UNUSED_MAX; table = next) {
		next = TAILQ_NEXT(table, unused);
		if (!table->is_asked)
			remove_table(shelf, table);
	}
	while (unwind_store_use(shelf->store).used_bytes > shelf->kept_bytes &&
	       table_shelf_make_room(shelf))
		;
}

void table_shelf_use(struct table_shelf *shelf, struct shelf_table *table)
{
	if (table->users++)
		return;
	TAILQ_REMOVE(&shelf->unused, table, unused);
	shelf->unused_count--;
}

void table_shelf_release(struct table_shelf *shelf, struct shelf_table *table)
{
	if (--table->users)
		return;
	TAILQ_INSERT_TAIL(&shelf->unused, table, unused);
	shelf->unused_count++;
	keep_bounds(shelf);
}

/* --- asking --- */

static bool make_room_in_shares(struct table_shelf *shelf, const struct shelf_table *table,
				size_t bytes)
{
	return make_room_in_share(shelf, table->share, bytes) &&
	       user_shares_have(&shelf->rules, table->rule_share, 1);
}

static void ask(struct table_shelf *shelf, struct shelf_table *table, uint32_t pid,
		const struct profile_mapping *mapping)
{
	table->pid = pid;
	table->share = user_shares_of(&shelf->bytes, pid);
	table->rule_share = user_shares_of(&shelf->rules, pid);
	if (!make_room_in_shares(shelf, table, 1)) {
		shelf->use.no_room++;
		return;
	}
	table->asked_ns = clock_ns(CLOCK_MONOTONIC);
	table->tries += table->tries < TRIES_MAX;
	if (!table_makers_ask(shelf->makers, pid, mapping, &table->identity, table->number)) {
		shelf->use.failed++;
		return;
	}
	table->is_asked = true;
	table->state = SHELF_LATER;
	shelf->use.asked++;
}

static bool is_worth_another_try(const struct shelf_table *table, uint32_t pid)
{
	uint64_t pause_ns = table->tries < TRIES_AT_ONCE ? 0 : NS_PER_S << table->tries;

	return table->state == SHELF_NOTHING && !table->is_asked && table->pid != pid &&
	       clock_ns(CLOCK_MONOTONIC) - table->asked_ns >= pause_ns;
}

struct shelf_table *table_shelf_find(struct table_shelf *shelf, uint32_t pid,
				     const struct profile_mapping *mapping,
				     const struct words *identity)
{
	struct shelf_table *table;

	LIST_FOREACH(table, bucket_of(shelf, identity), same)
	if (memcmp(&table->identity, identity, sizeof(*identity)) == 0)
		break;
	if (!table) {
		table = add_table(shelf, identity);
		if (!table) {
			shelf->use.failed++;
			return NULL;
		}
		ask(shelf, table, pid, mapping);
	} else if (is_worth_another_try(table, pid)) {
		ask(shelf, table, pid, mapping);
	}
	return table;
}

/* --- what was made --- */

static bool put(struct table_shelf *shelf, struct shelf_table *table,
		const struct unwind_table *made)
{
	struct unwind_store_use before, after;
	struct error *err;

	for (;;) {
		before = unwind_store_use(shelf->store);
		err = unwind_store_put(shelf->store, made, &table->place);
		if (!err)
			break;
		error_destroy(err);
		if (!table_shelf_make_room(shelf))
			return false;
	}
	after = unwind_store_use(shelf->store);
	table->bytes = after.used_bytes - before.used_bytes;
	user_shares_take(&shelf->bytes, table->share, table->bytes);
	/* Rules stay. */
	user_shares_take(&shelf->rules, table->rule_share, after.rules - before.rules);
	return true;
}

static void put_table(struct table_shelf *shelf, struct shelf_table *table,
		      struct mapped_file *file)
{
	const size_t bytes = file->table.words.count * sizeof(uint32_t);

	/* No try for others: they may have the file too, and room. */
	if (!make_room_in_shares(shelf, table, bytes)) {
		shelf->use.no_room++;
		table->tries--;
		return;
	}
	if (!put(shelf, table, &file->table)) {
		shelf->use.no_room++;
		table->pid = 0;
		return;
	}
	table->state = SHELF_TABLE;
	table->base = file->table.base;
	shelf->use.tables++;
	array_deinit(&table->segments);
	memcpy(&table->segments, &file->segments, sizeof(table->segments));
	memset(&file->segments, 0, sizeof(file->segments));
}

static void take_made(struct table_shelf *shelf, struct made_table *made)
{
	struct shelf_table *table = shelf->numbered.items[made->number];

	table->is_asked = false;
	table->state = SHELF_NOTHING;
	shelf->use.answered++;
	switch (made->file.outcome) {
	case TABLE_FAILED:
		shelf->use.failed++;
		break;
	case TABLE_SILENT:
		table->state = SHELF_SILENT;
		break;
	case TABLE_MADE:
	case TABLE_FROM_CACHE:
		shelf->use.made += made->file.outcome == TABLE_MADE;
		shelf->use.from_cache += made->file.outcome == TABLE_FROM_CACHE;
		put_table(shelf, table, &made->file);
		break;
	}
}

size_t table_shelf_put_made(struct table_shelf *shelf)
{
	struct made_table *made;
	size_t count = 0;

	for (; (made = table_makers_take(shelf->makers)); count++) {
		take_made(shelf, made);
		made_table_destroy(made);
	}
	if (count)
		keep_bounds(shelf);
	return count;
}

struct table_shelf_use table_shelf_usage(const struct table_shelf *shelf)
{
	return shelf->use;
}

void table_shelf_destroy(struct table_shelf *shelf)
{
	if (!shelf)
		return;
	for (size_t i = 0; i < shelf->numbered.count; i++) {
		struct shelf_table *table = shelf->numbered.items[i];

		if (table)
			array_deinit(&table->segments);
		free(table);
	}
	user_shares_deinit(&shelf->bytes);
	user_shares_deinit(&shelf->rules);
	array_deinit(&shelf->numbered);
	array_deinit(&shelf->free_numbers);
	free(shelf);
}
