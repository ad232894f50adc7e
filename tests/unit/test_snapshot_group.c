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

static uint64_t total(const struct group *group, enum metric_id id)
{
	struct aggregate a;
	uint64_t value;

	assert_true(group_aggregate(group, &metrics[id], &a));
	assert_int_equal(a.threads, group->count);
	value = a.total;
	aggregate_deinit(&a, &metrics[id]);
	return value;
}

TEST(threads_of_one_name_are_one_group)
{
	struct ctprof_snapshot *s = snapshot_of("b", "a", "b", "", "b");
	struct groups groups;

	expect_ok(groups_init(&groups, s, axis("pcomm")));
	assert_int_equal(groups.count, 3);
	assert_string_equal(groups.items[0].key->bytes, "");
	assert_string_equal(groups.items[1].key->bytes, "a");
	assert_string_equal(groups.items[2].key->bytes, "b");
	assert_int_equal(groups.items[2].count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(groups.items[2].threads[i]->pcomm, groups.items[2].key);
	assert_int_equal(total(&groups.items[2], METRIC_run_time_ns), 1 + 3 + 5);
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
		sum += total(&groups.items[i], METRIC_wchar);
		threads += groups.items[i].count;
		if (i)
			assert_true(name_compare(groups.items[i - 1].key, groups.items[i].key) < 0);
	}
	assert_int_equal(sum, expected);
	assert_int_equal(threads, THREADS);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(no_threads_no_groups)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct groups groups;

	expect_ok(groups_init(&groups, s, axis("pcomm")));
	assert_int_equal(groups.count, 0);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(every_metric_of_a_group)
{
	struct ctprof_snapshot *s = snapshot_of("a", "a");
	struct groups groups;

	build_label(s, snapshot_thread(s, 0), METRIC_policy, "SCHED_RR");
	build_label(s, snapshot_thread(s, 1), METRIC_policy, "SCHED_FIFO");
	expect_ok(groups_init(&groups, s, axis("pcomm")));
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		struct aggregate a;

		assert_true(group_aggregate(&groups.items[0], &metrics[id], &a));
		assert_int_equal(a.threads, 2);
		assert_int_equal(a.measured, is_measured(snapshot_thread(s, 0), id) ? 2 : 0);
		aggregate_deinit(&a, &metrics[id]);
	}
	groups_deinit(&groups);
	snapshot_destroy(s);
}

/* Of the third thread the events are not known, so its time does not count. */
TEST(derived_metrics_of_a_group)
{
	struct ctprof_snapshot *s = snapshot_of("a", "b", "b", "b");
	const struct derived *slice = &derived_metrics[DERIVED_ID_avg_slice_ns];
	struct groups groups;
	struct derived_value value = { -1, 0, 0 };

	build_number(snapshot_thread(s, 1), METRIC_timeslices, 2);
	build_number(snapshot_thread(s, 3), METRIC_timeslices, 2);
	expect_ok(groups_init(&groups, s, axis("pcomm")));
	assert_false(group_derived(&groups.items[0], slice, &value));
	assert_true(value.value == -1);
	assert_true(group_derived(&groups.items[1], slice, &value));
	assert_true(value.value == (2 + 4) / 4.0);
	assert_int_equal(value.measured, 2);
	assert_int_equal(value.threads, 3);
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
			      pair->baseline ? pair->baseline->count : 0,
			      pair->candidate ? pair->candidate->count : 0);
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
	   cmocka_unit_test(no_threads_no_groups), cmocka_unit_test(every_metric_of_a_group),
	   cmocka_unit_test(derived_metrics_of_a_group), cmocka_unit_test(join),
	   cmocka_unit_test(join_with_nothing))
