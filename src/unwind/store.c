/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/store.h"

#include <string.h>

#include "base/word_map.h"
#include "unwind/extents.h"

#define CHUNK_BYTES (sizeof(uint32_t) * UNWIND_CHUNK)

struct chunk {
	uint32_t *words;
	struct unwind_extents extents;
};

struct unwind_store {
	struct unwind_store_options options;
	struct {
		ARRAY(struct chunk);
	} chunks;
	struct unwind_rule *rules;
	struct word_map numbers; /* of rules, by what is in them */
	uint32_t rule_count;
	size_t rules_refused, units;
};

struct error *unwind_store_create(const struct unwind_store_options *options,
				  struct unwind_store **ret)
{
	_cleanup_(unwind_store_destroy) struct unwind_store *store = calloc(1, sizeof(*store));

	if (!store)
		return &error_no_memory;
	store->options = *options;
	if (!options->max_bytes || options->max_bytes > CHUNK_BYTES * UNWIND_CHUNKS_MAX)
		store->options.max_bytes = CHUNK_BYTES * UNWIND_CHUNKS_MAX;
	if (!options->max_rules || options->max_rules > UNWIND_RULES_MAX)
		store->options.max_rules = UNWIND_RULES_MAX;
	store->rules = options->rules;
	if (!store->rules)
		store->rules = calloc(UNWIND_RULES_MAX, sizeof(*store->rules));
	if (!store->rules)
		return &error_no_memory;
	for (; store->rule_count < UNWIND_NUMBERS_FIXED; store->rule_count++)
		store->rules[store->rule_count] =
			(struct unwind_rule){ .kind = (__u8)store->rule_count };
	*ret = take_ptr(store);
	return NULL;
}

void unwind_store_destroy(struct unwind_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; !store->options.add_chunk && i < store->chunks.count; i++)
		free(store->chunks.items[i].words);
	array_deinit(&store->chunks);
	if (!store->options.rules)
		free(store->rules);
	word_map_deinit(&store->numbers);
	free(store);
}

/* --- locations --- */

static uint32_t units_of(uint32_t words)
{
	return words ? words / UNWIND_UNIT_WORDS + (words % UNWIND_UNIT_WORDS != 0) : 1;
}

static struct error *plain_chunk(uint32_t **ret)
{
	*ret = calloc(1, UNWIND_CHUNK_BYTES);
	return *ret ? NULL : &error_no_memory;
}

static struct error *add_chunk(struct unwind_store *store)
{
	const struct unwind_store_options *options = &store->options;
	size_t count = store->chunks.count;
	uint32_t *words = NULL, nowhere;
	struct error *err;

	if ((count + 1) * CHUNK_BYTES > options->max_bytes)
		return error_create("unwind tables exceed their limit of %zu KiB",
				    options->max_bytes >> 10);
	if (!array_reserve(&store->chunks, 1))
		return &error_no_memory;
	err = options->add_chunk ? options->add_chunk(options->context, (uint32_t)count, &words)
				 : plain_chunk(&words);
	if (err)
		return err;
	store->chunks.items[count] = (struct chunk){ .words = words };
	/* Location 0 is none. */
	if (count == 0)
		unwind_extents_take(&store->chunks.items[count].extents, 1, &nowhere);
	store->chunks.count++;
	return NULL;
}

static bool take_in(struct unwind_store *store, size_t chunk, uint32_t units,
		    uint32_t *ret_location)
{
	uint32_t first;

	if (!unwind_extents_take(&store->chunks.items[chunk].extents, units, &first))
		return false;
	store->units += units;
	*ret_location = (uint32_t)chunk << UNWIND_CHUNK_BITS | first * UNWIND_UNIT_WORDS;
	return true;
}

/* A location, with whatever was there before. */
static struct error *reserve(struct unwind_store *store, uint32_t words, uint32_t *ret_location)
{
	uint32_t units = units_of(words);

	if (units > UNWIND_CHUNK_UNITS)
		return error_create("malformed unwind table of %u words", words);
	for (size_t i = 0;; i++) {
		struct error *err = i == store->chunks.count ? add_chunk(store) : NULL;

		if (err)
			return err;
		if (take_in(store, i, units, ret_location))
			return NULL;
	}
}

struct error *unwind_store_take(struct unwind_store *store, uint32_t words, uint32_t *ret_location)
{
	struct error *err = reserve(store, words, ret_location);

	if (!err)
		memset(unwind_store_at(store, *ret_location), 0, words * sizeof(uint32_t));
	return err;
}

void unwind_store_give_back(struct unwind_store *store, uint32_t location, uint32_t words)
{
	struct chunk *chunk = &store->chunks.items[location >> UNWIND_CHUNK_BITS];
	uint32_t units = units_of(words);

	unwind_extents_give_back(&chunk->extents, location % UNWIND_CHUNK / UNWIND_UNIT_WORDS,
				 units);
	store->units -= units;
}

uint32_t *unwind_store_at(const struct unwind_store *store, uint32_t location)
{
	size_t chunk = location >> UNWIND_CHUNK_BITS;

	if (!location || chunk >= store->chunks.count)
		return NULL;
	return store->chunks.items[chunk].words + location % UNWIND_CHUNK;
}

