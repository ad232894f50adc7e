/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/cell.h"

#include <stdio.h>

#include "unit/build.h"

static struct ctprof_snapshot *snapshot;

static int setup(void **state)
{
	(void)state;
	snapshot = build_snapshot();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	snapshot_destroy(snapshot);
	return 0;
}

#define ABSENT INT64_MIN /* a thread in which it was not measured */
#define END    (INT64_MIN + 1)

/* A group of threads with these numbers, up to END. */
static struct aggregate group_of(enum metric_id id, const int64_t *numbers)
{
	struct aggregate a = { 0 };

	for (; *numbers != END; numbers++) {
		struct ctprof_thread *thread = build_thread(snapshot, 1, 1, "p", "t", "/");

		if (*numbers != ABSENT)
			build_signed(thread, id, *numbers);
		assert_true(aggregate_add(&a, &metrics[id], &thread->record));
	}
	return a;
}
#define numbers(id, ...) group_of(id, (const int64_t[]){ __VA_ARGS__, END })

/* The same of labels or lists of CPUs, up to NULL; "" is not measured. */
static struct aggregate texts_of(enum metric_id id, const char *const *texts)
{
	struct aggregate a = { 0 };

	for (; *texts; texts++) {
		struct ctprof_thread *thread = build_thread(snapshot, 1, 1, "p", "t", "/");

		if (metrics[id].type == VALUE_cpu_set)
			build_cpus(snapshot, thread, *texts);
		else if (**texts)
			build_label(snapshot, thread, id, *texts);
		assert_true(aggregate_add(&a, &metrics[id], &thread->record));
	}
	return a;
}
#define texts(id, ...) texts_of(id, (const char *const[]){ __VA_ARGS__, NULL })

static void expect_cell(enum metric_id id, struct aggregate a, const char *expected)
{
	char buffer[CELL_MAX];

	assert_string_equal(cell_value(buffer, &metrics[id], &a), expected);
	aggregate_deinit(&a, &metrics[id]);
}

static void expect_change(enum metric_id id, struct aggregate before, struct aggregate after,
			  const char *delta, const char *percent)
{
	char buffer[CELL_MAX];

	assert_string_equal(cell_delta(buffer, &metrics[id], &before, &after), delta);
	assert_string_equal(cell_percent(buffer, &metrics[id], &before, &after), percent);
	aggregate_deinit(&before, &metrics[id]);
	aggregate_deinit(&after, &metrics[id]);
}

TEST(sums_and_peaks_climb_their_ladder)
{
	expect_cell(METRIC_run_time_ns, numbers(METRIC_run_time_ns, 1234567), "1.235ms");
	expect_cell(METRIC_run_time_ns, numbers(METRIC_run_time_ns, 400, 599), "999ns");
	expect_cell(METRIC_run_time_ns, numbers(METRIC_run_time_ns, 0), "0ns");
	expect_cell(METRIC_wait_max, numbers(METRIC_wait_max, 5, 2000000000), "2.000s");
	expect_cell(METRIC_wchar, numbers(METRIC_wchar, 64 << 20), "64.000MiB");
	expect_cell(METRIC_nr_wakeups, numbers(METRIC_nr_wakeups, 1500), "1.500K");
	expect_cell(METRIC_utime_clock_ticks, numbers(METRIC_utime_clock_ticks, 100), "100ticks");
	expect_cell(METRIC_nr_threads, numbers(METRIC_nr_threads, 3, 20), "20");
	expect_cell(METRIC_hiwater_rss_bytes, numbers(METRIC_hiwater_rss_bytes, 1023), "1023B");
}

TEST(the_largest_sum)
{
	struct ctprof_thread *thread = build_thread(snapshot, 1, 1, "p", "t", "/");
	struct aggregate a = { 0 };

	build_number(thread, METRIC_run_time_ns, UINT64_MAX);
	assert_true(aggregate_add(&a, &metrics[METRIC_run_time_ns], &thread->record));
	expect_cell(METRIC_run_time_ns, a, "18446744073.710s");
	expect_change(METRIC_run_time_ns, a, a, "+0ns", "+0.0%");
	expect_change(METRIC_run_time_ns, numbers(METRIC_run_time_ns, 0), a, "+18446744073.710s",
		      "-");
	expect_change(METRIC_run_time_ns, a, numbers(METRIC_run_time_ns, 0), "-18446744073.710s",
		      "-100.0%");
}

