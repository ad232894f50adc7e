/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The four formats, and names that would be something else in them.
 */
#include <stdlib.h>
#include <yajl/yajl_tree.h>

#include "base/utf8.h"
#include "report/report.h"
#include "report/table.h"
#include "unit/compare_scene.h"

#define FFFD "\xef\xbf\xbd"

/* A name, and how it reads in JSON, on a terminal or in CSV, and in Markdown. */
static const struct hostile {
	const char *raw, *json, *visible, *markdown;
} hostiles[] = {
	{ "plain", "plain", "plain", "plain" },
	{ "a|b", "a|b", "a|b", "a\\|b" },
	{ "say \"hi\"", "say \"hi\"", "say \"hi\"", "say \"hi\"" },
	{ "\"", "\"", "\"", "\"" },
	{ "x,y", "x,y", "x,y", "x,y" },
	{ "line\nbreak", "line\nbreak", "line\\x0abreak", "line\\\\x0abreak" },
	{ "cr\r\ttab", "cr\r\ttab", "cr\\x0d\\x09tab", "cr\\\\x0d\\\\x09tab" },
	{ "\033[2Jesc", "\033[2Jesc", "\\x1b[2Jesc", "\\\\x1b\\[2Jesc" },
	{ "del\x7f", "del\x7f", "del\\x7f", "del\\\\x7f" },
	{ "csi\xc2\x9b", "csi\xc2\x9b", "csi\\x9b", "csi\\\\x9b" },
	{ "bad\xff\xfe", "bad" FFFD FFFD, "bad" FFFD FFFD, "bad" FFFD FFFD },
	{ "cut\xe2\x82", "cut" FFFD FFFD, "cut" FFFD FFFD, "cut" FFFD FFFD },
	{ "=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0", "=cmd|' /C calc'!A0",
	  "=cmd\\|' /C calc'!A0" },
	{ "-5", "-5", "-5", "-5" },
	{ "back\\slash", "back\\slash", "back\\slash", "back\\\\slash" },
	{ "`*_~[x](y)", "`*_~[x](y)", "`*_~[x](y)", "\\`\\*\\_\\~\\[x\\](y)" },
	{ "<b>&amp;", "<b>&amp;", "<b>&amp;", "&lt;b>&amp;amp;" },
	{ "漢字", "漢字", "漢字", "漢字" },
	{ " blanks ", " blanks ", " blanks ", " blanks " },
};

static struct comparison c;

static int setup(void **state)
{
	(void)state;
	comparison_begin(&c);
	c.view.sections = 1u << SECTION_PRIMARY;
	only_metrics(&c, METRIC_wchar, -1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	comparison_end(&c);
	return 0;
}

/* A process of that name on both sides that wrote `number` bytes in between. */
static void add_process(const char *name, uint32_t number)
{
	build_number(live(c.before[0], number, number, 5, name), METRIC_wchar, 100);
	build_number(live(c.after[0], number, number, 5, name), METRIC_wchar, 100 + number);
}

static void add_hostiles(void)
{
	for (uint32_t i = 0; i < array_length(hostiles); i++)
		add_process(hostiles[i].raw, i + 1);
	comparison_run(&c);
}

/* What is ours alone in a page: styles and scripts, which are indented by tabs. */
static void blank_tabs(char *text)
{
	for (; *text; text++)
		if (*text == '\t')
			*text = ' ';
}

/* The caller frees it. */
static char *report_in(enum report_format format, const struct report_style *style)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	expect_ok(report_formats[format].print(out, c.report, style));
	fclose(out);
	assert_int_equal(strlen(text), length);
	return text;
}

static char *report(enum report_format format)
{
	return report_in(format, &(struct report_style){ 0 });
}

/* Nothing that moves a cursor, in one byte or in two. */
static void expect_harmless(const char *text)
{
	assert_true(utf8_is_valid(text_of(text)));
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if ((*p < 0x20 && *p != '\n') || *p == 0x7f)
			fail_msg("the byte %02x is in it", *p);
		if (*p == 0xc2 && p[1] < 0xa0)
			fail_msg("the character U+%04X is in it", p[1]);
	}
}

/* --- JSON --- */

static yajl_val parsed_json(const char *text)
{
	char problem[256];
	yajl_val tree = yajl_tree_parse(text, problem, sizeof(problem));

	if (!tree)
		fail_msg("%s in: %s", problem, text);
	return tree;
}

