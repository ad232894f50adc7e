/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/store.h"

#include <stdlib.h>
#include <string.h>

#include "unit/made_table.h"

#define CHUNK_BYTES ((size_t)UNWIND_CHUNK * 4)

static struct unwind_store *store_of(size_t chunks)
{
	struct unwind_store *store = NULL;

	expect_ok(unwind_store_create(
		&(struct unwind_store_options){ .max_bytes = chunks * CHUNK_BYTES }, &store));
	return store;
}

static uint32_t take(struct unwind_store *store, uint32_t words)
{
	uint32_t place = 0;

	expect_ok(unwind_store_take(store, words, &place));
	assert_int_not_equal(place, 0);
	return place;
}

static size_t used(const struct unwind_store *store)
{
	return unwind_store_use(store).used_bytes;
}

/* --- places --- */

/* A byte for each 8 words, and all of them looked at each time. */
#define MODEL_UNITS  (3 * UNWIND_CHUNK / 8)
#define MODEL_CHUNK  (UNWIND_CHUNK / 8)
#define MODEL_EXTENT 400

struct model {
	uint8_t taken[MODEL_UNITS];
	struct {
		uint32_t place, words;
	} extents[MODEL_EXTENT];
	size_t count, units;
};

/* The first that fits, or 0. */
static uint32_t model_take(struct model *m, uint32_t units)
{
	for (uint32_t chunk = 0; chunk < 3; chunk++) {
		uint32_t run = 0;

		for (uint32_t i = chunk * MODEL_CHUNK; i < (chunk + 1) * MODEL_CHUNK; i++) {
			run = m->taken[i] ? 0 : run + 1;
			if (run == units) {
				memset(&m->taken[i + 1 - units], 1, units);
				m->units += units;
				return i + 1 - units;
			}
		}
	}
	return 0;
}

static void take_one(struct unwind_store *store, struct model *m, uint64_t *seed)
{
	uint32_t most = next_random(seed) % 16 ? 3000 : UNWIND_CHUNK;
	uint32_t words = 1 + (uint32_t)(next_random(seed) % most);
	uint32_t expected = model_take(m, (words + 7) / 8), place = 1;
	uint32_t *at;

	if (!expected) {
		expect_error(unwind_store_take(store, words, &place), "unwind tables exceed");
		assert_int_equal(place, 1);
		return;
	}
	expect_ok(unwind_store_take(store, words, &place));
	assert_int_equal(place, expected * 8);
	at = unwind_store_at(store, place);
	for (uint32_t i = 0; i < words; i++)
		assert_int_equal(at[i], 0);
	memset(at, 0xa5, words * sizeof(*at));
	m->extents[m->count].place = place;
	m->extents[m->count++].words = words;
}

static void give_one(struct unwind_store *store, struct model *m, uint64_t *seed)
{
	size_t which = next_random(seed) % m->count;
	uint32_t place = m->extents[which].place, words = m->extents[which].words;

	unwind_store_give_back(store, place, words);
	memset(&m->taken[place / 8], 0, (words + 7) / 8);
	m->units -= (words + 7) / 8;
	m->extents[which] = m->extents[--m->count];
}

TEST(places_are_those_of_a_simple_model)
{
	struct unwind_store *store = store_of(3);
	struct model *m = calloc(1, sizeof(*m));
	uint64_t seed = 1;

	m->taken[0] = 1;
	for (int i = 0; i < 6000; i++) {
		bool fills = i / 500 % 2 == 0;

		if (!m->count ||
		    (m->count < MODEL_EXTENT && next_random(&seed) % 4 < 1u + fills * 2))
			take_one(store, m, &seed);
		else
			give_one(store, m, &seed);
		assert_int_equal(used(store), m->units * 32);
	}
	while (m->count)
		give_one(store, m, &seed);
	assert_int_equal(used(store), 0);
	/* All is together again. */
	for (uint32_t chunk = 0; chunk < 3; chunk++)
		take(store, UNWIND_CHUNK - (chunk ? 0 : 8));
	assert_int_equal(unwind_store_use(store).chunk_bytes, 3 * CHUNK_BYTES);
	free(m);
	unwind_store_destroy(store);
}

TEST(a_table_is_in_one_chunk)
{
	struct unwind_store *store = store_of(2);
	uint32_t place;

	/* Place 0 is none, so the first chunk is not whole. */
	assert_int_equal(take(store, UNWIND_CHUNK), UNWIND_CHUNK);
	assert_int_equal(take(store, UNWIND_CHUNK - 8), 8);
	expect_error(unwind_store_take(store, 1, &place), "exceed their limit of 1024 KiB");
	expect_error(unwind_store_take(store, UNWIND_CHUNK + 1, &place), "malformed unwind table");
	expect_error(unwind_store_take(store, UINT32_MAX, &place), "malformed unwind table");
	assert_null(unwind_store_at(store, 0));
	assert_null(unwind_store_at(store, 2 * UNWIND_CHUNK));
	assert_null(unwind_store_at(store, UINT32_MAX));
	unwind_store_destroy(store);
}

