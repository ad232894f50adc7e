/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of rows and of groups, and what a limit cuts.
 */
#include "compare/row.h"

#include <math.h>

#include "unit/compare_scene.h"

/* --- by change --- */

/* Blocks of times, bytes, counts, others, and what has no number. In each the largest first. */
TEST(blocks_of_one_dimension)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_run_time_ns, 0, 30);
	grow(&c, 2, "b", METRIC_run_time_ns, 40, 0);
	grow(&c, 1, "a", METRIC_utime_clock_ticks, 5, 6); /* 10 ms are more than 40 ns */
	grow(&c, 1, "a", METRIC_wchar, 0, 5);
	grow(&c, 2, "b", METRIC_rchar, 7, 1);
	grow(&c, 1, "a", METRIC_majflt, 0, 5);
	grow(&c, 1, "a", METRIC_rt_priority, 0, 99);
	build_label(c.before[0], snapshot_thread(c.before[0], 0), METRIC_policy, "RR");
	build_label(c.after[0], snapshot_thread(c.after[0], 0), METRIC_policy, "FIFO");
	only_metrics(&c, METRIC_run_time_ns, METRIC_utime_clock_ticks, METRIC_wchar, METRIC_rchar,
		     METRIC_majflt, METRIC_rt_priority, METRIC_policy, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "a.utime_clock_ticks b.run_time_ns a.run_time_ns | b.rchar a.wchar | a.majflt "
		    "| a.rt_priority | a.policy");
	c.view.order = ORDER_DELTA;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "a.utime_clock_ticks b.run_time_ns a.run_time_ns | b.rchar a.wchar | a.majflt "
		    "| a.rt_priority | a.policy");
	comparison_end(&c);
}

/* By name of the group, then as the registry has them (wchar after rchar). */
TEST(ties)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "b", METRIC_wchar, 0, 5);
	grow(&c, 1, "b", METRIC_rchar, 5, 0);
	grow(&c, 2, "a", METRIC_wchar, 5, 0);
	grow(&c, 2, "a", METRIC_rchar, 0, 5);
	grow(&c, 3, "B", METRIC_rchar, 0, 5);
	only_metrics(&c, METRIC_wchar, METRIC_rchar, -1);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "B.rchar a.rchar a.wchar b.rchar b.wchar");
	comparison_end(&c);
}

TEST(limits_are_of_a_block)
{
	struct comparison c;
	const struct report_section *section;

	comparison_begin(&c);
	for (uint32_t i = 0; i < 5; i++) {
		char name[2] = { (char)('a' + i), 0 };

		grow(&c, i + 1, name, METRIC_wchar, 0, i + 1);
		grow(&c, i + 1, name, METRIC_run_time_ns, 0, 10 - i);
	}
	only_metrics(&c, METRIC_wchar, METRIC_run_time_ns, -1);
	c.view.limit = 2;
	comparison_run(&c);
	section = &c.report->sections[SECTION_PRIMARY];
	expect_rows(&c, SECTION_PRIMARY, "a.run_time_ns b.run_time_ns | e.wchar d.wchar");
	assert_int_equal(section->row_groups[DIMENSION_TIME].left_out, 3);
	assert_int_equal(section->row_groups[DIMENSION_BYTES].left_out, 3);
	assert_int_equal(section->row_groups[DIMENSION_COUNT].left_out, 0);
	c.view.limit = 5;
	comparison_run(&c);
	assert_int_equal(c.report->sections[SECTION_PRIMARY].row_groups[DIMENSION_BYTES].left_out,
			 0);
	comparison_end(&c);
}

