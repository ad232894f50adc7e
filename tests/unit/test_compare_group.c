/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/group.h"

#include "unit/build.h"

static const struct metric_set accounted;
static const struct impossible none;

/* Threads that ran for 1, 2, 3 ... ns. */
static struct ctprof_snapshot *of_threads(uint32_t count)
{
	struct ctprof_snapshot *s = build_snapshot();

	for (uint32_t i = 0; i < count; i++)
		build_number(build_thread(s, i + 1, i + 1, "p", "t", "/"), METRIC_run_time_ns,
			     i + 1);
	return s;
}

static struct selection only(enum metric_id id)
{
	struct selection selection = { 0 };

	metric_set_add(&selection.metrics, id);
	return selection;
}

static struct selection everything(void)
{
	struct selection selection = { .derived = (1u << DERIVED_COUNT) - 1 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		metric_set_add(&selection.metrics, i);
	return selection;
}

static uint64_t total(const struct group *group, enum metric_id id)
{
	struct selection selection = only(id);
	struct group_sums *sums = calloc(1, sizeof(*sums));
	uint64_t value;

	assert_non_null(sums);
	assert_true(group_sum(group, &selection, &accounted, &none, sums));
	assert_int_equal(sums->metrics[id].threads, group->count);
	value = sums->metrics[id].total;
	group_sums_deinit(sums);
	free(sums);
	return value;
}

TEST(threads_of_one_key_are_one_group)
{
	static const uint32_t key_of[] = { 2, 1, 2, 0, 2 };
	struct ctprof_snapshot *s = of_threads(5);
	struct groups groups;

	expect_ok(groups_init(&groups, s, key_of, 3));
	assert_int_equal(groups.items[0].count, 1);
	assert_int_equal(groups.items[1].count, 1);
	assert_int_equal(groups.items[2].count, 3);
	assert_ptr_equal(groups.items[0].threads[0], snapshot_thread(s, 3));
	assert_ptr_equal(groups.items[2].threads[0], snapshot_thread(s, 0));
	assert_ptr_equal(groups.items[2].threads[1], snapshot_thread(s, 2));
	assert_ptr_equal(groups.items[2].threads[2], snapshot_thread(s, 4));
	assert_int_equal(total(&groups.items[2], METRIC_run_time_ns), 1 + 3 + 5);
	assert_int_equal(total(&groups.items[1], METRIC_run_time_ns), 2);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(threads_without_a_key_are_in_no_group)
{
	static const uint32_t key_of[] = { NO_KEY, 0, NO_KEY, 0 };
	struct ctprof_snapshot *s = of_threads(4);
	struct groups groups;

	expect_ok(groups_init(&groups, s, key_of, 2));
	assert_int_equal(groups.items[0].count, 2);
	assert_int_equal(total(&groups.items[0], METRIC_run_time_ns), 2 + 4);
	assert_int_equal(groups.items[1].count, 0);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(no_threads_no_groups)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct groups groups;

	expect_ok(groups_init(&groups, s, NULL, 0));
	groups_deinit(&groups);
	expect_ok(groups_init(&groups, s, NULL, 3));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(groups.items[i].count, 0);
	groups_deinit(&groups);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(groups_add_up_to_the_threads)
{
	enum { THREADS = 2000, KEYS = 700 };
	struct ctprof_snapshot *s = build_snapshot();
	uint32_t key_of[THREADS];
	uint64_t seed = 5, expected[KEYS] = { 0 };
	size_t threads = 0;
	struct groups groups;

	for (uint32_t i = 0; i < THREADS; i++) {
		uint64_t value = next_random(&seed) >> 20;

		key_of[i] = (uint32_t)(next_random(&seed) % KEYS);
		build_number(build_thread(s, i + 1, i + 1, "p", "t", "/"), METRIC_wchar, value);
		expected[key_of[i]] += value;
	}
	expect_ok(groups_init(&groups, s, key_of, KEYS));
	for (size_t i = 0; i < KEYS; i++) {
		assert_int_equal(total(&groups.items[i], METRIC_wchar), expected[i]);
		threads += groups.items[i].count;
	}
	assert_int_equal(threads, THREADS);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

/* One group after another with the same memory: nothing of the last is left. */
TEST(sums_are_of_one_group_at_a_time)
{
	static const uint32_t key_of[] = { 0, 0, 1 };
	struct ctprof_snapshot *s = of_threads(3);
	struct selection selection = everything();
	struct group_sums *sums = calloc(1, sizeof(*sums));
	struct groups groups;
	struct datum policy;

	build_label(s, snapshot_thread(s, 0), METRIC_policy, "SCHED_RR");
	build_label(s, snapshot_thread(s, 1), METRIC_policy, "SCHED_RR");
	build_label(s, snapshot_thread(s, 2), METRIC_policy, "SCHED_FIFO");
	build_number(snapshot_thread(s, 0), METRIC_timeslices, 2);
	build_number(snapshot_thread(s, 2), METRIC_timeslices, 4);
	build_signed(snapshot_thread(s, 0), METRIC_nice, -5);
	build_signed(snapshot_thread(s, 1), METRIC_nice, 5);
	build_signed(snapshot_thread(s, 2), METRIC_nice, 1);
	expect_ok(groups_init(&groups, s, key_of, 2));

	assert_true(group_sum(&groups.items[0], &selection, &accounted, &none, sums));
	assert_int_equal(sums->metrics[METRIC_run_time_ns].total, 3);
	assert_int_equal(sums->metrics[METRIC_nice].range.smallest, -5);
	assert_int_equal(sums->metrics[METRIC_nice].range.largest, 5);
	/* Of the second thread the events are not known, so its time does not count. */
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].a, 1);
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].b, 2);
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].measured, 1);
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].threads, 2);

	assert_true(group_sum(&groups.items[1], &selection, &accounted, &none, sums));
	assert_int_equal(sums->metrics[METRIC_run_time_ns].total, 3);
	assert_int_equal(sums->metrics[METRIC_run_time_ns].threads, 1);
	assert_int_equal(sums->metrics[METRIC_nice].range.smallest, 1);
	assert_int_equal(sums->metrics[METRIC_nice].range.largest, 1);
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].a, 3);
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].b, 4);
	policy = aggregate_datum(&sums->metrics[METRIC_policy], &metrics[METRIC_policy]);
	assert_string_equal(policy.category.text, "SCHED_FIFO");
	assert_int_equal(policy.category.agree, 1);
	group_sums_deinit(sums);
	free(sums);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(every_metric_of_a_group)
{
	static const uint32_t key_of[] = { 0, 0 };
	struct ctprof_snapshot *s = of_threads(2);
	struct selection selection = everything();
	struct group_sums *sums = calloc(1, sizeof(*sums));
	struct groups groups;

	build_label(s, snapshot_thread(s, 0), METRIC_policy, "SCHED_RR");
	build_label(s, snapshot_thread(s, 1), METRIC_policy, "SCHED_FIFO");
	expect_ok(groups_init(&groups, s, key_of, 1));
	assert_true(group_sum(&groups.items[0], &selection, &accounted, &none, sums));
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		assert_int_equal(sums->metrics[id].threads, 2);
		assert_int_equal(sums->metrics[id].measured,
				 is_measured(snapshot_thread(s, 0), id) ? 2 : 0);
	}
	group_sums_deinit(sums);
	free(sums);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

