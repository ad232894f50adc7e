/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/aggregate.h"

#include "unit/build.h"

/* Threads of one group, and one metric of theirs. */
struct group_of_threads {
	struct ctprof_snapshot *s;
	const struct metric *metric;
	struct aggregate a;
};

static struct group_of_threads group(enum metric_id id)
{
	return (struct group_of_threads){ .s = build_snapshot(), .metric = &metrics[id] };
}

static struct ctprof_thread *member(struct group_of_threads *g)
{
	return build_thread(g->s, 1, 1, "p", "t", "/");
}

static void add(struct group_of_threads *g, const struct ctprof_thread *thread)
{
	assert_true(aggregate_add(&g->a, g->metric, &thread->record));
}

static void add_number(struct group_of_threads *g, int64_t value)
{
	struct ctprof_thread *thread = member(g);

	build_signed(thread, metric_id(g->metric), value);
	add(g, thread);
}

static void add_label(struct group_of_threads *g, const char *label)
{
	struct ctprof_thread *thread = member(g);

	build_label(g->s, thread, metric_id(g->metric), label);
	add(g, thread);
}

static void add_cpus(struct group_of_threads *g, const char *list)
{
	struct ctprof_thread *thread = member(g);

	build_cpus(g->s, thread, list);
	add(g, thread);
}

static void end(struct group_of_threads *g)
{
	aggregate_deinit(&g->a, g->metric);
	snapshot_destroy(g->s);
}

static void expect_x2(struct group_of_threads *g, int64_t twice)
{
	__int128 got = 0;

	assert_true(aggregate_number_x2(&g->a, g->metric, &got));
	assert_true(got == twice);
}

static void expect_no_number(struct group_of_threads *g)
{
	__int128 got = 42;

	assert_false(aggregate_number_x2(&g->a, g->metric, &got));
	assert_true(got == 42);
}

TEST(totals_add_up)
{
	static const enum metric_id totals[] = { METRIC_run_time_ns, METRIC_nr_wakeups,
						 METRIC_utime_clock_ticks, METRIC_rchar };

	for (size_t i = 0; i < array_length(totals); i++) {
		struct group_of_threads g = group(totals[i]);

		add_number(&g, 5);
		add_number(&g, 0);
		add_number(&g, 37);
		assert_int_equal(g.a.total, 42);
		assert_int_equal(g.a.threads, 3);
		assert_int_equal(g.a.measured, 3);
		expect_x2(&g, 84);
		end(&g);
	}
}

TEST(sums_stop_at_the_largest_number)
{
	struct group_of_threads g = group(METRIC_run_time_ns);
	struct ctprof_thread *thread = member(&g);
	__int128 twice;

	build_number(thread, METRIC_run_time_ns, UINT64_MAX - 1);
	add(&g, thread);
	add_number(&g, 1);
	assert_int_equal(g.a.total, UINT64_MAX);
	add_number(&g, 1);
	assert_int_equal(g.a.total, UINT64_MAX);
	add(&g, thread);
	assert_int_equal(g.a.total, UINT64_MAX);
	assert_true(aggregate_number_x2(&g.a, g.metric, &twice));
	assert_true(twice == (__int128)UINT64_MAX * 2);
	end(&g);
}

TEST(peaks_and_gauges_are_the_largest)
{
	static const enum metric_id largest[] = { METRIC_wait_max, METRIC_hiwater_rss_bytes,
						  METRIC_fair_slice_ns, METRIC_nr_threads };

	for (size_t i = 0; i < array_length(largest); i++) {
		struct group_of_threads g = group(largest[i]);

		add_number(&g, 3);
		add_number(&g, 1000);
		add_number(&g, 999);
		assert_int_equal(g.a.largest, 1000);
		expect_x2(&g, 2000);
		end(&g);
	}
}

