/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/view.h"

#include <math.h>
#include <stdio.h>

#include "base/name_map.h"
#include "unit/state_scene.h"

/* --- words --- */

TEST(what_orders_can_be_written)
{
	static const struct {
		const char *text;
		struct state_sort sort;
	} good[] = {
		{ "busy", { STATE_SORT_BUSY, 0, false } },
		{ "-busy", { STATE_SORT_BUSY, 0, true } },
		{ "name", { STATE_SORT_NAME, 0, false } },
		{ "tid", { STATE_SORT_TID, 0, false } },
		{ "wait", { STATE_SORT_PROGRESS, 0, false } },
		{ "-switches", { STATE_SORT_SWITCHES, 0, true } },
		{ "threads", { STATE_SORT_THREADS, 0, false } },
		{ "user", { STATE_SORT_USER, 0, false } },
		{ "-cgroup", { STATE_SORT_CGROUP, 0, true } },
		{ "lock", { STATE_SORT_STATE, STATE_LOCK, false } },
		{ "-sleep_disk", { STATE_SORT_STATE, STATE_SLEEP_DISK, true } },
	};
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "unknown order ''; there are: busy," },
		{ "-", "unknown order ''" },
		{ "--busy", "unknown order '-busy'; did you mean 'busy'?" },
		{ "buzy", "did you mean 'busy'?" },
		{ "lock_futx", "did you mean 'lock_futex'?" },
		{ "xyzzyxyzzy", "unknown order 'xyzzyxyzzy'; there are: busy, name, tid, wait," },
		{ "busy ", "unknown order 'busy '" },
		{ "na\033me", "unknown order 'na?me'" },
	};
	struct state_sort sort;

	for (size_t i = 0; i < array_length(good); i++) {
		expect_ok(state_sort_parse(text_of(good[i].text), &sort));
		assert_int_equal(sort.key, good[i].sort.key);
		assert_int_equal(sort.state, good[i].sort.state);
		assert_int_equal(sort.reverse, good[i].sort.reverse);
	}
	for (size_t i = 0; i < STATE_COUNT; i++) {
		expect_ok(state_sort_parse(text_of(state_rows[i].name), &sort));
		assert_int_equal(sort.key, STATE_SORT_STATE);
		assert_int_equal(sort.state, i);
	}
	sort.key = 42;
	for (size_t i = 0; i < array_length(bad); i++)
		expect_error(state_sort_parse(text_of(bad[i].text), &sort), bad[i].message);
	assert_int_equal(sort.key, 42);
}

TEST(what_filters_cannot_be_written)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "usr:root", "'usr:root': unknown 'usr:'; did you mean 'user:'?" },
		{ "nginx sate:lock", "'sate:lock': unknown 'sate:'; did you mean 'state:'?" },
		{ "something:else",
		  "unknown 'something:'; there are: user:, cgroup:, state:, pid:" },
		{ "state:lok", "'state:lok': unknown state 'lok'; did you mean 'lock'?" },
		{ "state:lock|xyzzyxyzzy",
		  "unknown state 'xyzzyxyzzy'; there are: exec, runnable," },
		{ "state:x*", "unknown state 'x*'" },
		{ "pid:abc", "'pid:abc': 'abc' is no number of a process" },
		{ "pid:1|-2", "'-2' is no number" },
		{ "pid:4294967296", "is no number" },
		{ "user:", "'user:': nothing after the ':'" },
		{ "user:|a", "nothing beside a '|'" },
		{ "a|", "'a|': nothing beside a '|'" },
		{ "|", "nothing beside a '|'" },
		{ "a||b", "nothing beside a '|'" },
		{ "[a", "'[a': '[a' has a [ without its ]" },
		{ "cgroup:*[", "has a [ without its ]" },
		{ "state:[", "has a [ without its ]" },
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
		     "a filter of more than 255 bytes");
	expect_error(state_filter_parse((struct text){ "a\0b", 3 }, &filter), "no name can meet");
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

