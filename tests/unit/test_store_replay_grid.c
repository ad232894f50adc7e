/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/replay_grid.h"

#include "unit/unit.h"

#define BEGUN_S UINT64_C(1795783500)

static void add(struct replay_grid *grid, uint32_t host, uint64_t begun_s, uint32_t ms)
{
	const struct replay_interval interval = { .begun_s = begun_s, .ms = ms, .host = host };

	assert_true(array_push(&grid->intervals, interval));
}

TEST(intervals_of_one_host_are_its_windows)
{
	struct replay_grid grid = { 0 };

	add(&grid, 0, BEGUN_S, 9998);
	add(&grid, 0, BEGUN_S + 10, 10003);
	/* The clock was set back, and the next is over before it began. */
	add(&grid, 0, BEGUN_S + 12, 2000);
	add(&grid, 0, BEGUN_S + 500, 10000);
	expect_ok(replay_grid_make(&grid, 1));
	assert_false(grid.is_by_middle);
	assert_int_equal(grid.windows.count, 4);
	assert_int_equal(grid.windows.items[0].begin_ms, BEGUN_S * 1000);
	assert_int_equal(grid.windows.items[0].end_ms, BEGUN_S * 1000 + 9998);
	assert_int_equal(grid.windows.items[0].rows_end, BEGUN_S + 1);
	assert_int_equal(grid.windows.items[1].end_ms, BEGUN_S * 1000 + 20003);
	assert_int_equal(grid.windows.items[2].end_ms, BEGUN_S * 1000 + 20004);
	assert_int_equal(grid.windows.items[3].begin_ms, (BEGUN_S + 500) * 1000);
	assert_int_equal(grid.windows.items[3].length_ns, 32001 * UINT64_C(1000000));
	assert_true(replay_window_has(&grid.windows.items[3], 0));
	replay_grid_deinit(&grid);
}

/* Whatever seconds they begin at, a bit more or less included. */
TEST(each_host_has_an_interval_in_each_window)
{
	for (uint32_t offset = 0; offset < 10; offset++) {
		struct replay_grid grid = { 0 };

		for (uint32_t i = 0; i < 100; i++)
			add(&grid, 0, BEGUN_S + offset + 10 * i + (i % 7 == 3), 9996 + i % 9);
		for (uint32_t i = 0; i < 100; i++)
			add(&grid, 99, BEGUN_S + offset + 3 + 10 * i + (i % 3 == 1), 9996 + i % 9);
		/* As long as usual; but one. */
		for (uint32_t i = 0; i < 200; i++)
			add(&grid, 70, BEGUN_S + offset + 1 + 5 * i, i == 90 ? 1500 : 5000);
		expect_ok(replay_grid_make(&grid, 100));
		assert_true(grid.is_by_middle);
		assert_int_equal(grid.longest_ms, 10004);
		assert_null(grid.intervals.items);
		assert_in_range(grid.windows.count, 100, 101);
		for (size_t i = 1; i + 1 < grid.windows.count; i++) {
			const struct replay_window *window = &grid.windows.items[i];

			assert_int_equal(window->end_ms - window->begin_ms, 10000);
			assert_int_equal(window->begin_ms, window[-1].end_ms);
			assert_int_equal(window->rows_end, window->end_ms);
			assert_true(replay_window_has(window, 0) && replay_window_has(window, 70) &&
				    replay_window_has(window, 99));
			assert_false(replay_window_has(window, 1));
		}
		replay_grid_deinit(&grid);
	}
}

/* Clocks that began in 1970, intervals of no length and of weeks, a window without any between. */
TEST(hostile_intervals)
{
	struct replay_grid grid = { 0 };

	add(&grid, 0, 0, 0);
	add(&grid, 0, 1, 0);
	add(&grid, 0, UINT32_MAX, UINT32_MAX);
	add(&grid, 1, 5, 0);
	add(&grid, 1, 7, 1);
	add(&grid, 1, UINT32_MAX, 0);
	expect_ok(replay_grid_make(&grid, 2));
	assert_in_range(grid.windows.count, 2, 6);
	for (size_t i = 0; i < grid.windows.count; i++) {
		const struct replay_window *window = &grid.windows.items[i];

		assert_true(window->begin_ms < window->end_ms);
		assert_true(!i || window->begin_ms >= window[-1].end_ms);
		assert_true(window->rows_end == window->end_ms);
	}
	assert_true(grid.windows.items[grid.windows.count - 1].end_ms >
		    UINT32_MAX * UINT64_C(1000) + UINT32_MAX / 2);
	replay_grid_deinit(&grid);
}

UNIT_TESTS(cmocka_unit_test(intervals_of_one_host_are_its_windows),
	   cmocka_unit_test(each_host_has_an_interval_in_each_window),
	   cmocka_unit_test(hostile_intervals))
