/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times that no thread can have, by its life or by the time between two captures: marked, and never
 * first.
 */
#include "compare/impossible.h"

#include "unit/compare_scene.h"

#define MS    1000000u
#define S     UINT64_C(1000000000)

#define TOTAL METRIC_blkio_delay_total_ns
#define GOING METRIC_blkio_in_progress_ns

/* When the first of two captures began: threads that lived five seconds then. */
#define YOUNG (SCENE_UPTIME - 500)

/* How long a capture took. */
static void took(struct ctprof_snapshot *s, uint64_t ns)
{
	s->capture = arena_alloc(&s->arena, sizeof(*s->capture));
	assert_non_null(s->capture);
	*s->capture = (struct capture_info){ .duration_ns = reading_of(ns) };
}

static void begin(struct comparison *c)
{
	comparison_begin(c);
	took(c->before[0], 1 * MS);
	took(c->after[0], 1 * MS);
	only_metrics(c, TOTAL, METRIC_blkio_delay_count, -1);
}

/* A thread born five seconds before the first capture, on both sides. */
static void reads(struct comparison *c, uint32_t tid, const char *name, uint64_t before,
		  uint64_t after)
{
	const uint64_t values[] = { before, after };
	struct ctprof_snapshot *sides[] = { c->before[0], c->after[0] };

	for (size_t i = 0; i < 2; i++) {
		struct ctprof_thread *thread = live(sides[i], tid, tid, YOUNG, name);

		build_number(thread, TOTAL, values[i]);
		build_number(thread, METRIC_blkio_delay_count, 1 + i);
		build_number(thread, GOING, 0);
	}
}

static bool has_note(const struct comparison *c, const char *words)
{
	for (size_t i = 0; i < c->report->notes.count; i++)
		if (strstr(c->report->notes.items[i], words))
			return true;
	return false;
}

static const struct row *row(const struct comparison *c, const char *group)
{
	return row_of(c, SECTION_PRIMARY, group, "blkio_delay_total_ns");
}

/* --- of one capture --- */

/* It lived for 15 s when the second capture began. */
static void expect_marks(uint64_t value, uint32_t threads)
{
	struct comparison c;

	begin(&c);
	build_number(live(c.after[0], 1, 1, YOUNG, "p"), TOTAL, value);
	build_number(live(c.after[0], 2, 2, YOUNG, "p"), TOTAL, 1 * MS);
	comparison_alone(&c);
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, threads);
	assert_true(row(&c, "p")->after.number == value + 1 * MS);
	assert_int_equal(has_note(&c, "impossible values"), threads > 0);
	comparison_end(&c);
}

TEST(more_than_it_lived)
{
	expect_marks(30 * S, 1);
	expect_marks(UINT64_MAX - 1 * MS, 1);
	expect_marks(15 * S + 200 * MS, 1);
}

TEST(clocks_are_not_that_exact)
{
	expect_marks(15 * S + 30 * MS, 0);
	expect_marks(15 * S, 0);
}

TEST(a_long_capture_reads_late)
{
	struct comparison c;

	begin(&c);
	c.after[0]->capture->duration_ns = reading_of(20 * S);
	c.before[0]->capture->duration_ns = reading_of(1 * S);
	reads(&c, 1, "p", 1 * S, 30 * S);
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, 0);
	comparison_end(&c);
}

