/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/help.h"
#include "cli/terminal.h"
#include "unit/unit.h"

/* Of the program, which this is not. */
void help_print(FILE *out, const struct command *command)
{
	fprintf(out, "%s\n", command->name);
}

void help_print_short(FILE *out, const struct command *command)
{
	help_print(out, command);
}

static struct display display;

static int setup(void **state)
{
	(void)state;
	display_init(&display);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	display_deinit(&display);
	return 0;
}

/* --- one option --- */

/* Wrong values, and what is said of them. */
TEST(wrong_values)
{
	static const struct {
		option_parse parse;
		const char *argument, *error;
	} rows[] = {
		{ parse_axis, "comn", "unknown axis 'comn'; did you mean 'comm'?" },
		{ parse_sections, "primary,derved", "did you mean 'derived'?" },
		{ parse_sections, "", "empty section" },
		{ parse_metrics, "run_time", "did you mean 'run_time_ns'?" },
		{ parse_metrics, "run_time_ns,", "empty metric" },
		{ parse_flatten, "/a[", "'/a['" },
		{ parse_limit, "ten", "'ten' is not a number" },
		{ parse_show_sort, "policy", "'policy'" },
		{ parse_show_sort, "state", "'state'" },
		{ parse_show_sort, "delta", "unknown metric 'delta'" },
		{ parse_show_sort, "run_time_ns:up", "'up'" },
		{ parse_show_sort, "run_time_ns,run_time_ns:asc", "'run_time_ns'" },
		{ parse_show_sort,
		  "rchar,wchar,syscr,syscw,minflt,majflt,read_bytes,write_bytes,timeslices",
		  "more than 8" },
		{ parse_compare_sort, "run_time_ns,pct", "'pct'" },
		{ parse_compare_sort, "percent", "unknown metric 'percent'" },
		{ parse_show_columns, "delta", "unknown column 'delta'" },
		{ parse_show_columns, "metric,metric", "'metric'" },
		{ parse_compare_columns, "arow", "did you mean 'arrow'?" },
		{ parse_format, "jsn", "did you mean 'json'?" },
		{ parse_display_format, "ful", "did you mean 'full'?" },
		{ parse_min_delta, "-1ms", "'-1ms'" },
		{ parse_min_delta, "much", "'much'" },
		{ parse_fail_if, "run_tim_ns > 5", "did you mean 'run_time_ns'?" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct display own;

		display_init(&own);
		expect_error(rows[i].parse(rows[i].argument, &own), rows[i].error);
		display_deinit(&own);
	}
}

/* Each value that is offered is taken. */
TEST(offered_values_are_taken)
{
	static const struct {
		option_parse parse;
		option_values values;
	} rows[] = {
		{ parse_axis, axis_name },
		{ parse_sections, section_name },
		{ parse_metrics, metric_name },
		{ parse_show_columns, show_column_name },
		{ parse_compare_columns, compare_column_name },
		{ parse_format, format_name },
		{ parse_display_format, display_format_name },
	};
	const char *value;

	for (size_t i = 0; i < array_length(rows); i++) {
		assert_non_null(rows[i].values(0));
		for (size_t v = 0; (value = rows[i].values(v)); v++)
			expect_ok(rows[i].parse(value, &display));
	}
	expect_ok(parse_normalize("age", &display.view.normalize));
	assert_int_equal(display.view.normalize, NORMALIZE_AGE);
	expect_ok(parse_normalize("cpu", &display.view.normalize));
	assert_int_equal(display.view.normalize, NORMALIZE_CPU);
	expect_error(parse_normalize("life", &display.view.normalize), "unknown divisor 'life'");
}

TEST(a_list_replaces_the_one_before)
{
	expect_ok(parse_sections("host", &display));
	expect_ok(parse_sections("primary, derived", &display));
	assert_int_equal(display.view.sections, 1u << SECTION_PRIMARY | 1u << SECTION_DERIVED);
	assert_true(display.view.sections_named);
	expect_ok(parse_metrics("rchar", &display));
	expect_ok(parse_metrics("wchar,cpu_efficiency", &display));
	assert_true(display.view.metrics_named);
	assert_false(selection_has(&display.view.metrics, METRIC_rchar));
	assert_true(selection_has(&display.view.metrics, METRIC_wchar));
	assert_true(selection_has(&display.view.metrics, METRIC_COUNT + DERIVED_ID_cpu_efficiency));
	expect_ok(parse_show_columns("value", &display));
	expect_ok(parse_show_columns("group,metric", &display));
	assert_int_equal(display.style.columns.count, 2);
	assert_int_equal(display.style.columns.ids[0], COLUMN_GROUP);
	assert_int_equal(display.style.columns.ids[1], COLUMN_METRIC);
}

TEST(patterns_add_up)
{
	expect_ok(parse_pattern("web*", &display.view.match));
	expect_ok(parse_pattern("db?", &display.view.match));
	assert_int_equal(display.view.match.count, 2);
	assert_string_equal(display.view.match.items[1], "db?");
	expect_ok(parse_flatten("/a/**", &display));
	assert_int_equal(display.view.keys.cgroups.flatten.count, 1);
}

/* As people copy it from a report. */
TEST(names_with_characters_of_globs_match_themselves)
{
	struct arena arena;
	struct names names;
	const struct name *name;

	arena_init(&arena, 1 << 24);
	names_init(&names, &arena);
	name = names_intern(&names, "we[b]*1", 7);
	assert_non_null(name);
	expect_ok(parse_pattern("we[b]*1", &display.view.match));
	assert_true(view_matches(&display.view, name));
	names_deinit(&names);
	arena_deinit(&arena);
}

TEST(orders)
{
	static const struct {
		const char *text;
		enum order order;
		struct sort_key keys[2];
		size_t count;
	} rows[] = {
		{ "", ORDER_USUAL, { { 0 } }, 0 },
		{ "delta", ORDER_DELTA, { { 0 } }, 0 },
		{ "pct", ORDER_PERCENT, { { 0 } }, 0 },
		{ "share", ORDER_SHARE, { { 0 } }, 0 },
		{ "p", ORDER_SIGNIFICANCE, { { 0 } }, 0 },
		{ "run_time_ns", ORDER_GROUPS, { { METRIC_run_time_ns, false } }, 1 },
		{ "run_time_ns : ASC , rchar:desc",
		  ORDER_GROUPS,
		  { { METRIC_run_time_ns, true }, { METRIC_rchar, false } },
		  2 },
		{ "cpu_efficiency:asc",
		  ORDER_GROUPS,
		  { { METRIC_COUNT + DERIVED_ID_cpu_efficiency, true } },
		  1 },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		expect_ok(parse_compare_sort(rows[i].text, &display));
		assert_int_equal(display.view.order, rows[i].order);
		if (rows[i].order == ORDER_GROUPS || rows[i].order == ORDER_USUAL)
			assert_int_equal(display.view.sort_count, rows[i].count);
		for (size_t k = 0; k < rows[i].count; k++) {
			assert_int_equal(display.view.sort[k].metric, rows[i].keys[k].metric);
			assert_int_equal(display.view.sort[k].ascending, rows[i].keys[k].ascending);
		}
	}
}

/* Each amount is of its own kind of rows. */
TEST(least_changes)
{
	expect_ok(parse_min_delta("5%", &display));
	expect_ok(parse_min_delta("1.5ms", &display));
	expect_ok(parse_min_delta("2KiB", &display));
	expect_ok(parse_min_delta("1000", &display));
	assert_true(display.view.min_percent == 5);
	assert_true(display.view.min_delta[DIMENSION_TIME] == 1.5e6);
	assert_true(display.view.min_delta[DIMENSION_BYTES] == 2048);
	assert_true(display.view.min_delta[DIMENSION_COUNT] == 1000);
}

/* --- several together --- */

TEST(conflicting_options)
{
	static const struct {
		enum display_of of;
		enum order order;
		enum normalize normalize;
		bool rate, window;
		const char *error;
	} rows[] = {
		{ DISPLAY_ONE, ORDER_USUAL, NORMALIZE_NOT, false, false, NULL },
		{ DISPLAY_TWO, ORDER_SHARE, NORMALIZE_NOT, true, true, NULL },
		{ DISPLAY_TWO, ORDER_SIGNIFICANCE, NORMALIZE_NOT, false, false,
		  "several captures" },
		{ DISPLAY_SEVERAL, ORDER_SIGNIFICANCE, NORMALIZE_NOT, false, false, NULL },
		{ DISPLAY_SEVERAL, ORDER_DELTA, NORMALIZE_NOT, false, false, NULL },
		{ DISPLAY_SEVERAL, ORDER_GROUPS, NORMALIZE_NOT, false, false, "--sort-by" },
		{ DISPLAY_SEVERAL, ORDER_SHARE, NORMALIZE_NOT, false, false, "--sort-by" },
		{ DISPLAY_TWO, ORDER_USUAL, NORMALIZE_AGE, false, false, NULL },
		{ DISPLAY_TWO, ORDER_USUAL, NORMALIZE_AGE, true, false, "--normalize" },
		{ DISPLAY_TWO, ORDER_USUAL, NORMALIZE_CPU, false, true, "--normalize" },
		{ DISPLAY_TWO, ORDER_SHARE, NORMALIZE_CPU, false, false, "--normalize" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct error *err;

		display.view.order = rows[i].order;
		display.view.normalize = rows[i].normalize;
		display.view.rate = rows[i].rate;
		display.view.window = rows[i].window;
		err = display_settle(&display, rows[i].of);
		if (rows[i].error)
			expect_error(err, rows[i].error);
		else
			expect_ok(err);
	}
}

/* Tables are for people, who do not read a thousand rows; what programs read is whole. */
TEST(the_usual_limit_is_that_of_the_format)
{
	static const struct {
		const char *format;
		size_t limit;
	} rows[] = { { "table", 10 }, { "markdown", 10 }, { "json", 0 }, { "csv", 0 } };

	for (size_t i = 0; i < array_length(rows); i++) {
		expect_ok(parse_format(rows[i].format, &display));
		expect_ok(display_settle(&display, DISPLAY_ONE));
		assert_int_equal(display.view.limit, rows[i].limit);
	}
	expect_ok(parse_limit("7", &display));
	expect_ok(display_settle(&display, DISPLAY_ONE));
	assert_int_equal(display.view.limit, 7);
	expect_ok(parse_all(NULL, &display));
	expect_ok(display_settle(&display, DISPLAY_ONE));
	assert_int_equal(display.view.limit, 0);
}

TEST(shares_are_found_where_they_are_shown)
{
	expect_ok(display_settle(&display, DISPLAY_TWO));
	assert_false(display.view.shares);
	expect_ok(parse_compare_columns("group,share", &display));
	expect_ok(display_settle(&display, DISPLAY_TWO));
	assert_true(display.view.shares);
	display.style.columns.count = 0;
	expect_ok(parse_compare_sort("share", &display));
	expect_ok(display_settle(&display, DISPLAY_TWO));
	assert_true(display.view.shares);
}

TEST(sections_of_cgroups_want_their_axis)
{
	char *said = NULL;
	size_t length;
	FILE *usual = stderr;

	expect_ok(parse_sections("primary,memory-stat", &display));
	stderr = open_memstream(&said, &length);
	expect_ok(display_settle(&display, DISPLAY_ONE));
	fclose(stderr);
	assert_non_null(strstr(said, "section 'memory-stat' requires --group-by cgroup"));
	assert_null(strstr(said, "'primary'"));
	free(said);
	expect_ok(parse_axis("cgroup", &display));
	stderr = open_memstream(&said, &length);
	expect_ok(display_settle(&display, DISPLAY_ONE));
	fclose(stderr);
	stderr = usual;
	assert_string_equal(said, "");
	free(said);
}

/* --- the terminal --- */

TEST(the_environment_sets_the_width)
{
	static const struct {
		const char *columns;
		size_t width;
	} rows[] = { { "100", 100 }, { "1", 1 } };
	size_t usual;

	for (size_t i = 0; i < array_length(rows); i++) {
		setenv("COLUMNS", rows[i].columns, 1);
		assert_int_equal(terminal_width(), rows[i].width);
		display.wrap = true;
		expect_ok(display_settle(&display, DISPLAY_ONE));
		assert_int_equal(display.style.width, rows[i].width);
		display.wrap = false;
		expect_ok(display_settle(&display, DISPLAY_ONE));
		assert_int_equal(display.style.width, 0);
	}
	/* What is no width says nothing. */
	unsetenv("COLUMNS");
	usual = terminal_width();
	assert_true(usual > 0);
	setenv("COLUMNS", "0", 1);
	assert_int_equal(terminal_width(), usual);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(terminal_width(), usual);
	unsetenv("COLUMNS");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(wrong_values), CASE(offered_values_are_taken), CASE(a_list_replaces_the_one_before),
	   CASE(patterns_add_up), CASE(names_with_characters_of_globs_match_themselves),
	   CASE(orders), CASE(least_changes), CASE(conflicting_options),
	   CASE(the_usual_limit_is_that_of_the_format), CASE(shares_are_found_where_they_are_shown),
	   CASE(sections_of_cgroups_want_their_axis), CASE(the_environment_sets_the_width))
