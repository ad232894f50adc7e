/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/condition.h"

#include "unit/compare_scene.h"

/* --- expressions --- */

static struct error *find_metric(const char *name, unsigned *ret)
{
	const struct metric *metric = metric_find(text_of(name));

	if (strcmp(name, "cpu_efficiency") == 0) {
		*ret = METRIC_COUNT + DERIVED_ID_cpu_efficiency;
		return NULL;
	}
	if (strcmp(name, "avg_wait_ns") == 0) {
		*ret = METRIC_COUNT + DERIVED_ID_avg_wait_ns;
		return NULL;
	}
	if (!metric)
		return error_create("unknown metric '%s'", name);
	*ret = metric_id(metric);
	return NULL;
}

#define accept(text, group, metric, operator, bound, percent) \
	accept_(text, group, metric, operator, bound, percent, __FILE__, __LINE__)

static void accept_(const char *text, const char *group, unsigned metric,
		    enum condition_operator operator, double bound, bool percent, const char *file,
		    int line)
{
	struct condition condition = { 0 };

	expect_ok_(condition_parse(text, find_metric, &condition), file, line);
	if (condition.text != text || condition.metric != metric ||
	    condition.operator!= operator|| condition.bound.value != bound ||
	    condition.bound.percent != percent)
		_fail(file, line);
	if (group ? !condition.group || strcmp(condition.group, group) != 0 : !!condition.group) {
		print_error("the group is %s\n", condition.group ? condition.group : "none");
		_fail(file, line);
	}
	free(condition.group);
}

static void refuse(const char *text, const char *message)
{
	struct condition condition = { .text = "untouched" };

	expect_error(condition_parse(text, find_metric, &condition), message);
	assert_string_equal(condition.text, "untouched");
}

TEST(expressions)
{
	accept("run_time_ns > 10%", NULL, METRIC_run_time_ns, CONDITION_ABOVE, 10, true);
	accept("run_time_ns>=10ms", NULL, METRIC_run_time_ns, CONDITION_AT_LEAST, 1e7, false);
	accept("nginx*:majflt < 1000", "nginx*", METRIC_majflt, CONDITION_BELOW, 1000, false);
	accept("wchar<=-1MiB", NULL, METRIC_wchar, CONDITION_AT_MOST, -1048576, false);
	accept("  a b : wchar  >  2KiB  ", "a b", METRIC_wchar, CONDITION_ABOVE, 2048, false);
	accept(":wchar > 1B", NULL, METRIC_wchar, CONDITION_ABOVE, 1, false);
	accept("utime_clock_ticks > 1s", NULL, METRIC_utime_clock_ticks, CONDITION_ABOVE, 1e9,
	       false);
	accept("cpu_efficiency < -0.05", NULL, METRIC_COUNT + DERIVED_ID_cpu_efficiency,
	       CONDITION_BELOW, -0.05, false);
	accept("avg_wait_ns > 1.5us", NULL, METRIC_COUNT + DERIVED_ID_avg_wait_ns, CONDITION_ABOVE,
	       1500, false);
	accept("majflt > 2K", NULL, METRIC_majflt, CONDITION_ABOVE, 2000, false);
	/* Zero is zero in every unit. */
	accept("wchar > 0", NULL, METRIC_wchar, CONDITION_ABOVE, 0, false);
	accept("run_time_ns > 0", NULL, METRIC_run_time_ns, CONDITION_ABOVE, 0, false);
	/* A range by its midpoint. */
	accept("nice > 1", NULL, METRIC_nice, CONDITION_ABOVE, 1, false);
}

/* A name of a group may hold what is a sign elsewhere. */
TEST(groups_with_signs_in_their_names)
{
	accept("kworker/0:1:wchar > 1KiB", "kworker/0:1", METRIC_wchar, CONDITION_ABOVE, 1024,
	       false);
	accept("::wchar > 1KiB", ":", METRIC_wchar, CONDITION_ABOVE, 1024, false);
	accept("a > b:wchar >= 1KiB", "a > b", METRIC_wchar, CONDITION_AT_LEAST, 1024, false);
	accept("<none>:wchar < 1KiB", "<none>", METRIC_wchar, CONDITION_BELOW, 1024, false);
	accept("a<=b:wchar > 1KiB", "a<=b", METRIC_wchar, CONDITION_ABOVE, 1024, false);
}