TEST(a_minimum_of_no_events_is_no_number)
{
	struct group_of_threads g = group(METRIC_blkio_delay_min_ns);

	add_number(&g, 0);
	assert_int_equal(g.a.measured, 1);
	expect_no_number(&g);
	add_number(&g, 7);
	add_number(&g, 0);
	expect_x2(&g, 14);
	end(&g);
}

TEST(a_peak_of_zero_is_a_number)
{
	struct group_of_threads g = group(METRIC_blkio_delay_max_ns);

	add_number(&g, 0);
	expect_x2(&g, 0);
	end(&g);
}

TEST(ranges_have_their_extremes)
{
	struct group_of_threads g = group(METRIC_nice);

	add_number(&g, 5);
	assert_int_equal(g.a.range.smallest, 5);
	assert_int_equal(g.a.range.largest, 5);
	add_number(&g, 19);
	add_number(&g, -20);
	add_number(&g, 0);
	assert_true(g.a.range.smallest == -20);
	assert_int_equal(g.a.range.largest, 19);
	/* the midpoint, -0.5 */
	expect_x2(&g, -1);
	end(&g);
}

TEST(ranges_of_extreme_numbers)
{
	struct group_of_threads i32 = group(METRIC_priority), u32 = group(METRIC_rt_priority);

	add_number(&i32, INT32_MIN);
	add_number(&i32, INT32_MAX);
	expect_x2(&i32, -1);
	add_number(&u32, UINT32_MAX);
	expect_x2(&u32, (int64_t)UINT32_MAX * 2);
	end(&i32);
	end(&u32);
}

static void expect_mode(struct group_of_threads *g, const char *label, int64_t code, size_t count)
{
	const struct tally *mode = aggregate_mode(&g->a);

	assert_non_null(mode);
	if (label)
		assert_string_equal(mode->label->bytes, label);
	else
		assert_true(mode->code == code);
	assert_int_equal(mode->count, count);
	expect_no_number(g);
}

TEST(the_most_frequent_label)
{
	struct group_of_threads g = group(METRIC_policy);

	add_label(&g, "SCHED_RR");
	add_label(&g, "SCHED_OTHER");
	add_label(&g, "SCHED_OTHER");
	add_label(&g, "SCHED_RR");
	add_label(&g, "SCHED_RR");
	expect_mode(&g, "SCHED_RR", 0, 3);
	end(&g);
}

TEST(of_labels_alike_the_first_by_bytes)
{
	struct group_of_threads g = group(METRIC_policy);

	add_label(&g, "SCHED_RR");
	add_label(&g, "SCHED_BATCH");
	add_label(&g, "SCHED_OTHER");
	expect_mode(&g, "SCHED_BATCH", 0, 1);
	end(&g);
}

TEST(letters)
{
	struct group_of_threads g = group(METRIC_state);

	add_number(&g, 'S');
	add_number(&g, 'R');
	expect_mode(&g, NULL, 'R', 1);
	add_number(&g, 'S');
	expect_mode(&g, NULL, 'S', 2);
	end(&g);
}

TEST(false_beats_true)
{
	struct group_of_threads g = group(METRIC_ext_enabled);

	add_number(&g, 1);
	add_number(&g, 0);
	expect_mode(&g, NULL, false, 1);
	add_number(&g, 1);
	expect_mode(&g, NULL, true, 2);
	end(&g);
}

/* The letter of those that could not be read never counts. */
TEST(unmeasured_states_never_win)
{
	struct group_of_threads g = group(METRIC_state);

	add(&g, member(&g));
	add(&g, member(&g));
	assert_null(aggregate_mode(&g.a));
	add_number(&g, 'S');
	expect_mode(&g, NULL, 'S', 1);
	assert_int_equal(g.a.threads, 3);
	assert_int_equal(g.a.measured, 1);
	end(&g);
}

