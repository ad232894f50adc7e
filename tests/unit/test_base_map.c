/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <stdio.h>

#include "unit/unit.h"

struct number_map {
	MAP(uint64_t, uint32_t);
};

TEST(an_empty_map)
{
	struct number_map map = { 0 };

	assert_null(map_find(&map, 1));
	assert_false(map_remove(&map, 1));
	map_for_each(&map, slot) fail_msg("no key: %lu", (unsigned long)slot->key);
	map_deinit(&map);
	map_deinit(&map);
}

TEST(values_are_zero_at_first_and_stay)
{
	struct number_map map = { 0 };
	bool is_new = false;
	uint32_t *value = map_add(&map, 5, &is_new);

	assert_true(is_new);
	assert_int_equal(*value, 0);
	*value = 7;
	value = map_add(&map, 5, &is_new);
	assert_false(is_new);
	assert_int_equal(*value, 7);
	assert_int_equal(*map_find(&map, 5), 7);
	assert_null(map_find(&map, 6));
	assert_int_equal(map.count, 1);
	map_deinit(&map);
}

/* Every byte of a key counts, whatever its size. */
TEST(keys_of_all_sizes)
{
	struct key {
		uint8_t bytes[13];
	};
	struct {
		MAP(struct key, uint8_t);
	} map = { 0 };

	for (uint8_t i = 0; i < sizeof(struct key); i++) {
		struct key key = { { 0 } };
		bool is_new;

		key.bytes[i] = 1;
		*map_add(&map, key, &is_new) = i;
		assert_true(is_new);
	}
	for (uint8_t i = 0; i < sizeof(struct key); i++) {
		struct key key = { { 0 } };

		key.bytes[i] = 1;
		assert_int_equal(*map_find(&map, key), i);
	}
	map_deinit(&map);
}

TEST(texts_are_compared_by_their_bytes)
{
	struct {
		MAP(struct text, uint32_t);
	} map = { 0 };
	char one[] = "eth0", other[] = "eth0";

	*map_add(&map, text_of(one), NULL) = 7;
	*map_add(&map, TEXT(""), NULL) = 8;
	*map_add(&map, TEXT("a name that is longer than 32 bytes, so in another way"), NULL) = 9;
	assert_int_equal(*map_find(&map, text_of(other)), 7);
	assert_int_equal(*map_find(&map, ((struct text){ NULL, 0 })), 8);
	assert_int_equal(
		*map_find(&map, TEXT("a name that is longer than 32 bytes, so in another way")), 9);
	assert_null(map_find(&map, TEXT("eth")));
	assert_null(map_find(&map, TEXT("eth00")));
	assert_null(map_find(&map, TEXT("a name that is longer than 32 bytes, so in another WAY")));
	assert_true(map_remove(&map, text_of(other)));
	assert_null(map_find(&map, text_of(one)));
	map_deinit(&map);
}

TEST(a_limit_refuses_new_keys_only)
{
	struct number_map map = { .most = 2 };
	bool is_new;

	assert_non_null(map_add(&map, 1, NULL));
	assert_non_null(map_add(&map, 2, NULL));
	assert_null(map_add(&map, 3, &is_new));
	assert_false(is_new);
	assert_non_null(map_add(&map, 1, NULL));
	assert_true(map_remove(&map, 1));
	assert_non_null(map_add(&map, 3, NULL));
	assert_int_equal(map.count, 2);
	map_deinit(&map);
}

TEST(room_that_was_made_is_kept)
{
	struct number_map map = { 0 };
	const void *slots;

	assert_true(map_reserve(&map, 1000));
	slots = map.slots;
	for (uint64_t i = 0; i < 1000; i++)
		assert_non_null(map_add(&map, i, NULL));
	assert_ptr_equal(map.slots, slots);
	assert_true(map_reserve(&map, 10));
	assert_ptr_equal(map.slots, slots);
	assert_false(map_reserve(&map, SIZE_MAX));
	assert_int_equal(map.count, 1000);
	map_deinit(&map);
}

/* Against an array with an element for each key. */
TEST(random_changes_are_as_in_an_array)
{
	enum { KEYS = 300, CHANGES = 200000 };
	static uint32_t expected[KEYS]; /* 0: not there */
	static bool seen[KEYS];
	struct number_map map = { 0 };
	size_t count = 0, visited = 0;
	uint64_t seed = 1;

	for (uint32_t i = 1; i <= CHANGES; i++) {
		uint32_t key, *found;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		key = (uint32_t)(seed >> 33) % KEYS;
		/* Mostly full, then mostly empty. */
		if ((seed >> 20) % 8 < (i / 20000 % 2 ? 2 : 6)) {
			*map_add(&map, key, NULL) = i;
			count += !expected[key];
			expected[key] = i;
		} else {
			assert_int_equal(map_remove(&map, key), expected[key] != 0);
			count -= expected[key] != 0;
			expected[key] = 0;
		}
		assert_int_equal(map.count, count);
		key = (uint32_t)(seed >> 40) % KEYS;
		found = map_find(&map, key);
		assert_int_equal(found ? *found : 0, expected[key]);
	}
	map_for_each(&map, slot)
	{
		assert_true(slot->key < KEYS && !seen[slot->key]);
		seen[slot->key] = true;
		assert_int_equal(slot->value, expected[slot->key]);
		visited++;
	}
	assert_int_equal(visited, count);
	for (uint64_t key = 0; key < KEYS; key++)
		assert_int_equal(map_find(&map, key) != NULL, expected[key] != 0);
	map_deinit(&map);
}

UNIT_TESTS(cmocka_unit_test(an_empty_map), cmocka_unit_test(values_are_zero_at_first_and_stay),
	   cmocka_unit_test(keys_of_all_sizes), cmocka_unit_test(texts_are_compared_by_their_bytes),
	   cmocka_unit_test(a_limit_refuses_new_keys_only),
	   cmocka_unit_test(room_that_was_made_is_kept),
	   cmocka_unit_test(random_changes_are_as_in_an_array))
