/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What cgroups and processes say of themselves, and how several become one.
 */
#include "compare/report.h"

#include <stdio.h>

#include "unit/compare_scene.h"

#define POD "/pod*"

static const struct reading no_limit = { .measured = true, .unlimited = true };

/* Grouped by cgroup, "/pod1", "/pod2" ... being one. */
static void begin(struct comparison *c)
{
	comparison_begin(c);
	c->view.axis = &group_axes[AXIS_CGROUP];
	assert_true(array_push(&c->view.keys.cgroups.flatten, POD));
}

static struct cgroup_counters *pod(struct ctprof_snapshot *s, unsigned number)
{
	char path[16];

	snprintf(path, sizeof(path), "/pod%u", number);
	return build_cgroup(s, path);
}

/* One row of the merged cgroup on the side of the candidate. */
static const struct datum *merged(const struct comparison *c, enum section section,
				  const char *measure)
{
	return &row_of(c, section, POD, measure)->after;
}

/* --- cgroups that go by one name --- */

TEST(counters_add_up)
{
	struct comparison c;

	begin(&c);
	for (unsigned i = 1; i <= 3; i++) {
		struct cgroup_counters *cgroup = pod(c.after[0], i);

		cgroup->cpu.usage_usec = reading_of(i * 100);
		cgroup->cpu.nr_throttled = reading_of(i);
		cgroup->cpu.throttled_usec = reading_of(i * 10);
		cgroup->pids.current = reading_of(i);
		cgroup->memory.current = reading_of(i * 4096);
		cgroup->memory.swap.current = cgroup->memory.swap.peak = reading_of(i * 512);
		cgroup->memory.peak = reading_of(i * 8192);
		cgroup->io.rbytes = cgroup->io.dbytes = reading_of(i * 1000);
		cgroup->io.wios = reading_of(i * 2);
	}
	pod(c.before[0], 7)->cpu.usage_usec = reading_of(50);
	c.before[0]->cgroups.items[0].io.rbytes = reading_of(4000);
	comparison_run(&c);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "cpu.usage"), 600);
	expect_delta(&c, SECTION_CGROUP_STATS, POD, "cpu.usage", 550);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "cpu.nr_throttled"), 6);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "cpu.throttled"), 60);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "pids.current"), 6);
	expect_delta(&c, SECTION_CGROUP_STATS, POD, "io.rbytes", 2000);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "io.dbytes"), 6000);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "io.wios"), 12);
	expect_no_row(&c, SECTION_CGROUP_STATS, POD, "io.wbytes");
	/* Pages may be shared: the largest. */
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "memory.current"), 3 * 4096);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "memory.peak"), 3 * 8192);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "memory.swap.current"), 3 * 512);
	expect_whole(merged(&c, SECTION_CGROUP_STATS, "memory.swap.peak"), 3 * 512);
	comparison_end(&c);
}

/* Exact, beyond 64 bits. */
TEST(sums_of_cgroups_do_not_saturate)
{
	struct comparison c;

	begin(&c);
	for (unsigned i = 1; i <= 3; i++)
		pod(c.after[0], i)->cpu.usage_usec = reading_of(UINT64_MAX);
	pod(c.before[0], 1)->cpu.usage_usec = reading_of(1);
	comparison_run(&c);
	assert_true(merged(&c, SECTION_CGROUP_STATS, "cpu.usage")->number ==
		    (__int128)UINT64_MAX * 3);
	assert_true(row_of(&c, SECTION_CGROUP_STATS, POD, "cpu.usage")->change.twice ==
		    ((__int128)UINT64_MAX * 3 - 1) * 2);
	comparison_end(&c);
}

