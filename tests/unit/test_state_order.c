/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "state/last_exits.h"
#include "state/row_facts.h"
#include "unit/state_scene.h"

/* --- words --- */

TEST(valid_orders)
{
	static const struct {
		const char *text;
		struct state_sort sort;
	} good[] = {
		{ "active", { STATE_SORT_ACTIVE, 0, false } },
		{ "busy", { STATE_SORT_BUSY, 0, false } },
		{ "-active", { STATE_SORT_ACTIVE, 0, true } },
		{ "name", { STATE_SORT_NAME, 0, false } },
		{ "tid", { STATE_SORT_TID, 0, false } },
		{ "wait", { STATE_SORT_NOW, 0, false } },
		{ "-switches", { STATE_SORT_SWITCHES, 0, true } },
		{ "threads", { STATE_SORT_THREADS, 0, false } },
		{ "user", { STATE_SORT_USER, 0, false } },
		{ "-cgroup", { STATE_SORT_CGROUP, 0, true } },
		{ "lock", { STATE_SORT_STATE, STATE_LOCK, false } },
		{ "-sleep_disk", { STATE_SORT_STATE, STATE_SLEEP_DISK, true } },
		{ "memory", { STATE_SORT_MEMORY, 0, false } },
		{ "-COMMAND", { STATE_SORT_COMMAND, 0, true } },
		{ "cpu%", { STATE_SORT_CPU, 0, false } },
		{ "history", { STATE_SORT_ACTIVE, 0, false } },
	};
	static const struct {
		const char *text, *message;
	} bad[] = {
		{ "", "unknown sort key ''; expected one of: tid, pid," },
		{ "-", "unknown sort key ''" },
		{ "--busy", "unknown sort key '-busy'; did you mean 'busy'?" },
		{ "buzy", "did you mean 'busy'?" },
		{ "lock_futx", "did you mean 'lock_futex'?" },
		{ "xyzzyxyzzy", "unknown sort key 'xyzzyxyzzy'; expected one of: tid, pid, "
				"host, threads, name, " },
		{ "states", "unknown sort key 'states'; expected one of" },
		{ "busy ", "unknown sort key 'busy '" },
		{ "na\033me", "unknown sort key 'na?me'" },
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

/* --- what is in order --- */

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
		{ "active", "adceb" },
		{ "-active", "ebcda" },
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
		{ "cpu", "cedba" },
		{ "-cpu", "aedbc" },
		{ "pid", "edabc" },
		{ "ended", "edabc" },
		{ "cgroup", "abedc" },
		{ "-cgroup", "dceba" },
	};
	struct state_scene s;

	order_scene(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_view view = { 0 };

		expect_ok(state_sort_parse(text_of(rows[i].sort), &view.sort));
		scene_list(&s, &view, NULL);
		if (strcmp(scene_letters(&s.list), rows[i].letters) != 0)
			fail_msg("%s: '%s'", rows[i].sort, scene_letters(&s.list));
	}
	state_scene_deinit(&s);
}

/* Of a thread whose name is its letter: facts that are known of all but "c". */
static struct row_facts facts_of(const struct state_line *line, const struct state_view *view)
{
	static const struct {
		const char *name;
		int32_t nice;
		uint64_t memory;
		const char *command;
	} rows[] = {
		{ "a", 5, 300, "zsh" },
		{ "b", -20, 300, "/bin/b" },
		{ "d", 0, UINT64_MAX, "/bin/b --long" },
	};
	struct row_facts facts = { .subject = view_subject(view, line) };

	for (size_t i = 0; i < array_length(rows); i++) {
		if (!text_equal(name_text(line->thread->name), text_of(rows[i].name)))
			continue;
		facts.known = ROW_FACT_BIT(NICE) | ROW_FACT_BIT(MEMORY) | ROW_FACT_BIT(COMMAND);
		facts.nice = rows[i].nice;
		facts.memory_bytes = rows[i].memory;
		facts.command_length = (uint16_t)strlen(rows[i].command);
		memcpy(facts.command, rows[i].command, facts.command_length);
	}
	return facts;
}

