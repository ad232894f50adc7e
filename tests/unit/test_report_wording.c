/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/wording.h"

#include <stdlib.h>

#include "unit/compare_scene.h"

static struct comparison c;

static int setup(void **state)
{
	(void)state;
	comparison_begin(&c);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	comparison_end(&c);
	return 0;
}

/* The caller frees it. */
static char *printed(void (*print)(FILE *out, const struct report *report))
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	print(out, c.report);
	fclose(out);
	return text;
}

static void expect_head(const char *expected)
{
	_cleanup_free_ char *text = NULL;

	comparison_run(&c);
	text = printed(wording_head);
	assert_string_equal(text, expected);
}

/* --- above the tables --- */

/* Second 1700000000 is 2023-11-14 22:13:20, and that host was up for 1000 s by then. */
TEST(two_captures)
{
	live(c.before[0], 1, 1, 5, "p");
	live(c.before[0], 2, 2, 5, "p");
	live(c.after[0], 1, 1, 5, "p");
	c.before[0]->note = snapshot_name(c.before[0], TEXT("before the change"));
	expect_head("baseline: 2023-11-14 22:30:00 UTC, 2 threads, before "
		    "(before the change)\n"
		    "candidate: 2023-11-14 22:30:10 UTC, 1 thread, after\n"
		    "10.0 s apart, same boot\n"
		    "totals since each thread began (--window compares what happened in "
		    "between)\n");
}

TEST(one_capture)
{
	comparison_alone(&c);
	expect_head("snapshot: 2023-11-14 22:30:10 UTC, 0 threads, after\n");
}

TEST(the_other_way_round)
{
	comparison_swap(&c);
	expect_head("baseline: 2023-11-14 22:30:10 UTC, 0 threads, before\n"
		    "candidate: 2023-11-14 22:30:00 UTC, 0 threads, after\n"
		    "10.0 s apart, the candidate is the older one, same boot\n"
		    "totals since each thread began (--window compares what happened in "
		    "between)\n");
}

TEST(other_boots)
{
	build_host(c.after[0], "another boot", 500);
	comparison_run(&c);
	{
		_cleanup_free_ char *text = printed(wording_head);

		assert_non_null(strstr(text, "\n10.0 s apart, different boots"));
	}
}

TEST(an_unknown_distance)
{
	_cleanup_free_ char *text = NULL;

	c.before[0]->host = NULL;
	c.after[0]->captured_at_unix_ns = (struct reading){ 0 };
	comparison_run(&c);
	text = printed(wording_head);
	assert_non_null(strstr(text, "\ntime between them unknown\n"));
	assert_null(strstr(text, "boot"));
}

TEST(the_view_is_said)
{
	static const struct {
		enum normalize normalize;
		bool window;
		const char *line;
	} views[] = {
		{ NORMALIZE_NOT, true,
		  "what happened in between, of threads that both have (--lifetime compares "
		  "totals)\n" },
		{ NORMALIZE_NOT, false, "totals since each thread began (--window " },
		{ NORMALIZE_AGE, false, "totals are per second of a thread's life\n" },
		{ NORMALIZE_CPU, false, "totals are per second of CPU time\n" },
	};

	for (size_t i = 0; i < array_length(views); i++) {
		_cleanup_free_ char *text = NULL;

		c.view.normalize = views[i].normalize;
		c.view.window = views[i].window;
		comparison_run(&c);
		text = printed(wording_head);
		for (size_t k = 0; k < array_length(views); k++)
			assert_int_equal(strstr(text, views[k].line) != NULL, i == k);
	}
}

/* --- below them --- */

