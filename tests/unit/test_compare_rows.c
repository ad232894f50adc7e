/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows there are, and their numbers.
 */
#include "compare/row.h"

#include "unit/compare_scene.h"

/* --- hidden rows --- */

TEST(nothing_on_both_sides_is_hidden)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 0, 0);
	grow(&c, 1, "a", METRIC_rchar, 5, 5);
	grow(&c, 1, "a", METRIC_majflt, 0, 1);
	grow(&c, 1, "a", METRIC_minflt, 1, 0);
	only_metrics(&c, METRIC_wchar, METRIC_rchar, METRIC_majflt, METRIC_minflt, METRIC_syscr,
		     -1);
	comparison_run(&c);
	/* What is there and stays is not nothing. */
	expect_rows(&c, SECTION_PRIMARY, "a.rchar | a.minflt a.majflt");
	c.view.all_rows = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.rchar a.wchar | a.minflt a.majflt | a.syscr");
	c.view.changed = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.minflt a.majflt");
	comparison_end(&c);
}

/* --- for people --- */

static void begin_for_people(struct comparison *c)
{
	comparison_begin(c);
	c->view.people = true;
}

TEST(people_see_what_changed)
{
	struct comparison c;

	begin_for_people(&c);
	grow(&c, 1, "a", METRIC_rchar, 5, 5);
	grow(&c, 1, "a", METRIC_wchar, 5, 6);
	only_metrics(&c, METRIC_wchar, METRIC_rchar, METRIC_majflt, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wchar");
	assert_int_equal(c.report->sections[SECTION_PRIMARY].unchanged, 1);
	c.view.all_rows = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wchar a.rchar | a.majflt");
	assert_int_equal(c.report->sections[SECTION_PRIMARY].unchanged, 0);
	/* A metric that the user named is an answer, also when nobody measured it. */
	c.view.all_rows = false;
	c.view.metrics_named = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wchar | a.majflt");
	comparison_end(&c);
}

/* CPU 3 is not 200 % more than CPU 1. */
TEST(people_see_no_difference_of_cpu_numbers)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 1, 1);
	build_signed(snapshot_thread(c.before[0], 0), METRIC_processor, 1);
	build_signed(snapshot_thread(c.after[0], 0), METRIC_processor, 3);
	only_metrics(&c, METRIC_processor, -1);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "a", "processor", 2);
	c.view.people = true;
	comparison_run(&c);
	assert_false(row_of(&c, SECTION_PRIMARY, "a", "processor")->change.has_delta);
	assert_true(row_of(&c, SECTION_PRIMARY, "a", "processor")->change.differs);
	comparison_end(&c);
}

/* Two names of one fact are one row as long as they say the same. */
TEST(people_see_a_fact_once)
{
	struct comparison c;

	begin_for_people(&c);
	grow(&c, 1, "a", METRIC_wait_time_ns, 10, 30);
	grow(&c, 1, "a", METRIC_cpu_delay_total_ns, 10, 30);
	grow(&c, 2, "b", METRIC_wait_time_ns, 10, 30);
	grow(&c, 2, "b", METRIC_cpu_delay_total_ns, 10, 31);
	grow(&c, 3, "c", METRIC_wait_time_ns, 9, 30);
	grow(&c, 3, "c", METRIC_cpu_delay_total_ns, 10, 30);
	only_metrics(&c, METRIC_wait_time_ns, METRIC_cpu_delay_total_ns, METRIC_timeslices,
		     METRIC_cpu_delay_count, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "b.cpu_delay_total_ns c.wait_time_ns a.wait_time_ns b.wait_time_ns "
		    "c.cpu_delay_total_ns");
	expect_delta(&c, SECTION_PRIMARY, "a", "wait_time_ns", 20);
	assert_true(metric_set_has(&c.report->folded, METRIC_cpu_delay_total_ns));
	assert_false(metric_set_has(&c.report->folded, METRIC_cpu_delay_count));
	/* Alone it is shown, and where the user names it. */
	only_metrics(&c, METRIC_cpu_delay_total_ns, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "b.cpu_delay_total_ns a.cpu_delay_total_ns c.cpu_delay_total_ns");
	only_metrics(&c, METRIC_wait_time_ns, METRIC_cpu_delay_total_ns, -1);
	c.view.metrics_named = true;
	c.view.match.count = 0;
	comparison_run(&c);
	assert_non_null(row_of(&c, SECTION_PRIMARY, "a", "cpu_delay_total_ns"));
	comparison_end(&c);
}

