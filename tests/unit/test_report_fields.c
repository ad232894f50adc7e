/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "unit/compare_scene.h"

static struct view view;
static struct report report;
static struct ctprof_snapshot *snapshot;

static int setup(void **state)
{
	(void)state;
	view_init(&view);
	report = (struct report){ .view = &view, .comparing = true };
	snapshot = build_snapshot();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	view_deinit(&view);
	snapshot_destroy(snapshot);
	return 0;
}

/* A table as CSV; the caller frees it. */
static char *csv_of(const struct report *of, const struct report_section *section)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	expect_ok(fields_print(of, section,
			       (struct table_options){ .format = TABLE_AS_CSV, .out = out }));
	fclose(out);
	return text;
}

static void expect_fields(const char *expected)
{
	const struct report_section empty = { .id = SECTION_PRIMARY };
	_cleanup_free_ char *names = csv_of(&report, &empty);

	for (char *p = names; *p; p++)
		*p = *p == ',' || *p == '\n' ? ' ' : *p;
	assert_string_equal(names, expected);
}

TEST(fields_of_a_row)
{
	expect_fields("section group metric unit baseline candidate delta pct baseline_threads "
		      "baseline_measured_threads threads measured_threads "
		      "baseline_impossible_threads impossible_threads ");
	view.shares = true;
	expect_fields("section group metric unit baseline candidate delta pct share "
		      "baseline_threads baseline_measured_threads threads measured_threads "
		      "baseline_impossible_threads impossible_threads ");
	report.repeated = true;
	expect_fields("section group metric unit baseline candidate delta pct share "
		      "baseline_spread candidate_spread baseline_values candidate_values p "
		      "baseline_threads baseline_measured_threads threads measured_threads "
		      "baseline_impossible_threads impossible_threads ");
	report = (struct report){ .view = &view };
	view.shares = false;
	expect_fields(
		"section group metric unit value threads measured_threads impossible_threads ");
}

/* A field as JSON would have it; good until the next call. */
static const char *shown(const struct row *row, enum row_field field)
{
	static char text[128];
	static struct table_cell cell;
	const struct table_value *value = &cell.value;

	cell.value.type = TABLE_UNKNOWN;
	row_field(row, field, &cell);
	switch (value->type) {
	case TABLE_COUNT:
		snprintf(text, sizeof(text), "%" PRIu64, value->count);
		break;
	case TABLE_DIGITS:
		snprintf(text, sizeof(text), "%.*s", (int)value->text.length, value->text.bytes);
		break;
	case TABLE_REAL:
		assert_true(isfinite(value->real));
		snprintf(text, sizeof(text), "%.15g", value->real);
		break;
	case TABLE_TEXT:
		snprintf(text, sizeof(text), "\"%.*s\"", (int)value->text.length,
			 value->text.bytes);
		break;
	case TABLE_RANGE:
		snprintf(text, sizeof(text), "%d..%d", (int)value->range.least,
			 (int)value->range.most);
		break;
	case TABLE_CPUS:
		snprintf(text, sizeof(text), "%u-%u cpus", value->cpus.fewest, value->cpus.most);
		break;
	default:
		return "null";
	}
	return text;
}

/* A member that was copied while its value is good. */
static void expect_field(const struct row *row, enum row_field field, const char *expected)
{
	assert_string_equal(shown(row, field), expected);
}

static struct row changed(const struct measure *measure, struct datum before, struct datum after)
{
	struct row row = { .measure = measure, .before = before, .after = after };

	datum_compare(&before, &after, &row.change);
	return row;
}

static void expect_change(const struct measure *measure, struct datum before, struct datum after,
			  const char *delta, const char *percent)
{
	struct row row = changed(measure, before, after);

	expect_field(&row, FIELD_ID_DELTA, delta);
	expect_field(&row, FIELD_ID_PERCENT, percent);
}

