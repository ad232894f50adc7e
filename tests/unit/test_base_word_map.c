/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/word_map.h"

#include "unit/unit.h"

#define KEY(...) ((struct words){ { __VA_ARGS__ } })

static uint32_t *at(struct word_map *map, struct words key)
{
	uint32_t *value = word_map_at(map, key);

	assert_non_null(value);
	return value;
}

TEST(an_empty_map)
{
	struct word_map map = { 0 };

	assert_int_equal(word_map_find(&map, KEY(0)), WORD_MAP_NEW);
	assert_int_equal(word_map_find(&map, KEY(1, 2, 3)), WORD_MAP_NEW);
	word_map_deinit(&map);
	word_map_deinit(&map);
}

TEST(a_key_is_new_once)
{
	struct word_map map = { 0 };

	assert_int_equal(*at(&map, KEY(7)), WORD_MAP_NEW);
	*at(&map, KEY(7)) = 0;
	assert_int_equal(*at(&map, KEY(7)), 0);
	assert_int_equal(word_map_find(&map, KEY(7)), 0);
	assert_int_equal(map.count, 1);
	*at(&map, KEY(7)) = WORD_MAP_NEW - 1;
	assert_int_equal(word_map_find(&map, KEY(7)), WORD_MAP_NEW - 1);
	word_map_deinit(&map);
}

/* Looking leaves no trace. */
TEST(finding_does_not_add)
{
	struct word_map map = { 0 };

	*at(&map, KEY(1)) = 1;
	for (uint64_t i = 2; i < 1000; i++)
		assert_int_equal(word_map_find(&map, KEY(i)), WORD_MAP_NEW);
	assert_int_equal(map.count, 1);
	word_map_deinit(&map);
}

/* All zero is a key like any other, and every word counts, in its place. */
TEST(every_word_counts)
{
	static const struct words keys[] = {
		{ { 0, 0, 0 } },          { { 1, 0, 0 } },
		{ { 0, 1, 0 } },          { { 0, 0, 1 } },
		{ { 1, 1, 0 } },          { { 1, 0, 1 } },
		{ { 0, 1, 1 } },          { { 1, 1, 1 } },
		{ { 1, 2, 3 } },          { { 3, 2, 1 } },
		{ { 2, 3, 1 } },          { { UINT64_MAX, 0, 0 } },
		{ { 0, 0, UINT64_MAX } }, { { (uint64_t)1 << 63, 0, 0 } },
	};
	struct word_map map = { 0 };

	for (uint32_t i = 0; i < array_length(keys); i++) {
		uint32_t *value = at(&map, keys[i]);

		assert_int_equal(*value, WORD_MAP_NEW);
		*value = i;
	}
	for (uint32_t i = 0; i < array_length(keys); i++)
		assert_int_equal(word_map_find(&map, keys[i]), i);
	assert_int_equal(map.count, array_length(keys));
	word_map_deinit(&map);
}

/* Numbers one after the other, and such that only their upper bits differ, as addresses may. */
static struct words near(uint32_t i)
{
	return KEY(i, 5, 0);
}

static struct words far(uint32_t i)
{
	return KEY((uint64_t)i << 44, (uint64_t)i << 32);
}

static struct words scattered(uint32_t i)
{
	uint64_t seed = i;
	uint64_t first = next_random(&seed);

	return KEY(first, next_random(&seed), i % 3);
}

/* Such as differ in one word alone. */
static struct words second(uint32_t i)
{
	return KEY(1, i, 3);
}

static struct words third(uint32_t i)
{
	return KEY(1, 2, i);
}

TEST(many_keys_keep_their_values)
{
	static struct words (*const kinds[])(uint32_t) = { near, far, second, third, scattered };
	enum { MANY = 50000 };

	for (size_t k = 0; k < array_length(kinds); k++) {
		struct word_map map = { 0 };

		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t *value = at(&map, kinds[k](i));

			assert_int_equal(*value, WORD_MAP_NEW);
			*value = i * 3;
			assert_true(map.count < map.room);
		}
		assert_int_equal(map.count, MANY);
		for (uint32_t i = 0; i < MANY; i++) {
			assert_int_equal(word_map_find(&map, kinds[k](i)), i * 3);
			assert_int_equal(*at(&map, kinds[k](i)), i * 3);
		}
		for (uint32_t i = MANY; i < 2 * MANY; i++)
			assert_int_equal(word_map_find(&map, kinds[k](i)), WORD_MAP_NEW);
		assert_int_equal(map.count, MANY);
		word_map_deinit(&map);
	}
}

TEST(empty_again)
{
	struct word_map map = { 0 };

	*at(&map, KEY(1)) = 1;
	word_map_deinit(&map);
	assert_int_equal(map.count, 0);
	assert_int_equal(word_map_find(&map, KEY(1)), WORD_MAP_NEW);
	assert_int_equal(*at(&map, KEY(1)), WORD_MAP_NEW);
	word_map_deinit(&map);
}

UNIT_TESTS(cmocka_unit_test(an_empty_map), cmocka_unit_test(a_key_is_new_once),
	   cmocka_unit_test(finding_does_not_add), cmocka_unit_test(every_word_counts),
	   cmocka_unit_test(many_keys_keep_their_values), cmocka_unit_test(empty_again))
