/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/stacked_bar.h"

#include "unit/unit.h"

static unsigned sum_of(const unsigned *units, size_t count)
{
	unsigned sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += units[i];
	return sum;
}

TEST(parts_get_their_shares)
{
	unsigned units[4];

	bar_divide((uint64_t[]){ 50, 30, 20 }, 3, 100, 10, units);
	assert_int_equal(units[0], 5);
	assert_int_equal(units[1], 3);
	assert_int_equal(units[2], 2);
	assert_int_equal(units[3], 0);
}

TEST(missing_time_is_rest)
{
	unsigned units[2];

	bar_divide((uint64_t[]){ 25 }, 1, 100, 8, units);
	assert_int_equal(units[0], 2);
	assert_int_equal(units[BAR_REST(1)], 6);
	bar_divide((uint64_t[]){ 0 }, 1, 0, 8, units);
	assert_int_equal(units[0], 0);
	assert_int_equal(units[1], 8);
}

/* Thirds of ten: the first of equal remainders gets the one that is left. */
TEST(the_largest_remainders_get_the_remaining_units)
{
	unsigned units[4];

	bar_divide((uint64_t[]){ 1, 1, 1 }, 3, 3, 10, units);
	assert_int_equal(units[0], 4);
	assert_int_equal(units[1], 3);
	assert_int_equal(units[2], 3);
	bar_divide((uint64_t[]){ 14, 16, 70 }, 3, 100, 10, units);
	assert_int_equal(units[0], 1);
	assert_int_equal(units[1], 2);
	assert_int_equal(units[2], 7);
}

TEST(parts_beyond_the_whole_are_the_whole)
{
	unsigned units[3];

	bar_divide((uint64_t[]){ 300, 100 }, 2, 100, 8, units);
	assert_int_equal(units[0], 6);
	assert_int_equal(units[1], 2);
	assert_int_equal(units[2], 0);
	bar_divide((uint64_t[]){ UINT64_MAX / 2, UINT64_MAX / 2 }, 2, 1, 8, units);
	assert_int_equal(units[0], 4);
	assert_int_equal(units[1], 4);
}

TEST(bars_always_add_up_and_are_nowhere_wrong_by_more_than_a_step)
{
	uint64_t seed = 8;

	for (unsigned round = 0; round < 20000; round++) {
		size_t count = 1 + next_random(&seed) % BAR_PARTS_MAX;
		unsigned wanted = (unsigned)(next_random(&seed) % 800);
		unsigned units[BAR_PARTS_MAX + 1];
		uint64_t parts[BAR_PARTS_MAX], whole = 0;

		for (size_t i = 0; i < count; i++)
			whole += parts[i] = next_random(&seed) >> (8 + next_random(&seed) % 56);
		whole += next_random(&seed) % 2 ? next_random(&seed) % 1000000 : 0;
		bar_divide(parts, count, whole, wanted, units);
		assert_int_equal(sum_of(units, count + 1), wanted);
		for (size_t i = 0; i < count && whole; i++) {
			double exact = (double)parts[i] / (double)whole * wanted;

			assert_true(units[i] < exact + 1.0001 && units[i] > exact - 1.0001);
		}
	}
}

TEST(a_boundary_within_a_cell_shows_both)
{
	struct bar_cell cells[4];

	stacked_bar((uint64_t[]){ 14, 18 }, 2, 32, cells, 4, 8);
	assert_int_equal(cells[0].left, 0);
	assert_int_equal(cells[0].right, 0);
	assert_int_equal(cells[0].steps, 8);
	assert_int_equal(cells[1].left, 0);
	assert_int_equal(cells[1].right, 1);
	assert_int_equal(cells[1].steps, 6);
	assert_int_equal(cells[2].left, 1);
	assert_int_equal(cells[3].right, 1);
}

/* 1, 4 and 3 eighths in one cell: the last two share it, as 4 to 3 of 8. */
TEST(a_cell_of_three_shows_the_two_largest)
{
	struct bar_cell cell;

	stacked_bar((uint64_t[]){ 1, 4, 3 }, 3, 8, &cell, 1, 8);
	assert_int_equal(cell.left, 1);
	assert_int_equal(cell.right, 2);
	assert_int_equal(cell.steps, 5);
}

TEST(whole_cells_are_of_one_part)
{
	struct bar_cell cells[7];

	stacked_bar((uint64_t[]){ 3, 2 }, 2, 7, cells, 7, 1);
	for (unsigned i = 0; i < 7; i++) {
		assert_int_equal(cells[i].left, i < 3 ? 0 : i < 5 ? 1 : BAR_REST(2));
		assert_int_equal(cells[i].right, cells[i].left);
	}
}

UNIT_TESTS(cmocka_unit_test(parts_get_their_shares), cmocka_unit_test(missing_time_is_rest),
	   cmocka_unit_test(the_largest_remainders_get_the_remaining_units),
	   cmocka_unit_test(parts_beyond_the_whole_are_the_whole),
	   cmocka_unit_test(bars_always_add_up_and_are_nowhere_wrong_by_more_than_a_step),
	   cmocka_unit_test(a_boundary_within_a_cell_shows_both),
	   cmocka_unit_test(a_cell_of_three_shows_the_two_largest),
	   cmocka_unit_test(whole_cells_are_of_one_part))
