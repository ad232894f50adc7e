/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several captures on each side. The p values come from an integration of Student's density by
 * Simpson's rule, elsewhere.
 */
#include "compare/condition.h"

#include <math.h>
#include <stdio.h>

#include "unit/compare_scene.h"

/* 10 12 11 13 and 20 22 21 23: t = 10.954 with 6 degrees of freedom. */
static const double low[] = { 10, 12, 11, 13 }, high[] = { 20, 22, 21, 23 };
#define LOW_AND_HIGH 3.436402810e-5
/* 10 12 11 13 and 13 15 11 17: t = 1.732 with 4.412 degrees of freedom. */
static const double wide[] = { 13, 15, 11, 17 };
#define LOW_AND_WIDE 0.15158050484

static void expect_p(const struct row *row, double p)
{
	assert_non_null(row->significance);
	if (fabs(row->significance->p - p) > 1e-6 * p)
		fail_msg("%s: p is %.12g, not %.12g", row->measure->name, row->significance->p, p);
}

static void expect_untested(const struct row *row)
{
	assert_non_null(row->significance);
	if (row->significance->p <= 1)
		fail_msg("%s was tested", row->measure->name);
}

/* Every capture is of a boot of its own. */
static void part_boots(struct comparison *c)
{
	char boot[32];

	for (size_t i = 0; i < c->befores; i++) {
		snprintf(boot, sizeof(boot), "old-%zu", i);
		build_host(c->before[i], boot, 5000);
	}
	for (size_t i = 0; i < c->afters; i++) {
		snprintf(boot, sizeof(boot), "new-%zu", i);
		build_host(c->after[i], boot, 5000);
	}
}

/* A process that has this value in each of four captures of different boots. */
static void values(struct comparison *c, const char *name, enum metric_id id, const double *before,
		   const double *after)
{
	for (size_t i = 0; i < 4; i++) {
		uint32_t tid = (uint32_t)c->before[i]->threads.count + 1;

		build_number(live(c->before[i], tid, tid, 1, name), id, (uint64_t)before[i]);
		build_number(live(c->after[i], tid, tid, 1, name), id, (uint64_t)after[i]);
	}
}

/* A total that grows by these, times ten, from one of five captures to the next; they are 10 s
 * apart. */
static void growth(struct comparison *c, uint32_t tid, const char *name, enum metric_id id,
		   const double *before, const double *after)
{
	double total = 1000;

	for (size_t i = 0; i < 5; i++) {
		build_number(live(c->before[i], tid, tid, 1, name), id, (uint64_t)total);
		total += 10 * (i < 4 ? before[i] : 500);
	}
	for (size_t i = 0; i < 5; i++) {
		build_number(live(c->after[i], tid, tid, 1, name), id, (uint64_t)total);
		total += i < 4 ? 10 * after[i] : 0;
	}
}

/* When a thread began that the nth capture is the first to have, as numbered over both sides. */
static uint64_t born_before(size_t n)
{
	return SCENE_UPTIME + n * SCENE_DISTANCE - 500;
}

/* --- captures of different boots --- */

TEST(captures_of_different_boots)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	assert_true(c.report->repeated);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	expect_real(row->before.real, 11.5);
	expect_real(row->after.real, 21.5);
	expect_real(row->change.delta, 10);
	expect_real(row->change.share, 10 / 11.5);
	assert_int_equal(row->significance->before_count, 4);
	assert_int_equal(row->significance->after_count, 4);
	expect_real(row->significance->before_spread, 1.2909944487358056);
	expect_real(row->significance->after_spread, 1.2909944487358056);
	assert_null(row->measure->per);
	expect_p(row, LOW_AND_HIGH); /* of one row, adjusted for one row */
	assert_int_equal(c.report->notes.count, 1);
	assert_non_null(strstr(c.report->notes.items[0], "4 and 4 values"));
	comparison_end(&c);
}

