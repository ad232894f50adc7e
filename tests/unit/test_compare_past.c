/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the changes of a window are compared with: rates before it.
 */
#include "compare/report.h"

#include <math.h>

#include "unit/compare_scene.h"

#define RUN METRIC_run_time_ns

static const uint64_t SECOND = 1000000000;

static void begin(struct comparison *c)
{
	comparison_begin(c);
	c->view.window = c->view.rates = c->view.people = true;
}

/* A thread that was `age` seconds old at the first capture, and what it had at each. */
static void lived(struct comparison *c, uint32_t tid, uint64_t age, const char *name,
		  enum metric_id id, uint64_t before, uint64_t after)
{
	const uint64_t start = SCENE_UPTIME - age * TICKS_PER_S;

	build_number(live(c->before[0], tid, tid, start, name), id, before);
	build_number(live(c->after[0], tid, tid, start, name), id, after);
}

static void expect_change(struct comparison *c, enum section section, const char *group,
			  const char *metric, double share)
{
	const struct row *row = row_of(c, section, group, metric);

	assert_true(row->change.has_share);
	if (isinf(share))
		assert_true(row->change.share == share);
	else
		expect_real(row->change.share, share);
}

static void expect_no_change(struct comparison *c, enum section section, const char *group,
			     const char *metric)
{
	assert_false(row_of(c, section, group, metric)->change.has_share);
}

/* The window is of 10 s. */
TEST(shares_are_of_the_rate_before)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 100, "as-ever", RUN, 10 * SECOND, 11 * SECOND);
	lived(&c, 2, 100, "twice", RUN, 10 * SECOND, 12 * SECOND);
	lived(&c, 3, 800, "half", RUN, 80 * SECOND, 80 * SECOND + SECOND / 2);
	/* 0.1 and 0.5 of a second in each second, whatever they add up to. */
	lived(&c, 4, 900, "pool", RUN, 90 * SECOND, 91 * SECOND);
	lived(&c, 5, 20, "pool", RUN, 10 * SECOND, 15 * SECOND);
	/* Younger than the window, it did no more before. */
	lived(&c, 6, 2, "young", RUN, SECOND, 2 * SECOND);
	lived(&c, 7, 100, "new", RUN, 0, SECOND);
	comparison_run(&c);
	assert_true(c.report->against_rates);
	expect_change(&c, SECTION_PRIMARY, "as-ever", "run_time_ns", 0);
	expect_change(&c, SECTION_PRIMARY, "twice", "run_time_ns", 1);
	expect_change(&c, SECTION_PRIMARY, "half", "run_time_ns", -0.5);
	expect_change(&c, SECTION_PRIMARY, "pool", "run_time_ns", 0);
	expect_change(&c, SECTION_PRIMARY, "young", "run_time_ns", 0);
	expect_change(&c, SECTION_PRIMARY, "new", "run_time_ns", HUGE_VAL);
	expect_delta(&c, SECTION_PRIMARY, "half", "run_time_ns", (int64_t)SECOND / 2);
	/* Also per second, and in the order of shares. */
	c.view.rate = true;
	c.view.order = ORDER_PERCENT;
	comparison_run(&c);
	expect_change(&c, SECTION_PRIMARY, "twice", "run_time_ns", 1);
	expect_change(&c, SECTION_PRIMARY, "half", "run_time_ns", -0.5);
	assert_ptr_equal(row_of(&c, SECTION_PRIMARY, "new", "run_time_ns"),
			 &c.report->sections[SECTION_PRIMARY].row_groups[0].items[0]);
	assert_ptr_equal(row_of(&c, SECTION_PRIMARY, "twice", "run_time_ns"),
			 &c.report->sections[SECTION_PRIMARY].row_groups[0].items[1]);
	comparison_end(&c);
}

/* What stands still: all of it is gone; of nothing, nothing is. */
TEST(what_did_nothing)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 100, "still", RUN, 10 * SECOND, 10 * SECOND);
	lived(&c, 2, 100, "never", RUN, 0, 0);
	c.view.all_rows = true;
	comparison_run(&c);
	expect_change(&c, SECTION_PRIMARY, "still", "run_time_ns", -1);
	expect_no_change(&c, SECTION_PRIMARY, "never", "run_time_ns");
	comparison_end(&c);
}

/* What does not only grow has no rate. */
TEST(values_that_do_not_add_up)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 100, "a", METRIC_hiwater_rss_bytes, 1000, 1500);
	comparison_run(&c);
	expect_change(&c, SECTION_PRIMARY, "a", "hiwater_rss_bytes", 0.5);
	assert_false(row_of(&c, SECTION_PRIMARY, "a", "hiwater_rss_bytes")->has_rate_before);
	comparison_end(&c);
}

