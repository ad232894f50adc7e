/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits in progress in reports: where they are added, and where not.
 */
#include <stdlib.h>

#include "unit/compare_scene.h"

#define MS      1000000u

#define WAIT    METRIC_wait_time_ns
#define WAITING METRIC_wait_in_progress_ns

/* A thread that waited: what is accounted of it, and what has passed of the wait it is in. */
static struct ctprof_thread *waiter(struct ctprof_snapshot *s, uint32_t tid, const char *name,
				    uint64_t accounted, uint64_t in_progress)
{
	struct ctprof_thread *thread = live(s, tid, tid, 10, name);

	build_number(thread, WAIT, accounted);
	build_number(thread, WAITING, in_progress);
	return thread;
}

/* A thread before and after. */
static void waits(struct comparison *c, const char *name, uint64_t booked_before,
		  uint64_t in_progress_before, uint64_t booked_after, uint64_t in_progress_after)
{
	waiter(c->before[0], 10, name, booked_before, in_progress_before);
	waiter(c->after[0], 10, name, booked_after, in_progress_after);
}

static const char *only_note(const struct comparison *c)
{
	assert_int_equal(c->report->notes.count, 1);
	return c->report->notes.items[0];
}

/* Several captures have notes of their own, too. */
static bool has_note(const struct comparison *c, const char *words)
{
	for (size_t i = 0; i < c->report->notes.count; i++)
		if (strstr(c->report->notes.items[i], words))
			return true;
	return false;
}

static void begin(struct comparison *c)
{
	comparison_begin(c);
	only_metrics(c, WAIT, -1);
}

/* --- deltas --- */

/* It waited 984 ms before the first capture, and 6 ms after it. */
TEST(a_wait_that_was_booked_in_between)
{
	struct comparison c;

	begin(&c);
	waits(&c, "p", 0, 984 * MS, 990 * MS, 0);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 6 * MS);
	c.view.window = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 6 * MS);
	c.view.completed_only = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 990 * MS);
	comparison_end(&c);
}

/* The kernel books nothing of a wait that lasts longer than the comparison. */
TEST(a_wait_that_goes_on)
{
	struct comparison c;

	begin(&c);
	waits(&c, "p", 5 * MS, 100 * MS, 5 * MS, 10100 * MS);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 10000 * MS);
	c.view.completed_only = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 0);
	comparison_end(&c);
}

/* One ended, and the next began. */
TEST(a_shorter_wait_than_the_one_before)
{
	struct comparison c;

	begin(&c);
	waits(&c, "p", 1000 * MS, 50 * MS, 1053 * MS, 2 * MS);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 5 * MS);
	comparison_end(&c);
}

TEST(a_thread_that_was_born_waiting)
{
	struct comparison c;

	begin(&c);
	waits(&c, "p", 0, 1 * MS, 3 * MS, 0);
	build_number(build_thread(c.before[0], 20, 20, "q", "q", "/"), WAITING, 0);
	waiter(c.after[0], 11, "p", 0, 7 * MS)->start_time_clock_ticks =
		reading_of(SCENE_UPTIME + 1);
	c.view.window = c.view.births = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 9 * MS);
	comparison_end(&c);
}

/* --- of one snapshot, and of some threads --- */

TEST(of_one_snapshot)
{
	struct comparison c;

	begin(&c);
	waiter(c.after[0], 1, "p", 10, 3);
	waiter(c.after[0], 2, "p", 20, 0);
	comparison_alone(&c);
	comparison_run(&c);
	expect_whole(&row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->after, 33);
	c.view.completed_only = true;
	comparison_run(&c);
	expect_whole(&row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->after, 30);
	comparison_end(&c);
}

/* A thread without a wait in progress has the totals that the kernel accounted. */
TEST(threads_without_waits_keep_their_totals)
{
	struct comparison c;

	begin(&c);
	waiter(c.after[0], 1, "p", 10, 3);
	build_number(live(c.after[0], 2, 2, 10, "p"), WAIT, 20);
	build_number(live(c.after[0], 3, 3, 10, "q"), WAIT, 5);
	build_number(live(c.after[0], 4, 4, 10, "r"), WAITING, 9); /* and nothing is accounted */
	comparison_alone(&c);
	comparison_run(&c);
	expect_whole(&row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->after, 33);
	expect_whole(&row_of(&c, SECTION_PRIMARY, "q", "wait_time_ns")->after, 5);
	expect_no_row(&c, SECTION_PRIMARY, "r", "wait_time_ns");
	comparison_end(&c);
}