/* Adjusted for all rows: of two, the smaller is doubled, the larger stays. */
TEST(p_is_adjusted_for_all_rows)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	values(&c, "b", METRIC_wchar, low, wide);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	expect_p(row_of(&c, SECTION_PRIMARY, "a", "wchar"), 2 * LOW_AND_HIGH);
	expect_p(row_of(&c, SECTION_PRIMARY, "b", "wchar"), LOW_AND_WIDE);
	/* Most certain first. */
	c.view.order = ORDER_SIGNIFICANCE;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_PRIMARY), "a.wchar b.wchar");
	/* What is hidden or cut was tested all the same. */
	c.view.limit = 1;
	comparison_run(&c);
	expect_p(row_of(&c, SECTION_PRIMARY, "a", "wchar"), 2 * LOW_AND_HIGH);
	c.view.limit = 0;
	c.view.min_delta[DIMENSION_BYTES] = 5;
	comparison_run(&c);
	expect_p(row_of(&c, SECTION_PRIMARY, "a", "wchar"), 2 * LOW_AND_HIGH);
	expect_no_row(&c, SECTION_PRIMARY, "b", "wchar");
	comparison_end(&c);
}

/* One capture of each boot is independent as it is: gauges and peaks are tested, too. */
TEST(gauges_of_different_boots_are_tested)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wait_max, low, high);
	for (size_t i = 0; i < 4; i++) {
		c.before[i]->psi.cpu.some.avg10 = reading_of((uint64_t)low[i]);
		c.after[i]->psi.cpu.some.avg10 = reading_of((uint64_t)wide[i]);
	}
	only_metrics(&c, METRIC_wait_max, -1);
	c.view.sections = 1u << SECTION_PRIMARY | 1u << SECTION_HOST_PRESSURE;
	comparison_run(&c);
	expect_p(row_of(&c, SECTION_PRIMARY, "a", "wait_max"), 2 * LOW_AND_HIGH);
	expect_p(row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.avg10"), LOW_AND_WIDE);
	comparison_end(&c);
}

/* --- captures of one boot --- */

TEST(captures_of_one_boot)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, high);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	/* Per second, from one capture to the next; what was between the sides counts for none. */
	expect_real(row->before.real, 11.5);
	expect_real(row->after.real, 21.5);
	assert_int_equal(row->significance->before_count, 4);
	assert_int_equal(row->significance->after_count, 4);
	assert_string_equal(row->measure->per, "/s");
	expect_p(row, LOW_AND_HIGH);
	assert_non_null(strstr(c.report->notes.items[0], "4 and 4 values"));
	assert_non_null(strstr(c.report->notes.items[0], "per second"));
	comparison_end(&c);
}

/* What is now carries over from one capture to the next: no test of it, whatever its form. */
TEST(gauges_of_one_boot_are_not_tested)
{
	struct comparison c;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, high);
	for (size_t i = 0; i < 5; i++) {
		struct ctprof_snapshot *x = c.before[i], *y = c.after[i];
		struct counter_set *set = build_counters(x, COUNTERS_KERNEL, "");

		build_count(x, &set->counts, "running", i + 1);
		build_count(x, &set->counts, "load1_x100", i + 1);
		build_count(x, &set->counts, "forks", i * i * 10);
		set = build_counters(y, COUNTERS_KERNEL, "");
		build_count(y, &set->counts, "running", i + 100);
		build_count(y, &set->counts, "load1_x100", i + 100);
		build_count(y, &set->counts, "forks", 5000 + i * i * 20);
		build_number(snapshot_thread(x, 0), METRIC_wait_max, i);
		build_number(snapshot_thread(y, 0), METRIC_wait_max, i + 100);
		build_signed(snapshot_thread(x, 0), METRIC_nice, 0);
		build_signed(snapshot_thread(y, 0), METRIC_nice, 5);
		x->psi.cpu.some.avg10 = reading_of(i);
		y->psi.cpu.some.avg10 = reading_of(i + 100);
	}
	comparison_run(&c);
	assert_true(row_of(&c, SECTION_PRIMARY, "a", "wchar")->significance->p <= 1);
	assert_true(row_of(&c, SECTION_HOST_COUNTERS, "kernel", "forks")->significance->p <= 1);
	expect_untested(row_of(&c, SECTION_PRIMARY, "a", "wait_max"));
	expect_untested(row_of(&c, SECTION_PRIMARY, "a", "nice"));
	expect_untested(row_of(&c, SECTION_HOST_PRESSURE, NULL, "cpu.some.avg10"));
	expect_untested(row_of(&c, SECTION_HOST_COUNTERS, "kernel", "running"));
	expect_untested(row_of(&c, SECTION_HOST_COUNTERS, "kernel", "load1"));
	comparison_end(&c);
}