/* Of limits the largest, and none where one has none: whichever comes first. */
static void check_limits(bool unlimited, bool first)
{
	static const char *const names[] = { "cpu.max.quota", "memory.max", "memory.high",
					     "memory.swap.max", "pids.max" };
	struct comparison c;

	begin(&c);
	for (unsigned i = 1; i <= 3; i++) {
		struct reading limit = reading_of(i == 2 ? 900 : 100 * i);
		struct cgroup_counters *cgroup = pod(c.after[0], i);

		if (unlimited && i == (first ? 1 : 3))
			limit = no_limit;
		cgroup->cpu.max_quota_us = cgroup->memory.max = limit;
		cgroup->memory.high = cgroup->memory.swap.max = cgroup->pids.max = limit;
		cgroup->cpu.max_period_us = reading_of(i * 1000);
		cgroup->cpu.weight = reading_of(i == 1 ? 500 : 100);
	}
	comparison_run(&c);
	for (size_t i = 0; i < array_length(names); i++) {
		const struct datum *limit = merged(&c, SECTION_CGROUP_LIMITS, names[i]);

		if (unlimited)
			assert_int_equal(limit->kind, DATUM_UNLIMITED);
		else
			expect_whole(limit, 900);
	}
	expect_whole(merged(&c, SECTION_CGROUP_LIMITS, "cpu.max.period"), 3000);
	expect_whole(merged(&c, SECTION_CGROUP_LIMITS, "cpu.weight"), 500);
	comparison_end(&c);
}

TEST(limits)
{
	check_limits(false, false);
	check_limits(true, true);
	check_limits(true, false);
}

/* Of protections the smallest: that much is sure in each. "max" is more than any number. */
TEST(protections)
{
	struct comparison c;

	begin(&c);
	for (unsigned i = 1; i <= 3; i++) {
		struct cgroup_counters *cgroup = pod(c.after[0], i);

		cgroup->memory.low = reading_of(i == 2 ? 10 : 100 * i);
		cgroup->memory.min = reading_of(i == 1 ? UINT64_MAX : 4096 * i);
	}
	comparison_run(&c);
	expect_whole(merged(&c, SECTION_CGROUP_LIMITS, "memory.low"), 10);
	expect_whole(merged(&c, SECTION_CGROUP_LIMITS, "memory.min"), 8192);
	comparison_end(&c);
}

/* Protected without a bound: nobody should read that as a size of 16 EiB. */
TEST(protections_without_a_bound)
{
	struct comparison c;

	begin(&c);
	pod(c.before[0], 1)->memory.low = reading_of(0);
	pod(c.after[0], 1)->memory.low = reading_of(UINT64_MAX);
	comparison_run(&c);
	assert_int_equal(merged(&c, SECTION_CGROUP_LIMITS, "memory.low")->kind, DATUM_UNLIMITED);
	expect_no_delta(&c, SECTION_CGROUP_LIMITS, POD, "memory.low");
	comparison_end(&c);
}

/* A limit that was lifted, or set, is a change without a number; the same one is none. */
TEST(limits_that_come_and_go)
{
	struct comparison c;

	begin(&c);
	pod(c.before[0], 1)->memory.max = reading_of(1 << 20);
	pod(c.after[0], 1)->memory.max = no_limit;
	c.before[0]->cgroups.items[0].pids.max = no_limit;
	c.after[0]->cgroups.items[0].pids.max = no_limit;
	c.before[0]->cgroups.items[0].memory.high = reading_of(5);
	c.after[0]->cgroups.items[0].memory.high = reading_of(9);
	comparison_run(&c);
	expect_no_delta(&c, SECTION_CGROUP_LIMITS, POD, "memory.max");
	assert_true(row_of(&c, SECTION_CGROUP_LIMITS, POD, "memory.max")->change.differs);
	expect_no_row(&c, SECTION_CGROUP_LIMITS, POD, "pids.max");
	expect_delta(&c, SECTION_CGROUP_LIMITS, POD, "memory.high", 4);
	comparison_end(&c);
}

TEST(a_negative_weight)
{
	struct comparison c;

	begin(&c);
	pod(c.before[0], 1)->cpu.weight_nice = reading_of((uint64_t)-20);
	pod(c.after[0], 1)->cpu.weight_nice = reading_of((uint64_t)-5);
	pod(c.after[0], 2)->cpu.weight_nice = reading_of((uint64_t)-6);
	comparison_run(&c);
	expect_whole(merged(&c, SECTION_CGROUP_LIMITS, "cpu.weight.nice"), -5);
	expect_delta(&c, SECTION_CGROUP_LIMITS, POD, "cpu.weight.nice", 15);
	comparison_end(&c);
}

