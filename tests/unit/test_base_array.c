/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/array.h"

#include <fcntl.h>

#include "unit/unit.h"

struct numbers {
	ARRAY(uint64_t);
};

TEST(items_stay_through_growth)
{
	struct numbers numbers = { 0 };

	for (uint64_t i = 0; i < 10000; i++)
		assert_true(array_push(&numbers, i * i));
	assert_int_equal(numbers.count, 10000);
	for (uint64_t i = 0; i < 10000; i++)
		assert_int_equal(numbers.items[i], i * i);
	array_deinit(&numbers);
	assert_null(numbers.items);
	assert_int_equal(numbers.count, 0);
	assert_int_equal(numbers.room, 0);
}

TEST(reserve_makes_room_once)
{
	struct numbers numbers = { 0 };
	uint64_t *items;

	assert_true(array_reserve(&numbers, 500));
	items = numbers.items;
	for (uint64_t i = 0; i < 500; i++)
		assert_true(array_push(&numbers, i));
	assert_ptr_equal(numbers.items, items);
	array_deinit(&numbers);
}

TEST(what_fits_has_no_room_left)
{
	struct numbers numbers = { 0 };

	array_fit(&numbers);
	assert_null(numbers.items);
	assert_true(array_reserve(&numbers, 500));
	assert_true(array_push(&numbers, 42));
	array_fit(&numbers);
	assert_int_equal(numbers.room, 1);
	assert_int_equal(numbers.items[0], 42);
	assert_true(array_push(&numbers, 43));
	array_deinit(&numbers);
}

TEST(impossible_sizes_leave_it_as_it_was)
{
	struct numbers numbers = { 0 };

	assert_true(array_push(&numbers, 42));
	assert_false(array_reserve(&numbers, SIZE_MAX));
	assert_false(array_reserve(&numbers, SIZE_MAX / sizeof(uint64_t)));
	assert_int_equal(numbers.count, 1);
	assert_int_equal(numbers.items[0], 42);
	array_deinit(&numbers);
}

TEST(taken_pointers_are_not_released)
{
	char *kept;

	{
		_cleanup_free_ char *owned = strdup("kept");

		kept = take_ptr(owned);
		assert_null(owned);
	}
	assert_string_equal(kept, "kept");
	free(kept);
}

TEST(guards_close_unless_taken)
{
	int closed, kept;

	{
		_cleanup_close_ int a = open("/dev/null", O_RDONLY);
		_cleanup_close_ int b = open("/dev/null", O_RDONLY);
		_cleanup_close_ int none = -1;

		assert_int_equal(none, -1);
		closed = a;
		kept = take_fd(b);
		assert_int_equal(b, -1);
	}
	assert_int_equal(fcntl(closed, F_GETFD), -1);
	assert_int_not_equal(fcntl(kept, F_GETFD), -1);
	close(kept);
}

UNIT_TESTS(cmocka_unit_test(items_stay_through_growth), cmocka_unit_test(reserve_makes_room_once),
	   cmocka_unit_test(what_fits_has_no_room_left),
	   cmocka_unit_test(impossible_sizes_leave_it_as_it_was),
	   cmocka_unit_test(taken_pointers_are_not_released),
	   cmocka_unit_test(guards_close_unless_taken))
