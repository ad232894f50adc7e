/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/filter.h"

#include "unit/state_scene.h"

/* --- words --- */

TEST(invalid_filters)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "usr:root", "'usr:root': unknown 'usr:'; did you mean 'user:'?" },
		{ "nginx sate:lock", "'sate:lock': unknown 'sate:'; did you mean 'state:'?" },
		{ "something:else", "unknown 'something:'; expected user:, cgroup:, state:, pid:" },
		{ "state:lok", "'state:lok': unknown state 'lok'; did you mean 'lock'?" },
		{ "state:lock|xyzzyxyzzy",
		  "unknown state 'xyzzyxyzzy'; expected one of: exec, runnable," },
		{ "state:x*", "unknown state 'x*'" },
		{ "pid:abc", "'pid:abc': 'abc' is not a process ID" },
		{ "pid:1|-2", "'-2' is not a process ID" },
		{ "pid:4294967296", "is not a process ID" },
		{ "!", "'!': empty term" },
		{ "!user:", "missing name after ':'" },
		{ "!usr:root", "did you mean 'user:'?" },
		{ "user:", "'user:': missing name after ':'" },
		{ "user:|a", "empty alternative beside '|'" },
		{ "a|", "'a|': empty alternative beside '|'" },
		{ "|", "empty alternative beside '|'" },
		{ "a||b", "empty alternative beside '|'" },
		{ "[a", "'[a': '[a' has a [ without its ]" },
		{ "cgroup:*[", "has a [ without its ]" },
		{ "state:[", "has a [ without its ]" },
		{ "state:lock>", "expected a percentage after '>', as state:lock>50" },
		{ "state:lock>x", "expected a percentage after '>'" },
		{ "state:lock<-1", "expected a percentage after '<'" },
		{ "state:lock>101", "'101' is not a percentage from 0 to 100" },
		{ "state:lock>5x", "'5x' is not a percentage" },
		{ "state:lock>0x10", "'0x10' is not a percentage from 0 to 100" },
		{ "state:lock<1e1", "'1e1' is not a percentage" },
		{ "state:lock>1e999", "is not a percentage" },
		{ "state:lock>11111111111111111111", "expected a percentage" },
		{ "state:>50", "missing state before '>'" },
		{ "state:lok>50", "unknown state 'lok'; did you mean 'lock'?" },
		{ "*\\", "ends in a backslash" },
		{ "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "'17': more than 16 terms" },
		{ "a \033[2J* [", "'?[2J*': '?[2J*' has a [ without" },
		{ "user:[\033", "'user:[?': '[?' has a [ without" },
	};
	struct state_filter filter = { .count = 42 };
	char large[300];

	for (size_t i = 0; i < array_length(bad); i++)
		expect_error(state_filter_parse(text_of(bad[i].text), &filter), bad[i].message);
	memset(large, 'a', sizeof(large));
	expect_error(state_filter_parse((struct text){ large, 256 }, &filter),
		     "filter longer than 255 bytes");
	expect_error(state_filter_parse((struct text){ "a\0b", 3 }, &filter),
		     "filter can never match");
	assert_int_equal(filter.count, 42);
	/* The largest that there may be. */
	expect_ok(state_filter_parse((struct text){ large, 255 }, &filter));
	assert_int_equal(filter.count, 1);
	for (size_t i = 1; i < 255; i += 2)
		large[i] = '|';
	expect_ok(state_filter_parse((struct text){ large, 255 }, &filter));
	assert_int_equal(filter.count, 1);
	assert_int_equal(filter.terms[0].alternatives, 128);
}

/* --- what a filter lets through --- */

