/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows, rates, and totals divided by age or CPU time.
 */
#include "compare/report.h"

#include "unit/compare_scene.h"

#define RUN METRIC_run_time_ns

/* --- windows --- */

TEST(only_threads_that_both_have)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 10, "a"), RUN, 100);
	build_number(live(c.before[0], 1, 2, 10, "a"), RUN, 1000); /* ends */
	build_number(live(c.after[0], 1, 1, 10, "a"), RUN, 130);
	build_number(live(c.after[0], 1, 3, SCENE_UPTIME, "a"), RUN, 7); /* begins */
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "a", "run_time_ns", 137 - 1100);
	assert_int_equal(c.report->only_before.count, 0);

	c.view.window = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "a", "run_time_ns", 30);
	expect_whole(&row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->before, 100);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->threads_before, 1);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->threads_after, 1);
	assert_string_equal(unmatched_text(&c, &c.report->only_before), "a");
	assert_true(c.report->only_before.items[0].rank == 1000);
	assert_int_equal(c.report->only_before.items[0].group->count, 1);
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "a");
	assert_true(c.report->only_after.items[0].rank == 7);
	comparison_end(&c);
}

/* A number that was used again is a death and a birth. */
TEST(a_number_used_again)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 10, "a"), RUN, 100);
	build_number(live(c.after[0], 1, 1, SCENE_UPTIME + 1, "a"), RUN, 5);
	c.view.window = true;
	comparison_run(&c);
	assert_int_equal(c.report->shared, 0);
	assert_int_equal(report_section_rows(&c.report->sections[SECTION_PRIMARY]), 0);
	assert_true(c.report->only_before.items[0].rank == 100);
	assert_true(c.report->only_after.items[0].rank == 5);
	comparison_end(&c);
}

/* One that moved or was renamed counts where it is now, with all that it did in between. */
TEST(moved_and_renamed_threads)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live_in(c.before[0], 1, 1, 10, "sh", "sh", "/old"), RUN, 100);
	build_number(live_in(c.before[0], 2, 2, 10, "stays", "stays", "/old"), RUN, 1);
	build_number(live_in(c.after[0], 1, 1, 10, "make", "make", "/new"), RUN, 150);
	build_number(live_in(c.after[0], 2, 2, 10, "stays", "stays", "/old"), RUN, 3);
	c.view.window = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "make", "run_time_ns", 50);
	expect_no_row(&c, SECTION_PRIMARY, "sh", "run_time_ns");
	assert_int_equal(c.report->only_before.count, 0);
	c.view.axis = &group_axes[AXIS_CGROUP];
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "/new", "run_time_ns", 50);
	expect_delta(&c, SECTION_PRIMARY, "/old", "run_time_ns", 2);
	comparison_end(&c);
}

/* Of what ended and what began, those that ran longest first, cut to the limit. */
TEST(births_and_deaths_in_their_order)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 10, "short"), RUN, 5);
	build_number(live(c.before[0], 2, 2, 10, "long"), RUN, 50);
	build_number(live(c.before[0], 3, 3, 10, "mid"), RUN, 7);
	build_number(live(c.before[0], 4, 4, 10, "mid"), RUN, 4);
	live(c.before[0], 5, 5, 10, "unmeasured");
	build_number(live(c.after[0], 11, 11, SCENE_UPTIME, "b"), RUN, 3);
	build_number(live(c.after[0], 12, 12, SCENE_UPTIME, "a"), RUN, 3);
	c.view.window = true;
	comparison_run(&c);
	assert_string_equal(unmatched_text(&c, &c.report->only_before),
			    "long mid short unmeasured");
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "a b"); /* equals by name */
	c.view.limit = 2;
	comparison_run(&c);
	assert_string_equal(unmatched_text(&c, &c.report->only_before), "long mid");
	assert_int_equal(c.report->only_before.left_out, 2);
	assert_int_equal(c.report->only_after.left_out, 0);
	comparison_end(&c);
}