static struct datum real(double value)
{
	return (struct datum){ .kind = DATUM_REAL, .real = value };
}

static struct datum range(int64_t smallest, int64_t largest)
{
	return (struct datum){ .kind = DATUM_RANGE, .range = { smallest, largest } };
}

static const struct measure ns = { .name = "run_time_ns", .unit = UNIT_NS, .is_total = true };
static const struct measure plain = { .name = "nice" };

TEST(deltas_are_exact)
{
	const __int128 most = UINT64_MAX;

	expect_change(&ns, datum_number(1000), datum_number(1125), "125", "12.5");
	expect_change(&ns, datum_number(0), datum_number(0), "0", "null");
	expect_change(&ns, datum_number(7), datum_number(7), "0", "0");
	expect_change(&ns, datum_number(most), datum_number(0), "-18446744073709551615", "-100");
	expect_change(&ns, datum_number(0), datum_number(most), "18446744073709551615", "null");
	/* of the size of the baseline: what rises, rises */
	expect_change(&ns, datum_number(-most), datum_number(most), "36893488147419103230", "200");
	expect_change(&ns, datum_number(0), datum_number(7 * most), "129127208515966861305",
		      "null");
	expect_change(&ns, datum_number(7 * most), datum_number(7 * most - 1), "-1",
		      "-7.74430123203932e-19");
}

TEST(halves)
{
	expect_change(&plain, range(0, 10), range(0, 19), "4.5", "90");
	expect_change(&plain, range(0, 1), range(0, 0), "-0.5", "-100");
	expect_change(&plain, range(0, 0), range(-3, 0), "-1.5", "null");
	expect_change(&plain, range(0, 0), range(0, 1), "0.5", "null");
	expect_change(&plain, range(2, 2), range(1, 2), "-0.5", "-25");
	expect_change(&plain, range(4, 6), range(4, 6), "0", "0");
	/* the same middle is no difference as a number, and not none either */
	expect_change(&plain, range(0, 10), range(5, 5), "null", "null");
}

TEST(no_delta_is_null)
{
	struct datum partial = datum_number(5);

	partial.partial = true;
	expect_change(&ns, datum_number(5), partial, "null", "null");
	expect_change(&ns, (struct datum){ 0 }, datum_number(5), "null", "null");
	expect_change(&plain, datum_text("a"), datum_text("b"), "null", "null");
	expect_change(&plain, datum_text("a"), datum_text("a"), "null", "null");
	expect_change(&ns, (struct datum){ .kind = DATUM_UNLIMITED }, datum_number(5), "null",
		      "null");
}

TEST(quotients_and_ratios)
{
	const struct measure ratio = { .name = "cpu_efficiency", .is_ratio = true };
	struct row row;

	expect_change(&ns, real(4), real(5), "1", "25");
	expect_change(&ns, real(0), real(5), "5", "null");
	expect_change(&ratio, real(0.5), real(0.75), "0.25", "null");
	row = changed(&ratio, real(0.5), real(0.75));
	expect_field(&row, FIELD_ID_UNIT, "\"ratio\"");
	expect_field(&row, FIELD_ID_CANDIDATE, "0.75");
}

/* Pressure is kept in hundredths of a percent and read in percent. */
TEST(percentages)
{
	const struct measure avg10 = { .name = "cpu.some.avg10",
				       .unit = UNIT_PERCENT,
				       .section = SECTION_HOST_PRESSURE };
	struct row row = changed(&avg10, datum_number(1000), datum_number(1234));

	expect_field(&row, FIELD_ID_BASELINE, "10.00");
	expect_field(&row, FIELD_ID_CANDIDATE, "12.34");
	expect_field(&row, FIELD_ID_DELTA, "2.34");
	expect_field(&row, FIELD_ID_UNIT, "\"percent\"");
	row = changed(&avg10, datum_number(5), datum_number(0));
	expect_field(&row, FIELD_ID_DELTA, "-0.05");
	row = changed(&avg10, real(250), real(125));
	expect_field(&row, FIELD_ID_BASELINE, "2.5");
	expect_field(&row, FIELD_ID_DELTA, "-1.25");
}

