/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"
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

/* --- a reader of XML, as much of it as there is --- */

struct seen {
	unsigned depth;
	double left, width;
	char name[200]; /* what the tooltip begins with, entities as they are */
};

struct frames {
	struct seen items[20000];
	size_t count;
};

static void skip_past(const char **at, const char *end)
{
	const char *found = strstr(*at, end);

	assert_non_null(found);
	*at = found + strlen(end);
}

/* "&lt;" and the like; nothing else may begin with '&'. */
static void expect_entity(const char *at)
{
	static const char *const known[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };

	for (size_t i = 0; i < array_length(known); i++)
		if (strncmp(at, known[i], strlen(known[i])) == 0)
			return;
	fail_msg("no entity: %.20s", at);
}

static double attribute(const char *tag, const char *end, const char *name)
{
	const char *found = strstr(tag, name);

	assert_true(found && found < end);
	return strtod(found + strlen(name), NULL);
}

static void read_tag(const char *tag, const char *end, struct frames *frames)
{
	struct seen *frame = frames->count ? &frames->items[frames->count - 1] : NULL;

	if (strncmp(tag, "<g data-d=", 10) == 0) {
		assert_true(frames->count < array_length(frames->items));
		frame = &frames->items[frames->count++];
		*frame = (struct seen){ .depth = (unsigned)attribute(tag, end, "data-d=\""),
					.left = -1 };
	} else if (frame && strncmp(tag, "<title>", 7) == 0 && !frame->name[0]) {
		size_t length = strcspn(end + 1, "\n<");

		assert_true(length < sizeof(frame->name));
		memcpy(frame->name, end + 1, length);
	} else if (frame && frame->left < 0 && strncmp(tag, "<rect ", 6) == 0) {
		frame->left = attribute(tag, end, " x=\"");
		frame->width = attribute(tag, end, " width=\"");
	}
}

/* Elements nest, text has no loose '<' or '&', and all of it is characters that XML has. */
static void read_svg(struct text svg, struct frames *frames)
{
	const char *at = svg.bytes, *open[64];
	size_t depth = 0;

	frames->count = 0;
	assert_true(utf8_is_valid(svg));
	for (size_t i = 0; i < svg.length; i++)
		assert_true((unsigned char)svg.bytes[i] >= 0x20 || strchr("\n\t", svg.bytes[i]));
	assert_null(strstr(svg.bytes, "\xef\xbf\xbf"));
	skip_past(&at, "?>");
	for (; *at; at++) {
		const char *end;

		if (*at == '&')
			expect_entity(at);
		if (*at != '<')
			continue;
		if (strncmp(at, "<![CDATA[", 9) == 0) {
			skip_past(&at, "]]>");
			at--;
			continue;
		}
		end = strchr(at, '>');
		assert_non_null(end);
		assert_null(memchr(at + 1, '<', (size_t)(end - at - 1)));
		if (at[1] == '/') {
			size_t length = (size_t)(end - at - 2);

			assert_true(depth > 0);
			depth--;
			assert_memory_equal(open[depth] + 1, at + 2, length);
		} else if (end[-1] != '/') {
			assert_true(depth < array_length(open));
			open[depth++] = at;
		}
		read_tag(at, end, frames);
		at = end;
	}
	assert_int_equal(depth, 0);
}

/* Callees stand within their callers and beside each other. Percents have four decimals. */
static void expect_nested(const struct frames *frames)
{
	static double left[2000], right[2000], next[2000];

	assert_true(frames->count > 0);
	assert_true(fabs(frames->items[0].width - 100) < 1e-3);
	for (size_t i = 0; i < frames->count; i++) {
		const struct seen *f = &frames->items[i];
		unsigned d = f->depth;

		assert_true(d < array_length(left));
		assert_true(i ? d >= 1 && d <= frames->items[i - 1].depth + 1 : d == 0);
		if (d) {
			assert_true(f->left >= left[d - 1] - 2e-4);
			assert_true(f->left + f->width <= right[d - 1] + 2e-4);
			assert_true(f->left >= next[d - 1] - 2e-4);
			next[d - 1] = f->left + f->width;
		}
		left[d] = next[d] = f->left;
		right[d] = f->left + f->width;
	}
}