/* Many more rows than the limit, which are cut while they come: none is lost or counted twice. */
TEST(a_limit_far_below_the_rows)
{
	enum { ROWS = 30000 };
	static struct ctprof_snapshot *s;
	struct measure measure = { .name = "m", .unit = UNIT_BYTES };
	struct view view;
	struct report_section section = { .id = SECTION_PRIMARY };
	const struct name *name;

	s = build_snapshot();
	name = snapshot_name(s, TEXT("g"));
	view_init(&view);
	view.limit = 3;
	for (uint32_t i = 0; i < ROWS; i++) {
		/* Every number once, in no order. */
		uint32_t value = (uint32_t)((uint64_t)i * 7919 % ROWS);
		struct row row = { .measure = &measure,
				   .group = name,
				   .number = i,
				   .before = datum_number(0),
				   .after = datum_number(value) };

		datum_compare(&row.before, &row.after, &row.change);
		assert_true(report_section_add(&section, &view, true, row));
	}
	report_section_finish(&section, &view);
	assert_int_equal(section.row_groups[DIMENSION_BYTES].count, 3);
	for (uint32_t i = 0; i < 3; i++)
		expect_whole(&section.row_groups[DIMENSION_BYTES].items[i].after, ROWS - 1 - i);
	assert_int_equal(section.row_groups[DIMENSION_BYTES].left_out,
			 ROWS - 1 - 3); /* 0 is hidden */
	report_section_deinit(&section);
	view_deinit(&view);
	snapshot_destroy(s);
}

/* --- by percent --- */

/* One block. From zero comes first, of those the larger first; no number comes last. */
TEST(order_by_percent)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_wchar, 100, 150);
	grow(&c, 2, "b", METRIC_wchar, 1000, 1100);
	grow(&c, 3, "c", METRIC_wchar, 0, 1);
	grow(&c, 4, "d", METRIC_wchar, 0, 2);
	grow(&c, 1, "a", METRIC_run_time_ns, 100, 20);
	grow(&c, 1, "a", METRIC_voluntary_csw, 1, 1);
	grow(&c, 1, "a", METRIC_nonvoluntary_csw, 0, 1);
	build_label(c.before[0], snapshot_thread(c.before[0], 0), METRIC_policy, "RR");
	build_label(c.after[0], snapshot_thread(c.after[0], 0), METRIC_policy, "FIFO");
	only_metrics(&c, METRIC_wchar, METRIC_run_time_ns, METRIC_policy, -1);
	c.view.order = ORDER_PERCENT;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "d.wchar c.wchar a.run_time_ns a.wchar b.wchar | a.policy");
	expect_real(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->change.share, -0.8);
	assert_true(isinf(row_of(&c, SECTION_PRIMARY, "c", "wchar")->change.share));
	comparison_end(&c);
}

/* However the rows come in: ranks must not go round in a circle. These three have equal shares, two
 * of them one unit. */
static void check_shares(uint64_t before, uint64_t after_a, uint64_t after_b, uint64_t after_c,
			 double share)
{
	static const unsigned orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct ctprof_snapshot *s = build_snapshot();
	const struct measure times = { .name = "t", .number = 1, .unit = UNIT_NS };
	const struct measure bytes = { .name = "b", .number = 2, .unit = UNIT_BYTES };
	struct row rows[3] = {
		{ .measure = &times, .group = snapshot_name(s, TEXT("a")), .number = 1 },
		{ .measure = &bytes, .group = snapshot_name(s, TEXT("b")), .number = 2 },
		{ .measure = &times, .group = snapshot_name(s, TEXT("c")), .number = 3 },
	};
	const uint64_t after[] = { after_a, after_b, after_c };
	char first[4] = "", text[4] = "";
	struct view view;

	view_init(&view);
	view.order = ORDER_PERCENT;
	for (size_t i = 0; i < 3; i++) {
		/* The smaller ones rose from less, by the same share. */
		rows[i].before = datum_number(before ? (__int128)(after[i] / (1 + share)) : 0);
		rows[i].after = datum_number(after[i]);
		datum_compare(&rows[i].before, &rows[i].after, &rows[i].change);
		assert_true(isinf(share) ? isinf(rows[i].change.share)
					 : rows[i].change.share == share);
	}
	for (size_t o = 0; o < 6; o++) {
		struct report_section section = { .id = SECTION_PRIMARY };

		for (size_t i = 0; i < 3; i++)
			assert_true(report_section_add(&section, &view, true, rows[orders[o][i]]));
		report_section_finish(&section, &view);
		for (size_t i = 0; i < 3; i++)
			text[i] = section.row_groups[0].items[i].group->bytes[0];
		if (!o)
			strcpy(first, text);
		assert_string_equal(text, first);
		report_section_deinit(&section);
	}
	view_deinit(&view);
	snapshot_destroy(s);
}