TEST(values_of_every_kind)
{
	static const struct {
		struct datum datum;
		const char *text;
	} rows[] = {
		{ { 0 }, "null" },
		{ { .kind = DATUM_NO_EVENTS }, "null" },
		{ { .kind = DATUM_UNLIMITED }, "\"max\"" },
		{ { .kind = DATUM_NUMBER, .number = -20 }, "-20" },
		{ { .kind = DATUM_NUMBER, .number = (__int128)UINT64_MAX + 1 },
		  "18446744073709551616" },
		{ { .kind = DATUM_REAL, .real = 2.5 }, "2.5" },
		{ { .kind = DATUM_REAL, .real = (double)INFINITY }, "null" },
		{ { .kind = DATUM_REAL, .real = (double)NAN }, "null" },
		{ { .kind = DATUM_RANGE, .range = { -20, 19 } }, "-20..19" },
		{ { .kind = DATUM_CATEGORY, .category = { .text = "a\"b" } }, "\"a\"b\"" },
		{ { .kind = DATUM_CPUS, .cpus = { NULL, 2, 4 } }, "2-4 cpus" },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		const struct row after = { .measure = &plain, .after = rows[i].datum };
		const struct row before = { .measure = &plain, .before = rows[i].datum };

		expect_field(&after, FIELD_ID_VALUE, rows[i].text);
		expect_field(&after, FIELD_ID_CANDIDATE, rows[i].text);
		expect_field(&before, FIELD_ID_BASELINE, rows[i].text);
	}
}

TEST(names_and_units)
{
	struct measure measure = { .name = "wchar", .unit = UNIT_BYTES };
	struct row row = { .measure = &measure, .group = snapshot_name(snapshot, TEXT("a\nb")) };

	expect_field(&row, FIELD_ID_SECTION, "\"primary\"");
	expect_field(&row, FIELD_ID_GROUP, "\"a\nb\"");
	expect_field(&row, FIELD_ID_METRIC, "\"wchar\"");
	expect_field(&row, FIELD_ID_UNIT, "\"bytes\"");
	measure.per = "/CPU s";
	expect_field(&row, FIELD_ID_UNIT, "\"bytes/CPU s\"");
	measure = (struct measure){ .name = "nice", .section = SECTION_HOST };
	row.group = NULL;
	expect_field(&row, FIELD_ID_UNIT, "\"\"");
	expect_field(&row, FIELD_ID_GROUP, "null");
	expect_field(&row, FIELD_ID_SECTION, "\"host\"");
}

TEST(threads)
{
	struct measure measure = ns;
	struct row row = { .measure = &measure,
			   .threads_before = 4,
			   .threads_after = 9,
			   .before = { .measured = 3, .threads = 4 },
			   .after = { .measured = 7, .threads = 9 } };

	expect_field(&row, FIELD_ID_BASELINE_THREADS, "4");
	expect_field(&row, FIELD_ID_BASELINE_MEASURED, "3");
	expect_field(&row, FIELD_ID_THREADS, "9");
	expect_field(&row, FIELD_ID_MEASURED, "7");
	/* what is of the host has none */
	for (enum section i = SECTION_HOST_PRESSURE; i < SECTION_COUNT; i++) {
		measure.section = i;
		if (i == SECTION_SMAPS_ROLLUP)
			continue;
		expect_field(&row, FIELD_ID_BASELINE_THREADS, "null");
		expect_field(&row, FIELD_ID_BASELINE_MEASURED, "null");
		expect_field(&row, FIELD_ID_THREADS, "null");
		expect_field(&row, FIELD_ID_MEASURED, "null");
	}
}