/* What is not known comes last in either direction, and cgroups have no memory. */
TEST(facts_of_rows_decide_the_order)
{
	static const struct {
		const char *sort, *letters;
		enum state_grouping grouping;
	} rows[] = {
		{ "memory", "dbac", STATE_BY_THREAD },  { "-memory", "abdc", STATE_BY_THREAD },
		{ "nice", "bdac", STATE_BY_THREAD },    { "-nice", "adbc", STATE_BY_THREAD },
		{ "command", "bdac", STATE_BY_THREAD }, { "-command", "adbc", STATE_BY_THREAD },
		{ "read", "cdba", STATE_BY_THREAD },    { "memory", "dbac", STATE_BY_PROCESS },
		{ "memory", "dbac", STATE_BY_POOL },    { "nice", "cdba", STATE_BY_POOL },
	};
	struct state_scene s;

	state_scene_init(&s);
	for (uint32_t i = 1; i <= 4; i++) {
		const char name[] = { (char)('a' + i - 1), '\0' };
		struct state_thread *t = scene_new(&s, i, i, name, name);

		/* Without facts: c, d, b, a. */
		t->times.ns[STATE_EXEC] = i == 3 ? 900000 : i * 1000;
	}
	scene_window(&s);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct state_view view = { .grouping = rows[i].grouping };
		struct row_fact_set set = { .rows = { .count = 0 } };
		struct row_facts *facts = calloc(4, sizeof(*facts));

		expect_ok(state_sort_parse(text_of(rows[i].sort), &view.sort));
		scene_list(&s, &view, NULL);
		/* Nothing is known yet. */
		assert_int_equal(s.list.lines.count, 4);
		if (!view.sort.reverse)
			assert_string_equal(scene_letters(&s.list), "cdba");
		for (size_t k = 0; k < 4; k++)
			facts[k] = facts_of(&s.list.lines.items[k], &view);
		row_fact_set_take(&set, facts, 4);
		view.facts = &set;
		scene_list(&s, &view, NULL);
		if (strcmp(scene_letters(&s.list), rows[i].letters) != 0)
			fail_msg("%s: '%s'", rows[i].sort, scene_letters(&s.list));
		row_fact_set_deinit(&set);
	}
	state_scene_deinit(&s);
}

/* The last end comes first, whatever it was. */
TEST(ends_decide_the_order)
{
	struct last_exits exits = { .rows = { .count = 0 } };
	struct state_view view = { .exits = &exits };
	struct state_scene s;

	state_scene_init(&s);
	for (uint32_t i = 1; i <= 3; i++) {
		const char name[] = { (char)('a' + i - 1), '\0' };
		struct state_thread *t;

		scene_new(&s, i, i, name, name);
		if (i == 1)
			continue;
		t = scene_new(&s, 10 + i, 10 + i, name, name);
		t->has_ended = t->has_exit_code = true;
		t->seen_ns -= 10000 - i;
	}
	scene_window(&s);
	last_exits_take(&exits, &s.window);
	view.no_ended = true;
	expect_ok(state_sort_parse(TEXT("exit"), &view.sort));
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "cba");
	view.sort.reverse = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "bca");
	last_exits_deinit(&exits);
	state_scene_deinit(&s);
}

/* By what is shown: it was in the lock for all of its life, which was a tenth of the window. */
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
	assert_string_equal(scene_letters(&s.list), "ls");
	assert_true(state_line_share(&s.list.lines.items[0], STATE_LOCK) == 0.5);
	assert_true(state_line_share(&s.list.lines.items[1], STATE_LOCK) == 0.1);
	assert_true(state_line_share(&s.list.lines.items[1], STATE_LOCK_FUTEX) == 0.1);
	assert_true(state_line_share(&s.list.lines.items[1], STATE_LOCK_KERNEL) == 0);
	/* 600,000 of 1,100,000. */
	assert_true(fabs(state_line_share(&s.list.total, STATE_LOCK) - 6.0 / 11) < 1e-12);
	state_scene_deinit(&s);
}

TEST(busy_is_of_the_window_and_adds_up_in_groups)
{
	struct state_line line = {
		.threads = 1, .window_ns = 990, .whole_ns = 990, .interval_ns = 1000
	};

	line.times.ns[STATE_EXEC_USER] = 495;
	line.times.ns[STATE_LOCK_KERNEL] = 99;
	line.times.ns[STATE_SLEEP_DISK] = 200;
	/* One thread that was there all the time: of its own window. */
	assert_true(fabs(state_line_busy(&line) - 0.6) < 1e-9);
	assert_true(fabs(state_line_active(&line) - 0.6 - 200. / 990) < 1e-9);
	line.threads = 4;
	line.window_ns = line.whole_ns = 3960;
	line.times.ns[STATE_RUNNABLE] = 1980 - 594;
	assert_true(fabs(state_line_busy(&line) - 1.98) < 1e-9);
}