static const char *user_name(void *context, uint32_t uid)
{
	static const char *const names[] = { "root", "www-data" };

	assert_string_equal(context, "users");
	return uid < array_length(names) ? names[uid] : NULL;
}

/* Threads with these letters, in this order: what filters let through is some of them. */
static void letter_scene(struct state_scene *s)
{
	static const struct {
		const char *name, *process, *cgroup;
		uint32_t tgid, tid, uid;
		enum state did, does;
		bool is_kernel, has_ended;
	} rows[] = {
		{ "a", "nginx", "/web.slice/NGINX.service", 10, 10, 1, STATE_EXEC, STATE_EXEC,
		  false, false },
		{ "b-Worker-1", "nginx", "/web.slice/NGINX.service", 10, 11, 1, STATE_LOCK_FUTEX,
		  STATE_SLEEP_NETWORK, false, false },
		{ "c-worker-2", "java", "/db.slice", 20, 21, 1000, STATE_IDLE, STATE_LOCK_KERNEL,
		  false, false },
		{ "d/0:1", "d/0:1", NULL, 30, 30, 0, STATE_RUNNABLE, STATE_IDLE, true, false },
		{ "e*[x]", "java", "/", 20, 22, 1000, STATE_SLEEP, STATE_LOCK, false, true },
	};

	state_scene_init(s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_thread *t =
			scene_new(s, rows[i].tgid, rows[i].tid, rows[i].name, rows[i].process);

		t->cgroup = rows[i].cgroup ? scene_name(s, rows[i].cgroup) : NULL;
		t->uid = rows[i].uid;
		t->times.ns[rows[i].did] = 1000000;
		t->state = rows[i].does;
		t->is_kernel = rows[i].is_kernel;
		t->has_ended = rows[i].has_ended;
	}
	scene_window(s);
}

static char users[] = "users";

static const struct state_view by_tid = {
	.sort = { .key = STATE_SORT_TID },
	.user_name = user_name,
	.context = users,
};

/* The first letters of the lines. */
static const char *letters(const struct state_list *list)
{
	static char text[64];
	size_t count = list->lines.count;

	assert_true(count < sizeof(text));
	for (size_t i = 0; i < count; i++)
		text[i] = list->lines.items[i].label->bytes[0];
	text[count] = '\0';
	return text;
}

TEST(what_filters_let_through)
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
		{ "pid:10", "ab" },
		{ "pid:11", "b" },
		{ "pid:20|30", "ced" },
		{ "pid:1", "" },
		{ "pid:10 state:lock user:www-data worker", "b" },
		/* No prefix. */
		{ "a::b", "" },
		{ "D/0:1", "d" },
	};
	struct state_scene s;

	letter_scene(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		scene_list(&s, &by_tid, rows[i].filter);
		if (strcmp(letters(&s.list), rows[i].letters) != 0)
			fail_msg("'%s' lets '%s' through", rows[i].filter, letters(&s.list));
		assert_int_equal(s.list.total.threads + s.list.total.ended,
				 strlen(rows[i].letters));
	}
	state_scene_deinit(&s);
}

TEST(users_without_names_are_numbers)
{
	struct state_view view = { .sort = { .key = STATE_SORT_TID } };
	struct state_scene s;

	letter_scene(&s);
	scene_list(&s, &view, "user:root");
	assert_string_equal(letters(&s.list), "");
	scene_list(&s, &view, "user:0|1");
	assert_string_equal(letters(&s.list), "abd");
	state_scene_deinit(&s);
}

TEST(a_filter_may_be_copied)
{
	struct state_filter *first = calloc(1, sizeof(*first)), copy;
	struct state_view view = by_tid;
	struct state_scene s;

	assert_non_null(first);
	letter_scene(&s);
	expect_ok(state_filter_parse(TEXT("java|nginx worker state:lock"), first));
	copy = *first;
	free(first);
	view.filter = &copy;
	expect_ok(state_list_make(&s.list, &s.window, &view));
	assert_string_equal(letters(&s.list), "bc");
	state_scene_deinit(&s);
}