TEST(one_cpu_set)
{
	struct group_of_threads g = group(METRIC_cpu_affinity);

	add_cpus(&g, "0-3");
	add_cpus(&g, "3,0-2");
	assert_int_equal(g.a.affinity.fewest, 4);
	assert_int_equal(g.a.affinity.most, 4);
	assert_non_null(g.a.affinity.set);
	assert_int_equal(cpu_set_count(g.a.affinity.set), 4);
	assert_int_equal(cpu_set_cpus(g.a.affinity.set)[3], 3);
	expect_x2(&g, 8);
	end(&g);
}

TEST(different_cpu_sets)
{
	struct group_of_threads g = group(METRIC_cpu_affinity);

	add_cpus(&g, "0-3");
	add_cpus(&g, "4-7");
	assert_int_equal(g.a.affinity.fewest, 4);
	assert_int_equal(g.a.affinity.most, 4);
	assert_null(g.a.affinity.set);
	add_cpus(&g, "1");
	add_cpus(&g, "0-3");
	assert_int_equal(g.a.affinity.fewest, 1);
	assert_int_equal(g.a.affinity.most, 4);
	assert_null(g.a.affinity.set);
	expect_no_number(&g);
	end(&g);
}

TEST(empty_cpu_sets)
{
	struct group_of_threads g = group(METRIC_cpu_affinity);

	add_cpus(&g, "");
	assert_int_equal(g.a.affinity.most, 0);
	assert_non_null(g.a.affinity.set);
	add_cpus(&g, "0-1");
	assert_int_equal(g.a.affinity.fewest, 0);
	assert_int_equal(g.a.affinity.most, 2);
	assert_null(g.a.affinity.set);
	end(&g);
}

/* Whatever the family, and whatever bytes an unmeasured value holds. */
TEST(what_was_not_measured_does_not_count)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		struct group_of_threads g = group(id);
		struct ctprof_thread *stale = member(&g);

		memset(&stale->record.values, 0x41, sizeof(stale->record.values));
		metric_set_remove(&stale->record.measured, id);
		add(&g, stale);
		assert_int_equal(g.a.threads, 1);
		assert_int_equal(g.a.measured, 0);
		expect_no_number(&g);
		end(&g);
	}
}

TEST(measured_ones_alone_make_the_value)
{
	struct group_of_threads sum = group(METRIC_run_time_ns), range = group(METRIC_nice);

	add(&sum, member(&sum));
	add_number(&sum, 5);
	add(&sum, member(&sum));
	assert_int_equal(sum.a.total, 5);
	assert_int_equal(sum.a.threads, 3);
	assert_int_equal(sum.a.measured, 1);
	add(&range, member(&range));
	add_number(&range, 7);
	assert_int_equal(range.a.range.smallest, 7);
	end(&sum);
	end(&range);
}

/* --- two groups --- */

TEST(complete_is_what_every_thread_has)
{
	static const enum metric_id ids[] = { METRIC_run_time_ns, METRIC_wait_max, METRIC_nice,
					      METRIC_state };

	for (size_t i = 0; i < array_length(ids); i++) {
		struct group_of_threads g = group(ids[i]);

		assert_false(aggregate_is_complete(&g.a, g.metric));
		add_number(&g, 'S');
		assert_true(aggregate_is_complete(&g.a, g.metric));
		add(&g, member(&g));
		assert_false(aggregate_is_complete(&g.a, g.metric));
		end(&g);
	}
}

TEST(a_fact_of_leaders_is_complete_with_one)
{
	struct group_of_threads g = group(METRIC_nr_threads);

	add(&g, member(&g));
	assert_false(aggregate_is_complete(&g.a, g.metric));
	add_number(&g, 2);
	assert_true(aggregate_is_complete(&g.a, g.metric));
	end(&g);
}

static void expect_equal(const struct group_of_threads *x, const struct group_of_threads *y,
			 bool equal)
{
	assert_int_equal(aggregate_equal(&x->a, &y->a, x->metric), equal);
	assert_int_equal(aggregate_equal(&y->a, &x->a, x->metric), equal);
	assert_true(aggregate_equal(&x->a, &x->a, x->metric));
}