/* Only what was asked for is added up. */
TEST(sums_of_a_selection)
{
	static const uint32_t key_of[] = { 0 };
	struct ctprof_snapshot *s = of_threads(1);
	struct selection selection = only(METRIC_wchar);
	struct group_sums *sums = calloc(1, sizeof(*sums));
	struct groups groups;

	selection.derived = 1u << DERIVED_ID_avg_wait_ns;
	build_number(snapshot_thread(s, 0), METRIC_wchar, 7);
	expect_ok(groups_init(&groups, s, key_of, 1));
	assert_true(group_sum(&groups.items[0], &selection, &accounted, &none, sums));
	assert_int_equal(sums->metrics[METRIC_wchar].total, 7);
	assert_int_equal(sums->metrics[METRIC_run_time_ns].threads, 0);
	assert_int_equal(sums->derived[DERIVED_ID_avg_wait_ns].threads, 1);
	assert_int_equal(sums->derived[DERIVED_ID_avg_slice_ns].threads, 0);
	group_sums_deinit(sums);
	free(sums);
	groups_deinit(&groups);
	snapshot_destroy(s);
}

TEST(coverage_of_some_and_of_every_thread)
{
	static const uint32_t key_of[] = { 0, 0, 1 };
	struct ctprof_snapshot *s = of_threads(3);
	struct coverage coverage = { 0 };
	struct groups groups;
	struct group empty = { 0 };

	build_number(snapshot_thread(s, 1), METRIC_wchar, 1);
	build_number(snapshot_thread(s, 0), METRIC_nr_threads, 2); /* a fact of the leader */
	build_number(snapshot_thread(s, 2), METRIC_rchar, 1);
	expect_ok(groups_init(&groups, s, key_of, 2));

	coverage_add(&coverage, &empty);
	assert_false(coverage.any_group);
	coverage_add(&coverage, &groups.items[0]);
	assert_true(coverage.any_group);
	assert_true(metric_set_has(&coverage.every, METRIC_run_time_ns));
	assert_true(metric_set_has(&coverage.some, METRIC_wchar));
	assert_false(metric_set_has(&coverage.every, METRIC_wchar));
	assert_true(metric_set_has(&coverage.every, METRIC_nr_threads));
	assert_false(metric_set_has(&coverage.some, METRIC_rchar));

	coverage_add(&coverage, &groups.items[1]);
	assert_true(metric_set_has(&coverage.every, METRIC_run_time_ns));
	assert_true(metric_set_has(&coverage.some, METRIC_rchar));
	assert_false(metric_set_has(&coverage.every, METRIC_rchar));
	groups_deinit(&groups);
	snapshot_destroy(s);
}

UNIT_TESTS(cmocka_unit_test(threads_of_one_key_are_one_group),
	   cmocka_unit_test(threads_without_a_key_are_in_no_group),
	   cmocka_unit_test(no_threads_no_groups), cmocka_unit_test(groups_add_up_to_the_threads),
	   cmocka_unit_test(sums_are_of_one_group_at_a_time),
	   cmocka_unit_test(every_metric_of_a_group), cmocka_unit_test(sums_of_a_selection),
	   cmocka_unit_test(coverage_of_some_and_of_every_thread))