TEST(threads_of_the_kernel_can_be_left_out)
{
	struct state_view view = by_tid;
	struct state_scene s;

	letter_scene(&s);
	view.no_kernel = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "abce");
	assert_int_equal(s.list.total.window_ns, 4000000);
	scene_list(&s, &view, "user:root");
	assert_string_equal(letters(&s.list), "");
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

	letter_scene(&s);
	for (unsigned round = 0; round < 20000; round++) {
		struct state_view view = by_tid;
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

/* --- orders --- */

/* Five threads, and each kind of number of theirs in another order. */
static void order_scene(struct state_scene *s)
{
	static const struct {
		const char *name;
		uint32_t tid;
		uint64_t exec, disk, idle, switches, waits;
		enum state state;
		uint32_t uid;
		const char *cgroup;
	} rows[] = {
		{ "e", 1, 100, 0, 0, 50, 10, STATE_LOCK, 30, "/m" },
		{ "d", 2, 100, 900, 0, 40, 400000, STATE_IDLE, 10, "/z" },
		{ "c", 5, 500, 100, 400, 50, 30, STATE_SLEEP, 10, "/z" },
		{ "b", 4, 100, 0, 900, 10, 0, STATE_EXEC, 20, "/a" },
		{ "a", 3, 0, 1000, 0, 0, 20, STATE_RUNNABLE, 0, NULL },
	};

	state_scene_init(s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_thread *t = scene_new(s, 1, rows[i].tid, rows[i].name, "p");

		t->times.ns[STATE_EXEC_USER] = rows[i].exec;
		t->times.ns[STATE_SLEEP_DISK] = rows[i].disk;
		t->times.ns[STATE_IDLE] = rows[i].idle;
		t->switches = rows[i].switches;
		t->state = rows[i].state;
		t->since_ns = t->seen_ns - rows[i].waits;
		t->uid = rows[i].uid;
		t->cgroup = rows[i].cgroup ? scene_name(s, rows[i].cgroup) : NULL;
	}
	scene_window(s);
}

TEST(lines_are_in_order)
{
	static const struct {
		const char *sort, *letters;
	} rows[] = {
		/* Ties are by storage, then by id, and that is never reversed. */
		{ "busy", "cdeba" },
		{ "-busy", "aebdc" },
		{ "name", "abcde" },
		{ "-name", "edcba" },
		{ "tid", "edabc" },
		{ "-tid", "cbade" },
		{ "exec", "cedba" },
		{ "exec_user", "cedba" },
		{ "idle", "bceda" },
		{ "sleep_disk", "adceb" },
		{ "sleep", "adceb" },
		{ "-sleep_disk", "ebcda" },
		/* Who waits for work has nothing to tell beside the others. */
		{ "wait", "caedb" },
		{ "-wait", "bdeac" },
		{ "switches", "ecdba" },
		{ "-switches", "abdec" },
		{ "threads", "edabc" },
		{ "lock", "edabc" },
		{ "-lock", "edabc" },
		{ "user", "adcbe" },
		{ "-user", "ebdca" },
		{ "cgroup", "abedc" },
		{ "-cgroup", "dceba" },
	};
	struct state_scene s;

	order_scene(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_view view = { 0 };

		expect_ok(state_sort_parse(text_of(rows[i].sort), &view.sort));
		scene_list(&s, &view, NULL);
		if (strcmp(letters(&s.list), rows[i].letters) != 0)
			fail_msg("%s: '%s'", rows[i].sort, letters(&s.list));
	}
	state_scene_deinit(&s);
}

/* By share and not by time: it lived for a tenth of the window, and that in the lock. */
TEST(a_state_is_sorted_by_its_share)
{
	struct state_view view = { .sort = { STATE_SORT_STATE, STATE_LOCK, false } };
	struct state_scene s;
	struct state_thread *t;

	state_scene_init(&s);
	t = scene_new(&s, 1, 1, "long", "p");
	t->times.ns[STATE_LOCK] = 500000;
	t = scene_new(&s, 1, 2, "short", "p");
	t->begun_ns = t->seen_ns - 100000;
	t->times.ns[STATE_LOCK_FUTEX] = 100000;
	scene_window(&s);
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "sl");
	assert_true(state_line_share(&s.list.lines.items[0], STATE_LOCK) == 1);
	assert_true(state_line_share(&s.list.lines.items[0], STATE_LOCK_FUTEX) == 1);
	assert_true(state_line_share(&s.list.lines.items[0], STATE_LOCK_KERNEL) == 0);
	assert_true(state_line_share(&s.list.lines.items[1], STATE_LOCK) == 0.5);
	/* 600,000 of 1,100,000. */
	assert_true(fabs(state_line_share(&s.list.total, STATE_LOCK) - 6.0 / 11) < 1e-12);
	state_scene_deinit(&s);
}