TEST(ranges)
{
	expect_cell(METRIC_nice, numbers(METRIC_nice, 0, 0), "0");
	expect_cell(METRIC_nice, numbers(METRIC_nice, 0, 19, 5), "0..19");
	expect_cell(METRIC_nice, numbers(METRIC_nice, -20, -5), "-20..-5");
	expect_cell(METRIC_processor, numbers(METRIC_processor, 12345, 3), "3..12345");
	expect_cell(METRIC_rt_priority, numbers(METRIC_rt_priority, UINT32_MAX), "4294967295");
}

TEST(labels)
{
	expect_cell(METRIC_policy, texts(METRIC_policy, "SCHED_OTHER", "SCHED_OTHER"),
		    "SCHED_OTHER");
	expect_cell(METRIC_policy, texts(METRIC_policy, "SCHED_OTHER", "SCHED_RR", "SCHED_OTHER"),
		    "SCHED_OTHER (2/3)");
	/* of all threads, also of those that did not say */
	expect_cell(METRIC_policy, texts(METRIC_policy, "SCHED_RR", ""), "SCHED_RR (1/2)");
	expect_cell(METRIC_policy, texts(METRIC_policy, ""), "-");
}

TEST(letters_and_flags)
{
	expect_cell(METRIC_state, numbers(METRIC_state, 'S'), "S");
	expect_cell(METRIC_state, numbers(METRIC_state, 'S', 'R', 'S'), "S (2/3)");
	expect_cell(METRIC_ext_enabled, numbers(METRIC_ext_enabled, 1, 1), "true");
	expect_cell(METRIC_ext_enabled, numbers(METRIC_ext_enabled, 1, 0), "false (1/2)");
}

TEST(cpu_sets)
{
	const enum metric_id id = METRIC_cpu_affinity;

	expect_cell(id, texts(id, "0-3", "0-3"), "4 cpus (0-3)");
	expect_cell(id, texts(id, "0-1,4-5,7"), "5 cpus (0-1,4-5,7)");
	expect_cell(id, texts(id, "0-3", "4-7"), "4 cpus (mixed)");
	expect_cell(id, texts(id, "0-3", "4-5"), "2-4 cpus (mixed)");
	expect_cell(id, texts(id, ""), "0 cpus ()");
	expect_cell(id, texts(id, "262143"), "1 cpus (262143)");
}

/* Every second CPU of a large machine: cut, but never beyond the buffer. */
TEST(a_long_cpu_set_is_cut)
{
	char list[4096] = "", buffer[CELL_MAX], *at = list;
	struct aggregate a;

	for (int cpu = 0; cpu < 1000; cpu += 2)
		at += sprintf(at, "%d,", cpu);
	a = texts(METRIC_cpu_affinity, list);
	cell_value(buffer, &metrics[METRIC_cpu_affinity], &a);
	assert_true(strlen(buffer) < CELL_MAX);
	assert_int_equal(strncmp(buffer, "500 cpus (0,2,4,6,", 18), 0);
	assert_non_null(strstr(buffer, "...)"));
}

TEST(nothing_measured)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		struct aggregate none = { .threads = 3 };

		expect_cell(id, none, CELL_NONE);
		expect_change(id, none, none, CELL_NONE, CELL_NONE);
	}
}

TEST(a_minimum_of_nothing)
{
	const enum metric_id id = METRIC_irq_delay_min_ns;

	expect_cell(id, numbers(id, 0), "no events");
	expect_cell(id, numbers(id, 0, 800), "800ns");
	expect_change(id, numbers(id, 0), numbers(id, 800), "-", "-");
	expect_change(id, numbers(id, 1000), numbers(id, 800), "-200ns", "-20.0%");
	expect_cell(METRIC_irq_delay_max_ns, numbers(METRIC_irq_delay_max_ns, 0), "0ns");
}

TEST(deltas_of_numbers)
{
	const enum metric_id id = METRIC_run_time_ns;

	expect_change(id, numbers(id, 1000), numbers(id, 1125), "+125ns", "+12.5%");
	expect_change(id, numbers(id, 2000000), numbers(id, 765433), "-1.235ms", "-61.7%");
	expect_change(id, numbers(id, 5), numbers(id, 5), "+0ns", "+0.0%");
	expect_change(id, numbers(id, 0), numbers(id, 0), "+0ns", "-");
	expect_change(id, numbers(id, 0), numbers(id, 7), "+7ns", "-");
	expect_change(id, numbers(id, 0), numbers(id, ABSENT), "-", "-");
	expect_change(id, numbers(id, ABSENT), numbers(id, 7), "-", "-");
	expect_change(METRIC_rchar, numbers(METRIC_rchar, 0), numbers(METRIC_rchar, 64 << 20),
		      "+64.000MiB", "-");
}