/* The largest of a group is marked when it is the one that cannot be. */
TEST(peaks_gauges_and_means)
{
	struct comparison c;
	struct ctprof_thread *old, *young;

	begin(&c);
	only_metrics(&c, METRIC_blkio_delay_max_ns, GOING, METRIC_core_forceidle_sum,
		     METRIC_COUNT + DERIVED_ID_avg_blkio_delay_ns,
		     METRIC_COUNT + DERIVED_ID_total_offcpu_delay_ns, -1);
	old = live(c.after[0], 1, 1, 10, "p");
	young = live(c.after[0], 2, 2, YOUNG, "p");
	build_number(old, METRIC_blkio_delay_max_ns, 100 * S);
	build_number(young, METRIC_blkio_delay_max_ns, 50 * S);
	build_number(young, GOING, 50 * S);
	build_number(young, METRIC_core_forceidle_sum, 50 * S);
	build_number(young, TOTAL, 50 * S);
	build_number(young, METRIC_blkio_delay_count, 10);
	young = live(c.after[0], 3, 3, YOUNG, "q");
	build_number(young, METRIC_blkio_delay_max_ns, 50 * S);
	comparison_alone(&c);
	comparison_run(&c);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "p", "blkio_delay_max_ns")->after.impossible,
			 0);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "q", "blkio_delay_max_ns")->after.impossible,
			 1);
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "p", "blkio_in_progress_ns")->after.impossible,
			 1);
	/* That is time of other CPUs. */
	assert_int_equal(row_of(&c, SECTION_PRIMARY, "p", "core_forceidle_sum")->after.impossible,
			 0);
	assert_int_equal(row_of(&c, SECTION_DERIVED, "p", "avg_blkio_delay_ns")->after.impossible,
			 1);
	assert_int_equal(
		row_of(&c, SECTION_DERIVED, "p", "total_offcpu_delay_ns")->after.impossible, 1);
	comparison_end(&c);
}

/* In a container the time since boot may be that of the container: no thread's life is known. */
TEST(a_boot_that_is_younger_than_its_threads)
{
	struct comparison c;

	begin(&c);
	build_number(live(c.after[0], 1, 1, YOUNG, "p"), TOTAL, 30 * S);
	build_number(live(c.after[0], 2, 2, SCENE_UPTIME + SCENE_DISTANCE + 10, "p"), TOTAL, 0);
	comparison_run(&c);
	assert_int_equal(c.report->impossible.count, 0);
	comparison_end(&c);
}

TEST(a_file_without_the_duration_of_its_capture)
{
	struct comparison c;

	begin(&c);
	reads(&c, 1, "p", 0, 30 * S);
	c.before[0]->capture->duration_ns = c.after[0]->capture->duration_ns =
		(struct reading){ 0 };
	comparison_run(&c);
	assert_int_equal(c.report->impossible.count, 0);
	comparison_end(&c);
}

/* --- between two captures --- */

/* The captures are 10 s apart. The group as a whole could have waited for 20 s. */
TEST(more_than_passed)
{
	struct comparison c;

	begin(&c);
	reads(&c, 1, "p", 1 * MS, 11 * S);
	reads(&c, 2, "p", 1 * MS, 2 * MS);
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, 1);
	assert_int_equal(row(&c, "p")->before.impossible, 0);
	/* The number stays what the kernel said. */
	expect_delta(&c, SECTION_PRIMARY, "p", "blkio_delay_total_ns", (int64_t)(11 * S));
	assert_true(has_note(&c, "1 row of blkio_delay_total_ns"));
	c.view.window = true;
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, 1);
	comparison_end(&c);
}

TEST(as_much_as_passed)
{
	struct comparison c;

	begin(&c);
	reads(&c, 1, "p", 1 * MS, 10 * S);
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, 0);
	assert_int_equal(c.report->notes.count, 1);
	comparison_end(&c);
}

/* The wait began before the first capture: without waits in progress nobody can tell. */
TEST(a_wait_that_began_before)
{
	struct comparison c;

	begin(&c);
	c.view.completed_only = true;
	reads(&c, 1, "p", 0, 12 * S);
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, 0);
	assert_true(has_note(&c, "blkio_delay_total_ns grew by more than the time between"));
	comparison_end(&c);
}

TEST(another_boot_has_no_window)
{
	struct comparison c;

	begin(&c);
	reads(&c, 1, "p", 0, 12 * S);
	build_host(c.after[0], "another", SCENE_UPTIME + SCENE_DISTANCE);
	comparison_run(&c);
	assert_int_equal(row(&c, "p")->after.impossible, 0);
	comparison_end(&c);
}

