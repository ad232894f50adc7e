/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/survivors.h"

#include <stdio.h>

#include "unit/compare_scene.h"

/* "0 - 1": for each thread, its number on the other side. */
static void check(const uint32_t *numbers, size_t count, const char *expected)
{
	char text[256] = "", *at = text;

	for (size_t i = 0; i < count; i++)
		at += numbers[i] == NO_THREAD ? sprintf(at, "%s-", i ? " " : "")
					      : sprintf(at, "%s%u", i ? " " : "", numbers[i]);
	assert_string_equal(text, expected);
}

static void check_both(struct ctprof_snapshot *x, struct ctprof_snapshot *y, const char *before,
		       const char *after)
{
	struct survivors survivors;

	expect_ok(survivors_init(&survivors, x, y));
	check(survivors.before, y->threads.count, before);
	check(survivors.after, x->threads.count, after);
	survivors_deinit(&survivors);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

TEST(the_same_number_and_start)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();

	live(x, 1, 1, 10, "a");
	live(x, 2, 2, 20, "b");
	live(x, 3, 3, 30, "c");
	live(y, 3, 3, 30, "other name");
	live(y, 4, 4, 20, "b");
	live(y, 2, 2, 21, "b");
	live(y, 9, 1, 10, "a"); /* a thread keeps its number when another executes */
	check_both(x, y, "2 - - 0", "3 - 0");
}

TEST(unknown_starts_survive_nothing)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();

	live(x, 1, 1, 0, "a")->start_time_clock_ticks.measured = false;
	live(x, 2, 2, 0, "b")->start_time_clock_ticks.measured = false;
	live(x, 3, 3, 0, "c");
	live(y, 1, 1, 0, "a")->start_time_clock_ticks.measured = false;
	live(y, 2, 2, 0, "b");
	live(y, 3, 3, 0, "c");
	check_both(x, y, "- - 2", "- - 2");
}

TEST(of_two_the_first)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();

	live(x, 1, 1, 10, "a");
	live(x, 1, 1, 10, "b");
	live(y, 1, 1, 10, "c");
	live(y, 1, 1, 10, "d");
	live(y, 1, 1, 10, "e");
	check_both(x, y, "0 - -", "0 -");
}

TEST(empty_snapshots_have_no_survivors)
{
	struct ctprof_snapshot *y = build_snapshot();

	live(y, 1, 1, 10, "a");
	check_both(build_snapshot(), y, "-", "");
	check_both(build_snapshot(), build_snapshot(), "", "");
}

UNIT_TESTS(cmocka_unit_test(the_same_number_and_start),
	   cmocka_unit_test(unknown_starts_survive_nothing), cmocka_unit_test(of_two_the_first),
	   cmocka_unit_test(empty_snapshots_have_no_survivors))