TEST(deltas_of_ranges_are_of_their_midpoint)
{
	const enum metric_id id = METRIC_nice;

	expect_change(id, numbers(id, 0, 10), numbers(id, 0, 19), "+4.5", "+90.0%");
	expect_change(id, numbers(id, 0), numbers(id, -5), "-5", "-");
	expect_change(id, numbers(id, 0, 1), numbers(id, 0), "-0.5", "-100.0%");
}

TEST(ranges_around_the_same_midpoint)
{
	const enum metric_id id = METRIC_nice;

	expect_change(id, numbers(id, 0, 10), numbers(id, 5), "differs", "-");
	expect_change(id, numbers(id, -5, 5), numbers(id, -1, 1), "differs", "-");
	expect_change(id, numbers(id, 0, 10), numbers(id, 10, 3, 0), "+0", "+0.0%");
}

TEST(deltas_of_categories)
{
	expect_change(METRIC_policy, texts(METRIC_policy, "SCHED_RR"),
		      texts(METRIC_policy, "SCHED_RR", "SCHED_RR"), "same", "-");
	expect_change(METRIC_policy, texts(METRIC_policy, "SCHED_RR"),
		      texts(METRIC_policy, "SCHED_FIFO"), "differs", "-");
	expect_change(METRIC_policy, texts(METRIC_policy, "SCHED_RR"), texts(METRIC_policy, ""),
		      "-", "-");
	expect_change(METRIC_state, numbers(METRIC_state, 'S'), numbers(METRIC_state, 'R'),
		      "differs", "-");
	expect_change(METRIC_ext_enabled, numbers(METRIC_ext_enabled, 0),
		      numbers(METRIC_ext_enabled, 0, 0), "same", "-");
}

/* Two snapshots have names of their own: equal bytes are the same category. */
TEST(categories_of_two_snapshots)
{
	struct ctprof_snapshot *first = snapshot, *other = build_snapshot();
	struct aggregate before = texts(METRIC_policy, "SCHED_RR"), after;

	snapshot = other;
	after = texts(METRIC_policy, "SCHED_RR");
	expect_change(METRIC_policy, before, after, "same", "-");
	snapshot = first;
	snapshot_destroy(other);
}

TEST(deltas_of_cpu_sets)
{
	const enum metric_id id = METRIC_cpu_affinity;

	expect_change(id, texts(id, "0-3"), texts(id, "0-7"), "+4", "+100.0%");
	expect_change(id, texts(id, "0-3"), texts(id, "0-3", "0-3"), "+0", "+0.0%");
	expect_change(id, texts(id, "0-3"), texts(id, "4-7"), "differs", "-");
	expect_change(id, texts(id, "0-3"), texts(id, "0-3", "0"), "differs", "-");
	expect_change(id, texts(id, "0-3", "0"), texts(id, "0", "0-3"), "same", "-");
}

/* The largest of those that were read says nothing of the others. */
TEST(values_of_some_threads)
{
	enum metric_id id = METRIC_run_time_ns;

	expect_cell(id, numbers(id, 1234567, ABSENT, ABSENT), "1.235ms (1/3)");
	expect_change(id, numbers(id, 5, ABSENT), numbers(id, 7, 8), "-", "-");
	expect_change(id, numbers(id, 5, 6), numbers(id, 7, ABSENT), "-", "-");
	expect_change(id, numbers(id, 5, ABSENT), numbers(id, 5, ABSENT), "-", "-");
	id = METRIC_wait_max;
	expect_cell(id, numbers(id, ABSENT, 5), "5ns (1/2)");
	expect_change(id, numbers(id, 5), numbers(id, 7, ABSENT), "-", "-");
	id = METRIC_nice;
	expect_cell(id, numbers(id, -3, ABSENT, 5), "-3..5 (2/3)");
	expect_change(id, numbers(id, 0), numbers(id, 5, ABSENT), "-", "-");
	id = METRIC_irq_delay_min_ns;
	expect_cell(id, numbers(id, 0, ABSENT), "no events (1/2)");
	expect_change(METRIC_policy, texts(METRIC_policy, "SCHED_RR", ""),
		      texts(METRIC_policy, "SCHED_RR"), "-", "-");
	expect_cell(METRIC_state, numbers(METRIC_state, 'S', 'S', ABSENT), "S (2/3)");
}