/* --- rules --- */

_Static_assert((int)UNWIND_NUMBER_NONE == UNWIND_RULE_NONE &&
		       (int)UNWIND_NUMBER_OTHER == UNWIND_RULE_OTHER &&
		       (int)UNWIND_NUMBER_STOP == UNWIND_RULE_STOP &&
		       (int)UNWIND_NUMBER_POINTER == UNWIND_RULE_POINTER &&
		       (int)UNWIND_RULE_FRAME == (int)UNWIND_NUMBERS_FIXED,
	       "kinds without anything else are the rules that are always there");

static struct words rule_key(const struct unwind_rule *rule)
{
	struct words key = { { 0 } };

	_Static_assert(sizeof(*rule) == 16, "a rule is two words of a key");
	memcpy(key.w, rule, sizeof(*rule));
	return key;
}

static uint32_t new_rule(struct unwind_store *store, const struct unwind_rule *rule)
{
	uint32_t *number = store->rule_count < store->options.max_rules
				   ? word_map_at(&store->numbers, rule_key(rule))
				   : NULL;

	if (!number) {
		store->rules_refused++;
		return UNWIND_NUMBER_OTHER;
	}
	store->rules[store->rule_count] = *rule;
	return *number = store->rule_count++;
}

uint32_t unwind_store_rule(struct unwind_store *store, const struct unwind_rule *rule)
{
	uint32_t number;

	if (rule->kind < UNWIND_NUMBERS_FIXED)
		return rule->kind;
	number = word_map_find(&store->numbers, rule_key(rule));
	return number == WORD_MAP_NEW ? new_rule(store, rule) : number;
}

const struct unwind_rule *unwind_store_rule_at(const struct unwind_store *store, uint32_t number)
{
	return number < store->rule_count ? &store->rules[number] : NULL;
}

/* --- tables --- */

/* A table that is being written. */
struct putting {
	struct unwind_store *store;
	const struct unwind_table *table;
	uint32_t location;   /* of the table */
	uint32_t *locations; /* of its blocks; 0: it has none there */
	uint32_t *numbers;   /* that its rules have in the store */
};

static uint32_t list_words(size_t blocks)
{
	return 1 + (uint32_t)blocks;
}

static const uint32_t *block_of(const struct unwind_table *table, size_t i)
{
	uint32_t at = table->blocks.items[i];

	return unwind_is_block(at) ? table->words.items + at : NULL;
}

static void give_all_back(const struct putting *p)
{
	for (size_t i = 0; i < p->table->blocks.count; i++)
		if (p->locations[i])
			unwind_store_give_back(p->store, p->locations[i],
					       (uint32_t)unwind_block_words(block_of(p->table, i)));
	if (p->location)
		unwind_store_give_back(p->store, p->location, list_words(p->table->blocks.count));
}

static struct error *take_blocks(struct putting *p)
{
	struct error *err = NULL;

	for (size_t i = 0; i < p->table->blocks.count && !err; i++) {
		const uint32_t *block = block_of(p->table, i);

		if (block)
			err = reserve(p->store, (uint32_t)unwind_block_words(block),
				      &p->locations[i]);
	}
	return err;
}

static struct error *take_all(struct putting *p)
{
	struct error *err = reserve(p->store, list_words(p->table->blocks.count), &p->location);

	return err ? err : take_blocks(p);
}

static uint32_t stored_rule_number(const struct putting *p, uint32_t local)
{
	if (local < UNWIND_NUMBERS_FIXED)
		return local;
	return local - UNWIND_NUMBERS_FIXED < p->table->rules.count
		       ? p->numbers[local - UNWIND_NUMBERS_FIXED]
		       : UNWIND_NUMBER_OTHER;
}

static void write_block(const struct putting *p, const uint32_t *block, uint32_t *out)
{
	size_t words = unwind_block_words(block);

	memcpy(out, block, UNWIND_BLOCK_HEAD * sizeof(*out));
	for (size_t i = UNWIND_BLOCK_HEAD; i < words; i++)
		out[i] = UNWIND_ROW(UNWIND_ROW_OFFSET(block[i]),
				    stored_rule_number(p, UNWIND_ROW_RULE(block[i])));
}

static uint32_t place_of(const struct putting *p, size_t i)
{
	switch (p->table->blocks.items[i]) {
	case UNWIND_POINTER_BLOCK:
		return UNWIND_PLACE_POINTER;
	case UNWIND_UNMADE_BLOCK:
		return UNWIND_PLACE_UNMADE;
	default:
		return p->locations[i];
	}
}

/* Programs of the kernel may read at any time: rules come before the rows that have their numbers,
 * blocks before the table that has their locations, and that before it is published. */