TEST(busy_is_of_the_window_and_adds_up_in_groups)
{
	const struct state_window window = { .begun_ns = 1000, .ended_ns = 2000 };
	struct state_line line = { .threads = 1, .window_ns = 990 };

	line.times.ns[STATE_EXEC_USER] = 495;
	line.times.ns[STATE_LOCK_KERNEL] = 99;
	line.times.ns[STATE_SLEEP_DISK] = 200;
	/* One thread: of its own window. */
	assert_true(fabs(state_line_busy(&line, &window) - 0.6) < 1e-9);
	line.threads = 4;
	line.window_ns = 3960;
	line.times.ns[STATE_RUNNABLE] = 1980 - 594;
	assert_true(fabs(state_line_busy(&line, &window) - 1.98) < 1e-9);
	/* One that lived for a tenth of it. */
	line = (struct state_line){ .ended = 1, .window_ns = 100 };
	line.times.ns[STATE_EXEC] = 100;
	assert_true(fabs(state_line_busy(&line, &window) - 0.1) < 1e-9);
}

/* Of who lives the share of its own window, however short that is, and of who has ended its part of
 * the window that is shown: no row stands above one that shows more. */
TEST(busy_is_sorted_by_what_is_shown)
{
	static const struct {
		const char *name;
		uint64_t busy, window;
		bool has_ended;
		double shown;
	} rows[] = {
		{ "long", 500000, 1000000, false, 0.5 },
		{ "new", 100000, 100000, false, 1 },
		{ "gone", 300000, 300000, true, 0.3 },
		{ "idle", 0, 1000000, false, 0 },
	};
	struct state_view view = { .sort = { STATE_SORT_BUSY, 0, false } };
	struct state_scene s;

	state_scene_init(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_thread *t = scene_new(&s, 1, 1 + (uint32_t)i, rows[i].name, "p");

		t->begun_ns = t->seen_ns - rows[i].window;
		t->times.ns[STATE_EXEC] = rows[i].busy;
		t->times.ns[STATE_IDLE] = rows[i].window - rows[i].busy;
		t->has_ended = rows[i].has_ended;
	}
	scene_window(&s);
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "nlgi");
	for (size_t i = 0; i < s.list.lines.count; i++) {
		const struct state_line *line = &s.list.lines.items[i];

		for (size_t k = 0; k < array_length(rows); k++)
			if (text_equal(name_text(line->label), text_of(rows[k].name)))
				assert_true(fabs(state_line_busy(line, &s.window) - rows[k].shown) <
					    1e-9);
	}
	view.sort.reverse = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "igln");
	state_scene_deinit(&s);
}

TEST(a_share_is_never_more_than_all)
{
	struct state_line line = { .window_ns = 10, .times.ns[STATE_EXEC] = 11 };

	assert_true(state_line_share(&line, STATE_EXEC) == 1);
	line.window_ns = 0;
	assert_true(state_line_share(&line, STATE_EXEC) == 0);
}

/* --- groups --- */

static const struct state_line *line_of(const struct state_list *list, const char *label)
{
	for (size_t i = 0; i < list->lines.count; i++)
		if (text_equal(name_text(list->lines.items[i].label), text_of(label)))
			return &list->lines.items[i];
	fail_msg("there is no line '%s'", label);
	return NULL;
}