/* Quotients are of the time between two captures: 10, 12, 11, 13 ns a slice. */
TEST(quotients_of_one_boot)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_run_time_ns, low, high);
	for (size_t i = 0; i < 5; i++) {
		build_number(snapshot_thread(c.before[i], 0), METRIC_timeslices, 10 * i);
		build_number(snapshot_thread(c.after[i], 0), METRIC_timeslices, 100 + 10 * i);
	}
	only_metrics(&c, METRIC_COUNT + DERIVED_ID_avg_slice_ns, -1);
	c.view.sections = 1u << SECTION_DERIVED;
	comparison_run(&c);
	row = row_of(&c, SECTION_DERIVED, "a", "avg_slice_ns");
	expect_real(row->before.real, 11.5);
	expect_real(row->after.real, 21.5);
	assert_null(row->measure->per);
	expect_p(row, LOW_AND_HIGH);
	comparison_end(&c);
}

/* Threads born between two captures count with all they did since; dead ones with nothing. */
TEST(births_between_captures)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, low);
	for (size_t i = 0; i < 5; i++) {
		/* A new one each time, and the old one has gone. */
		build_number(live(c.before[i], 1, 100 + (uint32_t)i, born_before(i), "a"),
			     METRIC_wchar, 30);
		build_number(live(c.after[i], 1, 200 + (uint32_t)i, born_before(5 + i), "a"),
			     METRIC_wchar, 70);
	}
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	expect_real(row->before.real, 11.5 + 3);
	expect_real(row->after.real, 11.5 + 7);
	assert_int_equal(row->significance->before_count, 4);
	comparison_end(&c);
}

/* A whole group that is born anew each time, as the compilers of a build are. */
TEST(groups_born_between_captures)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	for (uint32_t i = 0; i < 5; i++) {
		build_number(live(c.before[i], 100 + i, 100 + i, born_before(i), "cc1"),
			     METRIC_wchar, 10 * (uint64_t)low[i % 4]);
		build_number(live(c.after[i], 200 + i, 200 + i, born_before(5 + i), "cc1"),
			     METRIC_wchar, 10 * (uint64_t)high[i % 4]);
	}
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "cc1", "wchar");
	expect_real(row->before.real, (12 + 11 + 13 + 10) / 4.0);
	expect_real(row->after.real, (22 + 21 + 23 + 20) / 4.0);
	assert_int_equal(row->significance->before_count, 4);
	comparison_end(&c);
}

/* The sum of delays is a total, too: what was born had none before. */
TEST(delays_of_groups_born_between_captures)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	for (uint32_t i = 0; i < 5; i++) {
		build_number(live(c.before[i], 100 + i, 100 + i, born_before(i), "cc1"),
			     METRIC_cpu_delay_total_ns, 100);
		build_number(live(c.after[i], 200 + i, 200 + i, born_before(5 + i), "cc1"),
			     METRIC_cpu_delay_total_ns, 300);
	}
	only_metrics(&c, METRIC_COUNT + DERIVED_ID_total_offcpu_delay_ns, -1);
	comparison_run(&c);
	row = row_of(&c, SECTION_DERIVED, "cc1", "total_offcpu_delay_ns");
	expect_real(row->before.real, 10);
	expect_real(row->after.real, 30);
	assert_int_equal(row->significance->before_count, 4);
	comparison_end(&c);
}

/* Births bring their time and their slices: the quotient is of all of it, and whole. */
TEST(quotients_with_births)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_run_time_ns, low, low);
	for (size_t i = 0; i < 5; i++) {
		for (int side = 0; side < 2; side++) {
			struct ctprof_snapshot *s = side ? c.after[i] : c.before[i];
			struct ctprof_thread *born = live(s, 1, (uint32_t)(side * 100 + 100 + i),
							  born_before((size_t)side * 5 + i), "a");

			build_number(snapshot_thread(s, 0), METRIC_timeslices,
				     10 * (i + 5 * (size_t)side));
			build_number(born, METRIC_run_time_ns, 90);
			build_number(born, METRIC_timeslices, 30);
		}
	}
	only_metrics(&c, METRIC_COUNT + DERIVED_ID_avg_slice_ns, -1);
	c.view.sections = 1u << SECTION_DERIVED;
	comparison_run(&c);
	row = row_of(&c, SECTION_DERIVED, "a", "avg_slice_ns");
	/* (100 + 90) / 40, (120 + 90) / 40, ... */
	expect_real(row->before.real, (190 + 210 + 200 + 220) / 4 / 40.0);
	assert_int_equal(row->significance->before_count, 4);
	comparison_end(&c);
}

