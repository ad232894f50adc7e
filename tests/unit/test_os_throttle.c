/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/throttle.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "unit/unit.h"

static struct scratch scratch;
static struct cgroup_tree tree;

static int set_tree(void **state)
{
	(void)state;
	scratch_init(&scratch);
	tree = (struct cgroup_tree){ .dir = scratch.dir };
	assert_int_equal(mkdirat(scratch.dir, "a", 0755), 0);
	assert_int_equal(mkdirat(scratch.dir, "a/b", 0755), 0);
	assert_int_equal(mkdirat(scratch.dir, "a/b/c", 0755), 0);
	return 0;
}

static int clear_tree(void **state)
{
	(void)state;
	scratch_deinit(&scratch);
	return 0;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_tree, clear_tree)

static void put(const char *name, const char *bytes)
{
	scratch_write(&scratch, name, text_of(bytes));
}

static void expect_words(const struct throttle_reading *before, const struct throttle_reading *now,
			 const char *expected)
{
	char *words = throttle_say(before, now);

	if (expected)
		assert_string_equal(words, expected);
	else
		assert_null(words);
	free(words);
}

TEST(the_quota_of_a_cgroup_above)
{
	struct throttle_reading before, now;

	put("a/cpu.max", "20000 100000\n");
	put("a/cpu.stat", "usage_usec 1\nnr_periods 100\nnr_throttled 7\nthrottled_usec 1000\n");
	put("a/b/cpu.max", "max 100000\n");
	put("a/b/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	throttle_read_tree(&tree, false, "/a/b/c", &before);
	assert_int_equal(before.count, 1);
	expect_words(&before, &before, NULL);
	put("a/cpu.stat", "usage_usec 1\nnr_periods 110\nnr_throttled 16\nthrottled_usec 813000\n");
	throttle_read_tree(&tree, false, "/a/b/c", &now);
	expect_words(&before, &now,
		     "cgroup /a ran out of its quota (cpu.max: 0.20 CPUs) in 9 of 10 periods, for "
		     "812.000ms in all on its CPUs");
	/* Of another cgroup nothing can be subtracted. */
	throttle_read_tree(&tree, false, "/a/b", &now);
	expect_words(&before, &now, NULL);
}

/* Of version 1, the numbers are in files of their own, and times in nanoseconds. */
TEST(the_quota_of_version_1)
{
	struct throttle_reading before, now;

	put("a/cpu.cfs_quota_us", "25000\n");
	put("a/cpu.cfs_period_us", "100000\n");
	put("a/cpu.stat", "nr_periods 100\nnr_throttled 7\nthrottled_time 1000000\n");
	put("a/b/cpu.cfs_quota_us", "-1\n");
	put("a/b/cpu.cfs_period_us", "100000\n");
	put("a/b/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	throttle_read_tree(&tree, true, "/a/b", &before);
	assert_int_equal(before.count, 1);
	put("a/cpu.stat", "nr_periods 110\nnr_throttled 17\nthrottled_time 751000000\n");
	throttle_read_tree(&tree, true, "/a/b", &now);
	expect_words(&before, &now,
		     "cgroup /a ran out of its quota (cpu.cfs_quota_us: 0.25 CPUs) in 10 of 10 "
		     "periods, for 750.000ms in all on its CPUs");
	assert_true(throttle_is_usual(&before, &now));
}

/* One that was made again begins at 0. */
TEST(counters_that_begin_again)
{
	struct throttle_reading before, now;

	put("a/cpu.max", "20000 100000\n");
	put("a/cpu.stat", "nr_periods 100\nnr_throttled 7\nthrottled_usec 1000\n");
	throttle_read_tree(&tree, false, "/a", &before);
	put("a/cpu.stat", "nr_periods 1\nnr_throttled 0\nthrottled_usec 10\n");
	throttle_read_tree(&tree, false, "/a", &now);
	expect_words(&before, &now, NULL);
}

TEST(no_quotas)
{
	static const char *const quotas[] = { "",  "max 100000", "x y",
					      "1", "1 0",        "99999999999999999999 1" };
	struct throttle_reading reading;

	put("a/cpu.stat", "nr_periods 100\nnr_throttled 7\nthrottled_usec 1000\n");
	for (size_t i = 0; i < array_length(quotas); i++) {
		put("a/cpu.max", quotas[i]);
		throttle_read_tree(&tree, false, "/a", &reading);
		assert_int_equal(reading.count, 0);
	}
	put("a/cpu.max", "1 1");
	put("a/cpu.stat", "nr_periods 100\n");
	throttle_read_tree(&tree, false, "/a", &reading);
	assert_int_equal(reading.count, 0);
	throttle_read_tree(&tree, false, "/", &reading);
	throttle_read_tree(&tree, false, NULL, &reading);
	throttle_read_tree(&tree, false, "/../../etc", &reading);
	assert_int_equal(reading.count, 0);
}

UNIT_TESTS(CASE(the_quota_of_a_cgroup_above), CASE(the_quota_of_version_1),
	   CASE(counters_that_begin_again), CASE(no_quotas))