TEST(what_groups_are)
{
	struct state_view view = { .grouping = STATE_BY_PROCESS };
	const struct state_line *line;
	struct state_scene s;

	letter_scene(&s);
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.count, 3);
	line = line_of(&s.list, "java");
	assert_int_equal(line->threads, 1);
	assert_int_equal(line->ended, 1);
	assert_int_equal(line->thread->tid, 21);
	assert_int_equal(line->window_ns, 2000000);
	assert_int_equal(line->times.ns[STATE_SLEEP], 1000000);
	assert_int_equal(line_of(&s.list, "nginx")->thread->tid, 10);
	view.grouping = STATE_BY_CGROUP;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.count, 4);
	assert_int_equal(line_of(&s.list, "/web.slice/NGINX.service")->threads, 2);
	assert_int_equal(line_of(&s.list, "-")->thread->tid, 30);
	assert_int_equal(line_of(&s.list, "/")->threads, 0);
	assert_int_equal(line_of(&s.list, "/")->ended, 1);
	assert_int_equal(s.list.total.threads, 4);
	assert_int_equal(s.list.total.ended, 1);
	assert_null(s.list.total.thread);
	assert_null(s.list.total.label);
	/* By thread, one that has ended is a line too. */
	scene_list(&s, &by_tid, "pid:22");
	assert_int_equal(s.list.lines.items[0].threads, 0);
	assert_int_equal(s.list.lines.items[0].ended, 1);
	state_scene_deinit(&s);
}

/* Who stands for a process: its leader, unless that has ended; else the lowest that lives. */
TEST(who_stands_for_a_group)
{
	struct state_view view = { .grouping = STATE_BY_PROCESS };
	struct state_scene s;
	struct state_thread *threads;

	state_scene_init(&s);
	scene_new(&s, 5, 7, "c", "renamed");
	scene_new(&s, 5, 3, "a", "p");
	scene_new(&s, 5, 5, "b", "leader's");
	scene_new(&s, 5, 2, "d", "ended")->has_ended = true;
	scene_window(&s);
	threads = s.now.threads.items;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.items[0].thread->tid, 5);
	assert_string_equal(s.list.lines.items[0].label->bytes, "leader's");
	threads[2].has_ended = true;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.items[0].thread->tid, 3);
	threads[0].has_ended = threads[1].has_ended = true;
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.items[0].thread->tid, 5);
	assert_int_equal(s.list.lines.items[0].threads, 0);
	assert_int_equal(s.list.lines.items[0].ended, 4);
	state_scene_deinit(&s);
}

TEST(the_longest_wait_of_a_group)
{
	struct state_view view = { .grouping = STATE_BY_PROCESS };
	struct state_scene s;

	order_scene(&s);
	scene_list(&s, &view, NULL);
	assert_int_equal(s.list.lines.count, 1);
	assert_int_equal(s.list.lines.items[0].in_progress, STATE_SLEEP);
	assert_int_equal(s.list.lines.items[0].in_progress_ns, 30);
	scene_list(&s, &view, "d|b");
	assert_int_equal(s.list.lines.items[0].in_progress, STATE_IDLE);
	assert_int_equal(s.list.lines.items[0].in_progress_ns, 400000);
	scene_list(&s, &view, "b");
	assert_int_equal(s.list.lines.items[0].in_progress_ns, 0);
	state_scene_deinit(&s);
}

/* --- what holds of any window --- */

static void add_line(struct state_line *sum, const struct state_line *line)
{
	sum->threads += line->threads;
	sum->ended += line->ended;
	sum->window_ns += line->window_ns;
	sum->switches += line->switches;
	state_times_add(&sum->times, &line->times);
}

static void expect_same(const struct state_line *a, const struct state_line *b)
{
	assert_int_equal(a->threads, b->threads);
	assert_int_equal(a->ended, b->ended);
	assert_int_equal(a->window_ns, b->window_ns);
	assert_int_equal(a->switches, b->switches);
	assert_memory_equal(&a->times, &b->times, sizeof(a->times));
}