static double busy_of(const struct state_scene *s, const char *label)
{
	for (size_t i = 0; i < s->list.lines.count; i++)
		if (text_equal(name_text(s->list.lines.items[i].label), text_of(label)))
			return state_line_active(&s->list.lines.items[i]);
	fail_msg("there is no line '%s'", label);
	return 0;
}

/* What was born a moment before the end, and has done nothing else, has used next to nothing;
 * alone, in its process, and beside a thread that was there all the time, however short its own
 * window. */
TEST(busy_of_a_new_thread_is_of_the_interval)
{
	struct state_view view = { 0 };
	struct state_scene s;
	struct state_thread *t;

	state_scene_init(&s);
	scene_thread(&s, &s.before, 1, 1, "old", "old");
	t = scene_thread(&s, &s.now, 1, 1, "old", "old");
	t->seen_ns -= 10000;
	t->times.ns[STATE_EXEC] = 990000;
	t = scene_new(&s, 2, 2, "new", "new");
	t->begun_ns = t->seen_ns - 1000;
	t->times.ns[STATE_RUNNABLE] = 1000;
	t = scene_new(&s, 1, 3, "third", "old");
	t->begun_ns = t->seen_ns - 1000;
	t->times.ns[STATE_EXEC] = 1000;
	scene_window(&s);
	scene_list(&s, &view, NULL);
	assert_true(fabs(busy_of(&s, "old") - 1) < 1e-9);
	assert_true(fabs(busy_of(&s, "new") - 0.001) < 1e-9);
	assert_true(fabs(busy_of(&s, "third") - 0.001) < 1e-9);
	view.grouping = STATE_BY_PROCESS;
	scene_list(&s, &view, NULL);
	assert_true(fabs(busy_of(&s, "old") - 0.991) < 1e-9);
	assert_true(fabs(busy_of(&s, "new") - 0.001) < 1e-9);
	/* Its bar is as empty. */
	assert_int_equal(s.list.lines.items[1].whole_ns, s.list.lines.items[1].interval_ns);
	assert_int_equal(s.list.lines.items[0].whole_ns, s.list.lines.items[0].window_ns);
	state_scene_deinit(&s);
}

/* No row stands above one that shows more. */
TEST(busy_is_sorted_by_the_displayed_value)
{
	static const struct {
		const char *name;
		uint64_t busy, window;
		bool has_ended;
		double shown;
	} rows[] = {
		{ "long", 500000, 1000000, false, 0.5 },
		{ "new", 100000, 100000, false, 0.1 },
		{ "gone", 300000, 300000, true, 0.3 },
		{ "idle", 0, 1000000, false, 0 },
	};
	struct state_view view = { .sort = { STATE_SORT_ACTIVE, 0, false } };
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
	assert_string_equal(scene_letters(&s.list), "lgni");
	for (size_t i = 0; i < s.list.lines.count; i++) {
		const struct state_line *line = &s.list.lines.items[i];

		for (size_t k = 0; k < array_length(rows); k++)
			if (text_equal(name_text(line->label), text_of(rows[k].name)))
				assert_true(fabs(state_line_active(line) - rows[k].shown) < 1e-9);
	}
	view.sort.reverse = true;
	scene_list(&s, &view, NULL);
	assert_string_equal(scene_letters(&s.list), "ingl");
	state_scene_deinit(&s);
}

TEST(a_share_is_never_more_than_all)
{
	struct state_line line = { .whole_ns = 10, .times.ns[STATE_EXEC] = 11 };

	assert_true(state_line_share(&line, STATE_EXEC) == 1);
	line.whole_ns = 0;
	assert_true(state_line_share(&line, STATE_EXEC) == 0);
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

UNIT_TESTS(cmocka_unit_test(valid_orders), cmocka_unit_test(lines_are_in_order),
	   cmocka_unit_test(facts_of_rows_decide_the_order),
	   cmocka_unit_test(ends_decide_the_order),
	   cmocka_unit_test(a_state_is_sorted_by_its_share),
	   cmocka_unit_test(busy_is_of_the_window_and_adds_up_in_groups),
	   cmocka_unit_test(busy_of_a_new_thread_is_of_the_interval),
	   cmocka_unit_test(busy_is_sorted_by_the_displayed_value),
	   cmocka_unit_test(a_share_is_never_more_than_all),
	   cmocka_unit_test(the_longest_wait_of_a_group))