/* The sum of two delays: 0.2 s in each second, then 0.3. */
TEST(a_derived_total)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 100, "a", METRIC_cpu_delay_total_ns, 10 * SECOND, 12 * SECOND);
	build_number(snapshot_thread(c.before[0], 0), METRIC_blkio_delay_total_ns, 10 * SECOND);
	build_number(snapshot_thread(c.after[0], 0), METRIC_blkio_delay_total_ns, 11 * SECOND);
	comparison_run(&c);
	expect_change(&c, SECTION_PRIMARY, "a", "total_offcpu_delay_ns", 0.5);
	comparison_end(&c);
}

/* States are known since a thread is watched. */
TEST(states_that_were_watched)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 900, "a", METRIC_state_lock_ns, 10 * SECOND, 12 * SECOND);
	build_number(snapshot_thread(c.before[0], 0), METRIC_state_watched_ns, 100 * SECOND);
	build_number(snapshot_thread(c.after[0], 0), METRIC_state_watched_ns, 110 * SECOND);
	lived(&c, 2, 900, "b", METRIC_state_lock_ns, SECOND, 2 * SECOND);
	build_number(snapshot_thread(c.before[0], 1), METRIC_state_watched_ns, 2 * SECOND);
	build_number(snapshot_thread(c.after[0], 1), METRIC_state_watched_ns, 12 * SECOND);
	comparison_run(&c);
	expect_change(&c, SECTION_THREAD_STATES, "a", "state_lock_ns", 1);
	expect_no_change(&c, SECTION_THREAD_STATES, "b", "state_lock_ns");
	comparison_end(&c);
}

/* The host is up for 1000 s: 50 interrupts in each, then 100. Cgroups do not say how old they are.
 */
TEST(the_host_and_cgroups)
{
	struct comparison c;
	struct counter_set *set;

	begin(&c);
	lived(&c, 1, 100, "a", RUN, 1, 2);
	set = build_counters(c.before[0], COUNTERS_KERNEL, "");
	build_count(c.before[0], &set->counts, "interrupts", 50000);
	set = build_counters(c.after[0], COUNTERS_KERNEL, "");
	build_count(c.after[0], &set->counts, "interrupts", 51000);
	for (int i = 0; i < 2; i++) {
		struct cgroup_counters *cgroup = build_cgroup(i ? c.after[0] : c.before[0], "/a");

		cgroup->cpu.usage_usec = reading_of(1000 + (uint64_t)i);
		cgroup->cpu.nr_throttled = reading_of((uint64_t)i);
	}
	comparison_run(&c);
	expect_change(&c, SECTION_HOST_COUNTERS, "kernel", "interrupts", 1);
	c.view.axis = &group_axes[AXIS_CGROUP];
	comparison_run(&c);
	expect_no_change(&c, SECTION_CGROUP_STATS, "/a", "cpu.usage");
	expect_change(&c, SECTION_CGROUP_STATS, "/a", "cpu.nr_throttled", HUGE_VAL);
	comparison_end(&c);
}

/* A program finds the rate, and a share of the total; so do conditions, and tables with one. */
TEST(programs_and_conditions)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 100, "a", RUN, 10 * SECOND, 12 * SECOND);
	c.view.people = false;
	comparison_run(&c);
	assert_false(c.report->against_rates);
	expect_change(&c, SECTION_PRIMARY, "a", "run_time_ns", 0.2);
	assert_true(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->has_rate_before);
	expect_real(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->rate_before,
		    (double)SECOND / 10);
	c.view.people = true;
	comparison_conditions(&c, "run_time_ns > 50%");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_HOLDS);
	expect_change(&c, SECTION_PRIMARY, "a", "run_time_ns", 0.2);
	comparison_end(&c);
}

/* Totals of lives are compared with totals, and so is what has no time in between. */
TEST(no_window_no_rate)
{
	struct comparison c;

	begin(&c);
	lived(&c, 1, 100, "a", RUN, 10 * SECOND, 12 * SECOND);
	c.view.window = false;
	comparison_run(&c);
	assert_false(c.report->has_rates);
	expect_change(&c, SECTION_PRIMARY, "a", "run_time_ns", 0.2);
	c.view.window = true;
	comparison_swap(&c);
	comparison_run(&c);
	assert_false(c.report->has_rates);
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(shares_are_of_the_rate_before), cmocka_unit_test(what_did_nothing),
	   cmocka_unit_test(values_that_do_not_add_up), cmocka_unit_test(a_derived_total),
	   cmocka_unit_test(states_that_were_watched), cmocka_unit_test(the_host_and_cgroups),
	   cmocka_unit_test(programs_and_conditions), cmocka_unit_test(no_window_no_rate))