TEST(matching_threads)
{
	static const struct {
		const char *filter, *letters;
	} rows[] = {
		/* By tid: d is 30. */
		{ "", "abced" },
		{ " \t", "abced" },
		{ "nginx", "ab" },
		{ "NGI", "ab" },
		{ "worker", "bc" },
		{ "worker nginx", "b" },
		{ "worker-1|worker-2", "bc" },
		{ "java|nginx worker", "bc" },
		{ "xyzzy", "" },
		{ "java xyzzy", "" },
		/* A glob is of the whole. */
		{ "*worker", "" },
		{ "*WORKER*", "bc" },
		{ "?-worker-[12]", "bc" },
		{ "?-worker-[!1]", "c" },
		{ "jav?", "ce" },
		{ "*", "abced" },
		{ "0:1", "d" },
		{ "d/0:1", "d" },
		{ "e\\*\\[x\\]", "e" },
		{ "user:root", "d" },
		{ "user:www", "ab" },
		{ "user:*-data", "ab" },
		{ "user:0", "d" },
		{ "user:1", "ab" },
		{ "user:1000", "ce" },
		{ "user:100", "" },
		{ "user:root|1000", "ced" },
		{ "cgroup:slice", "abc" },
		{ "cgroup:nginx.service", "ab" },
		{ "cgroup:*.slice", "c" },
		{ "cgroup:/web*service", "ab" },
		{ "cgroup:/", "abce" },
		{ "cgroup:[/]", "e" },
		/* It did, or does; what has ended does nothing. */
		{ "state:lock", "bc" },
		{ "state:LOCK", "bc" },
		{ "state:lock_futex", "b" },
		{ "state:lock_kernel", "c" },
		{ "state:sleep", "be" },
		{ "state:sleep_disk", "" },
		{ "state:exec|runnable", "ad" },
		{ "state:lock_*", "bc" },
		{ "state:*", "abced" },
		{ "state:lock state:idle", "c" },
		/* A share of the window: what it does now is no time. */
		{ "state:lock>50", "b" },
		{ "state:lock>99.5%", "b" },
		{ "state:lock>100", "" },
		{ "state:lock<50", "aced" },
		{ "!state:lock>50", "aced" },
		{ "state:lock_futex|idle>99", "bc" },
		{ "state:exec|runnable>50 nginx", "a" },
		{ "pid:10", "ab" },
		{ "pid:11", "b" },
		{ "pid:20|30", "ced" },
		{ "pid:1", "" },
		{ "pid:10 state:lock user:www-data worker", "b" },
		/* All others. */
		{ "!nginx", "ced" },
		{ "!worker", "aed" },
		{ "!user:root|1000", "ab" },
		{ "!state:lock", "aed" },
		{ "!pid:10 !user:root", "ce" },
		{ "!xyzzy", "abced" },
		/* One of both names. */
		{ "thread:worker", "bc" },
		{ "thread:nginx", "" },
		{ "process:nginx", "ab" },
		{ "!thread:*worker* process:nginx", "a" },
		/* No prefix. */
		{ "a::b", "" },
		{ "D/0:1", "d" },
	};
	struct state_scene s;

	scene_of_letters(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		scene_list(&s, &scene_by_tid, rows[i].filter);
		if (strcmp(scene_letters(&s.list), rows[i].letters) != 0)
			fail_msg("'%s' lets '%s' through", rows[i].filter, scene_letters(&s.list));
		assert_int_equal(s.list.total.threads + s.list.total.ended,
				 strlen(rows[i].letters));
	}
	state_scene_deinit(&s);
}

TEST(users_without_names_are_numbers)
{
	struct state_view view = { .sort = { .key = STATE_SORT_TID } };
	struct state_scene s;

	scene_of_letters(&s);
	scene_list(&s, &view, "user:root");
	assert_string_equal(scene_letters(&s.list), "");
	scene_list(&s, &view, "user:0|1");
	assert_string_equal(scene_letters(&s.list), "abd");
	state_scene_deinit(&s);
}

TEST(a_filter_may_be_copied)
{
	struct state_filter *first = calloc(1, sizeof(*first)), copy;
	struct state_view view = scene_by_tid;
	struct state_scene s;

	assert_non_null(first);
	scene_of_letters(&s);
	expect_ok(state_filter_parse(TEXT("java|nginx worker state:lock"), first));
	copy = *first;
	free(first);
	view.filter = &copy;
	expect_ok(state_list_make(&s.list, &s.window, &view));
	assert_string_equal(scene_letters(&s.list), "bc");
	state_scene_deinit(&s);
}

TEST(threads_of_the_kernel_can_be_left_out)
{
	struct state_view view = scene_by_tid;
	struct state_scene s;

	scene_of_letters(&s);
	view.no_kernel = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "abce");
	assert_int_equal(s.list.total.window_ns, 4000000);
	scene_list(&s, &view, "user:root");
	assert_string_equal(scene_letters(&s.list), "");
	assert_int_equal(s.list.total.window_ns, 0);
	state_scene_deinit(&s);
}

/* What people may type, and what they may paste: it is refused in one line, or filters. */
TEST(hostile_filters)
{
	static const char *const pieces[] = { "*",           "[",     "]",    "|",        "?",
					      "\\",          "user:", "pid:", "state:",   "cgroup:",
					      "lock",        "1",     "[!a-", "[:",       ":]",
					      "a",           " ",     "::",   "\xc2\x9b", "\xff",
					      "[[:alpha:]]", "**" };
	uint64_t seed = 7;
	unsigned good = 0, bad = 0;
	struct state_scene s;

	scene_of_letters(&s);
	for (unsigned round = 0; round < 20000; round++) {
		struct state_view view = scene_by_tid;
		struct state_filter filter;
		char bytes[280];
		size_t length = 0;
		struct text text;
		struct error *err;

		for (unsigned i = (unsigned)(next_random(&seed) % 20); i; i--) {
			uint64_t pick = next_random(&seed) >> 20;
			const char *piece = pieces[pick % array_length(pieces)];

			if (pick >> 30 & 1) {
				bytes[length++] = (char)(pick >> 8);
			} else {
				memcpy(bytes + length, piece, strlen(piece));
				length += strlen(piece);
			}
		}
		text = guarded(bytes, length);
		err = state_filter_parse(text, &filter);
		unguard(text);
		if (err) {
			for (const char *p = err->message; *p; p++)
				assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
			error_destroy(err);
			bad++;
			continue;
		}
		good++;
		view.filter = &filter;
		expect_ok(state_list_make(&s.list, &s.window, &view));
		assert_true(s.list.lines.count <= s.window.deltas.count);
	}
	assert_true(good > 1000 && bad > 1000);
	state_scene_deinit(&s);
}

UNIT_TESTS(cmocka_unit_test(invalid_filters), cmocka_unit_test(matching_threads),
	   cmocka_unit_test(users_without_names_are_numbers),
	   cmocka_unit_test(a_filter_may_be_copied),
	   cmocka_unit_test(threads_of_the_kernel_can_be_left_out),
	   cmocka_unit_test(hostile_filters))