static yajl_val member(yajl_val object, const char *key)
{
	const char *path[] = { key, NULL };
	yajl_val value = yajl_tree_get(object, path, yajl_t_any);

	if (!value)
		fail_msg("no member %s", key);
	return value;
}

/* A member that is a string; "" when it is none. */
static const char *string_of(yajl_val object, const char *key)
{
	const char *string = YAJL_GET_STRING(member(object, key));

	return string ? string : "";
}

/* The row of a group; NULL when there is none. */
static yajl_val json_row(yajl_val tree, const char *group, const char *metric)
{
	yajl_val rows = member(tree, "rows");

	for (size_t i = 0; i < YAJL_GET_ARRAY(rows)->len; i++) {
		yajl_val row = YAJL_GET_ARRAY(rows)->values[i];

		if (strcmp(string_of(row, "group"), group) == 0 &&
		    strcmp(string_of(row, "metric"), metric) == 0)
			return row;
	}
	return NULL;
}

static void expect_digits(yajl_val row, const char *key, const char *digits)
{
	yajl_val value = member(row, key);

	assert_true(YAJL_IS_NUMBER(value));
	assert_string_equal(YAJL_GET_NUMBER(value), digits);
}

TEST(json_has_names_as_they_are)
{
	_cleanup_free_ char *text = NULL;
	yajl_val tree;

	add_hostiles();
	text = report(REPORT_JSON);
	tree = parsed_json(text);
	for (size_t i = 0; i < array_length(hostiles); i++) {
		yajl_val row = json_row(tree, hostiles[i].json, "wchar");
		char delta[16];

		if (!row)
			fail_msg("no row of %s", hostiles[i].visible);
		snprintf(delta, sizeof(delta), "%zu", i + 1);
		expect_digits(row, "delta", delta);
	}
	assert_int_equal(YAJL_GET_ARRAY(member(tree, "rows"))->len, array_length(hostiles));
	yajl_tree_free(tree);
}

/* JSON is read on terminals too. */
TEST(json_sends_no_control_characters)
{
	_cleanup_free_ char *text = NULL;

	add_hostiles();
	text = report(REPORT_JSON);
	expect_harmless(text);
}

TEST(json_numbers_are_exact)
{
	static const enum metric_id delays[] = {
		METRIC_cpu_delay_total_ns,       METRIC_blkio_delay_total_ns,
		METRIC_freepages_delay_total_ns, METRIC_compact_delay_total_ns,
		METRIC_wpcopy_delay_total_ns,    METRIC_irq_delay_total_ns,
		METRIC_swapin_delay_total_ns,
	};
	struct ctprof_thread *before = live(c.before[0], 1, 1, 5, "p");
	struct ctprof_thread *after = live(c.after[0], 1, 1, 5, "p");
	_cleanup_free_ char *json = NULL, *csv = NULL;
	yajl_val tree, row;

	build_number(before, METRIC_wchar, UINT64_MAX);
	build_number(after, METRIC_wchar, 0);
	for (size_t i = 0; i < array_length(delays); i++) {
		build_number(before, delays[i], 0);
		build_number(after, delays[i], UINT64_MAX);
	}
	c.view.sections = SECTIONS_ALL;
	only_metrics(&c, METRIC_wchar, METRIC_COUNT + DERIVED_ID_total_offcpu_delay_ns, -1);
	comparison_run(&c);
	json = report(REPORT_JSON);
	csv = report(REPORT_CSV);
	tree = parsed_json(json);
	row = json_row(tree, "p", "wchar");
	assert_non_null(row);
	expect_digits(row, "baseline", "18446744073709551615");
	expect_digits(row, "candidate", "0");
	expect_digits(row, "delta", "-18446744073709551615");
	expect_digits(row, "pct", "-100");
	row = json_row(tree, "p", "total_offcpu_delay_ns");
	assert_non_null(row);
	expect_digits(row, "candidate", "129127208515966861305");
	expect_digits(row, "delta", "129127208515966861305");
	expect_digits(row, "measured_delays", "7");
	assert_true(YAJL_IS_NULL(member(row, "pct")));
	yajl_tree_free(tree);
	assert_non_null(strstr(csv, "primary,p,wchar,bytes,18446744073709551615,0,"
				    "-18446744073709551615,-100,1,1,1,1,,\n"));
	assert_non_null(strstr(csv, "p,total_offcpu_delay_ns,ns,0,129127208515966861305,"
				    "129127208515966861305,,1,1,1,1,,\n"));
}