static struct frames *drawn(void)
{
	static struct frames frames;

	read_svg(report_scene_bytes(&s, profile_print_svg), &frames);
	expect_nested(&frames);
	return &frames;
}

static const struct seen *frame_named(const struct frames *frames, const char *name)
{
	for (size_t i = 0; i < frames->count; i++)
		if (strcmp(frames->items[i].name, name) == 0)
			return &frames->items[i];
	fail_msg("no frame %s", name);
	return NULL;
}

/* --- tests --- */

TEST(frames_are_as_wide_as_their_share)
{
	const struct frames *frames;

	report_scene_fill(&s);
	frames = drawn();
	assert_int_equal(frames->count, 6);
	assert_true(fabs(frame_named(frames, "read")->width - 100 * 5.0 / 46) < 1e-3);
	assert_true(fabs(frame_named(frames, "vfs_read [kernel]")->width - 100 * 5.0 / 46) < 1e-3);
	assert_true(fabs(frame_named(frames, "flush [inlined]")->width - 100 * 40.0 / 46) < 1e-3);
	assert_int_equal(frame_named(frames, "fsync [kernel]")->depth, 3);
}

TEST(tooltips_have_all_facts)
{
	report_scene_fill(&s);
	drawn();
	assert_non_null(strstr(s.printed.items, "<title>main\n46.000µs, 100.00%\nitself 1.000µs, "
						"2.17%\n9 samples and stretches\non-cpu: 1.000µs, "
						"2.2%\nuninterruptible: 40.000µs, 87.0%\n"
						"io-wait: 5.000µs, 10.9%</title>"));
	assert_non_null(strstr(s.printed.items, "<title>read\n5.000µs, 10.87%\n5 times, 1.000µs "
						"each\nio-wait: 5.000µs, 100.0%</title>"));
}

/* The script moves it with the window, over frames. */
TEST(the_head_is_above_all_frames)
{
	const char *frames, *head;

	report_scene_fill(&s);
	drawn();
	frames = strstr(s.printed.items, "<svg id=\"frames\"");
	head = strstr(s.printed.items, "<g id=\"head\"><rect class=\"paper\"");
	assert_non_null(frames);
	assert_true(head > frames);
	assert_non_null(strstr(head, "class=\"heading\""));
	assert_non_null(strstr(head, "<g id=\"legend\">"));
	assert_non_null(strstr(head, "<g id=\"hud\""));
}

TEST(a_difference_shows_gone_and_new_frames)
{
	const struct frames *frames;

	report_scene_fill(&s);
	report_scene_baseline(&s);
	frames = drawn();
	assert_true(fabs(frame_named(frames, "gone")->width - 100 * 0.7 / 54.7) < 1e-3);
	assert_true(fabs(frame_named(frames, "read")->width - 100 * 10 / 54.7) < 1e-3);
	assert_non_null(strstr(s.printed.items, "<title>gone\n700ns before, 0ns after: -700ns "
						"(-100.0%)\nitself"));
	assert_non_null(strstr(s.printed.items, "(difference)"));
}

static void expect_starts(const char *text, const char *start)
{
	assert_memory_equal(text, start, strlen(start));
}

