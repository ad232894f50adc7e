/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/profile_report.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

#include "unit/profile_report_scene.h"

static struct report_scene s;

static int setup(void **state)
{
	(void)state;
	report_scene_begin(&s);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	report_scene_end(&s);
	return 0;
}

/* Parsed by libyajl, which refuses what is not UTF-8 too. */
static void expect_json(struct text text)
{
	yajl_handle parser = yajl_alloc(NULL, NULL, NULL);

	assert_int_equal(yajl_parse(parser, (const unsigned char *)text.bytes, text.length),
			 yajl_status_ok);
	assert_int_equal(yajl_complete_parse(parser), yajl_status_ok);
	yajl_free(parser);
}

static size_t occurrences(const char *text, const char *of)
{
	size_t count = 0;

	for (; (text = strcasestr(text, of)); text++)
		count++;
	return count;
}

/* --- folded --- */

TEST(folded_lines_have_groups_suffixes_and_nanoseconds)
{
	report_scene_fill(&s);
	s.view.group_by = FLAME_BY_THREAD;
	assert_string_equal(report_scene_print(&s, profile_print_folded),
			    "db (10);db (10);main 1000\n"
			    "db (10);db (10);main;read;vfs_read_[k] 5000\n"
			    "db (10);writer (11);main;flush_[i];fsync_[k] 40000\n");
}

TEST(folded_lines_of_two_profiles_have_two_values)
{
	report_scene_fill(&s);
	report_scene_baseline(&s);
	assert_string_equal(report_scene_print(&s, profile_print_folded),
			    "main 3000 1000\n"
			    "main;flush_[i];fsync_[k] 0 40000\n"
			    "main;gone 700 0\n"
			    "main;read;vfs_read_[k] 5000 5000\n");
}

TEST(folded_names_cannot_break_lines_or_stacks)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	const char name[] = "x;y\nz\x1b\xff";
	struct frame frame = { .name = profile_name(s.profile, name, sizeof(name) - 1) };
	struct sample sample = { .thread = thread, .cpu = CPU_ANY, .ns = 7, .count = 1 };
	uint32_t number;

	expect_ok(profile_frame(s.profile, &frame, &number));
	expect_ok(profile_node(s.profile, NODE_NONE, number, &sample.node));
	expect_ok(profile_add(s.profile, &sample));
	assert_string_equal(report_scene_print(&s, profile_print_folded),
			    "x:y\\x0az\\x1b\xef\xbf\xbd 7\n");
}

/* --- stacks --- */

/* As tools/offcputime.py prints them: "    %-16s %s (%d)" of "-", and "        %d". */
TEST(stacks_are_as_offcputime_prints_them)
{
	report_scene_fill(&s);
	assert_string_equal(report_scene_print(&s, profile_print_stacks),
			    "    main\n"
			    "    -                db (10)\n"
			    "        1\n"
			    "\n"
			    "    vfs_read\n"
			    "    --\n"
			    "    read\n"
			    "    main\n"
			    "    -                db (10)\n"
			    "        5\n"
			    "\n"
			    "    fsync\n"
			    "    --\n"
			    "    flush\n"
			    "    main\n"
			    "    -                writer (11)\n"
			    "        40\n"
			    "\n");
}

TEST(stacks_are_of_the_wanted_classes)
{
	report_scene_fill(&s);
	s.view.classes = 1u << CLASS_ON_CPU;
	assert_string_equal(report_scene_print(&s, profile_print_stacks),
			    "    main\n"
			    "    -                db (10)\n"
			    "        1\n"
			    "\n");
}

/* --- speedscope --- */

TEST(speedscope_has_a_profile_for_each_group)
{
	report_scene_fill(&s);
	s.view.group_by = FLAME_BY_STATE;
	expect_json(report_scene_bytes(&s, profile_print_speedscope));
	assert_non_null(strstr(s.printed.items,
			       "{\"type\":\"sampled\",\"name\":\"io-wait\",\"unit\":"
			       "\"nanoseconds\",\"startValue\":0,\"endValue\":5000,"
			       "\"samples\":[["));
	assert_non_null(strstr(s.printed.items, "\"endValue\":40000,"));
	assert_non_null(strstr(s.printed.items, "\"endValue\":1000,"));
}

TEST(speedscope_has_a_profile_for_each_thread)
{
	report_scene_fill(&s);
	s.view.group_by = FLAME_BY_THREAD;
	expect_json(report_scene_bytes(&s, profile_print_speedscope));
	assert_int_equal(occurrences(s.printed.items, "\"sampled\""), 2);
	assert_non_null(strstr(s.printed.items,
			       "\"name\":\"db (10), writer (11)\",\"unit\":"
			       "\"nanoseconds\",\"startValue\":0,\"endValue\":40000,"));
}

TEST(speedscope_shares_frames)
{
	report_scene_fill(&s);
	expect_json(report_scene_bytes(&s, profile_print_speedscope));
	assert_non_null(
		strstr(s.printed.items, "\"frames\":[{\"name\":\"all\"},{\"name\":\"main\"}"));
	assert_null(strstr(strstr(s.printed.items, "\"main\"") + 1, "\"main\""));
	assert_non_null(strstr(s.printed.items, "\"weights\":[1000,40000,5000]"));
}

/* --- the page --- */

/* The JSON of a page: what is between its own tags. */
static struct text data_of(struct text page)
{
	const char *begin = strstr(page.bytes, "application/json\">");
	const char *end = begin ? strstr(begin, "</script") : NULL;

