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
		assert_true(build_aggregate(&a, &metrics[id], &thread->record));
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
		assert_true(build_aggregate(&a, &metrics[id], &thread->record));
	}
	return a;
}
#define texts(id, ...) texts_of(id, (const char *const[]){ __VA_ARGS__, NULL })

static struct measure measure_of(enum metric_id id)
{
	return (struct measure){ .name = metrics[id].name,
				 .unit = metrics[id].unit,
				 .section = metrics[id].section,
				 .is_total = metrics[id].kind == KIND_TOTAL,
				 .metric = &metrics[id] };
}

static void expect_cell(enum metric_id id, struct aggregate a, const char *expected)
{
	const struct measure measure = measure_of(id);
	struct row row = { .measure = &measure, .after = aggregate_datum(&a, &metrics[id]) };
	char buffer[CELL_MAX];

	assert_string_equal(cell_after(buffer, &row), expected);
	row.before = row.after;
	assert_string_equal(cell_before(buffer, &row), expected);
	aggregate_deinit(&a, &metrics[id]);
}

static void expect_texts(const struct measure *measure, struct datum before, struct datum after,
			 const char *delta, const char *percent)
{
	struct row row = { .measure = measure, .before = before, .after = after };
	char buffer[CELL_MAX];

	datum_compare(&before, &after, &row.change);
	assert_string_equal(cell_delta(buffer, &row, false), delta);
	assert_string_equal(cell_percent(buffer, &row), percent);
}

static void expect_change(enum metric_id id, struct aggregate before, struct aggregate after,
			  const char *delta, const char *percent)
{
	const struct measure measure = measure_of(id);

	expect_texts(&measure, aggregate_datum(&before, &metrics[id]),
		     aggregate_datum(&after, &metrics[id]), delta, percent);
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
	expect_cell(METRIC_utime_clock_ticks, numbers(METRIC_utime_clock_ticks, 100), "1.00s");
	expect_cell(METRIC_nr_threads, numbers(METRIC_nr_threads, 3, 20), "20");
	expect_cell(METRIC_hiwater_rss_bytes, numbers(METRIC_hiwater_rss_bytes, 1023), "1023B");
}