TEST(equal_shares_of_several_units)
{
	check_shares(0, 1, 5, 10, HUGE_VAL);
	check_shares(1, 20, 60, 200, 1);
}

/* --- by share of the host's change --- */

/* The host ran 100 ns more, of which 30 are of a group that is new. */
TEST(shares_of_the_host)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_run_time_ns, 10, 70);
	grow(&c, 2, "b", METRIC_run_time_ns, 10, 20);
	build_number(live(c.after[0], 3, 3, 10, "new"), METRIC_run_time_ns, 30);
	grow(&c, 1, "a", METRIC_wchar, 5, 5);
	grow(&c, 2, "b", METRIC_wchar, 5, 6);
	build_number(snapshot_thread(c.after[0], 2), METRIC_wchar, 3);
	grow(&c, 1, "a", METRIC_wait_max, 5, 9);
	only_metrics(&c, METRIC_run_time_ns, METRIC_wchar, METRIC_wait_max, -1);
	c.view.shares = true;
	c.view.order = ORDER_SHARE;
	comparison_run(&c);
	/* 60 %, 25 %, 10 %, 0 %; a peak has none. */
	expect_rows(&c, SECTION_PRIMARY, "a.run_time_ns b.wchar b.run_time_ns a.wchar a.wait_max");
	expect_real(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->host_share, 0.6);
	expect_real(row_of(&c, SECTION_PRIMARY, "b", "run_time_ns")->host_share, 0.1);
	expect_real(row_of(&c, SECTION_PRIMARY, "b", "wchar")->host_share, 0.25);
	assert_false(row_of(&c, SECTION_PRIMARY, "a", "wait_max")->has_host_share);
	comparison_end(&c);
}

/* Of no change there are no shares; nor where the host's is not known. */
TEST(shares_of_nothing)
{
	struct comparison c;

	comparison_begin(&c);
	grow(&c, 1, "a", METRIC_run_time_ns, 10, 20);
	grow(&c, 2, "b", METRIC_run_time_ns, 20, 10);
	grow(&c, 1, "a", METRIC_wchar, 10, 20);
	only_metrics(&c, METRIC_run_time_ns, METRIC_wchar, -1);
	c.view.shares = true;
	comparison_run(&c);
	assert_false(row_of(&c, SECTION_PRIMARY, "a", "run_time_ns")->has_host_share);
	assert_false(row_of(&c, SECTION_PRIMARY, "a", "wchar")->has_host_share);
	comparison_end(&c);
}

/* --- groups by metrics --- */

static void make_ranked(struct comparison *c)
{
	comparison_begin(c);
	grow(c, 1, "a", METRIC_wchar, 10, 15);       /* +5 */
	grow(c, 2, "b", METRIC_wchar, 10, 0);        /* -10 */
	grow(c, 3, "c", METRIC_wchar, 0, 20);        /* +20 */
	grow(c, 4, "d", METRIC_wchar, 7, 12);        /* +5 */
	grow(c, 5, "e", METRIC_minflt, 1, 2);        /* not measured */
	grow(c, 1, "a", METRIC_run_time_ns, 1, 2);   /* +1 */
	grow(c, 4, "d", METRIC_run_time_ns, 1, 200); /* +199 */
	only_metrics(c, METRIC_wchar, METRIC_run_time_ns, METRIC_minflt, -1);
	c->view.order = ORDER_GROUPS;
	c->view.sort_count = 1;
	c->view.sort[0] = (struct sort_key){ METRIC_wchar, false };
}