/* What has no number has members all the same: programs need not ask which kind it is. */
TEST(json_values_of_every_kind)
{
	struct ctprof_thread *before = live(c.before[0], 1, 1, 5, "p");
	struct ctprof_thread *after = live(c.after[0], 1, 1, 5, "p");
	_cleanup_free_ char *text = NULL;
	yajl_val tree, value;

	only_metrics(&c, METRIC_policy, METRIC_nice, METRIC_cpu_affinity, METRIC_wchar, -1);
	c.view.metrics_named = true;
	build_label(c.before[0], before, METRIC_policy, "SCHED_OTHER");
	build_label(c.after[0], after, METRIC_policy, "SCHED_RR");
	build_signed(before, METRIC_nice, 0);
	build_signed(after, METRIC_nice, -5);
	build_cpus(c.before[0], before, "0-3");
	build_cpus(c.after[0], after, "0-1,5");
	comparison_run(&c);
	text = report(REPORT_JSON);
	tree = parsed_json(text);
	value = json_row(tree, "p", "policy");
	assert_string_equal(string_of(value, "candidate"), "SCHED_RR");
	assert_true(YAJL_IS_NULL(member(value, "delta")));
	value = json_row(tree, "p", "nice");
	expect_digits(value, "delta", "-5");
	expect_digits(member(value, "candidate"), "min", "-5");
	expect_digits(member(value, "candidate"), "max", "-5");
	value = json_row(tree, "p", "cpu_affinity");
	expect_digits(value, "delta", "-1");
	assert_string_equal(string_of(member(value, "candidate"), "cpus"), "0-1,5");
	expect_digits(member(value, "candidate"), "min", "3");
	value = json_row(tree, "p", "wchar");
	assert_true(YAJL_IS_NULL(member(value, "baseline")));
	assert_true(YAJL_IS_NULL(member(value, "candidate")));
	expect_digits(value, "measured_threads", "0");
	expect_digits(value, "threads", "1");
	yajl_tree_free(tree);
}

TEST(json_of_nothing)
{
	_cleanup_free_ char *text = NULL;
	yajl_val tree;

	comparison_run(&c);
	text = report(REPORT_JSON);
	tree = parsed_json(text);
	assert_int_equal(YAJL_GET_ARRAY(member(tree, "rows"))->len, 0);
	expect_digits(tree, "left_out", "0");
	assert_string_equal(string_of(member(tree, "ctprof"), "report"), "compare");
	yajl_tree_free(tree);
}

/* --- CSV --- */

#define CSV_FIELDS 32

struct record {
	char fields[CSV_FIELDS][256];
	size_t count;
};

/* The next record as RFC 4180 reads it. */
static bool next_record(const char **at, struct record *ret)
{
	const char *p = *at;
	size_t used = 0;

	if (!*p)
		return false;
	*ret = (struct record){ .count = 1 };
	while (*p && *p != '\n') {
		char *field = ret->fields[ret->count - 1];
		bool quoted = *p == '"' && !used;

		for (p += quoted; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
			if (quoted && *p == '"' && *++p != '"')
				break;
			/* a quote belongs within quotes */
			assert_true(quoted || *p != '"');
			field[used++] = *p;
		}
		assert_true(*p == ',' || *p == '\n');
		field[used] = '\0';
		used = 0;
		if (*p != ',')
			break;
		p++;
		assert_true(ret->count++ < CSV_FIELDS);
	}
	assert_int_equal(*p, '\n');
	*at = p + 1;
	return true;
}

TEST(csv_has_names_as_they_are_shown)
{
	_cleanup_free_ char *text = NULL;
	struct record heading, row;
	size_t seen = 0;
	const char *at;

	add_hostiles();
	at = text = report(REPORT_CSV);
	assert_true(next_record(&at, &heading));
	assert_string_equal(heading.fields[1], "group");
	assert_string_equal(heading.fields[6], "delta");
	while (next_record(&at, &row)) {
		size_t i = strtoul(row.fields[6], NULL, 10) - 1;

		assert_int_equal(row.count, heading.count);
		assert_true(i < array_length(hostiles));
		assert_string_equal(row.fields[0], "primary");
		assert_string_equal(row.fields[1], hostiles[i].visible);
		assert_string_equal(row.fields[2], "wchar");
		seen++;
	}
	assert_int_equal(seen, array_length(hostiles));
	expect_harmless(text);
}

TEST(csv_of_nothing)
{
	_cleanup_free_ char *text = NULL;

	comparison_run(&c);
	text = report(REPORT_CSV);
	assert_string_equal(text, "section,group,metric,unit,baseline,candidate,delta,pct,"
				  "baseline_threads,baseline_measured_threads,threads,"
				  "measured_threads,baseline_impossible_threads,"
				  "impossible_threads\n");
}