/* Whoever reads the counters of all threads runs too, and is not what anybody looks for. */
TEST(ctprof_does_not_lead)
{
	struct comparison c;

	begin_for_people(&c);
	grow(&c, 1, "ctprof", METRIC_run_time_ns, 0, 1000);
	grow(&c, 2, "b", METRIC_run_time_ns, 0, 1);
	only_metrics(&c, METRIC_run_time_ns, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "b.run_time_ns ctprof.run_time_ns");
	c.view.people = false;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "ctprof.run_time_ns b.run_time_ns");
	comparison_end(&c);
}

TEST(the_same_category_is_hidden)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 1, 1);
	grow(&c, 2, "b", METRIC_wchar, 1, 1);
	for (size_t i = 0; i < 2; i++) {
		build_label(c.before[0], snapshot_thread(c.before[0], i), METRIC_policy, "RR");
		build_label(c.after[0], snapshot_thread(c.after[0], i), METRIC_policy,
			    i ? "FIFO" : "RR");
		build_cpus(c.before[0], snapshot_thread(c.before[0], i), "0-3");
		build_cpus(c.after[0], snapshot_thread(c.after[0], i), i ? "0-1" : "0-3");
	}
	only_metrics(&c, METRIC_policy, METRIC_cpu_affinity, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "b.cpu_affinity | b.policy");
	expect_delta(&c, SECTION_PRIMARY, "b", "cpu_affinity", -2);
	assert_true(row_of(&c, SECTION_PRIMARY, "b", "policy")->change.differs);
	c.view.all_rows = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "b.cpu_affinity a.cpu_affinity | a.policy b.policy");
	comparison_end(&c);
}

/* A range that is 0 everywhere on both sides is nothing; -5..5 has a midpoint of 0 and is not. */
TEST(ranges_of_nothing)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 1, 1);
	grow(&c, 2, "b", METRIC_wchar, 1, 1);
	for (size_t i = 0; i < 2; i++) {
		struct ctprof_snapshot *s = i ? c.after[0] : c.before[0];

		build_signed(snapshot_thread(s, 0), METRIC_nice, 0);
		build_signed(snapshot_thread(s, 1), METRIC_nice, -5);
		build_signed(live(s, 2, 3, 10, "b"), METRIC_nice, 5);
	}
	only_metrics(&c, METRIC_nice, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "b.nice");
	comparison_end(&c);
}

/* Who asks for a metric hears that nobody measured it. */
TEST(named_metrics_are_shown_unmeasured)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 0, 0);
	only_metrics(&c, METRIC_wait_sum, METRIC_wchar, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "");
	c.view.metrics_named = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wait_sum");
	comparison_end(&c);
}

/* Measured on one side only is no change by a number, and no zero. */
TEST(one_side_unmeasured)
{
	struct comparison c;

	comparison_begin(&c);
	live(c.before[0], 1, 1, 10, "a");
	build_number(live(c.after[0], 1, 1, 10, "a"), METRIC_wchar, 0);
	build_number(live(c.after[0], 1, 2, 10, "a"), METRIC_wchar, 9);
	build_number(snapshot_thread(c.after[0], 0), METRIC_rchar, 9);
	build_number(snapshot_thread(c.before[0], 0), METRIC_rchar, 9);
	only_metrics(&c, METRIC_wchar, METRIC_rchar, -1);
	comparison_run(&c);
	expect_no_delta(&c, SECTION_PRIMARY, "a", "wchar");
	/* In one of two threads only: a part is no smaller than the whole for a reason. */
	expect_no_delta(&c, SECTION_PRIMARY, "a", "rchar");
	assert_true(row_of(&c, SECTION_PRIMARY, "a", "rchar")->after.partial);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "a", "rchar")->after.measured, 1);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "a", "rchar")->after.threads, 2);
	comparison_end(&c);
}

/* Each amount is about its own kind of rows. */
TEST(small_changes)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_run_time_ns, 1000, 1000 + 9999);
	grow(&c, 1, "a", METRIC_wait_time_ns, 1000, 1000 + 10000);
	grow(&c, 1, "a", METRIC_utime_clock_ticks, 1, 2); /* 10 ms */
	grow(&c, 1, "a", METRIC_wchar, 0, 1023);
	grow(&c, 1, "a", METRIC_rchar, 2000, 2000 - 1024);
	grow(&c, 1, "a", METRIC_majflt, 0, 1);
	only_metrics(&c, METRIC_run_time_ns, METRIC_wait_time_ns, METRIC_utime_clock_ticks,
		     METRIC_wchar, METRIC_rchar, METRIC_majflt, -1);
	c.view.min_delta[DIMENSION_TIME] = 10000;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "a.utime_clock_ticks a.wait_time_ns | a.rchar a.wchar | a.majflt");
	c.view.min_delta[DIMENSION_BYTES] = 1024;
	c.view.min_delta[DIMENSION_COUNT] = 2;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.utime_clock_ticks a.wait_time_ns | a.rchar");
	/* 100 % of the ticks, 1000 % of the time, -51.2 % of the bytes. */
	c.view.min_percent = 51.3;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.utime_clock_ticks a.wait_time_ns");
	comparison_end(&c);
}

