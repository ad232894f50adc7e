/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdalign.h>

#include "unit/unit.h"

enum { MIB = 1 << 20 };

TEST(memory_is_zeroed_aligned_and_apart)
{
	struct arena arena;
	unsigned char *before = NULL;
	size_t before_size = 0;

	arena_init(&arena, 8 * MIB);
	for (size_t size = 1; size < 3000; size += 7) {
		unsigned char *memory = arena_alloc(&arena, size);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(memory[i], 0);
		memset(memory, 0xa5, size);
		for (size_t i = 0; i < before_size; i++)
			assert_int_equal(before[i], 0xa5);
		before = memory;
		before_size = size;
	}
	arena_deinit(&arena);
}

TEST(larger_than_a_block)
{
	struct arena arena;
	unsigned char *big, *small;

	arena_init(&arena, 4 * MIB);
	small = arena_alloc(&arena, 16);
	big = arena_alloc(&arena, MIB);
	assert_non_null(small);
	assert_non_null(big);
	memset(big, 1, MIB);
	assert_int_equal(small[0], 0);
	arena_deinit(&arena);
}

TEST(what_is_given_back_is_given_again)
{
	struct arena arena;
	unsigned char *first, *second, *third;

	arena_init(&arena, 4 * MIB);
	first = arena_alloc(&arena, 400);
	memset(first, 1, 100);
	arena_trim(&arena, first, 400, 100);
	second = arena_alloc(&arena, 1000);
	assert_in_range(second - first, 100, 128);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(second[i], 0);
	memset(second, 2, 1000);
	/* What stands before something stays. */
	arena_trim(&arena, first, 100, 0);
	third = arena_alloc(&arena, 16);
	assert_in_range(third - second, 1000, 1024);
	arena_trim(&arena, third, 16, 0);
	assert_ptr_equal(arena_alloc(&arena, 8), third);
	assert_int_equal(first[99], 1);
	arena_deinit(&arena);
}

TEST(the_limit_is_never_passed)
{
	struct arena arena;
	size_t count = 0;

	arena_init(&arena, MIB);
	while (arena_alloc(&arena, 1000) && count < 10000)
		count++;
	assert_in_range(count, 900, 1048);
	assert_true(arena.used <= MIB);
	arena_deinit(&arena);
}

TEST(one_too_large_leaves_room_for_others)
{
	struct arena arena;

	arena_init(&arena, MIB);
	assert_null(arena_alloc(&arena, MIB + 1));
	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_null(arena_alloc(&arena, SIZE_MAX - 8));
	assert_non_null(arena_alloc(&arena, 1000));
	arena_deinit(&arena);
}

TEST(the_limit_can_be_raised)
{
	struct arena arena;

	arena_init(&arena, 0);
	assert_null(arena_alloc(&arena, 1));
	arena.limit = MIB;
	assert_non_null(arena_alloc(&arena, 1));
	arena.limit = 0;
	assert_null(arena_alloc(&arena, MIB));
	arena_deinit(&arena);
}

TEST(deinit_leaves_it_empty)
{
	struct arena arena;

	arena_init(&arena, MIB);
	assert_non_null(arena_alloc(&arena, 1));
	arena_deinit(&arena);
	assert_int_equal(arena.used, 0);
	arena_deinit(&arena);
	assert_non_null(arena_alloc(&arena, 1));
	arena_deinit(&arena);
}

UNIT_TESTS(cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
	   cmocka_unit_test(larger_than_a_block),
	   cmocka_unit_test(what_is_given_back_is_given_again),
	   cmocka_unit_test(the_limit_is_never_passed),
	   cmocka_unit_test(one_too_large_leaves_room_for_others),
	   cmocka_unit_test(the_limit_can_be_raised), cmocka_unit_test(deinit_leaves_it_empty))