TEST(an_empty_store_has_nothing)
{
	struct unwind_store *store = store_of(0);
	struct unwind_store_use use = unwind_store_use(store);

	assert_int_equal(use.chunk_bytes, 0);
	assert_int_equal(use.used_bytes, 0);
	assert_int_equal(use.rules, 4);
	assert_null(unwind_store_at(store, 8));
	unwind_store_destroy(store);
	unwind_store_destroy(NULL);
}

struct lender {
	uint32_t *chunks[4];
	size_t count, most;
};

static struct error *lend(void *context, uint32_t number, uint32_t **ret)
{
	struct lender *lender = context;

	if (lender->count == lender->most)
		return error_create("no more chunks");
	assert_int_equal(number, lender->count);
	*ret = lender->chunks[lender->count++] = calloc(1, CHUNK_BYTES + 64);
	return NULL;
}

TEST(memory_may_be_the_callers)
{
	struct lender lender = { .most = 2 };
	struct unwind_rule *rules = calloc(UNWIND_RULES_MAX, sizeof(*rules));
	const struct unwind_store_options options = { .add_chunk = lend,
						      .rules = rules,
						      .context = &lender };
	const struct unwind_rule rule = { .kind = UNWIND_RULE_FRAME, .cfa_offset = 8 };
	struct unwind_store *store = NULL;
	uint32_t place;

	expect_ok(unwind_store_create(&options, &store));
	assert_int_equal(rules[UNWIND_NUMBER_STOP].kind, UNWIND_RULE_STOP);
	assert_int_equal(unwind_store_rule(store, &rule), 4);
	assert_memory_equal(&rules[4], &rule, sizeof(rule));
	place = take(store, 16);
	assert_ptr_equal(unwind_store_at(store, place), lender.chunks[0] + place);
	place = take(store, UNWIND_CHUNK);
	assert_ptr_equal(unwind_store_at(store, place), lender.chunks[1]);
	expect_error(unwind_store_take(store, UNWIND_CHUNK, &place), "no more chunks");
	assert_int_equal(unwind_store_use(store).chunk_bytes, 2 * CHUNK_BYTES);
	unwind_store_destroy(store);
	free(lender.chunks[0]);
	free(lender.chunks[1]);
	free(rules);
}

/* --- rules --- */

TEST(equal_rules_have_one_number)
{
	struct unwind_store *store = store_of(1);
	struct unwind_rule rule = { .kind = UNWIND_RULE_FRAME, .cfa_offset = 16, .addend = -1 };
	uint32_t first = unwind_store_rule(store, &rule);

	assert_int_equal(first, 4);
	assert_int_equal(unwind_store_rule(store, &rule), first);
	assert_memory_equal(unwind_store_rule_at(store, first), &rule, sizeof(rule));
	/* Each byte counts. */
	for (size_t i = 1; i < sizeof(rule); i++) {
		struct unwind_rule other = rule;

		((uint8_t *)&other)[i] ^= 1;
		assert_int_equal(unwind_store_rule(store, &other), 4 + i);
	}
	assert_int_equal(unwind_store_use(store).rules, 4 + sizeof(rule));
	assert_null(unwind_store_rule_at(store, 4 + sizeof(rule)));
	for (uint32_t kind = 0; kind < UNWIND_RULE_FRAME; kind++) {
		rule = (struct unwind_rule){ .kind = (uint8_t)kind };
		assert_int_equal(unwind_store_rule(store, &rule), kind);
		assert_int_equal(unwind_store_rule_at(store, kind)->kind, kind);
	}
	unwind_store_destroy(store);
}

TEST(rules_beyond_the_limit_are_refused)
{
	struct unwind_store *store = store_of(1);
	struct unwind_rule rule = { .kind = UNWIND_RULE_FRAME };

	for (uint32_t i = 4; i < UNWIND_RULES_MAX; i++) {
		rule.cfa_offset = (int32_t)i;
		assert_int_equal(unwind_store_rule(store, &rule), i);
	}
	for (int i = 0; i < 3; i++) {
		rule.cfa_offset = -1;
		assert_int_equal(unwind_store_rule(store, &rule), UNWIND_NUMBER_OTHER);
	}
	assert_int_equal(unwind_store_use(store).rules, UNWIND_RULES_MAX);
	assert_int_equal(unwind_store_use(store).rules_refused, 3);
	rule.cfa_offset = 5000;
	assert_int_equal(unwind_store_rule(store, &rule), 5000);
	unwind_store_destroy(store);
}