/* From zero is more than every percentage; a ratio has none. */
TEST(small_percentages)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 0, 1);
	grow(&c, 1, "a", METRIC_rchar, 1000, 1001);
	grow(&c, 1, "a", METRIC_voluntary_csw, 100, 101);
	grow(&c, 1, "a", METRIC_nonvoluntary_csw, 100, 100);
	only_metrics(&c, METRIC_wchar, METRIC_rchar,
		     METRIC_COUNT + DERIVED_ID_involuntary_csw_ratio, -1);
	c.view.min_percent = 1000;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wchar");
	expect_rows(&c, SECTION_DERIVED, "a.involuntary_csw_ratio");
	comparison_end(&c);
}

/* --- which groups --- */

static void choose(struct patterns *patterns, const char *glob)
{
	assert_true(array_push(patterns, glob));
}

TEST(groups_by_name)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "nginx", METRIC_wchar, 0, 3);
	grow(&c, 2, "nginx: worker", METRIC_wchar, 0, 2);
	grow(&c, 3, "bash", METRIC_wchar, 0, 1);
	build_number(live(c.after[0], 4, 4, 10, "zsh"), METRIC_wchar, 9);
	build_number(live(c.before[0], 5, 5, 10, "csh"), METRIC_wchar, 9);
	only_metrics(&c, METRIC_wchar, -1);
	choose(&c.view.match, "nginx*");
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "nginx.wchar nginx: worker.wchar");
	assert_int_equal(c.report->matching, 2);
	assert_int_equal(c.report->only_after.count, 0);
	choose(&c.view.match, "?sh");
	comparison_run(&c);
	assert_string_equal(unmatched_text(&c, &c.report->only_before), "csh");
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "zsh");
	assert_int_equal(c.report->matching, 4);
	assert_int_equal(c.report->shared, 2);
	choose(&c.view.not_match, "*: *");
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "nginx.wchar");
	choose(&c.view.not_match, "*");
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "");
	assert_int_equal(c.report->matching, 0);
	comparison_end(&c);
}

/* --- sections --- */

/* The rows of taskstats stand in the two tables, and answer to their own name. */
TEST(sections_of_threads)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 0, 5);
	grow(&c, 1, "a", METRIC_cpu_delay_total_ns, 0, 10);
	grow(&c, 1, "a", METRIC_cpu_delay_count, 1, 2);
	grow(&c, 1, "a", METRIC_wait_sum, 0, 10);
	grow(&c, 1, "a", METRIC_wait_count, 1, 1);
	c.view.sections_named = true;
	c.view.sections = 1u << SECTION_TASKSTATS_DELAY;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.cpu_delay_total_ns | a.cpu_delay_count");
	expect_rows(&c, SECTION_DERIVED, "a.total_offcpu_delay_ns a.avg_cpu_delay_ns");
	assert_true(report_has_section(c.report, SECTION_PRIMARY));
	assert_false(report_has_section(c.report, SECTION_TASKSTATS_DELAY));
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wait_sum | a.wchar | a.thread_count a.wait_count");
	expect_rows(&c, SECTION_DERIVED, "");
	assert_false(report_has_section(c.report, SECTION_DERIVED));
	c.view.sections = 1u << SECTION_DERIVED;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "");
	expect_rows(&c, SECTION_DERIVED, "a.avg_wait_ns");
	comparison_end(&c);
}

/* All rows of taskstats there are: 34, and 9 that are derived. */
TEST(all_rows_of_taskstats)
{
	struct comparison c;

	comparison_begin(&c);
	live(c.before[0], 1, 1, 10, "a");
	live(c.after[0], 1, 1, 10, "a");
	c.view.sections_named = c.view.all_rows = true;
	c.view.sections = 1u << SECTION_TASKSTATS_DELAY;
	comparison_run(&c);
	assert_int_equal(report_section_rows(&c.report->sections[SECTION_PRIMARY]), 34);
	assert_int_equal(report_section_rows(&c.report->sections[SECTION_DERIVED]), 9);
	c.view.sections = SECTIONS_ALL;
	comparison_run(&c);
	assert_int_equal(report_section_rows(&c.report->sections[SECTION_DERIVED]), 17);
	comparison_end(&c);
}