/* Of cgroups and processes: how many go by the name, and how many of them have the value. */
TEST(members)
{
	static const enum section sections[] = { SECTION_CGROUP_STATS, SECTION_CGROUP_LIMITS,
						 SECTION_MEMORY_STAT,  SECTION_MEMORY_EVENTS,
						 SECTION_PRESSURE,     SECTION_SMAPS_ROLLUP };

	for (size_t i = 0; i < array_length(sections); i++) {
		const struct measure measure = { .name = "Rss", .section = sections[i] };
		const struct row row = { .measure = &measure,
					 .before = { .measured = 3, .threads = 4 },
					 .after = { .measured = 7, .threads = 9 } };

		expect_field(&row, FIELD_ID_BASELINE_THREADS, "4");
		expect_field(&row, FIELD_ID_BASELINE_MEASURED, "3");
		expect_field(&row, FIELD_ID_THREADS, "9");
		expect_field(&row, FIELD_ID_MEASURED, "7");
	}
}

TEST(shares)
{
	struct row row = { .measure = &ns, .has_host_share = true, .host_share = 0.125 };

	expect_field(&row, FIELD_ID_SHARE, "12.5");
	row.has_host_share = false;
	expect_field(&row, FIELD_ID_SHARE, "null");
}

TEST(several_captures)
{
	struct significance significance = { 4, 5, 1.5, 2.25, 0.125 };
	struct row row = { .measure = &ns, .significance = &significance };

	expect_field(&row, FIELD_ID_BASELINE_SPREAD, "1.5");
	expect_field(&row, FIELD_ID_CANDIDATE_SPREAD, "2.25");
	expect_field(&row, FIELD_ID_BASELINE_VALUES, "4");
	expect_field(&row, FIELD_ID_CANDIDATE_VALUES, "5");
	expect_field(&row, FIELD_ID_PROBABILITY, "0.125");
	significance.p = 2;
	expect_field(&row, FIELD_ID_PROBABILITY, "null");
	row.significance = NULL;
	expect_field(&row, FIELD_ID_BASELINE_VALUES, "null");
	expect_field(&row, FIELD_ID_PROBABILITY, "null");
}

/* --- all rows --- */

static void fill(struct comparison *c)
{
	comparison_begin(c);
	only_metrics(c, METRIC_wchar, METRIC_majflt, -1);
	build_number(live(c->before[0], 1, 1, 5, "both"), METRIC_wchar, 10);
	build_number(live(c->after[0], 1, 1, 5, "both"), METRIC_wchar, 30);
	build_number(live(c->before[0], 2, 2, 5, "ended"), METRIC_run_time_ns, 7);
	live(c->before[0], 2, 3, 5, "ended");
	build_number(live(c->after[0], 4, 4, 5, "began"), METRIC_majflt, 3);
	c->view.sections = 1u << SECTION_PRIMARY;
	comparison_run(c);
}

/* The sections first, then what one side has, each with its main values. */
TEST(every_row_and_those_of_one_side)
{
	_cleanup_free_ char *text = NULL;
	struct comparison c;
	size_t rows = 0;

	fill(&c);
	text = csv_of(c.report, NULL);
	for (const char *p = text; *p; p++)
		rows += *p == '\n';
	assert_int_equal(rows, 1 + 1 + 2 * UNMATCHED_METRICS);
	assert_non_null(strstr(text, "\nprimary,both,wchar,bytes,10,30,20,200,1,1,1,1,,\n"
				     "only-baseline,ended,run_time_ns,ns,7,,"));
	assert_non_null(strstr(text, "\nonly-candidate,began,majflt,count,,3,"));
	comparison_end(&c);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(fields_of_a_row), CASE(deltas_are_exact), CASE(halves), CASE(no_delta_is_null),
	   CASE(quotients_and_ratios), CASE(percentages), CASE(values_of_every_kind),
	   CASE(names_and_units), CASE(threads), CASE(members), CASE(shares),
	   CASE(several_captures), CASE(every_row_and_those_of_one_side))
