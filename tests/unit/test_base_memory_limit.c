/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/memory_limit.h"

#include "unit/unit.h"

TEST(without_a_limit_all_is_allowed)
{
	struct memory_limit none = { 0 };

	assert_int_equal(memory_limit_allow(NULL, 7, UINT64_MAX), 7);
	assert_int_equal(memory_limit_allow(&none, 7, UINT64_MAX), 7);
	assert_int_equal(none.refused, 0);
}

TEST(a_limit_that_is_exceeded_allows_nothing)
{
	struct memory_limit small = { .bytes = 4096 };

	assert_int_equal(memory_limit_allow(&small, 1, 1), 0);
	assert_int_equal(small.refused, 1);
	assert_int_equal(memory_limit_allow(&small, 0, 1), 0);
	assert_int_equal(small.refused, 1);
}

TEST(as_much_is_allowed_as_there_is_room_for)
{
	const uint64_t gib = UINT64_C(1) << 30, mib = UINT64_C(1) << 20;
	struct memory_limit limit = { .bytes = 1024 * gib };
	uint64_t most;

	assert_int_equal(memory_limit_allow(&limit, 5, mib), 5);
	assert_int_equal(limit.refused, 0);
	/* An eighth is kept, and what this program has is resident. */
	most = memory_limit_allow(&limit, 1024, gib);
	assert_in_range(most, 800, 896);
	assert_int_equal(limit.refused, 1);
	limit.beside = 100 * gib;
	assert_in_range(memory_limit_allow(&limit, 1024, gib), most - 101, most - 99);
	limit.beside = UINT64_MAX;
	assert_int_equal(memory_limit_allow(&limit, 1, mib), 0);
}

TEST(what_is_left_includes_the_part_for_what_does_not_ask)
{
	const uint64_t gib = UINT64_C(1) << 30;
	struct memory_limit limit = { .bytes = 1024 * gib }, none = { 0 };

	assert_true(memory_limit_left(NULL) == UINT64_MAX);
	assert_true(memory_limit_left(&none) == UINT64_MAX);
	assert_in_range(memory_limit_left(&limit), 928 * gib, 1024 * gib);
	limit.beside = 24 * gib;
	assert_in_range(memory_limit_left(&limit), 904 * gib, 1000 * gib);
	limit.bytes = 4096;
	assert_int_equal(memory_limit_left(&limit), 0);
	assert_int_equal(limit.refused, 0);
}

UNIT_TESTS(cmocka_unit_test(without_a_limit_all_is_allowed),
	   cmocka_unit_test(a_limit_that_is_exceeded_allows_nothing),
	   cmocka_unit_test(as_much_is_allowed_as_there_is_room_for),
	   cmocka_unit_test(what_is_left_includes_the_part_for_what_does_not_ask))