/* Of two groups, what one thread lacks is missing in part. */
TEST(coverage)
{
	_cleanup_free_ char *text = NULL;

	build_number(live(c.before[0], 1, 1, 5, "p"), METRIC_wchar, 1);
	live(c.before[0], 2, 2, 5, "q");
	for (uint32_t i = 1; i <= 2; i++)
		build_number(live(c.after[0], i, i, 5, i == 1 ? "p" : "q"), METRIC_wchar, 1);
	only_metrics(&c, METRIC_wchar, METRIC_rchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	comparison_run(&c);
	text = printed(wording_coverage);
	assert_string_equal(text,
			    "not measured: 1 metric (--unmeasured says why; see also ctprof "
			    "doctor)\n"
			    "baseline: measured in some threads only: 1 metric (--unmeasured says "
			    "why; see also ctprof doctor)\n");
	free(text);
	c.view.unmeasured = true;
	text = printed(wording_coverage);
	/* another number of the same file was read: its gate is open */
	assert_non_null(strstr(text, "not measured: rchar (the kernel does not show it)\n"));
	assert_non_null(strstr(text, "baseline: measured in some threads only: wchar ("));
}

/* Of several captures too. */
TEST(coverage_of_several_captures)
{
	_cleanup_free_ char *text = NULL;

	comparison_end(&c);
	comparison_begin_many(&c, 2, 2);
	for (size_t i = 0; i < 2; i++) {
		live(c.before[i], 1, 1, 5, "p");
		build_number(live(c.after[i], 1, 1, 5, "p"), METRIC_wchar, i);
	}
	only_metrics(&c, METRIC_wchar, METRIC_rchar, -1);
	c.view.sections = 1u << SECTION_PRIMARY;
	c.view.metrics_named = true;
	comparison_run(&c);
	text = printed(wording_coverage);
	assert_non_null(strstr(text, "not measured: rchar ("));
	assert_non_null(strstr(text, "baseline: not measured: wchar ("));
}

/* --- instead of them --- */

static void expect_nothing(const char *expected)
{
	comparison_run(&c);
	if (expected)
		assert_string_equal(wording_nothing(c.report), expected);
	else
		assert_null(wording_nothing(c.report));
}

TEST(why_there_are_no_rows)
{
	expect_nothing("no threads");
	live(c.before[0], 1, 1, 5, "p");
	live(c.after[0], 2, 2, 5, "q");
	expect_nothing("no group is in both");
	c.view.window = true;
	expect_nothing("no thread is in both");
	c.view.window = false;
	live(c.after[0], 3, 3, 5, "p");
	expect_nothing(NULL);
	only_metrics(&c, METRIC_wchar, -1);
	c.view.sections = 1u << SECTION_DERIVED | 1u << SECTION_TASKSTATS_DELAY;
	expect_nothing("no metric is in both --metrics and --sections");
	assert_true(array_push(&c.view.match, "nobody*"));
	expect_nothing("no group matches");
	/* what is not of threads is shown without them */
	c.view.sections = 1u << SECTION_HOST;
	expect_nothing(NULL);
}

static const char *empty(enum section section)
{
	comparison_run(&c);
	return wording_empty(c.report, section);
}

TEST(why_a_section_is_empty)
{
	live(c.before[0], 1, 1, 5, "p");
	live(c.after[0], 1, 1, 5, "p");
	assert_string_equal(empty(SECTION_PRIMARY), "nothing changed");
	/* not worth a line, unless somebody asked */
	assert_null(empty(SECTION_SCHED_EXT));
	assert_null(empty(SECTION_HOST_PRESSURE));
	assert_null(empty(SECTION_HOST));
	c.view.sections_named = true;
	assert_string_equal(empty(SECTION_SCHED_EXT), "(the kernel has no sched_ext)");
	assert_string_equal(empty(SECTION_HOST_PRESSURE), "nothing measured");
	c.before[0]->psi.cpu.some.avg10 = c.after[0]->psi.cpu.some.avg10 = reading_of(0);
	assert_string_equal(empty(SECTION_HOST_PRESSURE), "nothing changed");
	c.before[0]->host->total_memory_kib = c.after[0]->host->total_memory_kib = reading_of(9);
	assert_string_equal(empty(SECTION_HOST), "nothing changed");
	c.before[0]->host = NULL;
	assert_string_equal(empty(SECTION_HOST), "(host context unavailable)");
	c.view.sections_named = false;
	assert_string_equal(empty(SECTION_HOST), "(host context unavailable)");
	comparison_alone(&c);
	c.view.sections_named = true;
	assert_string_equal(empty(SECTION_HOST_PRESSURE), "nothing measured");
}

/* --- groups of one side, limits, conditions --- */

static void expect_unmatched(bool before, const char *expected)
{
	_cleanup_free_ char *text = NULL;

	comparison_run(&c);
	text = wording_unmatched(c.report, before);
	if (!expected) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, expected);
}