/* With none below it: in a tree, a thread, or a process of one. */
static bool is_leaf(const struct state_list *list, size_t i)
{
	return i + 1 == list->lines.count ||
	       list->lines.items[i + 1].depth <= list->lines.items[i].depth;
}

/* Lines of one depth add up to the total, and no two have the same id. */
static void check_sums(const struct state_list *list, uint32_t depth)
{
	struct state_line sum = { 0 };
	struct word_map ids = { 0 };

	for (size_t i = 0; i < list->lines.count; i++) {
		const struct state_line *line = &list->lines.items[i];
		uint32_t *place;

		assert_true(line->thread && line->label);
		if (line->depth == depth || (line->depth < depth && is_leaf(list, i)))
			add_line(&sum, line);
		place = word_map_at(&ids, (struct words){ { line->id } });
		assert_non_null(place);
		assert_int_equal(*place, WORD_MAP_NEW);
		*place = 0;
	}
	expect_same(&sum, &list->total);
	word_map_deinit(&ids);
}

TEST(what_pools_are)
{
	static const struct {
		const char *name, *process, *pool;
		bool is_kernel;
	} rows[] = {
		{ "nginx", "nginx", "nginx", false },
		/* Of two processes. */
		{ "worker-1", "nginx", "nginx:worker-{N}", false },
		{ "worker-22", "nginx", "nginx:worker-{N}", false },
		{ "worker-1", "java", "java:worker-{N}", false },
		/* A number in the name of a program is no number of a thread. */
		{ "python3", "python3", "python3", false },
		{ "python3", "python4", "python4:python{N}", false },
		{ "kworker/0:1", "kworker/0:1", "kworker/{N}:{N}", true },
		{ "kworker/7:13", "kworker/7:13", "kworker/{N}:{N}", true },
		{ "kthreadd", "kthreadd", "kthreadd", true },
		{ "kthreadd", "kthreadd", "kthreadd", false },
		{ "", "", "", false },
	};
	struct state_view view = { .grouping = STATE_BY_POOL, .is_tree = true };
	const struct state_line *pool = NULL;
	unsigned pools = 0, threads = 0;
	struct state_scene s;

	state_scene_init(&s);
	for (uint32_t i = 0; i < array_length(rows); i++)
		scene_new(&s, i, i, rows[i].name, rows[i].process)->is_kernel = rows[i].is_kernel;
	scene_window(&s);
	scene_list(&s, &view, NULL);
	for (size_t i = 0; i < s.list.lines.count; i++) {
		const struct state_line *line = &s.list.lines.items[i];

		if (line->depth) {
			assert_string_equal(pool->label->bytes, rows[line->thread->tid].pool);
			assert_int_equal(pool->thread->is_kernel, line->thread->is_kernel);
			threads++;
		} else {
			pool = line;
			pools++;
		}
	}
	assert_int_equal(threads, array_length(rows));
	assert_int_equal(pools, array_length(rows) - 2);
	check_sums(&s.list, 0);
	state_scene_deinit(&s);
}

/* Each group is the sum of the threads below it. */
static void check_tree(const struct state_list *list)
{
	for (size_t i = 0; i < list->lines.count;) {
		struct state_line sum = { 0 };
		const struct state_line *group = &list->lines.items[i++];

		assert_int_equal(group->depth, 0);
		/* A process of one thread. */
		if (is_leaf(list, i - 1)) {
			assert_int_equal(group->threads + group->ended, 1);
			assert_int_equal(group->thread->tid, group->thread->tgid);
			continue;
		}
		for (; i < list->lines.count && list->lines.items[i].depth; i++) {
			assert_int_equal(list->lines.items[i].depth, 1);
			add_line(&sum, &list->lines.items[i]);
		}
		expect_same(&sum, group);
	}
}

/* The lines of a tree that are of one depth, and next to each other for threads, are in the order
 * of switches. */