/* Threads older than the capture that lacks them were not born since. */
TEST(strangers_between_captures)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, high);
	for (size_t i = 0; i < 5; i++)
		build_number(live(c.after[i], 1, 200 + (uint32_t)i, 50, "a"), METRIC_wchar, 70);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	expect_real(row->before.real, 11.5);
	expect_real(row->after.real, 21.5);
	comparison_end(&c);
}

/* Captures of one boot count as windows if both sides have them; else they are one measurement. */
TEST(captures_that_depend_on_each_other)
{
	struct comparison c;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, high);
	for (size_t i = 0; i < 5; i++)
		build_host(c.after[i], i % 2 ? "x" : "y", 5000 + i);
	comparison_refused(&c, "before and before are of one boot, so they are not independent");
	for (size_t i = 0; i < 5; i++)
		build_host(c.before[i], (const char *const[]){ "a", "b", "c", "d", "e" }[i], 5000);
	/* Now of the other side, two of one boot with one of another between. */
	comparison_refused(&c, "after and after are of one boot, so they are not independent");
	for (size_t i = 0; i < 5; i++)
		build_host(c.after[i], (const char *const[]){ "x", "y", "z", "u", "v" }[i], 5000);
	comparison_run(&c);
	/* Of which boot they are need not be known. */
	c.after[1]->host->boot_id = c.after[3]->host->boot_id = NULL;
	comparison_run(&c);
	comparison_end(&c);
}

TEST(the_same_capture_twice)
{
	struct comparison c;

	comparison_begin_many(&c, 3, 3);
	live(c.before[0], 1, 1, 1, "a");
	live(c.after[0], 1, 1, 1, "a");
	build_host(c.after[2], "boot", c.after[1]->host->uptime_clock_ticks.value);
	c.after[2]->captured_at_unix_ns = c.after[1]->captured_at_unix_ns;
	comparison_refused(&c, "after and after are the same capture");
	comparison_end(&c);
	/* A baseline may be the candidate, too. */
	comparison_begin_many(&c, 2, 2);
	for (size_t i = 0; i < 2; i++) {
		build_host(c.after[i], "boot", c.before[i]->host->uptime_clock_ticks.value);
		c.after[i]->captured_at_unix_ns = c.before[i]->captured_at_unix_ns;
	}
	comparison_run(&c);
	comparison_end(&c);
}

/* Files come in any order; they are windows in the order of time. */
TEST(captures_out_of_order)
{
	static const size_t orders[][5] = {
		{ 0, 1, 2, 3, 4 }, { 0, 3, 2, 1, 4 }, { 4, 3, 2, 1, 0 }, { 2, 4, 0, 1, 3 }
	};
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, high);
	only_metrics(&c, METRIC_wchar, -1);
	for (size_t n = 0; n < array_length(orders); n++) {
		struct side sides[5];

		for (size_t i = 0; i < 5; i++)
			sides[i] = (struct side){ c.before[orders[n][i]], "" };
		sides_sort(sides, 5);
		for (size_t i = 0; i < 5; i++)
			assert_ptr_equal(sides[i].snapshot, c.before[i]);
	}
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_int_equal(row->significance->before_count, 4);
	expect_real(row->before.real, 11.5);
	comparison_end(&c);
}

/* By the clock of the day where boots differ; what says no time stays, with its name. */
TEST(the_order_of_time)
{
	struct comparison c;
	struct side sides[3];

	comparison_begin_many(&c, 3, 1);
	part_boots(&c);
	for (size_t i = 0; i < 3; i++)
		sides[2 - i] =
			(struct side){ c.before[i], (const char *const[]){ "0", "1", "2" }[i] };
	sides_sort(sides, 3);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(sides[i].snapshot, c.before[i]);
	assert_string_equal(sides[0].name, "0");
	assert_string_equal(sides[2].name, "2");
	for (size_t i = 0; i < 3; i++) {
		c.before[i]->captured_at_unix_ns = (struct reading){ 0 };
		sides[2 - i] = (struct side){ c.before[i], "" };
	}
	sides_sort(sides, 3);
	for (size_t i = 0; i < 3; i++)
		assert_ptr_equal(sides[2 - i].snapshot, c.before[i]);
	sides_sort(sides, 1);
	sides_sort(sides, 0);
	comparison_end(&c);
}