TEST(groups_of_one_side)
{
	expect_unmatched(true, NULL);
	expect_unmatched(false, NULL);
	live(c.before[0], 1, 1, 5, "p");
	live(c.after[0], 2, 2, SCENE_UPTIME, "q");
	live(c.after[0], 3, 3, SCENE_UPTIME, "r");
	live(c.after[0], 4, 4, SCENE_UPTIME, "s");
	expect_unmatched(true, "1 group only in baseline (before):");
	expect_unmatched(false, "3 groups only in candidate (after):");
	/* those that were cut count */
	c.view.limit = 1;
	expect_unmatched(false, "3 groups only in candidate (after):");
	c.view.window = true;
	expect_unmatched(true, "1 group of threads that ended in between:");
	expect_unmatched(false, "3 groups of threads that began in between:");
}

TEST(omissions)
{
	static const struct table_column column = { "name", .type = TABLE_TEXT };
	_cleanup_free_ char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct table table;

	table_begin(&table, &column, 1,
		    (struct table_options){ .format = TABLE_AS_TEXT, .out = out });
	assert_true(wording_left_out(&table, 12, "row"));
	assert_true(wording_left_out(&table, 1, "group"));
	assert_true(wording_left_out(&table, 0, "group"));
	expect_ok(table_end(&table));
	fclose(out);
	assert_string_equal(text, " name \n"
				  "... 12 more rows (--all)\n"
				  "... 1 more group (--all)\n");
}

/* Whatever it says, it names the condition and counts rightly. */
TEST(results)
{
	static const char *const expected[] = { "of 2 groups", "1 row", "in 1 of 2 groups",
						"no such group" };

	for (uint32_t i = 1; i <= 2; i++) {
		struct ctprof_thread *before = live(c.before[0], i, i, 5, i == 1 ? "p" : "q");
		struct ctprof_thread *after = live(c.after[0], i, i, 5, i == 1 ? "p" : "q");

		build_number(before, METRIC_wchar, 0);
		build_number(after, METRIC_wchar, i);
		if (i == 1)
			continue;
		build_number(before, METRIC_rchar, 0);
		build_number(after, METRIC_rchar, 0);
	}
	comparison_conditions(&c, "wchar > 5B");
	comparison_conditions(&c, "wchar >= 2B");
	comparison_conditions(&c, "rchar > 5B");
	comparison_conditions(&c, "x*:wchar > 5B");
	comparison_run(&c);
	for (size_t i = 0; i < array_length(expected); i++) {
		const struct condition_result *result = &c.report->results.items[i];
		_cleanup_free_ char *text = wording_condition_result(result);

		assert_non_null(strstr(text, result->condition->text));
		if (!strstr(text, expected[i]))
			fail_msg("no \"%s\" in: %s", expected[i], text);
	}
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(two_captures), CASE(one_capture), CASE(the_other_way_round), CASE(other_boots),
	   CASE(an_unknown_distance), CASE(the_view_is_said), CASE(coverage),
	   CASE(coverage_of_several_captures), CASE(why_there_are_no_rows),
	   CASE(why_a_section_is_empty), CASE(groups_of_one_side), CASE(omissions), CASE(results))