TEST(sections_and_metrics_choose_together)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 0, 5);
	grow(&c, 1, "a", METRIC_cpu_delay_count, 1, 2);
	only_metrics(&c, METRIC_wchar, METRIC_cpu_delay_count, -1);
	c.view.sections_named = c.view.metrics_named = true;
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.wchar");
	c.view.sections = 1u << SECTION_TASKSTATS_DELAY | 1u << SECTION_HOST;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.cpu_delay_count");
	comparison_end(&c);
}

/* --- numbers --- */

/* Beyond 64 bits in either direction: a sum saturates, a difference does not. */
TEST(exact_differences)
{
	struct comparison c;
	const struct row *row;
	const __int128 largest = UINT64_MAX;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 0, UINT64_MAX);
	grow(&c, 1, "a", METRIC_rchar, UINT64_MAX, 0);
	grow(&c, 1, "a", METRIC_read_bytes, UINT64_MAX, UINT64_MAX - 1);
	grow(&c, 1, "a", METRIC_allocated_bytes, 0, UINT64_MAX);
	grow(&c, 1, "a", METRIC_deallocated_bytes, UINT64_MAX, 0);
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_true(row->change.twice == 2 * largest);
	row = row_of(&c, SECTION_PRIMARY, "a", "rchar");
	assert_true(row->change.twice == -2 * largest);
	expect_real(row->change.share, -1);
	expect_delta(&c, SECTION_PRIMARY, "a", "read_bytes", -1);
	row = row_of(&c, SECTION_DERIVED, "a", "live_heap_estimate");
	assert_true(row->before.number == -largest && row->after.number == largest);
	assert_true(row->change.twice == 4 * largest);
	comparison_end(&c);
}

/* Three delays before, two after: not sums of the same things. */
TEST(sums_of_different_delays)
{
	struct comparison c;
	const struct row *row;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_cpu_delay_total_ns, 1, 10);
	grow(&c, 1, "a", METRIC_blkio_delay_total_ns, 1, 10);
	build_number(snapshot_thread(c.before[0], 0), METRIC_irq_delay_total_ns, 100);
	comparison_run(&c);
	row = row_of(&c, SECTION_DERIVED, "a", "total_offcpu_delay_ns");
	expect_no_delta(&c, SECTION_DERIVED, "a", "total_offcpu_delay_ns");
	assert_true(row->before.number == 102 && row->after.number == 20);
	build_number(snapshot_thread(c.after[0], 0), METRIC_irq_delay_total_ns, 100);
	comparison_run(&c);
	expect_delta(&c, SECTION_DERIVED, "a", "total_offcpu_delay_ns", 18);
	comparison_end(&c);
}

TEST(empty_snapshots)
{
	struct comparison c;

	comparison_begin(&c);
	for (enum axis_id axis = 0; axis < GROUP_AXIS_COUNT; axis++) {
		c.view.axis = &group_axes[axis];
		comparison_run(&c);
		assert_int_equal(c.report->matching, 0);
		assert_int_equal(report_section_rows(&c.report->sections[SECTION_PRIMARY]), 0);
		assert_int_equal(c.report->only_before.count + c.report->only_after.count, 0);
	}
	build_number(live(c.after[0], 1, 1, 10, "a"), METRIC_run_time_ns, 5);
	for (enum axis_id axis = 0; axis < GROUP_AXIS_COUNT; axis++) {
		c.view.axis = &group_axes[axis];
		comparison_run(&c);
		assert_int_equal(c.report->matching, 1);
		assert_int_equal(c.report->shared, 0);
		assert_int_equal(report_section_rows(&c.report->sections[SECTION_PRIMARY]), 0);
		assert_int_equal(c.report->only_after.count, 1);
	}
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(nothing_on_both_sides_is_hidden),
	   cmocka_unit_test(people_see_what_changed),
	   cmocka_unit_test(people_see_no_difference_of_cpu_numbers),
	   cmocka_unit_test(people_see_a_fact_once), cmocka_unit_test(ctprof_does_not_lead),
	   cmocka_unit_test(the_same_category_is_hidden), cmocka_unit_test(ranges_of_nothing),
	   cmocka_unit_test(named_metrics_are_shown_unmeasured),
	   cmocka_unit_test(one_side_unmeasured), cmocka_unit_test(small_changes),
	   cmocka_unit_test(small_percentages), cmocka_unit_test(groups_by_name),
	   cmocka_unit_test(sections_of_threads), cmocka_unit_test(all_rows_of_taskstats),
	   cmocka_unit_test(sections_and_metrics_choose_together),
	   cmocka_unit_test(exact_differences), cmocka_unit_test(sums_of_different_delays),
	   cmocka_unit_test(empty_snapshots))
