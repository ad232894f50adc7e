/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/group.h"

#include <stdio.h>

#include "unit/build.h"

static const struct group_axis *axis(const char *name)
{
	for (size_t i = 0; i < GROUP_AXIS_COUNT; i++)
		if (strcmp(group_axes[i].name, name) == 0)
			return &group_axes[i];
	fail_msg("no axis %s", name);
	return NULL;
}

/* A snapshot of one thread for each name, that ran for 1, 2, 3 ... ns. */
static struct ctprof_snapshot *of(const char *const *names)
{
	struct ctprof_snapshot *s = build_snapshot();

	for (uint32_t i = 0; names[i]; i++)
		build_number(build_thread(s, i + 1, i + 1, names[i], "t", "/"), METRIC_run_time_ns,
			     i + 1);
	return s;
}
#define snapshot_of(...) of((const char *const[]){ __VA_ARGS__, NULL })

TEST(threads_of_one_name_are_one_group)
{
	struct ctprof_snapshot *s = snapshot_of("b", "a", "b", "", "b");
	struct groups groups;

	expect_ok(groups_init(&groups, s, axis("pcomm")));
	assert_int_equal(groups.count, 3);
	assert_string_equal(groups.items[0]->key->bytes, "");
	assert_string_equal(groups.items[1]->key->bytes, "a");
	assert_string_equal(groups.items[2]->key->bytes, "b");
	assert_int_equal(groups.items[2]->threads, 3);
	assert_int_equal(groups.items[2]->values[METRIC_run_time_ns].total, 1 + 3 + 5);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(every_axis_has_its_key)
{
	struct ctprof_snapshot *s = build_snapshot();
	const struct ctprof_thread *t = build_thread(s, 1, 1, "process", "thread", "/cgroup");

	assert_ptr_equal(axis("pcomm")->key(t), t->pcomm);
	assert_ptr_equal(axis("cgroup")->key(t), t->cgroup);
	assert_ptr_equal(axis("comm-exact")->key(t), t->comm);
	snapshot_destroy(s);
}

TEST(groups_add_up_to_the_threads)
{
	enum { THREADS = 2000, NAMES = 700 };
	struct ctprof_snapshot *s = build_snapshot();
	uint64_t seed = 5, expected = 0, sum = 0, threads = 0;
	struct groups groups;

	for (uint32_t i = 0; i < THREADS; i++) {
		char name[16];
		uint64_t value = next_random(&seed) >> 20;

		snprintf(name, sizeof(name), "p%u", (unsigned)(next_random(&seed) % NAMES));
		build_number(build_thread(s, i + 1, i + 1, name, "t", "/"), METRIC_wchar, value);
		expected += value;
	}
	expect_ok(groups_init(&groups, s, axis("pcomm")));
	for (size_t i = 0; i < groups.count; i++) {
		sum += groups.items[i]->values[METRIC_wchar].total;
		threads += groups.items[i]->threads;
		if (i)
			assert_true(name_compare(groups.items[i - 1]->key, groups.items[i]->key) <
				    0);
	}
	assert_int_equal(sum, expected);
	assert_int_equal(threads, THREADS);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

/* "a:1 b:1-3 -c" ..: the threads of each side, "-" where a side does not have the group. */
static void check_join(struct ctprof_snapshot *before, struct ctprof_snapshot *after,
		       const char *expected)
{
	struct groups baseline, candidate;
	struct group_pairs pairs;
	char text[256] = "", *at = text;

	expect_ok(groups_init(&baseline, before, axis("pcomm")));
	expect_ok(groups_init(&candidate, after, axis("pcomm")));
	expect_ok(groups_join(&baseline, &candidate, &pairs));
	for (size_t i = 0; i < pairs.count; i++) {
		const struct group_pair *pair = &pairs.items[i];

		at += sprintf(at, "%s:%zu/%zu ", group_pair_key(pair)->bytes,
			      pair->baseline ? pair->baseline->threads : 0,
			      pair->candidate ? pair->candidate->threads : 0);
	}
	assert_string_equal(text, expected);
	array_deinit(&pairs);
	groups_deinit(&baseline);
	groups_deinit(&candidate);
	snapshot_destroy(before);
	snapshot_destroy(after);
}

TEST(join)
{
	check_join(snapshot_of("a", "b"), snapshot_of("b", "a"), "a:1/1 b:1/1 ");
	check_join(snapshot_of("a", "c"), snapshot_of("b", "c"), "a:1/0 b:0/1 c:1/1 ");
	check_join(snapshot_of("a"), snapshot_of("a", "a", "a"), "a:1/3 ");
	check_join(snapshot_of("z"), snapshot_of("a", "b"), "a:0/1 b:0/1 z:1/0 ");
}

TEST(join_with_nothing)
{
	check_join(build_snapshot(), build_snapshot(), "");
	check_join(build_snapshot(), snapshot_of("a", "b"), "a:0/1 b:0/1 ");
	check_join(snapshot_of("a", "b"), build_snapshot(), "a:1/0 b:1/0 ");
}

UNIT_TESTS(cmocka_unit_test(threads_of_one_name_are_one_group),
	   cmocka_unit_test(every_axis_has_its_key), cmocka_unit_test(groups_add_up_to_the_threads),
	   cmocka_unit_test(join), cmocka_unit_test(join_with_nothing))