/* --- tables --- */

static uint32_t put(struct unwind_store *store, const struct unwind_table *table)
{
	uint32_t place = 0;

	expect_ok(unwind_store_put(store, table, &place));
	assert_int_not_equal(place, 0);
	return place;
}

/* What is in the store is the table, with other numbers for the same rules. */
static void expect_block(const struct unwind_store *store, const struct unwind_table *table,
			 const uint32_t *wanted, const uint32_t *block)
{
	assert_memory_equal(block, wanted, UNWIND_BLOCK_HEAD * 4);
	for (size_t i = UNWIND_BLOCK_HEAD; i < unwind_block_words(wanted); i++) {
		uint32_t local = wanted[i] & 0xffffff, number = block[i] & 0xffffff;

		assert_int_equal(block[i] >> 24, wanted[i] >> 24);
		if (local < 4)
			assert_int_equal(number, local);
		else
			assert_memory_equal(unwind_store_rule_at(store, number),
					    &table->rules.items[local - 4],
					    sizeof(struct unwind_rule));
	}
}

static void expect_table(const struct unwind_store *store, const struct unwind_table *table,
			 uint32_t place)
{
	const uint32_t *list = unwind_store_at(store, place);

	assert_int_equal(list[0], table->blocks.count);
	for (size_t i = 0; i < table->blocks.count; i++) {
		if (table->blocks.items[i] == UNWIND_NO_BLOCK)
			assert_int_equal(list[1 + i], 0);
		else if (table->blocks.items[i] == UNWIND_POINTER_BLOCK)
			assert_int_equal(list[1 + i], UNWIND_PLACE_POINTER);
		else
			expect_block(store, table, table->words.items + table->blocks.items[i],
				     unwind_store_at(store, list[1 + i]));
	}
}

TEST(tables_come_and_go)
{
	enum { TABLES = 12 };
	struct unwind_store *store = store_of(0);
	struct unwind_table tables[TABLES];
	uint32_t places[TABLES] = { 0 };
	uint64_t seed = 7;
	size_t rules;

	/* So that numbers in the store are not those of the tables. */
	unwind_store_rule(store, &(struct unwind_rule){ .kind = UNWIND_RULE_FRAME, .number = 9 });
	for (size_t i = 0; i < TABLES; i++)
		tables[i] = made_random(&seed, next_random(&seed) % 6, NULL);
	for (int turn = 0; turn < 200; turn++) {
		size_t which = next_random(&seed) % TABLES;

		if (places[which])
			unwind_store_remove(store, places[which]);
		places[which] = places[which] ? 0 : put(store, &tables[which]);
		for (size_t i = 0; i < TABLES && turn % 10 == 0; i++)
			if (places[i])
				expect_table(store, &tables[i], places[i]);
	}
	rules = unwind_store_use(store).rules;
	assert_int_equal(rules, 4 + 1 + 30);
	for (size_t i = 0; i < TABLES; i++) {
		if (places[i])
			unwind_store_remove(store, places[i]);
		unwind_table_deinit(&tables[i]);
	}
	assert_int_equal(used(store), 0);
	unwind_store_destroy(store);
}

/* --- parts of tables --- */

/* A table of which no block is made. */
static uint32_t put_outline(struct unwind_store *store, size_t blocks)
{
	struct unwind_table outline = { 0 };
	uint32_t place;

	for (size_t i = 0; i < blocks; i++)
		assert_true(array_push(&outline.blocks, UNWIND_UNMADE_BLOCK));
	place = put(store, &outline);
	unwind_table_deinit(&outline);
	return place;
}