TEST(every_total_has_its_own)
{
	static const struct {
		enum metric_id total, part;
	} pairs[] = {
		{ WAIT, WAITING },
		{ METRIC_cpu_delay_total_ns, WAITING },
		{ METRIC_wait_sum, METRIC_wait_sum_in_progress_ns },
		{ METRIC_voluntary_sleep_ns, METRIC_sleep_in_progress_ns },
		{ METRIC_block_sum, METRIC_block_in_progress_ns },
		{ METRIC_iowait_sum, METRIC_iowait_in_progress_ns },
		{ METRIC_blkio_delay_total_ns, METRIC_blkio_in_progress_ns },
	};
	struct comparison c;
	struct ctprof_thread *thread;

	comparison_begin(&c);
	thread = live(c.after[0], 1, 1, 10, "p");
	for (unsigned i = 0; i < array_length(pairs); i++) {
		build_number(thread, pairs[i].total, 1000 * (i + 1));
		build_number(thread, pairs[i].part, i + 1);
	}
	build_number(thread, WAITING, 7);
	build_number(thread, METRIC_run_time_ns, 4);
	comparison_alone(&c);
	comparison_run(&c);
	for (unsigned i = 0; i < array_length(pairs); i++)
		expect_whole(&row_of(&c, SECTION_PRIMARY, "p", metrics[pairs[i].total].name)->after,
			     1000 * (i + 1) + (i < 2 ? 7 : i + 1));
	expect_whole(&row_of(&c, SECTION_PRIMARY, "p", "run_time_ns")->after, 4);
	expect_whole(&row_of(&c, SECTION_PRIMARY, "p", "blkio_in_progress_ns")->after, 7);
	comparison_end(&c);
}

TEST(totals_do_not_overflow)
{
	struct comparison c;

	begin(&c);
	waiter(c.after[0], 1, "p", UINT64_MAX - 5, 6);
	comparison_alone(&c);
	comparison_run(&c);
	assert_true(row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->after.number == UINT64_MAX);
	comparison_end(&c);
}

/* --- only where both have them --- */

TEST(one_side_without_them)
{
	struct comparison c;

	begin(&c);
	build_number(live(c.before[0], 10, 10, 10, "p"), WAIT, 100);
	waiter(c.after[0], 10, "p", 107, 50);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 7);
	assert_string_equal(only_note(&c), "waits in progress are left out of wait_time_ns: before "
					   "has none (captured without BPF)");
	comparison_swap(&c);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", -7);
	assert_non_null(strstr(only_note(&c), "wait_time_ns: after has none"));
	comparison_end(&c);
}

TEST(neither_side_with_them)
{
	struct comparison c;

	begin(&c);
	grow(&c, 10, "p", WAIT, 100, 107);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 7);
	assert_int_equal(c.report->notes.count, 0);
	comparison_end(&c);
}

TEST(each_total_by_itself)
{
	struct comparison c;

	comparison_begin(&c);
	only_metrics(&c, WAIT, METRIC_blkio_delay_total_ns, METRIC_block_sum, -1);
	grow(&c, 10, "p", WAIT, 100, 107);
	grow(&c, 10, "p", METRIC_block_sum, 5, 6);
	grow(&c, 10, "p", METRIC_blkio_delay_total_ns, 1000, 1300);
	grow(&c, 10, "p", METRIC_blkio_in_progress_ns, 200, 0);
	build_number(snapshot_thread(c.after[0], 0), WAITING, 50);
	build_number(snapshot_thread(c.before[0], 0), METRIC_block_in_progress_ns, 50);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", 7);
	expect_delta(&c, SECTION_PRIMARY, "p", "block_sum", 1);
	expect_delta(&c, SECTION_PRIMARY, "p", "blkio_delay_total_ns", 100);
	assert_int_equal(c.report->notes.count, 3);
	assert_string_equal(
		c.report->notes.items[0],
		"waits in progress are counted in blkio_delay_total_ns (--completed-only leaves "
		"them out)");
	assert_non_null(strstr(c.report->notes.items[1], "left out of wait_time_ns: before"));
	assert_non_null(strstr(c.report->notes.items[2], "left out of block_sum: after"));
	comparison_end(&c);
}

/* With several captures on a side, all of them. */
TEST(one_capture_of_several_without_them)
{
	struct comparison c;

	comparison_begin_many(&c, 2, 2);
	only_metrics(&c, WAIT, -1);
	for (unsigned i = 0; i < 2; i++) {
		waiter(c.before[i], 10, "p", 1000, 10 * MS + i * 2000);
		waiter(c.after[i], 10, "p", 2000 + i * 10, 10 * MS + i * 3000);
	}
	comparison_run(&c);
	/* What was added between the captures of a side, per second of 10. */
	expect_real(row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->before.real, 200);
	expect_real(row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->after.real, 301);
	assert_true(has_note(&c, "are counted in wait_time_ns"));
	metric_set_remove(&snapshot_thread(c.after[1], 0)->record.measured, WAITING);
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->after.real, 1);
	assert_false(has_note(&c, "are counted in wait_time_ns"));
	assert_true(has_note(&c, "left out of wait_time_ns: after has none"));
	comparison_end(&c);
}