TEST(refused_expressions)
{
	refuse("", "missing operator");
	refuse("wchar", "missing operator");
	refuse("wchar = 5", "missing operator");
	refuse("wchar >", "invalid amount");
	refuse("> 5", "unknown metric ''");
	refuse("g: > 5", "unknown metric ''");
	refuse("nothing > 5", "unknown metric 'nothing'");
	refuse("wchar >> 5", "unknown metric");
	refuse("wchar => 5", "unknown metric");
	refuse("g:wchar:x > 5", "unknown metric 'x'");
	refuse("wchar > 5 6", "invalid amount");
	refuse("wchar > five", "invalid amount");
	refuse("wchar > 1e3", "invalid amount");
	refuse("wchar > nan", "invalid amount");
	refuse("wchar > inf", "invalid amount");
	refuse("wchar > 5ms", "another unit");
	refuse("wchar > 5", "another unit");
	refuse("run_time_ns > 5KiB", "another unit");
	refuse("run_time_ns > 5", "another unit");
	refuse("majflt > 5ns", "another unit");
	refuse("majflt > 5KiB", "another unit");
	refuse("cpu_efficiency > 5%", "ratio");
	refuse("cpu_efficiency > 5ms", "another unit");
	refuse("policy > 5", "not a number");
	refuse("state > 5", "not a number");
	refuse("ext_enabled > 0", "not a number");
	refuse("some:group:policy > 0", "not a number");
}

/* --- verdicts --- */

/* One thread of each name before and after, that wrote so many bytes; UNMEASURED is not known. */
#define UNMEASURED UINT64_MAX

static void wrote(struct comparison *c, const char *name, uint64_t before, uint64_t after)
{
	uint32_t tid = (uint32_t)c->before[0]->threads.count + 1;
	struct ctprof_thread *x = live(c->before[0], tid, tid, 1, name);
	struct ctprof_thread *y = live(c->after[0], tid, tid, 1, name);

	if (before != UNMEASURED)
		build_number(x, METRIC_wchar, before);
	if (after != UNMEASURED)
		build_number(y, METRIC_wchar, after);
}

/* The rows that broke the only result, "a b". */
static const char *broken_by(const struct comparison *c)
{
	static char text[256];
	const struct condition_result *result = &c->report->results.items[0];
	size_t rows = 0;

	text[0] = '\0';
	for (size_t b = 0; b < ROW_GROUP_COUNT; b++) {
		const struct row_group *group = &result->broken.row_groups[b];

		rows += group->count + group->left_out;
		for (size_t i = 0; i < group->count; i++) {
			if (*text)
				strcat(text, " ");
			strncat(text, group->items[i].group->bytes, 32);
		}
	}
	assert_int_equal(result->count, rows);
	return text;
}

static void check(struct comparison *c, const char *expression, enum verdict verdict,
		  const char *rows)
{
	c->view.conditions.count = 0;
	comparison_conditions(c, expression);
	comparison_run(c);
	free(c->view.conditions.items[0].group);
	c->view.conditions.items[0].group = NULL;
	if (condition_verdict(c->report) != verdict)
		fail_msg("%s: %d", expression, condition_verdict(c->report));
	assert_int_equal(c->report->results.items[0].verdict, verdict);
	assert_string_equal(broken_by(c), rows);
}