/* Half of it ran: half of each frame's height is that, and the rest is above. */
TEST(running_and_blocked_shares_are_stripes)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	const char *main_frame, *stripe;

	build_sample(s.profile, thread, CLASS_ON_CPU, "main;work", 500, 1);
	build_sample(s.profile, thread, CLASS_INTERRUPTIBLE, "main;wait", 300, 1);
	build_sample(s.profile, thread, CLASS_RUNNABLE, "main;wait", 200, 1);
	drawn();
	main_frame = strstr(s.printed.items, "<title>main\n");
	assert_non_null(main_frame);
	stripe = strstr(main_frame, "<rect ");
	assert_non_null(strstr(stripe, "height=\"16\""));
	stripe = strstr(stripe + 1, "<rect ");
	/* 20 % runnable from 50 % on, and 30 % blocked on top, of 16 pixels at y 17. */
	expect_starts(stripe, "<rect x=\"0.0000%\" y=\"22\" width=\"100.0000%\" height=\"3\"");
	stripe = strstr(stripe + 1, "<rect ");
	expect_starts(stripe, "<rect x=\"0.0000%\" y=\"17\" width=\"100.0000%\" height=\"5\"");
}

TEST(names_stay_text)
{
	static const char *const names[] = {
		"</title><script>alert(1)</script>",
		"]]>",
		"a&b\"c'd",
		"\x01\x1b[31m\xff",
		"\xef\xbf\xbf",
		"operator<<(a, b)",
	};
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "<svg>", "a", NULL);
	const struct frames *frames;

	for (size_t i = 0; i < array_length(names); i++)
		build_sample(s.profile, thread, CLASS_ON_CPU, names[i], 1000, 1);
	s.view.group_by = FLAME_BY_PROCESS;
	s.report.title = "<b>&</b>";
	s.profile->meta.host = profile_name(s.profile, "<h>\n", 4);
	frames = drawn();
	assert_int_equal(frames->count, 2 + array_length(names));
	frame_named(frames, "operator&lt;&lt;(a, b)");
	frame_named(frames, "\\x01\\x1b[31m" UTF8_REPLACEMENT);
	frame_named(frames, UTF8_REPLACEMENT);
	frame_named(frames, "&lt;svg&gt; (1)");
}

TEST(invisible_frames_are_counted)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	const struct frames *frames;

	build_sample(s.profile, thread, CLASS_ON_CPU, "main;large", 100000000, 1);
	build_sample(s.profile, thread, CLASS_ON_CPU, "main;small;smaller", 1000, 1);
	frames = drawn();
	assert_int_equal(frames->count, 3);
	assert_non_null(strstr(s.printed.items, "2 frames narrower than 0.1 pixels left out"));
}

TEST(stacks_may_be_deep)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	char stack[1151 * 6], *end = stack;

	for (unsigned i = 0; i < 1150; i++)
		end += sprintf(end, "%sf%u", i ? ";" : "", i % 1000);
	build_sample(s.profile, thread, CLASS_ON_CPU, stack, 5, 1);
	assert_int_equal(drawn()->count, 1151);
}

/* Whatever the tree is. */
TEST(random_trees_nest)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);
	uint64_t random = 7;

	for (unsigned i = 0; i < 1000; i++) {
		char stack[200], *end = stack;
		unsigned depth = 1 + next_random(&random) % 12;

		for (unsigned d = 0; d < depth; d++)
			end += sprintf(end, "%sf%u", d ? ";" : "",
				       (unsigned)(next_random(&random) % 3));
		build_sample(s.profile, thread, next_random(&random) % CLASS_EVENT, stack,
			     next_random(&random) % 1000000, 1);
	}
	assert_true(drawn()->count > 1000);
}

TEST(events_are_hits)
{
	uint32_t thread = build_profile_thread(s.profile, 1, 1, "a", "a", NULL);

	build_sample(s.profile, thread, CLASS_EVENT, "main;malloc", 0, 1234);
	drawn();
	assert_non_null(strstr(s.printed.items, "<title>malloc\n1.234K, 100.00%"));
	assert_non_null(strstr(s.printed.items, ">Events</text>"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(frames_are_as_wide_as_their_share), CASE(tooltips_have_all_facts),
	   CASE(the_head_is_above_all_frames), CASE(a_difference_shows_gone_and_new_frames),
	   CASE(running_and_blocked_shares_are_stripes), CASE(names_stay_text),
	   CASE(invisible_frames_are_counted), CASE(stacks_may_be_deep), CASE(random_trees_nest),
	   CASE(events_are_hits))