/* A file that one member lacks leaves a part; one that all lack, nothing. */
TEST(members_that_lack_a_file)
{
	struct comparison c;
	const struct row *row;

	begin(&c);
	pod(c.before[0], 1)->cpu.usage_usec = reading_of(5);
	pod(c.after[0], 1)->cpu.usage_usec = reading_of(7);
	pod(c.after[0], 2);
	comparison_run(&c);
	row = row_of(&c, SECTION_CGROUP_STATS, POD, "cpu.usage");
	assert_true(row->after.partial);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.threads, 2);
	assert_true(row->after.number == 7);
	expect_no_delta(&c, SECTION_CGROUP_STATS, POD, "cpu.usage");
	expect_no_row(&c, SECTION_CGROUP_STATS, POD, "memory.current");
	comparison_end(&c);
}

/* --- memory.stat and memory.events --- */

TEST(memory_stat_has_sizes_and_events)
{
	static const char *const sizes[] = {
		"anon",        "file",     "kernel_stack",    "shmem",
		"file_mapped", "anon_thp", "inactive_anon",   "active_file",
		"unevictable", "slab",     "slab_reclaimable"
	};
	static const char *const events[] = {
		"pgfault",    "pgmajfault",      "workingset_refault_anon",
		"pgscan",     "thp_fault_alloc", "workingset_activate_file",
		"pgactivate", "zswpin",          "some_new_count"
	};
	struct comparison c;

	begin(&c);
	for (unsigned n = 1; n <= 2; n++) {
		struct counts counts = { 0 };

		for (size_t i = 0; i < array_length(sizes); i++)
			build_count(c.after[0], &counts, sizes[i], n * 100);
		for (size_t i = 0; i < array_length(events); i++)
			build_count(c.after[0], &counts, events[i], n * 100);
		pod(c.after[0], n)->memory.stat = counts;
	}
	comparison_run(&c);
	for (size_t i = 0; i < array_length(sizes); i++) {
		const struct row *row = row_of(&c, SECTION_MEMORY_STAT, POD, sizes[i]);

		expect_whole(&row->after, 200);
		assert_int_equal(row->measure->unit, UNIT_BYTES);
		assert_false(row->measure->is_total);
	}
	for (size_t i = 0; i < array_length(events); i++) {
		const struct row *row = row_of(&c, SECTION_MEMORY_STAT, POD, events[i]);

		expect_whole(&row->after, 300);
		assert_int_equal(row->measure->unit, UNIT_COUNT);
		assert_true(row->measure->is_total);
	}
	comparison_end(&c);
}

TEST(memory_events_add_up)
{
	struct comparison c;

	begin(&c);
	build_count(c.before[0], &pod(c.before[0], 1)->memory.events, "oom_kill", 1);
	build_count(c.after[0], &pod(c.after[0], 1)->memory.events, "oom_kill", 3);
	build_count(c.after[0], &pod(c.after[0], 2)->memory.events, "oom_kill", 4);
	build_count(c.after[0], &c.after[0]->cgroups.items[1].memory.events, "low", 4);
	comparison_run(&c);
	expect_delta(&c, SECTION_MEMORY_EVENTS, POD, "oom_kill", 6);
	/* One of two has it. */
	assert_true(merged(&c, SECTION_MEMORY_EVENTS, "low")->partial);
	comparison_end(&c);
}

/* --- pressure --- */