/* --- Markdown --- */

/* Cells of a line of a table: bars that are not escaped part them. */
static size_t count_bars(struct text line)
{
	size_t bars = 0;

	for (size_t i = 0; i < line.length; i++) {
		if (line.bytes[i] == '\\')
			i++;
		else
			bars += line.bytes[i] == '|';
	}
	return bars;
}

TEST(markdown_names_stay_names)
{
	_cleanup_free_ char *text = NULL;
	struct text rest, line;
	size_t lines = 0;

	add_hostiles();
	text = report(REPORT_MARKDOWN);
	for (size_t i = 0; i < array_length(hostiles); i++) {
		char cell[128];

		snprintf(cell, sizeof(cell), "| %s | 1 | wchar | 100B | %zuB | +%zuB |",
			 hostiles[i].markdown, 101 + i, 1 + i);
		if (!strstr(text, cell))
			fail_msg("no \"%s\" in:\n%s", cell, text);
	}
	rest = text_of(text);
	while (text_cut(&rest, '\n', &line)) {
		if (!text_starts(line, TEXT("|")))
			continue;
		/* group, threads, metric, baseline, candidate, delta, % */
		assert_int_equal(count_bars(line), 8);
		lines++;
	}
	assert_int_equal(lines, array_length(hostiles) + 2);
	assert_null(strstr(text, "<b>"));
	expect_harmless(text);
}

/* --- text --- */

TEST(text_shows_names)
{
	_cleanup_free_ char *text = NULL;

	add_hostiles();
	text = report(REPORT_TABLE);
	for (size_t i = 0; i < array_length(hostiles); i++)
		if (!strstr(text, hostiles[i].visible))
			fail_msg("no %s in:\n%s", hostiles[i].visible, text);
	expect_harmless(text);
}

/* Rows of a table begin with a blank; names go on in the next line. */
TEST(text_is_wrapped)
{
	const struct report_style style = { .width = 64, .wrap = true };
	_cleanup_free_ char *text = NULL;
	struct text rest, line;
	size_t wrapped = 0;

	add_process("a-name-that-is-longer-than-anybody-would-want-it-to-be-in-a-table", 1);
	add_process("漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", 2);
	comparison_run(&c);
	text = report_in(REPORT_TABLE, &style);
	rest = text_of(text);
	while (text_cut(&rest, '\n', &line)) {
		char *copy = strndup(line.bytes, line.length);

		if (*copy == ' ' && text_width(copy) > style.width)
			fail_msg("\"%s\" is wider than %zu", copy, style.width);
		wrapped += *copy == ' ';
		free(copy);
	}
	assert_true(wrapped > 5);
}

/* --- what stands around the rows --- */

#define HOSTILE "\033[2J\n\xc2\x9b<script>[x](y)\xff"

static const enum report_format for_people[] = { REPORT_TABLE, REPORT_MARKDOWN };

TEST(notes_and_names_of_files_are_made_visible)
{
	c.before[0]->note = snapshot_name(c.before[0], TEXT(HOSTILE));
	add_process("p", 1);
	comparison_run(&c);
	c.items[0].name = HOSTILE;
	for (size_t i = 0; i < array_length(for_people); i++) {
		_cleanup_free_ char *text = report(for_people[i]);

		expect_harmless(text);
		assert_non_null(strstr(text, "\\x1b"));
	}
}

/* In Markdown a note is no markup, and no link. */
TEST(markdown_notes_stay_notes)
{
	_cleanup_free_ char *text = NULL;

	c.before[0]->note = snapshot_name(c.before[0], TEXT("<script>"));
	add_process("p", 1);
	comparison_run(&c);
	c.items[1].name = "a_[x](http://y)_b";
	text = report(REPORT_MARKDOWN);
	assert_null(strstr(text, "<script>"));
	assert_null(strstr(text, "[x](http"));
}

/* What a file says of its kernel, it may say in any bytes. */
TEST(kernels_are_made_visible)
{
	c.before[0]->host->kernel_release = snapshot_name(c.before[0], TEXT("6.1" HOSTILE));
	c.after[0]->host->kernel_release = snapshot_name(c.after[0], TEXT("6.12"));
	c.before[0]->host->arch = snapshot_name(c.before[0], TEXT("x86" HOSTILE));
	c.after[0]->host->arch = snapshot_name(c.after[0], TEXT("arm64"));
	add_process("p", 1);
	comparison_run(&c);
	for (size_t i = 0; i < array_length(for_people); i++) {
		_cleanup_free_ char *text = report(for_people[i]);

		assert_non_null(strstr(text, "different kernels"));
		expect_harmless(text);
	}
}