/* --- what is tested --- */

/* Zero in all captures is no question: the other p is adjusted for one row. */
TEST(zeros_are_not_tested)
{
	static const double zeros[4] = { 0 };
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	values(&c, "zero", METRIC_wchar, zeros, zeros);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	c.view.all_rows = true;
	comparison_run(&c);
	expect_p(row_of(&c, SECTION_PRIMARY, "a", "wchar"), LOW_AND_HIGH);
	expect_untested(row_of(&c, SECTION_PRIMARY, "zero", "wchar"));
	comparison_end(&c);
}

/* Zero on one side only is one. */
TEST(zeros_of_one_side_are_tested)
{
	static const double zeros[4] = { 0 };
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, zeros, high);
	only_metrics(&c, METRIC_wchar, -1);
	comparison_run(&c);
	assert_true(row_of(&c, SECTION_PRIMARY, "a", "wchar")->significance->p < 0.05);
	comparison_end(&c);
}

/* How many threads there are is no total: it has no rate. */
TEST(numbers_of_threads)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 5, 5);
	growth(&c, 1, "a", METRIC_wchar, low, high);
	for (size_t i = 0; i < 5; i++)
		live(c.after[i], 1, 2, 1, "a");
	only_metrics(&c, METRIC_thread_count, -1);
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "thread_count");
	assert_null(row->measure->per);
	expect_real(row->before.real, 1);
	expect_real(row->after.real, 2);
	expect_untested(row);
	comparison_end(&c);
}

/* Two groups whose names read alike stay two. */
TEST(groups_of_one_label)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	for (size_t i = 0; i < 4; i++) {
		for (int side = 0; side < 2; side++) {
			struct ctprof_snapshot *s = side ? c.after[i] : c.before[i];
			uint64_t value = (uint64_t)(side ? high[i] : low[i]);

			build_number(live_in(s, 1, 1, 1, "a > b", "c", "/"), METRIC_wchar, value);
			build_number(live_in(s, 2, 2, 1, "a", "b > c", "/"), METRIC_wchar, 500);
		}
	}
	c.view.axis = &group_axes[AXIS_PCOMM_COMM];
	only_metrics(&c, METRIC_wchar, -1);
	c.view.all_rows = true;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_PRIMARY), "a > b > c.wchar a > b > c.wchar");
	assert_int_equal(
		row_of(&c, SECTION_PRIMARY, "a > b > c", "wchar")->significance->before_count, 4);
	comparison_end(&c);
}

/* Of one side are groups that no capture of the other has. */
TEST(groups_of_one_side)
{
	struct comparison c;

	comparison_begin_many(&c, 2, 2);
	part_boots(&c);
	live(c.before[0], 1, 1, 1, "both");
	live(c.after[0], 1, 1, 1, "both"); /* not in the last */
	live(c.before[1], 2, 2, 1, "late");
	live(c.after[1], 2, 2, 1, "late"); /* not in the first */
	live(c.before[0], 3, 3, 1, "old");
	live(c.after[1], 4, 4, 1, "new");
	comparison_run(&c);
	assert_string_equal(unmatched_text(&c, &c.report->only_before), "old");
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "new");
	assert_int_equal(c.report->shared, 2);
	comparison_end(&c);
}

/* --- few values --- */

TEST(few_values)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 2, 2);
	build_number(live(c.before[0], 1, 1, 1, "a"), METRIC_wchar, 5);
	build_number(live(c.before[1], 1, 1, 1, "a"), METRIC_wchar, 15);
	build_number(live(c.after[0], 1, 1, 1, "a"), METRIC_wchar, 15);
	build_number(live(c.after[1], 1, 1, 1, "a"), METRIC_wchar, 95);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_int_equal(row->significance->before_count, 1);
	expect_real(row->before.real, 1);
	expect_real(row->after.real, 8);
	expect_p(row, 1); /* one value has no spread */
	assert_int_equal(c.report->notes.count, 2);
	assert_non_null(strstr(c.report->notes.items[1], "fewer than 4"));
	comparison_end(&c);

	/* One capture against two of other boots. */
	comparison_begin_many(&c, 1, 2);
	part_boots(&c);
	for (size_t i = 0; i < 2; i++)
		build_number(live(c.after[i], 1, 1, 1, "a"), METRIC_wchar, 7 + i);
	build_number(live(c.before[0], 1, 1, 1, "a"), METRIC_wchar, 5);
	only_metrics(&c, METRIC_wchar, -1);
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_int_equal(row->significance->before_count, 1);
	assert_int_equal(row->significance->after_count, 2);
	expect_real(row->after.real, 7.5);
	comparison_end(&c);
}

