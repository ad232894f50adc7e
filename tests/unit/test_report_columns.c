/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/columns.h"

#include "unit/build.h"

static struct view view;
static struct report report;
static struct ctprof_snapshot candidate;

static int setup(void **state)
{
	(void)state;
	view_init(&view);
	candidate = (struct ctprof_snapshot){ 0 };
	report = (struct report){ .candidate = &candidate, .view = &view, .comparing = true };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_deinit(&view);
	return 0;
}

/* "group threads metric": good until the next call. */
static const char *names_of(const struct columns *columns)
{
	static char names[256];

	names[0] = '\0';
	for (size_t i = 0; i < columns->count; i++) {
		if (i)
			strcat(names, " ");
		strcat(names, column_infos[columns->ids[i]].name);
	}
	return names;
}

static void expect_usual(enum display_format format, const char *expected)
{
	struct columns columns = columns_usual(&report, format);

	assert_string_equal(names_of(&columns), expected);
}

TEST(threads_of_a_query_are_not_counted)
{
	candidate.observed_ns = 1;
	expect_usual(FORMAT_DELTA_ONLY, "group metric delta %");
}

TEST(every_display_format)
{
	expect_usual(FORMAT_FULL, "group threads metric baseline candidate delta %");
	expect_usual(FORMAT_DELTA_ONLY, "group threads metric delta %");
	expect_usual(FORMAT_NO_PERCENT, "group threads metric baseline candidate delta");
	expect_usual(FORMAT_ARROW, "group threads metric arrow delta %");
	expect_usual(FORMAT_PERCENT_ONLY, "group threads metric %");
	assert_string_equal(display_format_names[FORMAT_FULL], "full");
	assert_string_equal(display_format_names[FORMAT_DELTA_ONLY], "delta-only");
	assert_string_equal(display_format_names[FORMAT_NO_PERCENT], "no-pct");
	assert_string_equal(display_format_names[FORMAT_ARROW], "arrow");
	assert_string_equal(display_format_names[FORMAT_PERCENT_ONLY], "pct-only");
}

TEST(one_snapshot_has_a_value)
{
	report.comparing = false;
	for (enum display_format f = 0; f < DISPLAY_FORMAT_COUNT; f++)
		expect_usual(f, "group threads metric value");
}

TEST(requested_columns_come_last)
{
	view.shares = true;
	expect_usual(FORMAT_DELTA_ONLY, "group threads metric delta % share");
	report.repeated = true;
	expect_usual(FORMAT_DELTA_ONLY, "group threads metric delta % share p");
	view.shares = false;
	expect_usual(FORMAT_FULL, "group threads metric baseline candidate delta % p");
}

/* Each column that a table of one snapshot, or of two, may have. */
TEST(columns_of_show_and_compare)
{
	struct columns show = { 0 }, compare = { 0 };

	for (enum column i = 0; i < COLUMN_COUNT; i++) {
		if (column_infos[i].in_show)
			show.ids[show.count++] = i;
		if (column_infos[i].in_compare)
			compare.ids[compare.count++] = i;
	}
	assert_string_equal(names_of(&show), "group threads metric value tags");
	assert_string_equal(names_of(&compare),
			    "group threads metric baseline candidate arrow delta % share p tags");
}

TEST(columns_that_mean_something_in_a_section)
{
	static const struct {
		enum section section;
		const char *columns;
	} rows[] = {
		{ SECTION_PRIMARY, "tags share delta metric threads group" },
		{ SECTION_DERIVED, "tags share delta metric threads group" },
		{ SECTION_CGROUP_STATS, "delta metric group" },
		{ SECTION_SMAPS_ROLLUP, "delta metric group" },
		{ SECTION_HOST_COUNTERS, "delta metric group" },
		{ SECTION_HOST_PRESSURE, "delta metric" },
		{ SECTION_HOST, "delta metric" },
		{ SECTION_SCHED_EXT, "delta metric" },
	};
	/* in the order they were asked for */
	const struct columns wanted = { { COLUMN_TAGS, COLUMN_SHARE, COLUMN_DELTA, COLUMN_METRIC,
					  COLUMN_THREADS, COLUMN_GROUP },
					6 };
	const struct columns group = { { COLUMN_GROUP }, 1 };

	for (size_t i = 0; i < array_length(rows); i++) {
		struct columns columns = columns_of_section(&wanted, rows[i].section);

		assert_string_equal(names_of(&columns), rows[i].columns);
	}
	assert_int_equal(columns_of_section(&group, SECTION_HOST).count, 0);
}

TEST(headings)
{
	assert_string_equal(column_heading(&report, SECTION_PRIMARY, COLUMN_GROUP), "process");
	view.axis = &group_axes[AXIS_ALL];
	assert_string_equal(column_heading(&report, SECTION_DERIVED, COLUMN_GROUP),
			    "cgroup > process > thread");
	assert_string_equal(column_heading(&report, SECTION_PRESSURE, COLUMN_GROUP), "cgroup");
	assert_string_equal(column_heading(&report, SECTION_SMAPS_ROLLUP, COLUMN_GROUP),
			    "cgroup > process > thread");
	assert_string_equal(column_heading(&report, SECTION_HOST_COUNTERS, COLUMN_GROUP), "device");
	assert_string_equal(column_heading(&report, SECTION_PRIMARY, COLUMN_DELTA), "delta");
	view.rate = true;
	assert_string_equal(column_heading(&report, SECTION_PRIMARY, COLUMN_DELTA), "delta/s");
	assert_string_equal(column_heading(&report, SECTION_PRIMARY, COLUMN_PERCENT), "%");
}

