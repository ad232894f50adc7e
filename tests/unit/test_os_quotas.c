/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/quotas.h"

#include <stdio.h>
#include <sys/stat.h>

#include "unit/unit.h"

static struct scratch scratch;
static struct cgroup_tree tree;

static int set_tree(void **state)
{
	static const char *const names[] = { "a", "a/b", "a/b/c", "d" };

	(void)state;
	scratch_init(&scratch);
	tree = (struct cgroup_tree){ .dir = scratch.dir };
	for (size_t i = 0; i < array_length(names); i++)
		assert_int_equal(mkdirat(scratch.dir, names[i], 0755), 0);
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

static const struct quota *find(const struct quotas *quotas, const char *path)
{
	for (size_t i = 0; i < quotas->count; i++)
		if (strcmp(quotas->items[i].path, path) == 0)
			return &quotas->items[i];
	return NULL;
}

TEST(all_that_have_one)
{
	struct quotas quotas;

	put("a/cpu.max", "max 100000\n");
	put("a/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	put("a/b/c/cpu.max", "50000 100000\n");
	put("a/b/c/cpu.stat", "nr_periods 9\nnr_throttled 8\nthrottled_usec 7\n");
	put("d/cpu.max", "20000 10000\n");
	put("d/cpu.stat", "nr_periods 6\nnr_throttled 5\nthrottled_usec 4\n");
	quotas_read_tree(&tree, false, &quotas);
	assert_int_equal(quotas.count, 2);
	assert_non_null(find(&quotas, "/a/b/c"));
	assert_true(find(&quotas, "/a/b/c")->level.throttled == 8);
	assert_true(find(&quotas, "/d")->level.quota_us == 20000);
	quotas_deinit(&quotas);
	/* A part of the tree is mounted. */
	tree.root = (char[]){ "/docker" };
	quotas_read_tree(&tree, false, &quotas);
	assert_non_null(find(&quotas, "/docker/a/b/c"));
	quotas_deinit(&quotas);
	tree.dir = -1;
	quotas_read_tree(&tree, false, &quotas);
	assert_int_equal(quotas.count, 0);
}

TEST(what_they_gain)
{
	struct quotas before, now;
	struct throttle_level grown;

	put("a/cpu.cfs_quota_us", "25000\n");
	put("a/cpu.cfs_period_us", "100000\n");
	put("a/cpu.stat", "nr_periods 100\nnr_throttled 7\nthrottled_time 1000000\n");
	quotas_read_tree(&tree, true, &before);
	put("a/cpu.stat", "nr_periods 110\nnr_throttled 16\nthrottled_time 751000000\n");
	put("d/cpu.cfs_quota_us", "25000\n");
	put("d/cpu.cfs_period_us", "100000\n");
	put("d/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 1000000\n");
	quotas_read_tree(&tree, true, &now);
	grown = quotas_growth(&before, find(&now, "/a"));
	assert_true(grown.periods == 10 && grown.throttled == 9 && grown.wait_us == 750000);
	assert_true(grown.quota_us == 25000 && grown.period_us == 100000);
	/* One that is new, and one that was made again. */
	grown = quotas_growth(&before, find(&now, "/d"));
	assert_true(grown.periods == 3 && grown.throttled == 2 && grown.wait_us == 1000);
	grown = quotas_growth(&now, find(&before, "/a"));
	assert_true(grown.periods == 100 && grown.throttled == 7 && grown.wait_us == 1000);
	quotas_deinit(&before);
	quotas_deinit(&now);
}

/* Neither names without end nor links lead on. */
TEST(trees_have_an_end)
{
	char name[THROTTLE_PATH + 64] = "a";
	struct quotas quotas;

	assert_int_equal(symlinkat(".", scratch.dir, "a/loop"), 0);
	for (size_t depth = 0; depth < QUOTAS_DEPTH + 4; depth++) {
		snprintf(name + strlen(name), sizeof(name) - strlen(name), "/xxxx");
		assert_int_equal(mkdirat(scratch.dir, name, 0755), 0);
	}
	snprintf(name + strlen(name), sizeof(name) - strlen(name), "/cpu.max");
	put(name, "50000 100000\n");
	quotas_read_tree(&tree, false, &quotas);
	assert_int_equal(quotas.count, 0);
	quotas_deinit(&quotas);
}

UNIT_TESTS(CASE(all_that_have_one), CASE(what_they_gain), CASE(trees_have_an_end))