/* What is older than the baseline, which lacks it, was lost there or not chosen: no birth. */
TEST(strangers)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 10, "a"), RUN, 100);
	build_number(live(c.after[0], 1, 1, 10, "a"), RUN, 130);
	build_number(live(c.after[0], 1, 2, SCENE_UPTIME - 1, "a"), RUN, 1000);
	build_number(live(c.after[0], 3, 3, 5, "old"), RUN, 1000);
	build_number(live(c.after[0], 4, 4, SCENE_UPTIME, "young"), RUN, 7);
	build_number(live(c.after[0], 5, 5, 5, "unknown"), RUN, 6);
	snapshot_thread(c.after[0], 4)->start_time_clock_ticks.measured = false;
	/* Not in a window, it is a thread like others. */
	comparison_run(&c);
	assert_int_equal(c.report->strangers, 0);
	assert_int_equal(c.report->notes.count, 0);
	expect_delta(&c, SECTION_PRIMARY, "a", "run_time_ns", 1030);
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "old young unknown");

	c.view.window = true;
	for (int births = 0; births < 2; births++) {
		c.view.births = births;
		comparison_run(&c);
		assert_int_equal(c.report->strangers, 2);
		assert_int_equal(c.report->notes.count, 1);
		assert_non_null(strstr(c.report->notes.items[0], "2 threads of the candidate"));
		expect_delta(&c, SECTION_PRIMARY, "a", "run_time_ns", 30);
		assert_string_equal(unmatched_text(&c, &c.report->only_after), "young unknown");
		expect_no_row(&c, SECTION_PRIMARY, "old", "run_time_ns");
	}
	expect_delta(&c, SECTION_PRIMARY, "young", "run_time_ns", 7);
	comparison_end(&c);
}

/* Who does not know when the baseline was captured takes all for births. */
TEST(no_strangers_without_an_uptime)
{
	struct comparison c;

	comparison_begin(&c);
	live(c.after[0], 3, 3, 5, "old");
	c.view.window = true;
	c.before[0]->host->uptime_clock_ticks.measured = false;
	comparison_run(&c);
	assert_int_equal(c.report->strangers, 0);
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "old");
	c.before[0]->host = NULL;
	comparison_run(&c);
	assert_int_equal(c.report->strangers, 0);
	assert_string_equal(unmatched_text(&c, &c.report->only_after), "old");
	comparison_end(&c);
}

static void expect_share(struct comparison *c, const char *group, double share)
{
	const struct row *row;

	comparison_run(c);
	row = row_of(c, SECTION_PRIMARY, group, "run_time_ns");
	assert_true(row->has_host_share);
	expect_real(row->host_share, share);
}

/* What began did a part of what the host did: 30 and 20 of 100. Strangers did not, nor the dead. */
TEST(shares_of_a_window)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 10, "a"), RUN, 100);
	build_number(live(c.before[0], 2, 2, 10, "b"), RUN, 100);
	build_number(live(c.before[0], 3, 3, 10, "gone"), RUN, 5000);
	build_number(live(c.after[0], 1, 1, 10, "a"), RUN, 130);
	build_number(live(c.after[0], 2, 2, 10, "b"), RUN, 120);
	build_number(live(c.after[0], 4, 4, SCENE_UPTIME + 5, "born"), RUN, 50);
	build_number(live(c.after[0], 5, 5, SCENE_UPTIME - 5, "stranger"), RUN, 5000);
	only_metrics(&c, RUN, -1);
	c.view.window = c.view.shares = true;
	expect_share(&c, "a", 0.3);
	expect_share(&c, "b", 0.2);
	c.view.rate = true;
	expect_share(&c, "a", 0.3);
	expect_share(&c, "b", 0.2);
	comparison_end(&c);
}