TEST(a_capture_by_bpf_may_lack_one)
{
	struct comparison c;

	begin(&c);
	build_number(live(c.before[0], 10, 10, 10, "p"), WAIT, 100);
	waiter(c.after[0], 10, "p", 107, 50);
	c.before[0]->capture = arena_alloc(&c.before[0]->arena, sizeof(struct capture_info));
	c.before[0]->capture->source = snapshot_name(c.before[0], TEXT("bpf"));
	comparison_run(&c);
	assert_string_equal(only_note(&c),
			    "waits in progress are left out of wait_time_ns: before has none");
	comparison_end(&c);
}

/* --- what is said --- */

TEST(notes_are_about_displayed_metrics)
{
	struct comparison c;

	comparison_begin(&c);
	waits(&c, "p", 1, 1, 2, 2);
	only_metrics(&c, METRIC_minflt, -1);
	comparison_run(&c);
	assert_int_equal(c.report->notes.count, 0);
	only_metrics(&c, METRIC_COUNT + DERIVED_ID_cpu_efficiency, -1);
	comparison_run(&c);
	assert_non_null(strstr(only_note(&c), "are counted in wait_time_ns "));
	only_metrics(&c, METRIC_COUNT + DERIVED_ID_avg_cpu_delay_ns, -1);
	comparison_run(&c);
	assert_int_equal(c.report->notes.count, 0);
	only_metrics(&c, WAIT, -1);
	c.view.completed_only = true;
	comparison_run(&c);
	assert_non_null(strstr(only_note(&c), "left out of wait_time_ns: --completed-only"));
	c.view.sections = 1u << SECTION_DERIVED;
	comparison_run(&c);
	assert_int_equal(c.report->notes.count, 0);
	comparison_end(&c);
}

TEST(the_parts_are_no_rows_of_a_default_comparison)
{
	struct view view;

	for (int way = 0; way < 3; way++) {
		view_init(&view);
		view.metrics_named = way == 1;
		view.all_rows = way == 2;
		view_hide_waits(&view);
		assert_int_equal(metric_set_has(&view.metrics.metrics, WAITING), way != 0);
		assert_int_equal(metric_set_has(&view.metrics.metrics, METRIC_blkio_in_progress_ns),
				 way != 0);
		assert_true(metric_set_has(&view.metrics.metrics, WAIT));
		view_deinit(&view);
	}
}

/* Most threads sleep, all the time and all at once. */
TEST(sleep_ranks_last_by_default)
{
	struct comparison c;

	comparison_begin(&c);
	only_metrics(&c, WAIT, METRIC_voluntary_sleep_ns, -1);
	waits(&c, "p", 0, 0, 5, 0);
	grow(&c, 10, "p", METRIC_voluntary_sleep_ns, 0, 900);
	grow(&c, 10, "p", METRIC_sleep_in_progress_ns, 0, 100);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRIMARY, "p", "voluntary_sleep_ns", 1000);
	expect_rows(&c, SECTION_PRIMARY, "p.wait_time_ns p.voluntary_sleep_ns");
	c.view.order = ORDER_DELTA;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "p.voluntary_sleep_ns p.wait_time_ns");
	c.view.order = ORDER_USUAL;
	c.view.limit = 1;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "p.wait_time_ns");
	comparison_end(&c);
}

/* --- derived metrics --- */