/* Only leaders have it, so threads without it lack nothing. */
TEST(facts_of_leaders_are_whole)
{
	const enum metric_id id = METRIC_nr_threads;

	expect_cell(id, numbers(id, 3, ABSENT, ABSENT), "3");
	expect_change(id, numbers(id, 3, ABSENT, ABSENT), numbers(id, ABSENT, 2), "-1", "-33.3%");
	expect_change(id, numbers(id, ABSENT), numbers(id, 2), "-", "-");
}

/* --- derived metrics --- */

static void expect_derived(enum derived_id id, const struct derived_value *before,
			   const struct derived_value *after, const char *value, const char *delta,
			   const char *percent)
{
	const struct derived *d = &derived_metrics[id];
	char buffer[CELL_MAX];

	assert_string_equal(derived_cell_value(buffer, d, after), value);
	assert_string_equal(derived_cell_delta(buffer, d, before, after), delta);
	assert_string_equal(derived_cell_percent(buffer, d, before, after), percent);
}
/* A number of `part` out of `all` threads. */
#define is_of(number, part, all) (&(const struct derived_value){ number, part, all })
#define is(number)               is_of(number, 2, 2)

TEST(derived_values)
{
	expect_derived(DERIVED_ID_avg_wait_ns, is(1000), is(1250), "1.250\xc2\xb5s", "+250.00ns",
		       "+25.0%");
	expect_derived(DERIVED_ID_avg_wait_ns, is(4), is(0), "0.00ns", "-4.00ns", "-100.0%");
	expect_derived(DERIVED_ID_live_heap_estimate, is(1024), is(-1024), "-1.000KiB", "-2.000KiB",
		       "-200.0%");
	expect_derived(DERIVED_ID_avg_wait_ns, is(0), is(3.5), "3.50ns", "+3.50ns", "-");
}

TEST(a_derived_value_of_some_threads)
{
	const enum derived_id id = DERIVED_ID_avg_wait_ns;
	double delta = 7;

	expect_derived(id, is(1000), is_of(1250, 1, 3), "1.250\xc2\xb5s (1/3)", "-", "-");
	expect_derived(id, is_of(1000, 1, 2), is(1250), "1.250\xc2\xb5s", "-", "-");
	expect_derived(id, is_of(4, 1, 2), is_of(4, 1, 2), "4.00ns (1/2)", "-", "-");
	assert_false(derived_delta(is(1), is_of(2, 1, 3), &delta));
	assert_false(derived_delta(is_of(1, 0, 1), is(2), &delta));
	assert_false(derived_delta(NULL, is(2), &delta));
	assert_true(delta == 7);
	/* other threads, but all of them */
	assert_true(derived_delta(is_of(1, 5, 5), is_of(3, 1, 1), &delta));
	assert_true(delta == 2);
}

TEST(a_ratio_has_no_percentage)
{
	expect_derived(DERIVED_ID_cpu_efficiency, is(0.5), is(0.75), "0.750", "+0.250", "-");
	expect_derived(DERIVED_ID_disk_io_fraction, is(1), is(0.5), "0.500", "-0.500", "-");
}

TEST(no_derived_value)
{
	for (enum derived_id id = 0; id < DERIVED_COUNT; id++) {
		char buffer[CELL_MAX];

		expect_derived(id, NULL, NULL, "-", "-", "-");
		expect_derived(id, is(2), NULL, "-", "-", "-");
		derived_cell_value(buffer, &derived_metrics[id], is(2));
		expect_derived(id, NULL, is(2), buffer, "-", "-");
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(sums_and_peaks_climb_their_ladder), CASE(the_largest_sum), CASE(ranges),
	   CASE(labels), CASE(letters_and_flags), CASE(cpu_sets), CASE(a_long_cpu_set_is_cut),
	   CASE(nothing_measured), CASE(a_minimum_of_nothing), CASE(deltas_of_numbers),
	   CASE(deltas_of_ranges_are_of_their_midpoint), CASE(ranges_around_the_same_midpoint),
	   CASE(deltas_of_categories), CASE(categories_of_two_snapshots), CASE(deltas_of_cpu_sets),
	   CASE(values_of_some_threads), CASE(facts_of_leaders_are_whole), CASE(derived_values),
	   CASE(a_derived_value_of_some_threads), CASE(a_ratio_has_no_percentage),
	   CASE(no_derived_value))