/* Quotients are of the time in between: 600 ns in 4 slices. */
TEST(derived_metrics_of_a_window)
{
	struct comparison c;
	struct ctprof_thread *t;
	const struct row *row;

	comparison_begin(&c);
	t = live(c.before[0], 1, 1, 10, "a");
	build_number(t, RUN, 1000);
	build_number(t, METRIC_timeslices, 10);
	build_number(t, METRIC_allocated_bytes, 100);
	build_number(t, METRIC_deallocated_bytes, 90);
	t = live(c.after[0], 1, 1, 10, "a");
	build_number(t, RUN, 1600);
	build_number(t, METRIC_timeslices, 14);
	build_number(t, METRIC_allocated_bytes, 500);
	build_number(t, METRIC_deallocated_bytes, 550);
	c.view.window = true;
	comparison_run(&c);
	row = row_of(&c, SECTION_DERIVED, "a", "avg_slice_ns");
	expect_real(row->before.real, 100);
	expect_real(row->after.real, 150);
	expect_real(row->change.delta, 50);
	/* A difference of totals is what it is now. */
	expect_delta(&c, SECTION_DERIVED, "a", "live_heap_estimate", -60);
	expect_whole(&row_of(&c, SECTION_DERIVED, "a", "live_heap_estimate")->after, -50);
	comparison_end(&c);
}

/* --- what is refused --- */

static void check_refusals(struct comparison *c, const char *what, const char *advice)
{
	comparison_refused(c, what);
	comparison_refused(c, "different boots");
	comparison_refused(c, advice);
}

TEST(different_boots_are_refused)
{
	struct comparison c;

	comparison_begin(&c);
	build_host(c.after[0], "another", 500);
	comparison_run(&c);
	assert_int_equal(c.report->boots, BOOTS_DIFFERENT);
	c.view.window = true;
	check_refusals(&c, "--window", "--normalize");
	c.view.window = false;
	c.view.rate = true;
	check_refusals(&c, "--rate", "--normalize");
	c.view.rate = false;
	c.view.axis = &group_axes[AXIS_THREAD];
	check_refusals(&c, "--group-by thread", "--group-by pcomm");
	/* One snapshot is of one boot. */
	comparison_alone(&c);
	comparison_run(&c);
	comparison_end(&c);
}

TEST(one_of_several_captures_of_another_boot_is_refused)
{
	struct comparison c;

	comparison_begin_many(&c, 3, 2);
	build_host(c.before[2], "another", 500);
	c.view.window = true;
	comparison_refused(&c, "--window");
	comparison_end(&c);
}

/* Who knows? Then nothing is refused. */
TEST(unknown_boots_are_not_refused)
{
	struct comparison c;

	comparison_begin(&c);
	build_host(c.after[0], NULL, 500);
	c.view.window = true;
	comparison_run(&c);
	assert_int_equal(c.report->boots, BOOTS_UNKNOWN);
	c.after[0]->host = NULL;
	c.view.axis = &group_axes[AXIS_THREAD];
	comparison_run(&c);
	assert_int_equal(c.report->boots, BOOTS_UNKNOWN);
	comparison_end(&c);
}

/* --- rates --- */

TEST(changes_per_second)
{
	struct comparison c;
	struct ctprof_thread *t;
	const struct row *row;

	comparison_begin(&c);
	t = live(c.before[0], 1, 1, 10, "a");
	build_number(t, METRIC_wchar, 100);
	build_number(t, METRIC_wait_max, 5);
	t = live(c.after[0], 1, 1, 10, "a");
	build_number(t, METRIC_wchar, 125);
	build_number(t, METRIC_wait_max, 9);
	c.view.rate = true;
	comparison_run(&c);
	expect_real(c.report->elapsed_s, 10);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_true(row->change.has_delta && row->change.real);
	expect_real(row->change.delta, 2.5);
	expect_real(row->change.share, 0.25);
	/* A peak does not grow by the second. */
	expect_no_delta(&c, SECTION_PRIMARY, "a", "wait_max");
	/* The older one as the candidate: what swapping does to every delta. */
	comparison_swap(&c);
	comparison_run(&c);
	expect_real(c.report->elapsed_s, -10);
	expect_real(row_of(&c, SECTION_PRIMARY, "a", "wchar")->change.delta, -2.5);
	comparison_end(&c);
}