TEST(changes_are_judged)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "up", 1000, 2024);
	wrote(&c, "same", 1000, 1000);
	wrote(&c, "down", 1000, 900);
	check(&c, "wchar > 1KiB", VERDICT_HOLDS, "");
	check(&c, "wchar >= 1KiB", VERDICT_BROKEN, "up");
	check(&c, "wchar > 1023B", VERDICT_BROKEN, "up");
	check(&c, "wchar > 0", VERDICT_BROKEN, "up");
	check(&c, "wchar >= 0", VERDICT_BROKEN, "up same");
	check(&c, "wchar < 0", VERDICT_BROKEN, "down");
	check(&c, "wchar <= -100B", VERDICT_BROKEN, "down");
	check(&c, "wchar < -100B", VERDICT_HOLDS, "");
	check(&c, "wchar > 102%", VERDICT_BROKEN, "up");
	check(&c, "wchar > 103%", VERDICT_HOLDS, "");
	check(&c, "wchar <= -10%", VERDICT_BROKEN, "down");
	check(&c, "wchar < -10%", VERDICT_HOLDS, "");
	check(&c, "s*:wchar >= 0", VERDICT_BROKEN, "same");
	check(&c, "[ud]*:wchar < 0", VERDICT_BROKEN, "down");
	comparison_end(&c);
}

/* From zero is above every percentage; from zero to zero is no rise. */
TEST(percentages_of_zero)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "born", 0, 1);
	wrote(&c, "idle", 0, 0);
	check(&c, "wchar > 1000000%", VERDICT_BROKEN, "born");
	check(&c, "idle:wchar > 0%", VERDICT_HOLDS, "");
	check(&c, "idle:wchar > 5%", VERDICT_HOLDS, "");
	check(&c, "wchar < -1%", VERDICT_HOLDS, "");
	comparison_end(&c);
}

TEST(undecidable_conditions)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "known", 0, 5);
	wrote(&c, "unknown", UNMEASURED, UNMEASURED);
	wrote(&c, "half", UNMEASURED, 9);
	live(c.after[0], 90, 90, 1, "new");
	live(c.before[0], 91, 91, 1, "old");
	check(&c, "nobody:wchar > 1B", VERDICT_UNDECIDED, "");
	check(&c, "new:wchar > 1B", VERDICT_UNDECIDED, "");
	check(&c, "old:wchar > 1B", VERDICT_UNDECIDED, "");
	check(&c, "unknown:wchar > 1B", VERDICT_UNDECIDED, "");
	check(&c, "half:wchar > 1B", VERDICT_UNDECIDED, "");
	assert_int_equal(c.report->results.items[0].groups, 1);
	assert_int_equal(c.report->results.items[0].unmeasured, 1);
	/* One is known to hold, another may not. */
	check(&c, "wchar > 5B", VERDICT_UNDECIDED, "");
	assert_int_equal(c.report->results.items[0].groups, 3);
	assert_int_equal(c.report->results.items[0].unmeasured, 2);
	/* One is broken: that is sure, whatever the others are. */
	check(&c, "wchar >= 5B", VERDICT_BROKEN, "known");
	check(&c, "known:wchar > 5B", VERDICT_HOLDS, "");
	comparison_end(&c);
}

/* Nothing compared: no verdict but that. */
TEST(empty_snapshots_are_undecided)
{
	struct comparison c;

	comparison_begin(&c);
	check(&c, "wchar > 1B", VERDICT_UNDECIDED, "");
	comparison_end(&c);
}

/* Of several conditions the worst counts. */
TEST(several_conditions)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "a", 0, 5);
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_HOLDS);
	comparison_conditions(&c, "a:wchar > 5B");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_HOLDS);
	comparison_conditions(&c, "b:wchar > 5B");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_UNDECIDED);
	comparison_conditions(&c, "a:wchar > 4B");
	comparison_run(&c);
	assert_int_equal(condition_verdict(c.report), VERDICT_BROKEN);
	assert_int_equal(c.report->results.items[0].verdict, VERDICT_HOLDS);
	assert_int_equal(c.report->results.items[1].verdict, VERDICT_UNDECIDED);
	comparison_end(&c);
}