TEST(conditions_are_made_visible)
{
	add_process("p", 10);
	comparison_conditions(&c, "p\033*:wchar > 5B");
	comparison_conditions(&c, "p*:wchar > 5B");
	comparison_run(&c);
	for (size_t i = 0; i < array_length(for_people); i++) {
		_cleanup_free_ char *text = report(for_people[i]);

		assert_non_null(strstr(text, "fail-if"));
		expect_harmless(text);
	}
}

/* Names of devices, and of what is counted of them, come from the file as they are. */
TEST(counters_are_made_visible)
{
	struct ctprof_snapshot *sides[] = { c.before[0], c.after[0] };

	for (size_t i = 0; i < 2; i++) {
		struct counter_set *set = build_counters(sides[i], COUNTERS_BLOCK, "vd" HOSTILE);

		build_count(sides[i], &set->counts, "reads" HOSTILE, i);
	}
	c.view.sections = 1u << SECTION_HOST_COUNTERS;
	c.view.sections_named = true;
	comparison_run(&c);
	for (enum report_format i = 0; i < REPORT_FORMAT_COUNT; i++) {
		_cleanup_free_ char *text = report(i);

		assert_non_null(strstr(text, "reads"));
		if (i == REPORT_HTML)
			blank_tabs(text);
		if (i != REPORT_JSON)
			expect_harmless(text);
		else
			yajl_tree_free(parsed_json(text));
	}
}

static size_t occurrences(const char *text, const char *of)
{
	size_t count = 0;

	for (; (text = strstr(text, of)); text++)
		count++;
	return count;
}

/* Names are text wherever they are: in the title, the overview, pictures and tables. */
TEST(no_name_becomes_markup)
{
	static const char *const names[] = { "</script><script>x()</script>",
					     "<img src=x onerror=x()>", "\" onclick=\"x()\" '",
					     "</title></pre></svg>", "@BODY@" };
	_cleanup_free_ char *text = NULL;

	for (uint32_t i = 0; i < array_length(names); i++) {
		struct ctprof_thread *before = live(c.before[0], i + 1, i + 1, 5, names[i]);
		struct ctprof_thread *after = live(c.after[0], i + 1, i + 1, 5, names[i]);

		build_number(before, METRIC_run_time_ns, 100);
		build_number(after, METRIC_run_time_ns, 100 + (uint64_t)(i + 1) * NS_PER_S);
	}
	c.view.overview = true;
	comparison_run(&c);
	text = report(REPORT_HTML);
	assert_non_null(strstr(text, "&lt;/script&gt;&lt;script&gt;x()"));
	assert_non_null(strstr(text, "@BODY@"));
	assert_int_equal(occurrences(text, "<script"), 2);
	assert_int_equal(occurrences(text, "</script"), 2);
	assert_int_equal(occurrences(text, "<img"), 0);
	assert_int_equal(occurrences(text, " onclick=\"x"), 0);
	assert_int_equal(occurrences(text, "</title></pre"), 0);
	/* Each script and style is one that the policy allows. */
	assert_int_equal(occurrences(text, "'sha256-"),
			 occurrences(text, "<script>") + occurrences(text, "<style>"));
	assert_int_equal(occurrences(text, " style=\""), 0);
}

/* A file that does not say when it was made was not made in 1970. */
TEST(an_unknown_time_is_none)
{
	_cleanup_free_ char *json = NULL, *text = NULL;
	yajl_val tree;

	c.before[0]->captured_at_unix_ns = (struct reading){ 0 };
	add_process("p", 1);
	comparison_run(&c);
	text = report(REPORT_TABLE);
	assert_null(strstr(text, "1970"));
	json = report(REPORT_JSON);
	tree = parsed_json(json);
	assert_true(YAJL_IS_NULL(member(YAJL_GET_ARRAY(member(tree, "baseline"))->values[0],
					"captured_at_unix_ns")));
	yajl_tree_free(tree);
}