/* --- cells --- */

static const struct measure run_time = { .name = "run_time_ns",
					 .unit = UNIT_NS,
					 .is_total = true,
					 .metric = &metrics[METRIC_run_time_ns] };

static void expect_text_of(const struct row *row, enum column column, const char *expected)
{
	char buffer[CELL_MAX];

	expect_text(column_text(buffer, &report, row, column), expected);
}

TEST(every_column_of_a_row)
{
	struct ctprof_snapshot *s = build_snapshot();
	const struct significance significance = { .before_count = 4, .after_count = 4, .p = 0.25 };
	struct row row = { .measure = &run_time,
			   .group = snapshot_name(s, TEXT("bash")),
			   .threads_before = 1,
			   .threads_after = 3,
			   .before = datum_number(1000),
			   .after = datum_number(1500),
			   .has_host_share = true,
			   .host_share = 0.5 };

	datum_compare(&row.before, &row.after, &row.change);
	expect_text_of(&row, COLUMN_GROUP, "bash");
	expect_text_of(&row, COLUMN_THREADS, "1→3");
	expect_text_of(&row, COLUMN_METRIC, "run_time_ns");
	expect_text_of(&row, COLUMN_VALUE, "1.500µs");
	expect_text_of(&row, COLUMN_BASELINE, "1.000µs");
	expect_text_of(&row, COLUMN_CANDIDATE, "1.500µs");
	expect_text_of(&row, COLUMN_ARROW, "1.000µs → 1.500µs");
	expect_text_of(&row, COLUMN_DELTA, "+500ns");
	expect_text_of(&row, COLUMN_PERCENT, "+50.0%");
	expect_text_of(&row, COLUMN_SHARE, "50.0%");
	expect_text_of(&row, COLUMN_PROBABILITY, "-");
	expect_text_of(&row, COLUMN_TAGS, "[SCHED_INFO]");
	row.significance = &significance;
	expect_text_of(&row, COLUMN_PROBABILITY, "0.250");
	row.threads_before = 3;
	expect_text_of(&row, COLUMN_THREADS, "3");
	report.comparing = false;
	row.threads_before = 0;
	expect_text_of(&row, COLUMN_THREADS, "3");
	row.group = NULL;
	expect_text_of(&row, COLUMN_GROUP, "");
	snapshot_destroy(s);
}

/* Two texts as long as they may be, and an arrow: still within the buffer. */
TEST(a_long_arrow_is_cut)
{
	static char text[4096];
	const struct measure measure = { .name = "kernel_cmdline", .section = SECTION_HOST };
	struct row row = { .measure = &measure };
	char buffer[CELL_MAX];
	struct text cell;

	memset(text, 'x', sizeof(text) - 1);
	row.before = row.after = datum_text(text);
	cell = column_text(buffer, &report, &row, COLUMN_ARROW);
	assert_true(cell.length < CELL_MAX);
	assert_non_null(strstr(cell.bytes, "x → x"));
	expect_text_of(&row, COLUMN_TAGS, "");
}

/* Numbers stand at the right; facts of a host are mostly texts. */
TEST(where_cells_stand)
{
	for (enum section i = 0; i < SECTION_COUNT; i++) {
		assert_int_equal(column_stands_right(i, COLUMN_DELTA), i != SECTION_HOST);
		assert_int_equal(column_stands_right(i, COLUMN_VALUE), i != SECTION_HOST);
		assert_false(column_stands_right(i, COLUMN_GROUP));
		assert_false(column_stands_right(i, COLUMN_METRIC));
	}
}

/* A kernel's command line is longer than other cells are. */
TEST(a_long_text_is_not_cut)
{
	static char text[4096];
	const struct measure measure = { .name = "kernel_cmdline", .section = SECTION_HOST };
	struct row row = { .measure = &measure };
	char buffer[CELL_MAX];

	memset(text, 'x', sizeof(text) - 1);
	row.before = datum_text(text);
	row.after = datum_text("short");
	assert_int_equal(column_text(buffer, &report, &row, COLUMN_BASELINE).length,
			 sizeof(text) - 1);
	expect_text_of(&row, COLUMN_CANDIDATE, "short");
	expect_text_of(&row, COLUMN_VALUE, "short");
	row.before = datum_text(NULL);
	expect_text_of(&row, COLUMN_BASELINE, "-");
}

/* A name of any length comes whole. */
TEST(a_long_name_is_not_cut)
{
	static char text[4096];
	struct ctprof_snapshot *s = build_snapshot();
	struct row row = { .measure = &run_time };
	char buffer[CELL_MAX];

	memset(text, 'x', sizeof(text));
	row.group = snapshot_name(s, (struct text){ text, sizeof(text) });
	assert_int_equal(column_text(buffer, &report, &row, COLUMN_GROUP).length, sizeof(text));
	snapshot_destroy(s);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(threads_of_a_query_are_not_counted), CASE(every_display_format),
	   CASE(one_snapshot_has_a_value), CASE(requested_columns_come_last),
	   CASE(columns_of_show_and_compare), CASE(columns_that_mean_something_in_a_section),
	   CASE(headings), CASE(every_column_of_a_row), CASE(a_long_arrow_is_cut),
	   CASE(where_cells_stand), CASE(a_long_text_is_not_cut), CASE(a_long_name_is_not_cut))
