/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/grid.h"

#include "unit/unit.h"

/* Windows of 200 ms; this one was to end at 1000. In ms, for the unit is all the same. */
static const struct {
	const char *what;
	uint64_t ended, now, next;
} cases[] = {
	{ "in time", 1000, 1000, 1200 },
	{ "woken up late", 1003, 1005, 1200 },
	{ "before its time: a signal", 990, 990, 1200 },
	{ "read and printed for most of a window", 1001, 1190, 1200 },
	{ "read and printed for longer than one", 1001, 1230, 1400 },
	{ "a little less than half late", 1099, 1099, 1200 },
	{ "half late", 1100, 1100, 1400 },
	{ "late by nearly a window", 1199, 1199, 1400 },
	{ "stopped for 4 s, until just before a time of the grid", 4999, 4999, 5200 },
	{ "stopped for 4 s, until just after one", 5001, 5001, 5200 },
	{ "stopped between the reading and the print", 1000, 5000, 5200 },
};

TEST(the_next_end_is_on_the_grid)
{
	for (size_t i = 0; i < array_length(cases); i++) {
		const uint64_t next = grid_next(1000, 200, cases[i].ended, cases[i].now);

		if (next != cases[i].next)
			fail_msg("%s: %lu", cases[i].what, (unsigned long)next);
	}
}

/* Whenever it ends and goes on. */
TEST(no_window_is_shorter_than_half)
{
	for (uint64_t ended = 900; ended < 3000; ended++)
		for (uint64_t took = 0; took < 500; took += 7) {
			const uint64_t next = grid_next(1000, 200, ended, ended + took);

			assert_int_equal(next % 200, 0);
			assert_true(next > ended + took && next >= ended + 100);
			assert_true(next <= ended + took + 400 || ended + took < 1000);
		}
}

UNIT_TESTS(cmocka_unit_test(the_next_end_is_on_the_grid),
	   cmocka_unit_test(no_window_is_shorter_than_half))