/* --- what becomes of it --- */

static void three(struct comparison *c)
{
	begin(c);
	reads(c, 1, "bad", 0, 30 * S);
	reads(c, 2, "little", 0, 1 * S);
	reads(c, 3, "much", 0, 2 * S);
}

TEST(it_ranks_last)
{
	static const enum order orders[] = { ORDER_USUAL, ORDER_DELTA, ORDER_PERCENT };
	struct comparison c;

	three(&c);
	only_metrics(&c, TOTAL, -1);
	for (size_t i = 0; i < array_length(orders); i++) {
		c.view.order = orders[i];
		comparison_run(&c);
		expect_rows(&c, SECTION_PRIMARY,
			    "much.blkio_delay_total_ns little.blkio_delay_total_ns "
			    "bad.blkio_delay_total_ns");
	}
	c.view.order = ORDER_GROUPS;
	c.view.sort[c.view.sort_count++] = (struct sort_key){ TOTAL, false };
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "much.blkio_delay_total_ns little.blkio_delay_total_ns "
		    "bad.blkio_delay_total_ns");
	comparison_end(&c);
}

TEST(the_host_has_no_change_that_it_is_a_share_of)
{
	struct comparison c;

	three(&c);
	c.view.shares = true;
	comparison_run(&c);
	assert_false(row(&c, "much")->has_host_share);
	assert_true(row_of(&c, SECTION_PRIMARY, "much", "blkio_delay_count")->has_host_share);
	comparison_end(&c);
}

TEST(no_condition_is_broken_by_it)
{
	struct comparison c;

	three(&c);
	comparison_conditions(&c, "bad:blkio_delay_total_ns > 1s");
	comparison_conditions(&c, "much:blkio_delay_total_ns > 1s");
	comparison_run(&c);
	assert_int_equal(c.report->results.items[0].verdict, VERDICT_UNDECIDED);
	assert_int_equal(c.report->results.items[0].impossible, 1);
	assert_int_equal(c.report->results.items[1].verdict, VERDICT_BROKEN);
	comparison_end(&c);
}

/* Of several captures one that cannot be spoils the mean. */
TEST(of_several_captures)
{
	struct comparison c;

	comparison_begin_many(&c, 3, 3);
	only_metrics(&c, TOTAL, -1);
	for (size_t i = 0; i < 6; i++) {
		struct ctprof_snapshot *s = i < 3 ? c.before[i] : c.after[i - 3];

		took(s, 1 * MS);
		for (uint32_t tid = 1; tid <= 2; tid++) {
			struct ctprof_thread *thread =
				live(s, tid, tid, YOUNG, tid == 1 ? "bad" : "good");

			build_number(thread, TOTAL, i * S + (tid == 1 && i > 3 ? 1000 * S : 0));
			build_number(thread, GOING, 0);
		}
	}
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "good.blkio_delay_total_ns bad.blkio_delay_total_ns");
	assert_int_equal(row(&c, "bad")->after.impossible, 1);
	assert_int_equal(row(&c, "bad")->before.impossible, 0);
	assert_int_equal(row(&c, "good")->after.impossible, 0);
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(more_than_it_lived), cmocka_unit_test(clocks_are_not_that_exact),
	   cmocka_unit_test(a_long_capture_reads_late), cmocka_unit_test(peaks_gauges_and_means),
	   cmocka_unit_test(a_boot_that_is_younger_than_its_threads),
	   cmocka_unit_test(a_file_without_the_duration_of_its_capture),
	   cmocka_unit_test(more_than_passed), cmocka_unit_test(as_much_as_passed),
	   cmocka_unit_test(a_wait_that_began_before), cmocka_unit_test(another_boot_has_no_window),
	   cmocka_unit_test(it_ranks_last),
	   cmocka_unit_test(the_host_has_no_change_that_it_is_a_share_of),
	   cmocka_unit_test(no_condition_is_broken_by_it), cmocka_unit_test(of_several_captures))