static void check_order(const struct state_list *list, bool is_tree)
{
	const struct state_line *last[2] = { NULL, NULL };

	for (size_t i = 0; i < list->lines.count; i++) {
		const struct state_line *line = &list->lines.items[i];
		const struct state_line *above = last[line->depth];

		if (above)
			assert_true(above->switches > line->switches ||
				    (above->switches == line->switches && above->id < line->id));
		last[line->depth] = line;
		if (is_tree && !line->depth)
			last[1] = NULL;
	}
}

/* The id of a label in `ids`, which hold those of earlier windows as numbers of `seen`. */
struct seen {
	struct name_map labels;
	struct {
		ARRAY(uint64_t);
	} ids;
	unsigned again;
};

static void check_ids(struct seen *seen, const struct state_list *list,
		      enum state_grouping grouping)
{
	for (size_t i = 0; i < list->lines.count; i++) {
		const struct state_line *line = &list->lines.items[i];
		char key[96];
		uint32_t number;

		/* Processes share their names. */
		snprintf(key, sizeof(key), "%d %u %d %s", grouping,
			 grouping == STATE_BY_PROCESS ? line->thread->tgid : 0,
			 grouping == STATE_BY_POOL && line->thread->is_kernel, line->label->bytes);
		number = name_map_find(&seen->labels, text_of(key));
		if (number != WORD_MAP_NEW) {
			assert_int_equal(seen->ids.items[number], line->id);
			seen->again++;
			continue;
		}
		assert_true(name_map_put(&seen->labels, text_of(key), (uint32_t)seen->ids.count));
		assert_true(array_push(&seen->ids, line->id));
	}
}

static void check_window(struct state_scene *s, struct seen *seen, const char *filter)
{
	for (enum state_grouping grouping = 0; grouping < STATE_GROUPINGS; grouping++)
		for (unsigned tree = 0; tree < 2; tree++) {
			struct state_view view = { .grouping = grouping,
						   .sort.key = STATE_SORT_SWITCHES,
						   .is_tree = tree };

			scene_list(s, &view, filter);
			check_sums(&s->list, 0);
			check_order(&s->list, tree);
			if (tree) {
				check_sums(&s->list, 1);
				check_tree(&s->list);
			} else if (grouping != STATE_BY_THREAD) {
				check_ids(seen, &s->list, grouping);
			}
		}
}

TEST(groups_add_up_and_stay_who_they_are)
{
	static const char *const filters[] = { NULL, "worker", "state:lock",
					       "java|nginx user:0|1" };
	struct state_world *world = calloc(1, sizeof(*world));
	struct seen seen = { .again = 0 };
	struct state_scene s;

	assert_non_null(world);
	*world = (struct state_world){ .seed = 3, .now_ns = 1000 };
	name_map_init(&seen.labels);
	state_scene_init(&s);
	world_read(&s, world);
	for (unsigned round = 0; round < 20; round++) {
		world_pass(&s, world, 1 + next_random(&world->seed) % 1000000);
		world_read(&s, world);
		scene_window(&s);
		for (size_t i = 0; i < array_length(filters); i++)
			check_window(&s, &seen, filters[i]);
	}
	assert_true(seen.again > 500);
	state_scene_deinit(&s);
	name_map_deinit(&seen.labels);
	array_deinit(&seen.ids);
	free(world);
}

TEST(an_empty_window)
{
	struct state_scene s;

	state_scene_init(&s);
	scene_window(&s);
	for (enum state_grouping grouping = 0; grouping < STATE_GROUPINGS; grouping++) {
		struct state_view view = { .grouping = grouping, .is_tree = true };

		assert_non_null(state_grouping_names[grouping]);
		scene_list(&s, &view, NULL);
		assert_int_equal(s.list.lines.count, 0);
		assert_int_equal(s.list.total.threads, 0);
	}
	state_scene_deinit(&s);
}