TEST(a_part_is_requested_and_filled_in)
{
	struct unwind_store *store = store_of(0);
	const uint32_t place = put_outline(store, 20), *list = unwind_store_at(store, place);
	uint64_t seed = 5;
	struct unwind_table part = made_random(&seed, 3, NULL);
	uint32_t first = 0, count;

	assert_false(unwind_store_wanted(store, place, 8, &first, &count));
	unwind_store_want(store, place, 0x4ffff);
	unwind_store_want(store, place, 0x50000);
	unwind_store_want(store, place, 0x51000);
	unwind_store_want(store, place, 0x90000);
	/* Behind the table there is nothing to want. */
	unwind_store_want(store, place, 20 << 16);
	unwind_store_want(store, place, UINT64_MAX);
	first = 0;
	assert_true(unwind_store_wanted(store, place, 8, &first, &count));
	assert_int_equal(first, 4);
	assert_int_equal(count, 2);
	first = 0;
	assert_true(unwind_store_wanted(store, place, 1, &first, &count));
	assert_int_equal(count, 1);
	first = 6;
	assert_true(unwind_store_wanted(store, place, 8, &first, &count));
	assert_int_equal(first, 9);
	first = 10;
	assert_false(unwind_store_wanted(store, place, 8, &first, &count));

	expect_ok(unwind_store_fill(store, place, 4, &part));
	for (size_t i = 0; i < part.blocks.count; i++)
		if (unwind_is_block(part.blocks.items[i]))
			expect_block(store, &part, part.words.items + part.blocks.items[i],
				     unwind_store_at(store, list[5 + i]));
	assert_int_equal(list[4], UNWIND_PLACE_UNMADE);
	/* What is made stays, and takes no room a second time. */
	count = list[5];
	seed = used(store);
	expect_ok(unwind_store_fill(store, place, 4, &part));
	assert_int_equal(list[5], count);
	assert_int_equal(used(store), seed);
	unwind_store_want(store, place, 0x40000);
	assert_int_equal(list[5], count);
	unwind_store_give_up(store, place, 9, 100);
	assert_int_equal(list[10], 0);
	assert_int_equal(list[20], 0);
	expect_error(unwind_store_fill(store, place, 19, &part), "a part behind the end");
	expect_error(unwind_store_fill(store, place, 21, &part), "a part behind the end");
	unwind_store_remove(store, place);
	assert_int_equal(used(store), 0);
	unwind_table_deinit(&part);
	unwind_store_destroy(store);
}

TEST(a_table_that_does_not_fit_leaves_nothing)
{
	struct unwind_store *store = store_of(1);
	struct unwind_table table = { 0 };
	struct made_row rows[10000];
	uint32_t small = take(store, 40), place = 1;
	size_t before = used(store);

	made_rule(&table, (struct unwind_rule){ .kind = UNWIND_RULE_FRAME });
	for (uint32_t i = 0; i < array_length(rows); i++)
		rows[i] = (struct made_row){ i * 6, 4 };
	for (int i = 0; i < 13; i++)
		made_block(&table, rows, array_length(rows));
	expect_error(unwind_store_put(store, &table, &place), "exceed their limit of 512 KiB");
	assert_int_equal(place, 1);
	assert_int_equal(used(store), before);
	assert_int_equal(unwind_store_use(store).rules, 4);
	/* One block less fits. */
	table.blocks.count--;
	place = put(store, &table);
	expect_table(store, &table, place);
	unwind_store_remove(store, place);
	unwind_store_give_back(store, small, 40);
	assert_int_equal(used(store), 0);
	unwind_table_deinit(&table);
	unwind_store_destroy(store);
}

TEST(a_table_without_blocks)
{
	struct unwind_store *store = store_of(1);
	struct unwind_table table = { 0 };
	uint32_t place = put(store, &table);

	assert_int_equal(*unwind_store_at(store, place), 0);
	unwind_store_remove(store, place);
	assert_int_equal(used(store), 0);
	unwind_store_destroy(store);
}

TEST(a_number_of_no_rule_is_not_understood)
{
	struct unwind_store *store = store_of(1);
	struct unwind_table table = { 0 };
	const uint32_t *list;

	made_block(&table, (struct made_row[]){ { 0, 4 }, { 8, 0xffffff } }, 2);
	list = unwind_store_at(store, put(store, &table));
	for (int i = 0; i < 2; i++)
		assert_int_equal(unwind_store_at(store, list[1])[UNWIND_BLOCK_HEAD + i] & 0xffffff,
				 UNWIND_NUMBER_OTHER);
	unwind_table_deinit(&table);
	unwind_store_destroy(store);
}

UNIT_TESTS(cmocka_unit_test(places_are_those_of_a_simple_model),
	   cmocka_unit_test(a_table_is_in_one_chunk), cmocka_unit_test(an_empty_store_has_nothing),
	   cmocka_unit_test(memory_may_be_the_callers),
	   cmocka_unit_test(equal_rules_have_one_number),
	   cmocka_unit_test(rules_beyond_the_limit_are_refused),
	   cmocka_unit_test(tables_come_and_go),
	   cmocka_unit_test(a_part_is_requested_and_filled_in),
	   cmocka_unit_test(a_table_that_does_not_fit_leaves_nothing),
	   cmocka_unit_test(a_table_without_blocks),
	   cmocka_unit_test(a_number_of_no_rule_is_not_understood))