TEST(no_rate_without_time)
{
	struct comparison c;

	comparison_begin(&c);
	c.view.rate = true;
	c.after[0]->host->uptime_clock_ticks = c.before[0]->host->uptime_clock_ticks;
	c.after[0]->captured_at_unix_ns = c.before[0]->captured_at_unix_ns;
	comparison_refused(&c, "no time passed");
	c.after[0]->host = NULL;
	c.after[0]->captured_at_unix_ns = (struct reading){ 0 };
	comparison_refused(&c, "does not say when");
	comparison_end(&c);
}

/* --- time between captures --- */

static void check_seconds(const struct comparison *c, double expected)
{
	double seconds = -1;

	assert_true(seconds_between(c->before[0], c->after[0], &seconds));
	expect_real(seconds, expected);
}

TEST(the_time_between)
{
	struct comparison c;
	double seconds;

	comparison_begin(&c);
	check_seconds(&c, 10);
	/* The clock of the day is finer: 5 ms. */
	c.after[0]->captured_at_unix_ns.value += 5000000;
	check_seconds(&c, 10.005);
	/* But somebody set it: an hour. */
	c.after[0]->captured_at_unix_ns.value += 3600000000000;
	check_seconds(&c, 10);
	/* One does not say how long its host was up: only the day is left. */
	c.before[0]->host->uptime_clock_ticks.measured = false;
	check_seconds(&c, 3610.005);
	/* Uptimes of different boots have nothing to do with each other. */
	c.before[0]->host->uptime_clock_ticks.measured = true;
	build_host(c.after[0], "another", 5);
	check_seconds(&c, 3610.005);
	c.after[0]->captured_at_unix_ns = (struct reading){ 0 };
	assert_false(seconds_between(c.before[0], c.after[0], &seconds));
	comparison_end(&c);
}

/* --- divided --- */

/* Two threads lived 20 s together, and 40 s later. */
TEST(per_second_of_age)
{
	struct comparison c;
	const struct row *row;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, SCENE_UPTIME - 500, "a"), METRIC_wchar, 60);
	build_number(live(c.before[0], 1, 2, SCENE_UPTIME - 1500, "a"), METRIC_wchar, 40);
	build_number(live(c.after[0], 1, 1, SCENE_UPTIME - 500, "a"), METRIC_wchar, 200);
	build_number(live(c.after[0], 1, 2, SCENE_UPTIME - 1500, "a"), METRIC_wchar, 200);
	c.view.normalize = NORMALIZE_AGE;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_string_equal(row->measure->per, "/s");
	expect_real(row->before.real, 5);
	expect_real(row->after.real, 10);
	expect_real(row->change.delta, 5);
	expect_real(row->change.share, 1);
	/* Threads there are now are no total. */
	row = row_of(&c, SECTION_PRIMARY, "a", "thread_count");
	assert_null(row->measure->per);
	expect_whole(&row->after, 2);
	expect_delta(&c, SECTION_PRIMARY, "a", "thread_count", 0);
	assert_int_equal(c.report->notes.count, 0);
	comparison_end(&c);
}

/* Without an uptime, ages are counted to the youngest birth, and a note says so. */
TEST(per_second_of_age_without_an_uptime)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 1000, "a"), METRIC_wchar, 60);
	live(c.before[0], 2, 2, 1300, "young");
	build_number(live(c.after[0], 1, 1, 1000, "a"), METRIC_wchar, 200);
	c.before[0]->host->uptime_clock_ticks.measured = false;
	c.view.normalize = NORMALIZE_AGE;
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_PRIMARY, "a", "wchar")->before.real, 20);
	assert_int_equal(c.report->notes.count, 1);
	comparison_end(&c);
}