/* A wait in progress is time it wanted a CPU and a delay, but no wait that was counted. */
TEST(derived_metrics_of_waits)
{
	struct comparison c;
	struct ctprof_thread *thread;

	comparison_begin(&c);
	thread = waiter(c.after[0], 1, "p", 200, 100);
	build_number(thread, METRIC_run_time_ns, 300);
	build_number(thread, METRIC_wait_sum, 200);
	build_number(thread, METRIC_wait_count, 2);
	build_number(thread, METRIC_wait_sum_in_progress_ns, 100);
	build_number(thread, METRIC_cpu_delay_total_ns, 200);
	build_number(thread, METRIC_cpu_delay_count, 2);
	build_number(thread, METRIC_blkio_delay_total_ns, 30);
	build_number(thread, METRIC_blkio_delay_count, 3);
	build_number(thread, METRIC_blkio_in_progress_ns, 6);
	comparison_alone(&c);
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_DERIVED, "p", "cpu_efficiency")->after.real, 0.5);
	expect_whole(&row_of(&c, SECTION_DERIVED, "p", "total_offcpu_delay_ns")->after, 336);
	expect_real(row_of(&c, SECTION_DERIVED, "p", "avg_wait_ns")->after.real, 100);
	expect_real(row_of(&c, SECTION_DERIVED, "p", "avg_cpu_delay_ns")->after.real, 100);
	expect_real(row_of(&c, SECTION_DERIVED, "p", "avg_blkio_delay_ns")->after.real, 10);
	c.view.completed_only = true;
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_DERIVED, "p", "cpu_efficiency")->after.real, 0.6);
	expect_whole(&row_of(&c, SECTION_DERIVED, "p", "total_offcpu_delay_ns")->after, 230);
	comparison_end(&c);
}

/* Two clocks, read a moment apart, have it wait for less than nothing. */
TEST(a_share_of_a_window_stays_between_0_and_1)
{
	struct comparison c;

	comparison_begin(&c);
	waits(&c, "p", 0, 1000, 990, 0);
	build_number(snapshot_thread(c.before[0], 0), METRIC_run_time_ns, 100);
	build_number(snapshot_thread(c.after[0], 0), METRIC_run_time_ns, 150);
	c.view.window = true;
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_DERIVED, "p", "cpu_efficiency")->after.real, 1);
	expect_delta(&c, SECTION_PRIMARY, "p", "wait_time_ns", -10);
	comparison_end(&c);
}

/* --- other places where totals are --- */

TEST(conditions_are_of_the_same_totals)
{
	struct comparison c;

	begin(&c);
	waits(&c, "p", 0, 984, 990, 0);
	comparison_conditions(&c, "wait_time_ns > 10ns");
	comparison_run(&c);
	assert_int_equal(c.report->results.items[0].verdict, VERDICT_HOLDS);
	c.view.completed_only = true;
	comparison_run(&c);
	assert_int_equal(c.report->results.items[0].verdict, VERDICT_BROKEN);
	comparison_end(&c);
}

/* A wait went on for 40 in the window, and another began in it and lasts for 60. */
TEST(shares_of_the_host)
{
	struct comparison c;

	begin(&c);
	waits(&c, "p", 5, 10, 5, 50);
	waiter(c.after[0], 11, "q", 0, 60)->start_time_clock_ticks = reading_of(SCENE_UPTIME + 1);
	c.view.window = c.view.shares = true;
	comparison_run(&c);
	expect_real(row_of(&c, SECTION_PRIMARY, "p", "wait_time_ns")->host_share, 0.4);
	comparison_end(&c);
}

TEST(groups_in_the_order_of_their_waits)
{
	struct comparison c;

	begin(&c);
	waiter(c.after[0], 1, "accounted", 20, 0);
	waiter(c.after[0], 2, "waits", 10, 90);
	c.view.order = ORDER_GROUPS;
	c.view.sort[c.view.sort_count++] = (struct sort_key){ WAIT, false };
	comparison_alone(&c);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "waits.wait_time_ns accounted.wait_time_ns");
	c.view.completed_only = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "accounted.wait_time_ns waits.wait_time_ns");
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(a_wait_that_was_booked_in_between),
	   cmocka_unit_test(a_wait_that_goes_on),
	   cmocka_unit_test(a_shorter_wait_than_the_one_before),
	   cmocka_unit_test(a_thread_that_was_born_waiting), cmocka_unit_test(of_one_snapshot),
	   cmocka_unit_test(threads_without_waits_keep_their_totals),
	   cmocka_unit_test(every_total_has_its_own), cmocka_unit_test(totals_do_not_overflow),
	   cmocka_unit_test(one_side_without_them), cmocka_unit_test(neither_side_with_them),
	   cmocka_unit_test(each_total_by_itself),
	   cmocka_unit_test(one_capture_of_several_without_them),
	   cmocka_unit_test(a_capture_by_bpf_may_lack_one),
	   cmocka_unit_test(notes_are_about_displayed_metrics),
	   cmocka_unit_test(the_parts_are_no_rows_of_a_default_comparison),
	   cmocka_unit_test(sleep_ranks_last_by_default),
	   cmocka_unit_test(derived_metrics_of_waits),
	   cmocka_unit_test(a_share_of_a_window_stays_between_0_and_1),
	   cmocka_unit_test(conditions_are_of_the_same_totals),
	   cmocka_unit_test(shares_of_the_host),
	   cmocka_unit_test(groups_in_the_order_of_their_waits))
