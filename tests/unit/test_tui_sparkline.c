/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/sparkline.h"

#include "unit/unit.h"

#define U HISTORY_UNKNOWN

static void expect_levels(const struct history *history, uint64_t id, const uint8_t *wanted,
			  unsigned count)
{
	uint8_t levels[HISTORY_LENGTH];

	history_get(history, id, levels, count);
	assert_memory_equal(levels, wanted, count);
}

TEST(levels_distinguish_zero_from_little)
{
	assert_int_equal(spark_level(0), 0);
	assert_int_equal(spark_level(0.0001), 1);
	assert_int_equal(spark_level(0.5), 4);
	assert_int_equal(spark_level(0.999), SPARK_LEVELS - 1);
	assert_int_equal(spark_level(1), SPARK_LEVELS - 1);
	assert_int_equal(spark_level(7), SPARK_LEVELS - 1);
}

TEST(the_last_windows_come_back)
{
	struct history history = { 0 };

	expect_levels(&history, 1, (uint8_t[]){ U, U }, 2);
	history_begin(&history);
	history_put(&history, 1, 1);
	history_begin(&history);
	history_put(&history, 1, 0);
	history_put(&history, 2, 0.0001);
	expect_levels(&history, 1, (uint8_t[]){ U, 7, 0 }, 3);
	expect_levels(&history, 2, (uint8_t[]){ U, U, 1 }, 3);
	expect_levels(&history, 3, (uint8_t[]){ U, U, U }, 3);
	history_deinit(&history);
}

TEST(windows_it_was_not_in_are_unknown)
{
	struct history history = { 0 };

	for (unsigned window = 1; window <= 3 * HISTORY_LENGTH; window++) {
		history_begin(&history);
		if (window % 3 == 0)
			history_put(&history, 1, 1);
	}
	expect_levels(&history, 1, (uint8_t[]){ U, U, 7, U, U, 7 }, 6);
	history_begin(&history);
	expect_levels(&history, 1, (uint8_t[]){ U, 7, U, U, 7, U }, 6);
	history_deinit(&history);
}

/* The ring has gone round: what it had at this place is another window's. */
TEST(one_that_comes_back_late_has_nothing_of_before)
{
	struct history history = { 0 };

	for (unsigned window = 0; window < HISTORY_LENGTH; window++) {
		history_begin(&history);
		history_put(&history, 1, 1);
		history_put(&history, 2, 1);
	}
	for (unsigned window = 0; window < HISTORY_LENGTH - 1; window++)
		history_begin(&history);
	history_put(&history, 1, 0);
	expect_levels(&history, 1, (uint8_t[]){ U, U, 0 }, 3);
	assert_int_equal(history.rows.count, 2);
	history_begin(&history);
	/* It was there in none of the last windows. */
	assert_int_equal(history.rows.count, 1);
	expect_levels(&history, 1, (uint8_t[]){ U, 0, U }, 3);
	history_deinit(&history);
}

TEST(memory_is_bounded)
{
	struct history history = { 0 };

	history_begin(&history);
	for (uint64_t id = 0; id < 2 * HISTORY_ROWS; id++)
		history_put(&history, id, 1);
	assert_int_equal(history.rows.count, HISTORY_ROWS);
	expect_levels(&history, HISTORY_ROWS - 1, (uint8_t[]){ 7 }, 1);
	expect_levels(&history, HISTORY_ROWS, (uint8_t[]){ U }, 1);
	for (unsigned window = 0; window < 2 * HISTORY_LENGTH; window++)
		history_begin(&history);
	history_put(&history, HISTORY_ROWS, 1);
	expect_levels(&history, HISTORY_ROWS, (uint8_t[]){ 7 }, 1);
	history_clear(&history);
	expect_levels(&history, HISTORY_ROWS, (uint8_t[]){ U }, 1);
	history_deinit(&history);
}

UNIT_TESTS(cmocka_unit_test(levels_distinguish_zero_from_little),
	   cmocka_unit_test(the_last_windows_come_back),
	   cmocka_unit_test(windows_it_was_not_in_are_unknown),
	   cmocka_unit_test(one_that_comes_back_late_has_nothing_of_before),
	   cmocka_unit_test(memory_is_bounded))