/* A capture that lacks the group, or in which not all was measured, leaves a value out. */
TEST(captures_that_lack_a_value)
{
	struct comparison c;
	const struct row *row;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	live(c.before[1], 90, 90, 1, "a"); /* unmeasured */
	snapshot_truncate_threads(c.after[2], 0);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_int_equal(row->significance->before_count, 3);
	assert_int_equal(row->significance->after_count, 3);
	expect_real(row->before.real, (10 + 11 + 13) / 3.0);
	expect_real(row->after.real, (20 + 22 + 23) / 3.0);
	comparison_end(&c);
}

/* --- conditions --- */

TEST(conditions_on_means)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	only_metrics(&c, METRIC_wchar, -1);
	comparison_conditions(&c, "a:wchar >= 10B");
	comparison_conditions(&c, "a:wchar > 10B");
	comparison_conditions(&c, "b:wchar > 10B");
	comparison_run(&c);
	assert_int_equal(c.report->results.items[0].verdict, VERDICT_BROKEN);
	assert_int_equal(c.report->results.items[1].verdict, VERDICT_HOLDS);
	assert_int_equal(c.report->results.items[2].verdict, VERDICT_UNDECIDED);
	comparison_end(&c);
}

/* As of two captures: one group that was not measured leaves it undecided. */
TEST(conditions_on_unmeasured_values)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	values(&c, "b", METRIC_rchar, low, high);
	comparison_conditions(&c, "wchar > 50B");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_UNDECIDED);
	comparison_end(&c);
}

/* Nor need its group be shown. */
TEST(conditions_on_groups_that_are_not_shown)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	values(&c, "b", METRIC_wchar, low, low);
	assert_true(array_push(&c.view.not_match, "a"));
	comparison_conditions(&c, "wchar > 5B");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_BROKEN);
	assert_int_equal(c.report->results.items[0].groups, 2);
	expect_no_row(&c, SECTION_PRIMARY, "a", "wchar");
	row_of(&c, SECTION_PRIMARY, "b", "thread_count");
	comparison_end(&c);
}

/* A condition on a metric that is not shown is judged nevertheless. */
TEST(conditions_on_hidden_rows)
{
	struct comparison c;

	comparison_begin_many(&c, 4, 4);
	part_boots(&c);
	values(&c, "a", METRIC_wchar, low, high);
	only_metrics(&c, METRIC_rchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_conditions(&c, "wchar > 5B");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_BROKEN);
	expect_no_row(&c, SECTION_PRIMARY, "a", "wchar");
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(captures_of_different_boots),
	   cmocka_unit_test(p_is_adjusted_for_all_rows),
	   cmocka_unit_test(gauges_of_different_boots_are_tested),
	   cmocka_unit_test(captures_of_one_boot),
	   cmocka_unit_test(gauges_of_one_boot_are_not_tested),
	   cmocka_unit_test(quotients_of_one_boot), cmocka_unit_test(births_between_captures),
	   cmocka_unit_test(groups_born_between_captures),
	   cmocka_unit_test(delays_of_groups_born_between_captures),
	   cmocka_unit_test(conditions_on_groups_that_are_not_shown),
	   cmocka_unit_test(quotients_with_births), cmocka_unit_test(strangers_between_captures),
	   cmocka_unit_test(captures_that_depend_on_each_other),
	   cmocka_unit_test(the_same_capture_twice), cmocka_unit_test(the_order_of_time),
	   cmocka_unit_test(zeros_are_not_tested), cmocka_unit_test(zeros_of_one_side_are_tested),
	   cmocka_unit_test(numbers_of_threads), cmocka_unit_test(groups_of_one_label),
	   cmocka_unit_test(groups_of_one_side), cmocka_unit_test(captures_out_of_order),
	   cmocka_unit_test(few_values), cmocka_unit_test(captures_that_lack_a_value),
	   cmocka_unit_test(conditions_on_means), cmocka_unit_test(conditions_on_unmeasured_values),
	   cmocka_unit_test(conditions_on_hidden_rows))