/* What is judged need not be shown: other metrics, other groups, few rows. */
TEST(hidden_rows_are_judged)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "a", 0, 5);
	wrote(&c, "b", 0, 6);
	only_metrics(&c, METRIC_majflt, -1);
	c.view.sections = 1u << SECTION_HOST;
	c.view.limit = 1;
	c.view.min_delta[DIMENSION_BYTES] = 1000;
	assert_true(array_push(&c.view.not_match, "*"));
	check(&c, "wchar > 4B", VERDICT_BROKEN, "b");
	assert_int_equal(report_section_rows(&c.report->sections[SECTION_PRIMARY]), 0);
	comparison_end(&c);
}

/* The rows that broke it are in the block of their dimension, the largest change first, as many as
 * the limit allows; all of them are counted. */
TEST(rows_that_broke_it)
{
	struct comparison c;
	const struct condition_result *result;

	comparison_begin(&c);
	wrote(&c, "a", 0, 5);
	wrote(&c, "b", 0, 7);
	wrote(&c, "c", 0, 6);
	wrote(&c, "d", 9, 0);
	wrote(&c, "e", 5, 6);
	check(&c, "wchar > 4B", VERDICT_BROKEN, "b c a");
	c.view.limit = 2;
	check(&c, "wchar > 4B", VERDICT_BROKEN, "b c");
	result = &c.report->results.items[0];
	assert_int_equal(result->count, 3);
	assert_int_equal(result->groups, 5);
	assert_int_equal(result->broken.row_groups[DIMENSION_BYTES].count, 2);
	assert_int_equal(result->broken.row_groups[DIMENSION_BYTES].left_out, 1);
	/* A fall is as large as a rise. */
	c.view.limit = 1;
	check(&c, "wchar < 7B", VERDICT_BROKEN, "d");
	assert_int_equal(c.report->results.items[0].count, 4);
	check(&c, "wchar > 7B", VERDICT_HOLDS, "");
	assert_int_equal(c.report->results.items[0].count, 0);
	comparison_end(&c);
}

/* Time in other units than nanoseconds: a tick is 10 ms. */
TEST(bounds_in_units)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "a", 0, 0);
	build_number(snapshot_thread(c.before[0], 0), METRIC_utime_clock_ticks, 5);
	build_number(snapshot_thread(c.after[0], 0), METRIC_utime_clock_ticks, 6);
	check(&c, "utime_clock_ticks >= 10ms", VERDICT_BROKEN, "a");
	check(&c, "utime_clock_ticks > 10ms", VERDICT_HOLDS, "");
	/* Ticks of different lengths have no difference. */
	c.before[0]->host->clock_ticks_per_s = reading_of(100);
	c.after[0]->host->clock_ticks_per_s = reading_of(250);
	check(&c, "utime_clock_ticks >= 10ms", VERDICT_UNDECIDED, "");
	comparison_end(&c);
}

/* In a window and as a rate, the judged change is the shown one: 30 bytes in 10 s. */
TEST(judged_as_shown)
{
	struct comparison c;

	comparison_begin(&c);
	wrote(&c, "a", 100, 130);
	build_number(live(c.before[0], 50, 50, 1, "a"), METRIC_wchar, 1000);
	check(&c, "wchar < 0", VERDICT_BROKEN, "a");
	c.view.window = true;
	check(&c, "wchar < 0", VERDICT_HOLDS, "");
	check(&c, "wchar >= 30B", VERDICT_BROKEN, "a");
	c.view.rate = true;
	check(&c, "wchar >= 3B", VERDICT_BROKEN, "a");
	check(&c, "wchar > 3B", VERDICT_HOLDS, "");
	comparison_end(&c);
}

UNIT_TESTS(cmocka_unit_test(expressions), cmocka_unit_test(groups_with_signs_in_their_names),
	   cmocka_unit_test(refused_expressions), cmocka_unit_test(changes_are_judged),
	   cmocka_unit_test(percentages_of_zero), cmocka_unit_test(undecidable_conditions),
	   cmocka_unit_test(empty_snapshots_are_undecided), cmocka_unit_test(several_conditions),
	   cmocka_unit_test(hidden_rows_are_judged), cmocka_unit_test(rows_that_broke_it),
	   cmocka_unit_test(bounds_in_units), cmocka_unit_test(judged_as_shown))