static void write_blocks(const struct putting *p)
{
	for (size_t i = 0; i < p->table->rules.count; i++)
		p->numbers[i] = unwind_store_rule(p->store, &p->table->rules.items[i]);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (size_t i = 0; i < p->table->blocks.count; i++)
		if (p->locations[i])
			write_block(p, block_of(p->table, i),
				    unwind_store_at(p->store, p->locations[i]));
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void write_table(const struct putting *p)
{
	uint32_t *list = unwind_store_at(p->store, p->location);
	size_t count = p->table->blocks.count;

	write_blocks(p);
	for (size_t i = 0; i < count; i++)
		list[1 + i] = place_of(p, i);
	__atomic_store_n(&list[0], (uint32_t)count, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static struct error *begin_putting(struct unwind_store *store, const struct unwind_table *table,
				   struct putting *ret)
{
	*ret = (struct putting){
		.store = store,
		.table = table,
		.locations = calloc(table->blocks.count + 1, sizeof(*ret->locations)),
		.numbers = calloc(table->rules.count + 1, sizeof(*ret->numbers)),
	};
	return ret->locations && ret->numbers ? NULL : &error_no_memory;
}

static void end_putting_guard(struct putting *p)
{
	free(p->locations);
	free(p->numbers);
}

struct error *unwind_store_put(struct unwind_store *store, const struct unwind_table *table,
			       uint32_t *ret_location)
{
	_cleanup_(end_putting) struct putting p;
	struct error *err = begin_putting(store, table, &p);

	if (err)
		return err;
	if (table->blocks.count > UNWIND_BLOCKS_MAX)
		return error_create("a table of %zu blocks of code: more than 4 GiB",
				    table->blocks.count);
	err = take_all(&p);
	if (err) {
		give_all_back(&p);
		return err;
	}
	write_table(&p);
	*ret_location = p.location;
	return NULL;
}

void unwind_store_remove(struct unwind_store *store, uint32_t location)
{
	const uint32_t *list = unwind_store_at(store, location);

	for (uint32_t i = 0; i < list[0]; i++)
		if (list[1 + i] >= UNWIND_PLACE_FIRST)
			unwind_store_give_back(
				store, list[1 + i],
				(uint32_t)unwind_block_words(unwind_store_at(store, list[1 + i])));
	unwind_store_give_back(store, location, list_words(list[0]));
}

/* --- parts of tables --- */

bool unwind_store_wanted(const struct unwind_store *store, uint32_t location, uint32_t most,
			 uint32_t *ret_first, uint32_t *ret_count)
{
	const uint32_t *list = unwind_store_at(store, location);
	uint32_t first = *ret_first, count = 0;

	while (first < list[0] && list[1 + first] != UNWIND_PLACE_WANTED)
		first++;
	while (first + count < list[0] && count < most &&
	       list[1 + first + count] == UNWIND_PLACE_WANTED)
		count++;
	*ret_first = first;
	*ret_count = count;
	return count;
}

void unwind_store_want(const struct unwind_store *store, uint32_t location, uint64_t address)
{
	uint32_t *list = unwind_store_at(store, location);
	const uint64_t block = address >> UNWIND_BLOCK_BITS;

	if (list && block < list[0])
		(void)__sync_val_compare_and_swap(&list[1 + block], UNWIND_PLACE_UNMADE,
						  UNWIND_PLACE_WANTED);
}

static bool is_unmade(uint32_t place)
{
	return place == UNWIND_PLACE_UNMADE || place == UNWIND_PLACE_WANTED;
}

struct error *unwind_store_fill(struct unwind_store *store, uint32_t location, uint32_t first,
				const struct unwind_table *part)
{
	uint32_t *list = unwind_store_at(store, location);
	_cleanup_(end_putting) struct putting p;
	struct error *err = begin_putting(store, part, &p);

	if (!err && (first > list[0] || part->blocks.count > list[0] - first))
		err = error_create("a part behind the end of its unwind table");
	if (!err)
		err = take_blocks(&p);
	if (err) {
		give_all_back(&p);
		return err;
	}
	write_blocks(&p);
	for (uint32_t i = 0; i < part->blocks.count; i++) {
		uint32_t *place = &list[1 + first + i];

		/* Walkers change it from one of these to the other only. */
		if (is_unmade(*place))
			__atomic_store_n(place, place_of(&p, i), __ATOMIC_RELEASE);
		else if (p.locations[i])
			unwind_store_give_back(store, p.locations[i],
					       (uint32_t)unwind_block_words(block_of(part, i)));
	}
	return NULL;
}

void unwind_store_give_up(struct unwind_store *store, uint32_t location, uint32_t first,
			  uint32_t count)
{
	uint32_t *list = unwind_store_at(store, location);

	for (uint32_t i = first; i < list[0] && i - first < count; i++)
		if (is_unmade(list[1 + i]))
			__atomic_store_n(&list[1 + i], 0, __ATOMIC_RELEASE);
}

struct unwind_store_use unwind_store_use(const struct unwind_store *store)
{
	return (struct unwind_store_use){
		.chunk_bytes = store->chunks.count * CHUNK_BYTES,
		.used_bytes = store->units * UNWIND_UNIT_WORDS * sizeof(uint32_t),
		.rules = store->rule_count,
		.max_rules = store->options.max_rules,
		.rules_refused = store->rules_refused,
	};
}