/* Absent is not zero, in Markdown either: here nobody measured a thing, there somebody did. */
TEST(markdown_of_groups_of_one_side)
{
	_cleanup_free_ char *text = NULL;

	live(c.before[0], 1, 1, 5, "unmeasured");
	build_number(live(c.after[0], 2, 2, 5, "a|b"), METRIC_run_time_ns, 1500);
	live(c.after[0], 3, 3, 5, "x");
	comparison_run(&c);
	text = report(REPORT_MARKDOWN);
	assert_non_null(strstr(text, "1 group only in baseline (before):\n\n"
				     "| process | threads |\n"
				     "| --- | ---: |\n"
				     "| unmeasured | 1 |\n"));
	assert_non_null(strstr(text, "2 groups only in candidate (after):\n\n"
				     "| process | threads | CPU time |\n"
				     "| --- | ---: | ---: |\n"
				     "| a\\|b | 1 | 1.500µs |\n"
				     "| x | 1 | - |\n"));
}

/* Every metric that no thread has is there once, beside a reason; of states none, where nobody
 * recorded any. */
TEST(json_lists_unmeasured_metrics)
{
	_cleanup_free_ char *text = NULL;
	struct metric_set seen = { 0 };
	yajl_val tree, reasons;

	add_process("p", 1);
	comparison_run(&c);
	text = report(REPORT_JSON);
	tree = parsed_json(text);
	reasons = member(tree, "unmeasured");
	for (size_t i = 0; i < YAJL_GET_ARRAY(reasons)->len; i++) {
		yajl_val reason = YAJL_GET_ARRAY(reasons)->values[i];
		yajl_val names = member(reason, "metrics");

		assert_true(strlen(string_of(reason, "reason")) > 5);
		assert_true(YAJL_GET_ARRAY(names)->len > 0);
		for (size_t k = 0; k < YAJL_GET_ARRAY(names)->len; k++) {
			const char *name = YAJL_GET_STRING(YAJL_GET_ARRAY(names)->values[k]);
			const struct metric *metric = metric_find(text_of(name ? name : ""));

			assert_non_null(metric);
			assert_false(metric_set_has(&seen, metric_id(metric)));
			metric_set_add(&seen, metric_id(metric));
		}
	}
	for (enum metric_id id = 0; id < METRIC_COUNT; id++)
		assert_int_equal(metric_set_has(&seen, id),
				 id != METRIC_wchar && id != METRIC_thread_count &&
					 metrics[id].section != SECTION_THREAD_STATES);
	yajl_tree_free(tree);
}

TEST(one_snapshot)
{
	_cleanup_free_ char *json = NULL, *csv = NULL;
	yajl_val tree, row;

	add_process("p", 5);
	comparison_alone(&c);
	comparison_run(&c);
	json = report(REPORT_JSON);
	csv = report(REPORT_CSV);
	tree = parsed_json(json);
	row = json_row(tree, "p", "wchar");
	assert_non_null(row);
	expect_digits(row, "value", "105");
	expect_digits(row, "threads", "1");
	expect_digits(row, "measured_threads", "1");
	assert_string_equal(string_of(row, "unit"), "bytes");
	assert_string_equal(string_of(member(tree, "ctprof"), "report"), "show");
	yajl_tree_free(tree);
	assert_string_equal(csv, "section,group,metric,unit,value,threads,measured_threads,"
				 "impossible_threads\n"
				 "primary,p,wchar,bytes,105,1,1,\n");
}

/* A disk that is full is no success. */
TEST(json_reports_write_errors)
{
	FILE *full = fopen("/dev/full", "we");
	struct error *err;

	if (!full)
		skip();
	setvbuf(full, NULL, _IONBF, 0);
	add_process("p", 1);
	comparison_run(&c);
	err = report_json(full, c.report, &(struct report_style){ 0 });
	fclose(full);
	expect_error(err, "cannot write");
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(json_has_names_as_they_are), CASE(json_sends_no_control_characters),
	   CASE(json_numbers_are_exact), CASE(json_values_of_every_kind), CASE(json_of_nothing),
	   CASE(csv_has_names_as_they_are_shown), CASE(csv_of_nothing),
	   CASE(markdown_names_stay_names), CASE(text_shows_names), CASE(text_is_wrapped),
	   CASE(notes_and_names_of_files_are_made_visible), CASE(markdown_notes_stay_notes),
	   CASE(kernels_are_made_visible), CASE(conditions_are_made_visible),
	   CASE(counters_are_made_visible), CASE(no_name_becomes_markup),
	   CASE(an_unknown_time_is_none), CASE(markdown_of_groups_of_one_side),
	   CASE(json_lists_unmeasured_metrics), CASE(one_snapshot), CASE(json_reports_write_errors))