/* Rows of a group stay as the registry has them; who has no value comes last in either direction.
 */
TEST(groups_by_a_metric)
{
	struct comparison c;

	make_ranked(&c);
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "c.wchar a.run_time_ns a.wchar d.run_time_ns d.wchar b.wchar e.minflt");
	c.view.sort[0].ascending = true;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "b.wchar a.run_time_ns a.wchar d.run_time_ns d.wchar c.wchar e.minflt");
	comparison_end(&c);
}

TEST(groups_by_several_metrics)
{
	struct comparison c;

	make_ranked(&c);
	c.view.sort_count = 2;
	c.view.sort[1] = (struct sort_key){ METRIC_run_time_ns, false };
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "c.wchar d.run_time_ns d.wchar a.run_time_ns a.wchar b.wchar e.minflt");
	/* Without a value comes last, also as the first of two. */
	c.view.sort[0] = (struct sort_key){ METRIC_run_time_ns, true };
	c.view.sort[1] = (struct sort_key){ METRIC_wchar, true };
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "a.run_time_ns a.wchar d.run_time_ns d.wchar b.wchar c.wchar e.minflt");
	comparison_end(&c);
}

/* By one that is not shown, and by a derived one. */
TEST(groups_by_a_hidden_column)
{
	struct comparison c;

	make_ranked(&c);
	only_metrics(&c, METRIC_minflt, METRIC_run_time_ns, -1);
	c.view.limit = 2;
	comparison_run(&c);
	/* "c" and "b" have no row to show. */
	expect_rows(&c, SECTION_PRIMARY, "a.run_time_ns d.run_time_ns");
	assert_int_equal(c.report->sections[SECTION_PRIMARY].groups_left_out, 1);
	grow(&c, 1, "a", METRIC_timeslices, 1, 1);   /* 2 ns less 1 ns: +1 */
	grow(&c, 4, "d", METRIC_timeslices, 1, 100); /* 2 ns less 1 ns, too */
	grow(&c, 5, "e", METRIC_timeslices, 1, 1);
	grow(&c, 5, "e", METRIC_run_time_ns, 1, 9); /* +8 */
	c.view.sort[0].metric = METRIC_COUNT + DERIVED_ID_avg_slice_ns;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "e.run_time_ns e.minflt a.run_time_ns");
	assert_int_equal(c.report->sections[SECTION_PRIMARY].groups_left_out, 1);
	comparison_end(&c);
}

/* One snapshot is ranked by what it has now; without a rank, by name. */
TEST(groups_of_one_snapshot)
{
	struct comparison c;

	make_ranked(&c);
	comparison_alone(&c);
	c.view.all_rows = false;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY,
		    "c.wchar a.run_time_ns a.wchar d.run_time_ns d.wchar b.wchar e.minflt");
	c.view.order = ORDER_USUAL;
	c.view.sort_count = 0;
	comparison_run(&c);
	/* Of one snapshot, a measured zero is shown. */
	expect_rows(&c, SECTION_PRIMARY,
		    "a.run_time_ns a.wchar b.wchar c.wchar d.run_time_ns d.wchar e.minflt");
	c.view.limit = 2;
	comparison_run(&c);
	expect_rows(&c, SECTION_PRIMARY, "a.run_time_ns a.wchar b.wchar");
	assert_int_equal(c.report->sections[SECTION_PRIMARY].groups_left_out, 3);
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(blocks_of_one_dimension), cmocka_unit_test(ties),
	   cmocka_unit_test(limits_are_of_a_block), cmocka_unit_test(a_limit_far_below_the_rows),
	   cmocka_unit_test(order_by_percent), cmocka_unit_test(equal_shares_of_several_units),
	   cmocka_unit_test(shares_of_the_host), cmocka_unit_test(shares_of_nothing),
	   cmocka_unit_test(groups_by_a_metric), cmocka_unit_test(groups_by_several_metrics),
	   cmocka_unit_test(groups_by_a_hidden_column), cmocka_unit_test(groups_of_one_snapshot))