/* They are in all sums. */
TEST(who_has_ended_may_have_no_row)
{
	struct state_scene scene;
	struct state_view view = { .no_ended = true };

	state_scene_init(&scene);
	scene_new(&scene, 7, 7, "main", "main");
	scene_new(&scene, 7, 8, "lives", "main");
	scene_new(&scene, 7, 9, "ends", "main")->has_ended = true;
	scene_new(&scene, 10, 10, "gone", "gone")->has_ended = true;
	scene_window(&scene);
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 2);
	assert_int_equal(scene.list.total.threads, 2);
	assert_int_equal(scene.list.total.ended, 2);
	view.grouping = STATE_BY_PROCESS;
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 1);
	assert_int_equal(scene.list.lines.items[0].ended, 1);
	view.is_tree = true;
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 3);
	assert_int_equal(scene.list.lines.items[1].depth, 1);
	view.no_ended = false;
	scene_list(&scene, &view, NULL);
	assert_int_equal(scene.list.lines.count, 5);
	state_scene_deinit(&scene);
}

/* A process of one thread has one line; but for what that would not say. */
TEST(a_tree_folds_processes_of_one_thread)
{
	struct state_view view = { .is_tree = true };
	struct state_scene s;

	state_scene_init(&s);
	scene_new(&s, 1, 1, "a", "a");
	scene_new(&s, 2, 2, "b", "b");
	scene_new(&s, 2, 3, "c", "b")->state = STATE_LOCK;
	/* Its leader has gone; its name is another. */
	scene_new(&s, 4, 5, "d", "d");
	scene_new(&s, 6, 6, "e", "f");
	/* The number of one that ended is another's, in one window. */
	scene_new(&s, 7, 7, "g", "g")->has_ended = true;
	scene_new(&s, 7, 7, "g", "g")->id = 1;
	scene_window(&s);
	view.sort.key = STATE_SORT_TID;
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "abbcddfeggg");
	view.grouping = STATE_BY_PROCESS;
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "abbcddfeggg");
	view.no_folding = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "aabbcddfeggg");
	assert_int_equal(s.list.lines.items[0].depth, 0);
	assert_int_equal(s.list.lines.items[1].depth, 1);
	view.no_folding = false;
	/* What a filter leaves is not all of it. */
	scene_list(&s, &view, "state:lock");
	assert_string_equal(letters(&s.list), "bc");
	scene_list(&s, &view, "a|c");
	assert_string_equal(letters(&s.list), "abc");
	/* Other groups have names of their own. */
	view.grouping = STATE_BY_CGROUP;
	scene_list(&s, &view, "a");
	assert_string_equal(letters(&s.list), "-a");
	/* No tree: as it was. */
	view = (struct state_view){ .sort.key = STATE_SORT_TID };
	scene_list(&s, &view, NULL);
	assert_string_equal(letters(&s.list), "abcdegg");
	state_scene_deinit(&s);
}

UNIT_TESTS(cmocka_unit_test(who_has_ended_may_have_no_row),
	   cmocka_unit_test(a_tree_folds_processes_of_one_thread),
	   cmocka_unit_test(what_orders_can_be_written),
	   cmocka_unit_test(what_filters_cannot_be_written),
	   cmocka_unit_test(what_filters_let_through),
	   cmocka_unit_test(users_without_names_are_numbers),
	   cmocka_unit_test(a_filter_may_be_copied),
	   cmocka_unit_test(threads_of_the_kernel_can_be_left_out),
	   cmocka_unit_test(hostile_filters), cmocka_unit_test(lines_are_in_order),
	   cmocka_unit_test(a_state_is_sorted_by_its_share),
	   cmocka_unit_test(busy_is_of_the_window_and_adds_up_in_groups),
	   cmocka_unit_test(busy_is_sorted_by_what_is_shown),
	   cmocka_unit_test(a_share_is_never_more_than_all), cmocka_unit_test(what_groups_are),
	   cmocka_unit_test(what_pools_are), cmocka_unit_test(who_stands_for_a_group),
	   cmocka_unit_test(the_longest_wait_of_a_group),
	   cmocka_unit_test(groups_add_up_and_stay_who_they_are), cmocka_unit_test(an_empty_window))
