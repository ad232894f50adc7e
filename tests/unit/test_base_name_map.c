/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/name_map.h"

#include <stdio.h>

#include "unit/unit.h"

TEST(texts_of_different_owners_are_one)
{
	char one[] = "eth0", other[] = "eth0";
	struct name_map map;

	name_map_init(&map);
	assert_int_equal(name_map_find(&map, text_of(one)), WORD_MAP_NEW);
	assert_true(name_map_put(&map, text_of(one), 7));
	assert_true(name_map_put(&map, TEXT("eth1"), 8));
	assert_int_equal(name_map_find(&map, text_of(other)), 7);
	assert_int_equal(name_map_find(&map, TEXT("eth1")), 8);
	assert_int_equal(name_map_find(&map, TEXT("eth")), WORD_MAP_NEW);
	assert_int_equal(name_map_find(&map, TEXT("")), WORD_MAP_NEW);
	name_map_deinit(&map);
}

TEST(the_first_number_stays)
{
	struct name_map map;

	name_map_init(&map);
	assert_true(name_map_put(&map, TEXT("vda"), 1));
	assert_true(name_map_put(&map, TEXT("vda"), 2));
	assert_true(name_map_put(&map, TEXT(""), 3));
	assert_int_equal(name_map_find(&map, TEXT("vda")), 1);
	assert_int_equal(name_map_find(&map, TEXT("")), 3);
	name_map_deinit(&map);
}

TEST(many_texts)
{
	struct name_map map;
	char text[32];

	name_map_init(&map);
	for (uint32_t i = 0; i < 50000; i++) {
		snprintf(text, sizeof(text), "counter %u", i);
		assert_true(name_map_put(&map, text_of(text), i));
	}
	for (uint32_t i = 50000; i-- > 0;) {
		snprintf(text, sizeof(text), "counter %u", i);
		assert_int_equal(name_map_find(&map, text_of(text)), i);
	}
	name_map_deinit(&map);
}

UNIT_TESTS(cmocka_unit_test(texts_of_different_owners_are_one),
	   cmocka_unit_test(the_first_number_stays), cmocka_unit_test(many_texts))