TEST(the_largest_sum)
{
	struct ctprof_thread *thread = build_thread(snapshot, 1, 1, "p", "t", "/");
	struct aggregate a = { 0 };

	build_number(thread, METRIC_run_time_ns, UINT64_MAX);
	assert_true(build_aggregate(&a, &metrics[METRIC_run_time_ns], &thread->record));
	expect_cell(METRIC_run_time_ns, a, "18446744073.710s");
	expect_change(METRIC_run_time_ns, a, a, "+0ns", "+0.0%");
	expect_change(METRIC_run_time_ns, numbers(METRIC_run_time_ns, 0), a, "+18446744073.710s",
		      "new");
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
	const struct measure measure = measure_of(METRIC_cpu_affinity);
	struct row row = { .measure = &measure };
	char list[4096] = "", buffer[CELL_MAX], *at = list;
	struct aggregate a;

	for (int cpu = 0; cpu < 1000; cpu += 2)
		at += sprintf(at, "%d,", cpu);
	a = texts(METRIC_cpu_affinity, list);
	row.after = aggregate_datum(&a, &metrics[METRIC_cpu_affinity]);
	cell_after(buffer, &row);
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
	expect_change(id, numbers(id, 0), numbers(id, 7), "+7ns", "new");
	/* The digits of a thousand times nearly nothing say no more than that. */
	expect_change(id, numbers(id, 1), numbers(id, 1001), "+1.000µs", "+100000.0%");
	expect_change(id, numbers(id, 1), numbers(id, 1002), "+1.001µs", ">1000x");
	expect_change(id, numbers(id, 0), numbers(id, ABSENT), "-", "-");
	expect_change(id, numbers(id, ABSENT), numbers(id, 7), "-", "-");
	expect_change(METRIC_rchar, numbers(METRIC_rchar, 0), numbers(METRIC_rchar, 64 << 20),
		      "+64.000MiB", "new");
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
	expect_change(id, numbers(id, 0, 10), numbers(id, 10, 3, 0), "same", "+0.0%");
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
	expect_change(id, texts(id, "0-3"), texts(id, "0-3", "0-3"), "same", "+0.0%");
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

static struct measure measure_of_derived(enum derived_id id)
{
	return (struct measure){ .name = derived_metrics[id].name,
				 .unit = derived_metrics[id].unit,
				 .section = derived_metrics[id].section,
				 .is_ratio = derived_metrics[id].is_ratio };
}

static void expect_derived(enum derived_id id, struct datum before, struct datum after,
			   const char *value, const char *delta, const char *percent)
{
	const struct measure measure = measure_of_derived(id);
	const struct row row = { .measure = &measure, .after = after };
	char buffer[CELL_MAX];

	assert_string_equal(cell_after(buffer, &row), value);
	expect_texts(&measure, before, after, delta, percent);
}

/* A quotient, of `part` out of `all` threads. */
static struct datum is_of(double number, uint32_t part, uint32_t all)
{
	return (struct datum){ .kind = DATUM_REAL,
			       .partial = part < all,
			       .measured = part,
			       .threads = all,
			       .real = number };
}

static struct datum is(double number)
{
	return is_of(number, 2, 2);
}

static const struct datum none = { .partial = true, .threads = 2 };

TEST(derived_values)
{
	expect_derived(DERIVED_ID_avg_wait_ns, is(1000), is(1250), "1.250µs", "+250.00ns",
		       "+25.0%");
	expect_derived(DERIVED_ID_avg_wait_ns, is(4), is(0), "0.00ns", "-4.00ns", "-100.0%");
	expect_derived(DERIVED_ID_avg_wait_ns, is(0), is(3.5), "3.50ns", "+3.50ns", "new");
	expect_derived(DERIVED_ID_avg_wait_ns, is(4), is(4), "4.00ns", "+0.00ns", "+0.0%");
}

/* A heap is whole bytes, also below zero. */
TEST(heaps)
{
	const enum derived_id id = DERIVED_ID_live_heap_estimate;

	expect_derived(id, datum_number(1024), datum_number(-1024), "-1.000KiB", "-2.000KiB",
		       "-200.0%");
	expect_derived(id, datum_number(0), datum_number(-20), "-20B", "-20B", "-");
	expect_derived(id, datum_number(UINT64_MAX), datum_number(-(__int128)UINT64_MAX),
		       "-16777216.000TiB", "-33554432.000TiB", "-200.0%");
}

TEST(a_derived_value_of_some_threads)
{
	const enum derived_id id = DERIVED_ID_avg_wait_ns;

	expect_derived(id, is(1000), is_of(1250, 1, 3), "1.250µs (1/3)", "-", "-");
	expect_derived(id, is_of(1000, 1, 2), is(1250), "1.250µs", "-", "-");
	expect_derived(id, is_of(4, 1, 2), is_of(4, 1, 2), "4.00ns (1/2)", "-", "-");
	/* other threads, but all of them */
	expect_derived(id, is_of(1, 5, 5), is_of(3, 1, 1), "3.00ns", "+2.00ns", "+200.0%");
}

TEST(a_ratio_has_no_percentage)
{
	expect_derived(DERIVED_ID_cpu_efficiency, is(0.5), is(0.75), "0.750", "+0.250", "-");
	expect_derived(DERIVED_ID_disk_io_fraction, is(1), is(0.5), "0.500", "-0.500", "-");
	expect_derived(DERIVED_ID_cpu_efficiency, is(0), is(0.5), "0.500", "+0.500", "-");
}

TEST(no_derived_value)
{
	for (enum derived_id id = 0; id < DERIVED_COUNT; id++) {
		const struct measure measure = measure_of_derived(id);
		const struct row row = { .measure = &measure, .after = is(2) };
		char buffer[CELL_MAX];

		expect_derived(id, none, none, "-", "-", "-");
		expect_derived(id, is(2), none, "-", "-", "-");
		expect_derived(id, none, is(2), cell_after(buffer, &row), "-", "-");
	}
}

/* `count` delays of eight, in `part` out of three threads. */
static struct datum delays(__int128 ns, unsigned count, uint32_t part)
{
	struct datum datum = datum_number(ns);

	datum.inputs = (uint8_t)((1u << count) - 1);
	datum.measured = part;
	datum.threads = 3;
	datum.partial = part < 3;
	return datum;
}

TEST(a_sum_of_some_delays)
{
	const enum derived_id id = DERIVED_ID_total_offcpu_delay_ns;

	expect_derived(id, delays(1000, 1, 3), delays(1234567, 1, 3), "1.235ms (1 of 8 delays)",
		       "+1.234ms", ">1000x");
	expect_derived(id, delays(5, 8, 3), delays(7, 8, 3), "7ns", "+2ns", "+40.0%");
	/* others than before, or more of them */
	expect_derived(id, delays(5, 8, 3), delays(5, 7, 3), "5ns (7 of 8 delays)", "-", "-");
	expect_derived(id, delays(5, 1, 3), delays(5, 8, 3), "5ns", "-", "-");
	expect_derived(id, delays(5, 1, 3), delays(5, 1, 2), "5ns (2/3) (1 of 8 delays)", "-", "-");
	expect_derived(id, none, delays(0, 2, 3), "0ns (2 of 8 delays)", "-", "-");
	expect_derived(id, delays(5, 8, 3), none, "-", "-", "-");
	/* seven times the most there can be */
	expect_derived(id, delays(0, 8, 3), delays((__int128)UINT64_MAX * 7, 8, 3),
		       "129127208515.967s", "+129127208515.967s", "new");
}

/* --- what is no metric of threads --- */

TEST(limits)
{
	const struct measure measure = { .unit = UNIT_BYTES, .section = SECTION_CGROUP_LIMITS };
	const struct datum unlimited = { .kind = DATUM_UNLIMITED };
	const struct row row = { .measure = &measure, .after = unlimited };
	char buffer[CELL_MAX];

	assert_string_equal(cell_after(buffer, &row), "max");
	expect_texts(&measure, unlimited, unlimited, "same", "-");
	expect_texts(&measure, datum_number(1 << 30), unlimited, "differs", "-");
	expect_texts(&measure, unlimited, datum_number(0), "differs", "-");
	expect_texts(&measure, (struct datum){ 0 }, unlimited, "-", "-");
}

TEST(hundredths_of_a_percent)
{
	const struct measure measure = { .unit = UNIT_PERCENT, .section = SECTION_PRESSURE };
	const struct row row = { .measure = &measure, .after = datum_number(1234) };
	char buffer[CELL_MAX];

	assert_string_equal(cell_after(buffer, &row), "12.34%");
	expect_texts(&measure, datum_number(1000), datum_number(1234), "+2.34%", "+23.4%");
	expect_texts(&measure, datum_number(5), datum_number(0), "-0.05%", "-100.0%");
}

TEST(texts_of_the_host)
{
	const struct measure measure = { .section = SECTION_HOST };

	expect_texts(&measure, datum_text("6.1"), datum_text("6.12"), "differs", "-");
	expect_texts(&measure, datum_text("6.1"), datum_text("6.1"), "same", "-");
	expect_texts(&measure, datum_text(NULL), datum_text("6.1"), "-", "-");
}

/* However long: the buffer holds it, and it ends in it. */
TEST(a_long_text_is_cut)
{
	static char text[8192];
	const struct measure measure = { .section = SECTION_HOST };
	struct row row = { .measure = &measure };
	char buffer[CELL_MAX];

	memset(text, 'x', sizeof(text) - 1);
	row.after = datum_text(text);
	assert_int_equal(strlen(cell_after(buffer, &row)), CELL_MAX - 1);
	row.after.threads = 3;
	row.after.category.agree = 2;
	cell_after(buffer, &row);
	assert_true(strlen(buffer) < CELL_MAX);
	assert_string_equal(buffer + strlen(buffer) - 6, " (2/3)");
}

/* --- per second, and per something --- */

TEST(rates)
{
	struct measure measure = measure_of(METRIC_run_time_ns);
	struct row row = { .measure = &measure,
			   .before = datum_number(0),
			   .after = datum_number(3000000),
			   .change = { .has_delta = true, .real = true, .delta = 1500000 } };
	char buffer[CELL_MAX];

	assert_string_equal(cell_delta(buffer, &row, true), "+1.500ms/s");
	assert_string_equal(cell_delta(buffer, &row, false), "+1.500ms");
	row.change.delta = -12.5;
	assert_string_equal(cell_delta(buffer, &row, true), "-12.50ns/s");
	/* nothing, over a time that ran backwards */
	row.change.delta = -0.0;
	assert_string_equal(cell_delta(buffer, &row, true), "+0.00ns/s");
	row.change.has_delta = false;
	assert_string_equal(cell_delta(buffer, &row, true), "-");
}

TEST(totals_per_second_of_life)
{
	struct measure measure = measure_of(METRIC_run_time_ns);
	struct row row = { .measure = &measure, .before = is(1000), .after = is(1500) };
	char buffer[CELL_MAX];

	measure.per = "/s";
	datum_compare(&row.before, &row.after, &row.change);
	assert_string_equal(cell_before(buffer, &row), "1.000µs/s");
	assert_string_equal(cell_delta(buffer, &row, false), "+500.00ns/s");
	assert_string_equal(cell_percent(buffer, &row), "+50.0%");
	row.after = is_of(1500, 1, 2);
	assert_string_equal(cell_after(buffer, &row), "1.500µs/s (1/2)");
}

TEST(shares_of_the_host)
{
	struct row row = { .has_host_share = true, .host_share = 0.125 };
	char buffer[CELL_MAX];

	assert_string_equal(cell_share(buffer, &row), "12.5%");
	row.host_share = 1;
	assert_string_equal(cell_share(buffer, &row), "100.0%");
	row.host_share = -0.5; /* it fell while the host's rose */
	assert_string_equal(cell_share(buffer, &row), "-50.0%");
	row.has_host_share = false;
	assert_string_equal(cell_share(buffer, &row), "-");
}

/* --- several captures --- */

TEST(means)
{
	const struct measure measure = measure_of(METRIC_run_time_ns);
	const struct significance significance = { 5, 5, 2000000, 250, 0.01 };
	const struct row row = { .measure = &measure,
				 .before = is(12345678),
				 .after = is(1500),
				 .significance = &significance };
	char buffer[CELL_MAX];

	assert_string_equal(cell_before(buffer, &row), "12.346ms ±2.000ms");
	assert_string_equal(cell_after(buffer, &row), "1.500µs ±250.00ns");
}

TEST(probabilities)
{
	static const struct {
		double p;
		const char *text;
	} rows[] = {
		{ 0, "<0.001" },     { 0.0009999, "<0.001" }, { 0.001, "0.001" }, { 0.05, "0.050" },
		{ 0.4996, "0.500" }, { 1, "1.000" },          { 2, "-" },
	};
	struct significance significance = { 0 };
	struct row row = { .significance = &significance };
	char buffer[CELL_MAX];

	for (size_t i = 0; i < array_length(rows); i++) {
		significance.p = rows[i].p;
		assert_string_equal(cell_probability(buffer, &row), rows[i].text);
	}
	row.significance = NULL;
	assert_string_equal(cell_probability(buffer, &row), "-");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(sums_and_peaks_climb_their_ladder), CASE(the_largest_sum), CASE(ranges),
	   CASE(labels), CASE(letters_and_flags), CASE(cpu_sets), CASE(a_long_cpu_set_is_cut),
	   CASE(nothing_measured), CASE(a_minimum_of_nothing), CASE(deltas_of_numbers),
	   CASE(deltas_of_ranges_are_of_their_midpoint), CASE(ranges_around_the_same_midpoint),
	   CASE(deltas_of_categories), CASE(categories_of_two_snapshots), CASE(deltas_of_cpu_sets),
	   CASE(values_of_some_threads), CASE(facts_of_leaders_are_whole), CASE(derived_values),
	   CASE(heaps), CASE(a_derived_value_of_some_threads), CASE(a_ratio_has_no_percentage),
	   CASE(no_derived_value), CASE(a_sum_of_some_delays), CASE(limits),
	   CASE(hundredths_of_a_percent), CASE(texts_of_the_host), CASE(a_long_text_is_cut),
	   CASE(rates), CASE(totals_per_second_of_life), CASE(shares_of_the_host), CASE(means),
	   CASE(probabilities))