/* A number beside another; nothing measured beside nothing, and beside a zero. */
TEST(equal_numbers)
{
	static const enum metric_id ids[] = { METRIC_run_time_ns, METRIC_wait_max, METRIC_nice,
					      METRIC_ext_enabled };

	for (size_t i = 0; i < array_length(ids); i++) {
		struct group_of_threads x = group(ids[i]), y = group(ids[i]);

		expect_equal(&x, &y, true);
		add(&x, member(&x));
		expect_equal(&x, &y, true);
		add_number(&x, 0);
		expect_equal(&x, &y, false);
		add_number(&y, 1);
		expect_equal(&x, &y, false);
		add_number(&x, 1);
		add_number(&x, 1);
		add_number(&y, 1);
		expect_equal(&x, &y, ids[i] != METRIC_nice);
		end(&x);
		end(&y);
	}
}

TEST(ranges_are_equal_when_both_ends_are)
{
	struct group_of_threads x = group(METRIC_nice), y = group(METRIC_nice);

	add_number(&x, 0);
	add_number(&x, 10);
	add_number(&y, 5);
	expect_equal(&x, &y, false);
	add_number(&y, 0);
	expect_equal(&x, &y, false);
	add_number(&y, 10);
	expect_equal(&x, &y, true);
	end(&x);
	end(&y);
}

/* Each group has names of its own: equal bytes are equal. */
TEST(labels_are_equal_by_their_most_frequent)
{
	struct group_of_threads x = group(METRIC_policy), y = group(METRIC_policy);

	add_label(&x, "SCHED_RR");
	add_label(&y, "SCHED_RR");
	add_label(&y, "SCHED_RR");
	add_label(&y, "SCHED_FIFO");
	expect_equal(&x, &y, true);
	add_label(&x, "SCHED_FIFO");
	expect_equal(&x, &y, false);
	end(&x);
	end(&y);
}

TEST(cpu_sets_are_equal_by_their_cpus)
{
	struct group_of_threads x = group(METRIC_cpu_affinity), y = group(METRIC_cpu_affinity);

	add_cpus(&x, "0-3");
	add_cpus(&y, "4-7");
	expect_equal(&x, &y, false);
	add_cpus(&x, "4-7");
	expect_equal(&x, &y, false);
	add_cpus(&y, "0-3");
	expect_equal(&x, &y, true);
	add_cpus(&y, "0");
	expect_equal(&x, &y, false);
	end(&x);
	end(&y);
}

UNIT_TESTS(cmocka_unit_test(totals_add_up), cmocka_unit_test(sums_stop_at_the_largest_number),
	   cmocka_unit_test(peaks_and_gauges_are_the_largest),
	   cmocka_unit_test(a_minimum_of_no_events_is_no_number),
	   cmocka_unit_test(a_peak_of_zero_is_a_number),
	   cmocka_unit_test(ranges_have_their_extremes),
	   cmocka_unit_test(ranges_of_extreme_numbers), cmocka_unit_test(the_most_frequent_label),
	   cmocka_unit_test(of_labels_alike_the_first_by_bytes), cmocka_unit_test(letters),
	   cmocka_unit_test(false_beats_true), cmocka_unit_test(unmeasured_states_never_win),
	   cmocka_unit_test(one_cpu_set), cmocka_unit_test(different_cpu_sets),
	   cmocka_unit_test(empty_cpu_sets), cmocka_unit_test(what_was_not_measured_does_not_count),
	   cmocka_unit_test(measured_ones_alone_make_the_value),
	   cmocka_unit_test(complete_is_what_every_thread_has),
	   cmocka_unit_test(a_fact_of_leaders_is_complete_with_one),
	   cmocka_unit_test(equal_numbers), cmocka_unit_test(ranges_are_equal_when_both_ends_are),
	   cmocka_unit_test(labels_are_equal_by_their_most_frequent),
	   cmocka_unit_test(cpu_sets_are_equal_by_their_cpus))