/* The largest average, and the sum of the times. */
TEST(pressure_of_cgroups)
{
	struct comparison c;

	begin(&c);
	for (unsigned i = 1; i <= 2; i++) {
		struct cgroup_counters *cgroup = pod(c.after[0], i);

		cgroup->psi.memory.some.avg10 = reading_of(150 * i);
		cgroup->psi.memory.some.total_usec = reading_of(1000 * i);
		cgroup->psi.io.full.avg300 = reading_of(0);
	}
	pod(c.before[0], 1)->psi.memory.some.avg10 = reading_of(100);
	c.before[0]->cgroups.items[0].psi.memory.some.total_usec = reading_of(500);
	c.before[0]->cgroups.items[0].psi.io.full.avg300 = reading_of(0);
	comparison_run(&c);
	expect_delta(&c, SECTION_PRESSURE, POD, "memory.some.avg10", 200);
	expect_delta(&c, SECTION_PRESSURE, POD, "memory.some.total", 2500);
	expect_no_row(&c, SECTION_PRESSURE, POD, "io.full.avg300");
	assert_int_equal(row_of(&c, SECTION_PRESSURE, POD, "memory.some.avg10")->measure->unit,
			 UNIT_PERCENT);
	comparison_end(&c);
}

/* --- which cgroups --- */

TEST(cgroups_of_one_side_and_without_threads)
{
	struct comparison c;

	comparison_begin(&c);
	c.view.axis = &group_axes[AXIS_CGROUP];
	build_cgroup(c.before[0], "/both")->cpu.usage_usec = reading_of(5);
	build_cgroup(c.before[0], "/old")->cpu.usage_usec = reading_of(6);
	build_cgroup(c.after[0], "/both")->cpu.usage_usec = reading_of(7);
	build_cgroup(c.after[0], "/run-8.scope")->cpu.usage_usec = reading_of(8);
	build_cgroup(c.before[0], "/run-9.scope")->cpu.usage_usec = reading_of(9);
	comparison_run(&c);
	expect_delta(&c, SECTION_CGROUP_STATS, "/both", "cpu.usage", 2);
	expect_no_delta(&c, SECTION_CGROUP_STATS, "/old", "cpu.usage");
	expect_delta(&c, SECTION_CGROUP_STATS, "/run-{N}.scope", "cpu.usage", -1);
	c.view.keys.cgroups.literal = true;
	comparison_run(&c);
	expect_no_delta(&c, SECTION_CGROUP_STATS, "/run-8.scope", "cpu.usage");
	expect_no_delta(&c, SECTION_CGROUP_STATS, "/run-9.scope", "cpu.usage");
	/* Chosen by name. */
	assert_true(array_push(&c.view.match, "/b*"));
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_CGROUP_STATS), "/both.cpu.usage");
	comparison_end(&c);
}

TEST(cgroup_sections_need_that_axis)
{
	struct comparison c;

	begin(&c);
	pod(c.before[0], 1)->cpu.usage_usec = reading_of(5);
	pod(c.after[0], 1)->cpu.usage_usec = reading_of(7);
	for (enum axis_id axis = 0; axis < GROUP_AXIS_COUNT; axis++) {
		c.view.axis = &group_axes[axis];
		comparison_run(&c);
		for (enum section i = SECTION_CGROUP_STATS; i <= SECTION_PRESSURE; i++)
			assert_int_equal(report_has(c.report, i), axis == AXIS_CGROUP);
		assert_int_equal(report_section_rows(&c.report->sections[SECTION_CGROUP_STATS]),
				 axis == AXIS_CGROUP);
	}
	c.view.axis = &group_axes[AXIS_CGROUP];
	c.view.sections = SECTIONS_ALL & ~(1u << SECTION_CGROUP_STATS);
	comparison_run(&c);
	assert_int_equal(report_section_rows(&c.report->sections[SECTION_CGROUP_STATS]), 0);
	comparison_end(&c);
}

/* Where groups are ranked by a metric of their threads, their cgroups stand in that order. */
TEST(cgroups_in_the_order_of_groups)
{
	struct comparison c;

	comparison_begin(&c);
	c.view.axis = &group_axes[AXIS_CGROUP];
	for (int i = 0; i < 2; i++) {
		struct ctprof_snapshot *s = i ? c.after[0] : c.before[0];

		build_number(live_in(s, 1, 1, 1, "p", "t", "/a"), METRIC_wchar, i ? 5 : 0);
		build_number(live_in(s, 2, 2, 1, "p", "t", "/b"), METRIC_wchar, i ? 9 : 0);
		build_cgroup(s, "/a")->cpu.usage_usec = reading_of(i ? 1000 : 1);
		build_cgroup(s, "/b")->cpu.usage_usec = reading_of(i ? 5 : 1);
		build_cgroup(s, "/c")->cpu.usage_usec = reading_of(i ? 7 : 1);
	}
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_CGROUP_STATS),
			    "/a.cpu.usage /c.cpu.usage /b.cpu.usage");
	c.view.order = ORDER_GROUPS;
	c.view.sort_count = 1;
	c.view.sort[0] = (struct sort_key){ METRIC_wchar, false };
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_CGROUP_STATS),
			    "/b.cpu.usage /a.cpu.usage /c.cpu.usage");
	comparison_end(&c);
}