	assert_non_null(begin);
	assert_non_null(end);
	begin += strlen("application/json\">");
	return (struct text){ begin, (size_t)(end - begin) };
}

TEST(a_page_holds_the_flame_as_json)
{
	report_scene_fill(&s);
	expect_json(data_of(report_scene_bytes(&s, profile_print_html)));
	/* main: depth 1, no module, no kernel, not inlined, 9 stretches with what it calls. */
	assert_non_null(strstr(s.printed.items, "[1,1,-1,0,0,9,0,0,1000]"));
	assert_null(strstr(s.printed.items, "@DATA@"));
	assert_null(strstr(s.printed.items, "@SCRIPT@"));
}

TEST(no_name_gets_out_of_a_page)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "</script><script>x", "a", NULL);
	struct text page;

	build_sample(s.profile, thread, CLASS_ON_CPU,
		     "</SCRIPT><img src=x onerror=a()>;@TITLE@;<!--", 5, 1);
	s.view.group_by = FLAME_BY_PROCESS;
	s.report.title = "</title><script>alert(1)</script>";
	page = report_scene_bytes(&s, profile_print_html);
	expect_json(data_of(page));
	assert_int_equal(occurrences(page.bytes, "<script"), 4);
	assert_int_equal(occurrences(page.bytes, "</script"), 4);
	assert_int_equal(occurrences(page.bytes, "<img"), 0);
	assert_int_equal(occurrences(page.bytes, "</title"), 1);
	assert_int_equal(occurrences(page.bytes, "\\u003c/SCRIPT\\u003e"), 3);
}

TEST(pages_and_pictures_load_nothing)
{
	static const char *const loads[] = { "src=",    "href=",     "@import", "url(",   "fetch(",
					     "XMLHttp", "innerHTML", "eval(",   "import(" };

	report_scene_fill(&s);
	for (size_t i = 0; i < array_length(loads); i++) {
		assert_null(strstr(report_scene_print(&s, profile_print_html), loads[i]));
		assert_null(strstr(report_scene_print(&s, profile_print_svg), loads[i]));
	}
	/* The name of the language, which nobody loads. */
	assert_int_equal(occurrences(report_scene_print(&s, profile_print_svg), "http"),
			 occurrences(s.printed.items, "http://www.w3.org/"));
}

/* --- all of them --- */

TEST(every_format_writes_an_empty_profile)
{
	for (size_t i = 0; i < PROFILE_FORMAT_COUNT; i++)
		report_scene_bytes(&s, profile_formats[i].print);
}

TEST(every_format_reports_write_errors)
{
	report_scene_fill(&s);
	report_scene_flame(&s);
	for (size_t i = 0; i < PROFILE_FORMAT_COUNT; i++) {
		struct sunk sunk = { .refuse_after = 1 };

		expect_error(profile_formats[i].print(&s.report, sunk_write, &sunk), "");
		array_deinit(&sunk);
	}
}

TEST(formats_are_known_by_the_ends_of_paths)
{
	static const struct {
		const char *path;
		enum profile_format format;
	} rows[] = {
		{ "off.folded", PROFILE_FORMAT_FOLDED },
		{ "./a.b/off.svg", PROFILE_FORMAT_SVG },
		{ "a.json", PROFILE_FORMAT_JSON },
		{ "a.speedscope.json", PROFILE_FORMAT_SPEEDSCOPE },
		{ "a.pb.gz", PROFILE_FORMAT_PPROF },
		{ "a.profile.raw", PROFILE_FORMAT_RAW },
		{ "svg.html", PROFILE_FORMAT_HTML },
	};
	enum profile_format format;

	for (size_t i = 0; i < array_length(rows); i++) {
		expect_ok(profile_format_of_path(rows[i].path, &format));
		assert_int_equal(format, rows[i].format);
	}
	expect_error(profile_format_of_path("svg", &format), ".folded .stacks .svg");
	expect_error(profile_format_of_path("a.svg/b", &format), "a.svg/b");
	expect_error(profile_format_of_path("asvg", &format), "asvg");
}

TEST(formats_are_known_by_their_names)
{
	enum profile_format format;

	for (enum profile_format i = 0; i < PROFILE_FORMAT_COUNT; i++) {
		expect_ok(profile_format_named(profile_formats[i].name, &format));
		assert_int_equal(format, i);
	}
	expect_error(profile_format_named("htlm", &format), "did you mean 'html'?");
	expect_error(profile_format_named("zzzzzzzzzzzz", &format),
		     "expected one of: folded stacks");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(folded_lines_have_groups_suffixes_and_nanoseconds),
	   CASE(folded_lines_of_two_profiles_have_two_values),
	   CASE(folded_names_cannot_break_lines_or_stacks),
	   CASE(stacks_are_as_offcputime_prints_them), CASE(stacks_are_of_the_wanted_classes),
	   CASE(speedscope_has_a_profile_for_each_group),
	   CASE(speedscope_has_a_profile_for_each_thread), CASE(speedscope_shares_frames),
	   CASE(a_page_holds_the_flame_as_json), CASE(no_name_gets_out_of_a_page),
	   CASE(pages_and_pictures_load_nothing), CASE(every_format_writes_an_empty_profile),
	   CASE(every_format_reports_write_errors), CASE(formats_are_known_by_the_ends_of_paths),
	   CASE(formats_are_known_by_their_names))