/* Of an unknown age, or born this very moment, there is no quotient. */
TEST(no_age_no_quotient)
{
	struct comparison c;

	comparison_begin(&c);
	build_number(live(c.before[0], 1, 1, 0, "a"), METRIC_wchar, 60);
	snapshot_thread(c.before[0], 0)->start_time_clock_ticks.measured = false;
	build_number(live(c.after[0], 1, 1, 10, "a"), METRIC_wchar, 70);
	build_number(live(c.before[0], 2, 2, SCENE_UPTIME, "b"), METRIC_wchar, 60);
	build_number(live(c.after[0], 2, 2, SCENE_UPTIME, "b"), METRIC_wchar, 60);
	c.view.normalize = NORMALIZE_AGE;
	comparison_run(&c);
	expect_no_delta(&c, SECTION_PRIMARY, "a", "wchar");
	expect_no_delta(&c, SECTION_PRIMARY, "b", "wchar");
	comparison_end(&c);
}

/* 2 s and 4 s on a CPU. */
TEST(per_second_of_cpu_time)
{
	struct comparison c;
	struct ctprof_thread *t;
	const struct row *row;

	comparison_begin(&c);
	t = live(c.before[0], 1, 1, 10, "a");
	build_number(t, RUN, 2000000000);
	build_number(t, METRIC_wchar, 60);
	build_number(t, METRIC_wait_max, 8);
	t = live(c.after[0], 1, 1, 10, "a");
	build_number(t, RUN, 4000000000);
	build_number(t, METRIC_wchar, 60);
	build_number(t, METRIC_wait_max, 9);
	c.view.normalize = NORMALIZE_CPU;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "wchar");
	assert_string_equal(row->measure->per, "/CPU s");
	expect_real(row->before.real, 30);
	expect_real(row->after.real, 15);
	/* A second is a second: nothing to see. */
	c.view.all_rows = true;
	comparison_run(&c);
	row = row_of(&c, SECTION_PRIMARY, "a", "run_time_ns");
	expect_real(row->before.real, 1e9);
	expect_real(row->after.real, 1e9);
	/* Peaks are no totals. */
	row = row_of(&c, SECTION_PRIMARY, "a", "wait_max");
	expect_whole(&row->after, 9);
	assert_null(row->measure->per);
	comparison_end(&c);
}

/* Of one thread the CPU time is not known: nothing is divided by the rest. */
TEST(no_cpu_time_no_quotient)
{
	struct comparison c;

	comparison_begin(&c);
	for (int i = 0; i < 2; i++) {
		struct ctprof_snapshot *s = i ? c.after[0] : c.before[0];

		build_number(live(s, 1, 1, 10, "a"), METRIC_wchar, 60);
		build_number(snapshot_thread(s, 0), RUN, 1000000000);
		build_number(live(s, 1, 2, 10, "a"), METRIC_wchar, 60);
		build_number(live(s, 2, 3, 10, "idle"), METRIC_wchar, 60);
		build_number(snapshot_thread(s, 2), RUN, 0);
	}
	c.view.normalize = NORMALIZE_CPU;
	c.view.all_rows = true;
	comparison_run(&c);
	expect_no_delta(&c, SECTION_PRIMARY, "a", "wchar");
	expect_no_delta(&c, SECTION_PRIMARY, "idle", "wchar");
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(only_threads_that_both_have), cmocka_unit_test(a_number_used_again),
	   cmocka_unit_test(moved_and_renamed_threads),
	   cmocka_unit_test(births_and_deaths_in_their_order), cmocka_unit_test(strangers),
	   cmocka_unit_test(no_strangers_without_an_uptime), cmocka_unit_test(shares_of_a_window),
	   cmocka_unit_test(derived_metrics_of_a_window),
	   cmocka_unit_test(different_boots_are_refused),
	   cmocka_unit_test(one_of_several_captures_of_another_boot_is_refused),
	   cmocka_unit_test(unknown_boots_are_not_refused), cmocka_unit_test(changes_per_second),
	   cmocka_unit_test(no_rate_without_time), cmocka_unit_test(the_time_between),
	   cmocka_unit_test(per_second_of_age),
	   cmocka_unit_test(per_second_of_age_without_an_uptime),
	   cmocka_unit_test(no_age_no_quotient), cmocka_unit_test(per_second_of_cpu_time),
	   cmocka_unit_test(no_cpu_time_no_quotient))