/* --- memory of processes --- */

static void build_smaps(struct ctprof_snapshot *s, uint32_t tgid, const char *name, uint64_t rss,
			uint64_t pss)
{
	struct ctprof_thread *leader = live(s, tgid, tgid, 1, name);

	leader->smaps_rollup_kib = arena_alloc(&s->arena, sizeof(*leader->smaps_rollup_kib));
	*leader->smaps_rollup_kib = (struct counts){ 0 };
	build_count(s, leader->smaps_rollup_kib, "Rss", rss);
	build_count(s, leader->smaps_rollup_kib, "Pss", pss);
}

TEST(memory_of_processes)
{
	struct comparison c;

	comparison_begin(&c);
	build_smaps(c.before[0], 10, "pg-1", 100, 50);
	build_smaps(c.before[0], 11, "pg-1", 100, 50);
	build_smaps(c.after[0], 11, "pg-1", 130, 50);
	build_smaps(c.after[0], 12, "pg-1", 100, 50);
	build_smaps(c.after[0], 13, "single-7", 5, 0);
	live(c.after[0], 14, 14, 1, "pg-1"); /* has none */
	comparison_run(&c);
	expect_delta(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Rss", 30 * 1024);
	expect_whole(&row_of(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Rss")->after, 230 * 1024);
	/* What did not change, and processes that one side has not. */
	expect_no_row(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Pss");
	expect_no_row(&c, SECTION_SMAPS_ROLLUP, "single-7", "Rss");
	c.view.all_rows = true;
	comparison_run(&c);
	expect_delta(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Pss", 0);
	expect_no_row(&c, SECTION_SMAPS_ROLLUP, "single-7", "Rss");
	/* By another axis they stand in the group of their leader. */
	c.view.axis = &group_axes[AXIS_COMM];
	comparison_run(&c);
	expect_delta(&c, SECTION_SMAPS_ROLLUP, "pg-{N}", "Rss", 30 * 1024);
	expect_no_row(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Rss");
	c.view.axis = &group_axes[AXIS_PCOMM];
	/* Of one snapshot there is nobody to lack them. */
	comparison_alone(&c);
	comparison_run(&c);
	expect_whole(&row_of(&c, SECTION_SMAPS_ROLLUP, "single-7", "Rss")->after, 5 * 1024);
	comparison_end(&c);
}

/* Of three processes of one name, two say what they have of a kind. */
TEST(members_of_a_name)
{
	struct comparison c;
	const struct row *row;

	comparison_begin(&c);
	build_smaps(c.before[0], 10, "pg-1", 100, 50);
	build_smaps(c.after[0], 10, "pg-1", 130, 50);
	build_smaps(c.after[0], 11, "pg-1", 130, 50);
	build_smaps(c.after[0], 12, "pg-1", 130, 50);
	for (size_t i = 0; i < 2; i++)
		build_count(c.after[0], snapshot_thread(c.after[0], i)->smaps_rollup_kib, "Swap",
			    i);
	live(c.after[0], 13, 13, 1, "pg-1"); /* has none */
	comparison_run(&c);
	row = row_of(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Rss");
	assert_int_equal(row->before.threads, 1);
	assert_int_equal(row->before.measured, 1);
	assert_int_equal(row->after.threads, 3);
	assert_int_equal(row->after.measured, 3);
	row = row_of(&c, SECTION_SMAPS_ROLLUP, "pg-1", "Swap");
	assert_int_equal(row->after.threads, 3);
	assert_int_equal(row->after.measured, 2);
	assert_true(row->after.partial);
	comparison_end(&c);
}

/* Long lists that seldom change: of them, only what did. */
TEST(equal_rows_in_long_lists)
{
	struct comparison c;

	begin(&c);
	for (int i = 0; i < 2; i++) {
		struct ctprof_snapshot *s = i ? c.after[0] : c.before[0];
		struct cgroup_counters *cgroup = pod(s, 1);

		cgroup->memory.current = reading_of(4096);
		build_count(s, &cgroup->memory.stat, "anon", 4096);
		build_count(s, &cgroup->memory.stat, "file", i ? 8192 : 4096);
		build_count(s, &cgroup->memory.events, "high", 7);
		build_count(s, &cgroup->memory.events, "max", i ? 8 : 7);
	}
	for (int all = 0; all < 2; all++) {
		c.view.all_rows = all;
		comparison_run(&c);
		expect_delta(&c, SECTION_CGROUP_STATS, POD, "memory.current", 0);
		expect_delta(&c, SECTION_MEMORY_STAT, POD, "file", 4096);
		expect_delta(&c, SECTION_MEMORY_EVENTS, POD, "max", 1);
		assert_int_equal(!!find_row(&c, SECTION_MEMORY_STAT, POD, "anon"), all);
		assert_int_equal(!!find_row(&c, SECTION_MEMORY_EVENTS, POD, "high"), all);
	}
	/* Of one snapshot all of it is new. */
	c.view.all_rows = false;
	comparison_alone(&c);
	comparison_run(&c);
	row_of(&c, SECTION_MEMORY_STAT, POD, "anon");
	row_of(&c, SECTION_MEMORY_EVENTS, POD, "high");
	comparison_end(&c);
}

/* Of one snapshot: the largest first. */
TEST(memory_of_one_snapshot)
{
	struct comparison c;

	comparison_begin(&c);
	build_smaps(c.after[0], 1, "a", 5, 0);
	build_smaps(c.after[0], 2, "b", 50, 7);
	build_smaps(c.after[0], 3, "c", 5, 3);
	comparison_alone(&c);
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_SMAPS_ROLLUP), "b.Rss b.Pss a.Rss c.Rss c.Pss");
	c.view.limit = 1;
	comparison_run(&c);
	assert_string_equal(rows_text(&c, SECTION_SMAPS_ROLLUP), "b.Rss b.Pss");
	assert_int_equal(c.report->sections[SECTION_SMAPS_ROLLUP].groups_left_out, 2);
	comparison_end(&c);
}

/* As many KiB as no machine has. */
TEST(memory_beyond_all_bounds)
{
	struct comparison c;

	comparison_begin(&c);
	build_smaps(c.before[0], 1, "a", 0, 0);
	build_smaps(c.after[0], 1, "a", UINT64_MAX / 2, 0);
	comparison_run(&c);
	assert_true(row_of(&c, SECTION_SMAPS_ROLLUP, "a", "Rss")->after.number == UINT64_MAX);
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(counters_add_up), cmocka_unit_test(sums_of_cgroups_do_not_saturate),
	   cmocka_unit_test(limits), cmocka_unit_test(protections),
	   cmocka_unit_test(protections_without_a_bound), cmocka_unit_test(limits_that_come_and_go),
	   cmocka_unit_test(a_negative_weight), cmocka_unit_test(members_that_lack_a_file),
	   cmocka_unit_test(memory_stat_has_sizes_and_events),
	   cmocka_unit_test(memory_events_add_up), cmocka_unit_test(pressure_of_cgroups),
	   cmocka_unit_test(cgroups_of_one_side_and_without_threads),
	   cmocka_unit_test(cgroup_sections_need_that_axis),
	   cmocka_unit_test(cgroups_in_the_order_of_groups), cmocka_unit_test(memory_of_processes),
	   cmocka_unit_test(members_of_a_name), cmocka_unit_test(equal_rows_in_long_lists),
	   cmocka_unit_test(memory_of_one_snapshot), cmocka_unit_test(memory_beyond_all_bounds))
