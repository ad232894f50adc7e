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
	assert_true(build_aggregate(&g->a, g->metric, &thread->record));
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

static struct datum datum_of(const struct group_of_threads *g)
{
	return aggregate_datum(&g->a, g->metric);
}

/* The value as a number, times two: ranges have their midpoint. */
static void expect_x2(struct group_of_threads *g, __int128 twice)
{
	struct datum zero = datum_number(0), datum = datum_of(g);
	struct datum_change change;

	datum_compare(&zero, &datum, &change);
	assert_true(change.has_delta);
	assert_true(change.twice == twice);
}

static void expect_no_number(struct group_of_threads *g)
{
	struct datum datum = datum_of(g);
	double got = 42;

	assert_false(datum_magnitude(&datum, &got));
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

	build_number(thread, METRIC_run_time_ns, UINT64_MAX - 1);
	add(&g, thread);
	add_number(&g, 1);
	assert_int_equal(g.a.total, UINT64_MAX);
	add_number(&g, 1);
	assert_int_equal(g.a.total, UINT64_MAX);
	add(&g, thread);
	assert_int_equal(g.a.total, UINT64_MAX);
	expect_x2(&g, (__int128)UINT64_MAX * 2);
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
	assert_int_equal(datum_of(&g).kind, DATUM_NO_EVENTS);
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
	assert_int_equal(datum_of(&g).kind, DATUM_NUMBER);
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
TEST(unmeasured_values_do_not_count)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		struct group_of_threads g = group(id);
		struct ctprof_thread *stale = member(&g);

		memset(&stale->record.values, 0x41, sizeof(stale->record.values));
		metric_set_remove(&stale->record.measured, id);
		add(&g, stale);
		assert_int_equal(g.a.threads, 1);
		assert_int_equal(g.a.measured, 0);
		assert_int_equal(datum_of(&g).kind, DATUM_NONE);
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

/* --- the value and how much of it there is --- */

static void expect_coverage(const struct group_of_threads *g, size_t measured, size_t threads,
			    bool partial)
{
	struct datum datum = datum_of(g);

	assert_int_equal(datum.measured, measured);
	assert_int_equal(datum.threads, threads);
	assert_int_equal(datum.partial, partial);
	assert_int_equal(datum.inputs, 0);
}

TEST(a_datum_knows_how_much_was_measured)
{
	static const enum metric_id ids[] = { METRIC_run_time_ns, METRIC_wait_max, METRIC_nice,
					      METRIC_state, METRIC_irq_delay_min_ns };

	for (size_t i = 0; i < array_length(ids); i++) {
		struct group_of_threads g = group(ids[i]);

		add(&g, member(&g));
		expect_coverage(&g, 0, 1, true);
		assert_int_equal(datum_of(&g).kind, DATUM_NONE);
		add_number(&g, 'S');
		expect_coverage(&g, 1, 2, true);
		assert_int_not_equal(datum_of(&g).kind, DATUM_NONE);
		end(&g);
		g = group(ids[i]);
		add_number(&g, 'S');
		add_number(&g, 'S');
		expect_coverage(&g, 2, 2, false);
		end(&g);
	}
}

/* The others have no such fact: nothing of it is missing. */
TEST(a_fact_of_leaders_is_not_partial)
{
	struct group_of_threads g = group(METRIC_nr_threads);

	add(&g, member(&g));
	expect_coverage(&g, 0, 1, true);
	add_number(&g, 3);
	add(&g, member(&g));
	expect_coverage(&g, 1, 3, false);
	end(&g);
}

TEST(a_datum_is_of_the_kind_of_its_rule)
{
	struct group_of_threads sum = group(METRIC_rchar), peak = group(METRIC_wait_max);
	struct group_of_threads nice = group(METRIC_nice), set = group(METRIC_cpu_affinity);
	struct datum datum;

	add_number(&sum, 5);
	assert_int_equal(datum_of(&sum).kind, DATUM_NUMBER);
	assert_true(datum_of(&sum).number == 5);
	add_number(&peak, 7);
	assert_int_equal(datum_of(&peak).kind, DATUM_NUMBER);
	assert_true(datum_of(&peak).number == 7);
	add_number(&nice, -3);
	add_number(&nice, 4);
	datum = datum_of(&nice);
	assert_int_equal(datum.kind, DATUM_RANGE);
	assert_true(datum.range.smallest == -3 && datum.range.largest == 4);
	add_cpus(&set, "0-3");
	add_cpus(&set, "0");
	datum = datum_of(&set);
	assert_int_equal(datum.kind, DATUM_CPUS);
	assert_null(datum.cpus.set);
	assert_true(datum.cpus.fewest == 1 && datum.cpus.most == 4);
	end(&sum);
	end(&peak);
	end(&nice);
	end(&set);
}

static void expect_category(const struct group_of_threads *g, const char *text, size_t agree)
{
	struct datum datum = datum_of(g);

	assert_int_equal(datum.kind, DATUM_CATEGORY);
	assert_string_equal(datum.category.text, text);
	assert_int_equal(datum.category.agree, agree);
}

TEST(categories_are_texts)
{
	struct group_of_threads policy = group(METRIC_policy), letter = group(METRIC_state);
	struct group_of_threads flag = group(METRIC_ext_enabled);

	add_label(&policy, "SCHED_RR");
	add_label(&policy, "SCHED_RR");
	add_label(&policy, "SCHED_OTHER");
	add(&policy, member(&policy));
	expect_category(&policy, "SCHED_RR", 2);
	assert_int_equal(datum_of(&policy).threads, 4);
	add_number(&letter, 'D');
	expect_category(&letter, "D", 1);
	add_number(&flag, 1);
	expect_category(&flag, "true", 1);
	add_number(&flag, 0);
	add_number(&flag, 0);
	expect_category(&flag, "false", 2);
	end(&policy);
	end(&letter);
	end(&flag);
}

/* The texts of two groups are there at one time. */
TEST(letters_of_two_groups)
{
	struct group_of_threads x = group(METRIC_state), y = group(METRIC_state);
	struct datum before, after;

	add_number(&x, 'R');
	add_number(&y, 'S');
	before = datum_of(&x);
	after = datum_of(&y);
	assert_string_equal(before.category.text, "R");
	assert_string_equal(after.category.text, "S");
	expect_category(&x, "R", 1);
	end(&x);
	end(&y);
}

/* One after the other in the same memory: nothing of the first is left. */
TEST(reset_is_as_at_first)
{
	struct group_of_threads sum = group(METRIC_rchar), nice = group(METRIC_nice);
	struct group_of_threads letter = group(METRIC_state), set = group(METRIC_cpu_affinity);
	struct group_of_threads *all[] = { &sum, &nice, &letter, &set };

	add_number(&sum, 5);
	add_number(&nice, -20);
	for (int i = 'A'; i <= 'Z'; i++)
		add_number(&letter, i);
	add_cpus(&set, "0-7");
	add_cpus(&set, "0");
	for (size_t i = 0; i < array_length(all); i++) {
		aggregate_reset(&all[i]->a, all[i]->metric);
		expect_coverage(all[i], 0, 0, true);
		assert_int_equal(datum_of(all[i]).kind, DATUM_NONE);
	}
	add_number(&sum, 2);
	add_number(&nice, 3);
	add_number(&letter, 'S');
	add_cpus(&set, "0-3");
	assert_true(datum_of(&sum).number == 2);
	assert_true(datum_of(&nice).range.smallest == 3);
	expect_category(&letter, "S", 1);
	assert_int_equal(datum_of(&set).cpus.fewest, 4);
	assert_non_null(datum_of(&set).cpus.set);
	for (size_t i = 0; i < array_length(all); i++)
		end(all[i]);
}

/* --- two groups --- */

TEST(complete_metrics_are_measured_in_every_thread)
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

static bool differ(const struct group_of_threads *x, const struct group_of_threads *y)
{
	struct datum before = datum_of(x), after = datum_of(y);
	struct datum_change change;

	datum_compare(&before, &after, &change);
	return change.differs;
}

static void expect_equal(const struct group_of_threads *x, const struct group_of_threads *y,
			 bool equal)
{
	assert_int_equal(differ(x, y), !equal);
	assert_int_equal(differ(y, x), !equal);
	assert_false(differ(x, x));
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
	   cmocka_unit_test(empty_cpu_sets), cmocka_unit_test(unmeasured_values_do_not_count),
	   cmocka_unit_test(measured_ones_alone_make_the_value),
	   cmocka_unit_test(a_datum_knows_how_much_was_measured),
	   cmocka_unit_test(a_fact_of_leaders_is_not_partial),
	   cmocka_unit_test(a_datum_is_of_the_kind_of_its_rule),
	   cmocka_unit_test(categories_are_texts), cmocka_unit_test(letters_of_two_groups),
	   cmocka_unit_test(reset_is_as_at_first),
	   cmocka_unit_test(complete_metrics_are_measured_in_every_thread),
	   cmocka_unit_test(a_fact_of_leaders_is_complete_with_one),
	   cmocka_unit_test(equal_numbers), cmocka_unit_test(ranges_are_equal_when_both_ends_are),
	   cmocka_unit_test(labels_are_equal_by_their_most_frequent),
	   cmocka_unit_test(cpu_sets_are_equal_by_their_cpus))
