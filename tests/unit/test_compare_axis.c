/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/axis.h"

#include <stdio.h>

#include "compare/group.h"
#include "unit/compare_scene.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

/* Keys of one or two snapshots. */
struct keyed {
	const struct ctprof_snapshot *snapshots[2];
	struct key_rules rules;
	struct keys keys;
	uint32_t *of[2];
};

static void key_threads(struct keyed *k, enum axis_id axis, const struct ctprof_snapshot *first,
			const struct ctprof_snapshot *second)
{
	size_t count = second ? 2 : 1;

	k->snapshots[0] = first;
	k->snapshots[1] = second;
	k->of[0] = k->of[1] = NULL;
	expect_ok(keys_init(&k->keys, &group_axes[axis], &k->rules, k->snapshots, count));
	for (size_t i = 0; i < count; i++)
		expect_ok(keys_assign(&k->keys, i, &k->of[i]));
	keys_finish(&k->keys);
}

static void forget(struct keyed *k)
{
	for (size_t i = 0; i < 2; i++)
		free(k->of[i]);
	keys_deinit(&k->keys);
}

static const char *label(const struct keyed *k, size_t side, size_t thread)
{
	return k->keys.items[k->of[side][thread]].label->bytes;
}

static bool are_together(const struct keyed *k, size_t side, size_t x, size_t other, size_t y)
{
	return k->of[side][x] == k->of[other][y];
}

/* The label of a single thread. */
static void check_label(enum axis_id axis, const struct ctprof_snapshot *s, size_t thread,
			const char *expected)
{
	struct keyed k = { 0 };

	key_threads(&k, axis, s, NULL);
	assert_string_equal(label(&k, 0, thread), expected);
	forget(&k);
}

TEST(every_axis_is_named_once)
{
	static const char *const names[] = { "pcomm",      "cgroup", "comm",      "comm-exact",
					     "pcomm-comm", "all",    "exe",       "cmdline",
					     "user",       "unit",   "container", "thread" };

	assert_int_equal(GROUP_AXIS_COUNT, array_length(names));
	for (size_t i = 0; i < array_length(names); i++)
		assert_string_equal(group_axes[i].name, names[i]);
}

TEST(names_and_patterns)
{
	struct ctprof_snapshot *s = build_snapshot();

	/* Two, so that the pool is one. */
	live_in(s, 7, 7, 1, "pg_15", "worker-7", "/a/b-1");
	live_in(s, 7, 8, 1, "pg_15", "worker-8", "/a/b-1");
	check_label(AXIS_PCOMM, s, 0, "pg_15");
	check_label(AXIS_CGROUP, s, 0, "/a/b-1");
	check_label(AXIS_COMM, s, 0, "worker-{N}");
	check_label(AXIS_COMM_EXACT, s, 0, "worker-7");
	check_label(AXIS_PCOMM_COMM, s, 0, "pg_15 > worker-7");
	check_label(AXIS_ALL, s, 0, "/a/b-1 > pg_{N} > worker-{N}");
	check_label(AXIS_THREAD, s, 0, "worker-7[7]");
	snapshot_destroy(s);
}

TEST(empty_names_are_names)
{
	struct ctprof_snapshot *s = build_snapshot();

	live_in(s, 1, 1, 1, "", "", "");
	check_label(AXIS_PCOMM, s, 0, "");
	check_label(AXIS_CGROUP, s, 0, "");
	check_label(AXIS_COMM, s, 0, "");
	check_label(AXIS_PCOMM_COMM, s, 0, " > ");
	check_label(AXIS_THREAD, s, 0, "[1]");
	check_label(AXIS_UNIT, s, 0, "(no unit)");
	check_label(AXIS_CONTAINER, s, 0, "(host)");
	snapshot_destroy(s);
}

/* --- the filter --- */

/* Thread 11 of root sleeps, 12 runs, 21 of a user with a name waited for a lock and ran. */
static struct ctprof_snapshot *build_mixed(void)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct ctprof_thread *t;

	build_process(s, 11, 1, 0);
	build_process(s, 21, 1, 1234);
	assert_true(label_pairs_add(s, &s->users, TEXT("1234"), TEXT("alice")));
	t = live_in(s, 11, 11, 1, "db", "db-main", "/db.slice");
	t->record.values.state.v = 'S';
	metric_set_add(&t->record.measured, METRIC_state);
	t = live_in(s, 11, 12, 1, "db", "worker", "/db.slice");
	t->record.values.state.v = 'R';
	metric_set_add(&t->record.measured, METRIC_state);
	t = live_in(s, 21, 21, 1, "web", "web", "");
	t->record.values.state.v = 'T';
	metric_set_add(&t->record.measured, METRIC_state);
	build_number(t, METRIC_state_watched_ns, 10);
	build_number(t, METRIC_state_lock_ns, 6);
	build_number(t, METRIC_state_exec_ns, 4);
	build_number(t, METRIC_state_idle_ns, 0);
	return s;
}

TEST(the_filter_selects_threads)
{
	/* A letter for each thread that is selected. */
	static const struct {
		const char *filter, *selected;
	} cases[] = {
		{ "", "abc" },
		{ "db", "ab" },
		{ "thread:worker", "b" },
		{ "!db", "c" },
		{ "user:0", "ab" },
		{ "user:ali", "c" },
		{ "user:1234|0", "abc" },
		{ "cgroup:db.slice", "ab" },
		{ "pid:11", "ab" },
		{ "pid:12", "b" },
		{ "state:sleep", "a" },
		{ "state:runnable", "b" },
		{ "state:exec", "bc" },
		{ "state:lock", "c" },
		{ "state:idle", "" },
		{ "state:stopped", "" },
		{ "user:0 state:exec", "b" },
		{ "process:web thread:worker", "" },
	};
	struct ctprof_snapshot *s = build_mixed();

	for (size_t i = 0; i < array_length(cases); i++) {
		struct keyed k = { 0 };
		char selected[4] = "";

		expect_ok(state_filter_parse(text_of(cases[i].filter), &k.rules.filter));
		key_threads(&k, AXIS_PCOMM, s, NULL);
		for (size_t t = 0, n = 0; t < 3; t++)
			if (k.of[0][t] != NO_KEY)
				selected[n++] = (char)('a' + t);
		assert_string_equal(selected, cases[i].selected);
		forget(&k);
	}
	snapshot_destroy(s);
}

/* --- comm --- */

/* Alone under its pattern means alone in both: one on each side are two. */
TEST(a_pool_of_one_keeps_its_name)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();
	struct keyed k = { 0 };

	live_in(x, 1, 1, 1, "p", "single-3", "/");
	live_in(x, 1, 2, 1, "p", "both-1", "/");
	live_in(y, 1, 2, 1, "p", "both-2", "/");
	live_in(y, 1, 3, 1, "p", "pool-1", "/");
	live_in(y, 1, 4, 1, "p", "pool-2", "/");
	live_in(y, 1, 5, 1, "p", "late-9", "/");
	key_threads(&k, AXIS_COMM, x, y);
	assert_string_equal(label(&k, 0, 0), "single-3");
	assert_string_equal(label(&k, 0, 1), "both-{N}");
	assert_string_equal(label(&k, 1, 0), "both-{N}");
	assert_true(are_together(&k, 0, 1, 1, 0));
	assert_string_equal(label(&k, 1, 1), "pool-{N}");
	assert_string_equal(label(&k, 1, 3), "late-9");
	forget(&k);

	/* Shown by itself, the name of the baseline is one of one. */
	key_threads(&k, AXIS_COMM, x, NULL);
	assert_string_equal(label(&k, 0, 1), "both-1");
	forget(&k);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

/* The same name twice is a pool. */
TEST(a_name_of_several_threads_is_a_pattern)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct keyed k = { 0 };

	live_in(s, 1, 1, 1, "p", "worker-7", "/");
	live_in(s, 2, 2, 1, "q", "worker-7", "/");
	key_threads(&k, AXIS_COMM, s, NULL);
	assert_string_equal(label(&k, 0, 0), "worker-{N}");
	assert_true(are_together(&k, 0, 0, 0, 1));
	forget(&k);
	snapshot_destroy(s);
}

TEST(literal_thread_names)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct keyed k = { .rules = { .literal_threads = true } };

	live_in(s, 1, 1, 1, "pg_1", "worker-7", "/");
	live_in(s, 1, 2, 1, "pg_1", "worker-8", "/");
	key_threads(&k, AXIS_COMM, s, NULL);
	assert_string_equal(label(&k, 0, 0), "worker-7");
	assert_string_equal(label(&k, 0, 1), "worker-8");
	forget(&k);
	key_threads(&k, AXIS_ALL, s, NULL);
	assert_string_equal(label(&k, 0, 0), "/ > pg_1 > worker-7");
	forget(&k);
	snapshot_destroy(s);
}

/* No revert on the axis all: a key there is rarely of more than one thread. */
TEST(all_keeps_its_patterns)
{
	struct ctprof_snapshot *s = build_snapshot();

	live_in(s, 1, 1, 1, "kworker/0:1H-events", "kworker/u8:7", "/");
	check_label(AXIS_ALL, s, 0, "/ > kworker/{N}:{N}H-events > kworker/u{N}:{N}");
	snapshot_destroy(s);
}

/* A worker takes the name of what it works for, and any worker takes any work. */
TEST(kworkers_are_one_group)
{
	static const char *const names[] = { "kworker/u8:3-flush-254:0", "kworker/u8:3+flush-254:0",
					     "kworker/0:3-events", "kworker/0:1H" };
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();
	struct keyed k = { .rules = { .kworkers = true } };

	for (uint32_t i = 0; i < array_length(names); i++)
		live(i % 2 ? y : x, 10 + i, 10 + i, 1, names[i]);
	live(x, 20, 20, 1, "kworker/R-writeb");
	live(x, 21, 21, 1, "kworker");
	key_threads(&k, AXIS_PCOMM, x, y);
	assert_string_equal(label(&k, 0, 0), "kworker");
	assert_true(are_together(&k, 0, 0, 0, 1));
	assert_true(are_together(&k, 0, 0, 1, 0));
	assert_true(are_together(&k, 0, 0, 1, 1));
	/* It belongs to its queue alone. */
	assert_string_equal(label(&k, 0, 2), "kworker/R-writeb");
	forget(&k);
	key_threads(&k, AXIS_ALL, x, y);
	assert_string_equal(label(&k, 0, 0), "/ > kworker > kworker");
	assert_true(are_together(&k, 0, 0, 1, 1));
	forget(&k);
	key_threads(&k, AXIS_COMM_EXACT, x, y);
	assert_string_equal(label(&k, 0, 0), names[0]);
	forget(&k);
	k.rules.literal_threads = true;
	key_threads(&k, AXIS_PCOMM, x, y);
	assert_string_equal(label(&k, 0, 0), names[0]);
	forget(&k);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

/* --- processes --- */

static struct ctprof_snapshot *host_with_kernel_threads(void)
{
	struct ctprof_snapshot *s = build_snapshot();

	live(s, 1, 1, 1, "init");
	live(s, 2, 2, 1, "kthreadd");
	live(s, 9, 9, 1, "ksoftirqd/0");
	live(s, 50, 50, 1, "denied");
	live(s, 60, 60, 1, "lost"); /* there is no process of that number */
	build_process(s, 1, 0, 0)->exe = snapshot_name(s, TEXT("/sbin/init"));
	s->processes.items[0].cmdline = snapshot_name(s, TEXT("/sbin/init splash"));
	build_process(s, 2, 0, 0);
	build_process(s, 9, 2, 0);
	build_process(s, 50, 1, -1);
	return s;
}

TEST(executables_and_command_lines)
{
	struct ctprof_snapshot *s = host_with_kernel_threads();

	check_label(AXIS_EXE, s, 0, "/sbin/init");
	check_label(AXIS_CMDLINE, s, 0, "/sbin/init splash");
	for (size_t i = 1; i <= 2; i++) {
		check_label(AXIS_EXE, s, i, "(kernel threads)");
		check_label(AXIS_CMDLINE, s, i, "(kernel threads)");
	}
	for (size_t i = 3; i <= 4; i++) {
		check_label(AXIS_EXE, s, i, "(unknown)");
		check_label(AXIS_CMDLINE, s, i, "(unknown)");
	}
	snapshot_destroy(s);
}

/* In a container, process 2 is anybody: what it starts are no kernel threads. */
TEST(process_two_of_a_container_is_no_kthreadd)
{
	struct ctprof_snapshot *s = build_snapshot();

	live(s, 2, 2, 1, "sh");
	live(s, 9, 9, 1, "child");
	build_process(s, 2, 1, 0)->exe = snapshot_name(s, TEXT("/bin/sh"));
	build_process(s, 9, 2, 0);
	check_label(AXIS_EXE, s, 0, "/bin/sh");
	check_label(AXIS_EXE, s, 1, "(unknown)");
	snapshot_destroy(s);
}

/* Two processes of one executable are one group, on one side and on two. */
TEST(one_executable_is_one_group)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();
	struct keyed k = { 0 };

	live(x, 10, 10, 1, "a");
	live(x, 11, 11, 1, "b");
	live(x, 11, 12, 1, "b");
	live(y, 99, 99, 1, "c");
	build_process(x, 10, 1, 0)->exe = snapshot_name(x, TEXT("/bin/x"));
	build_process(x, 11, 1, 0)->exe = snapshot_name(x, TEXT("/bin/x"));
	build_process(y, 99, 1, 0)->exe = snapshot_name(y, TEXT("/bin/x"));
	key_threads(&k, AXIS_EXE, x, y);
	assert_true(are_together(&k, 0, 0, 0, 1));
	assert_true(are_together(&k, 0, 0, 0, 2));
	assert_true(are_together(&k, 0, 0, 1, 0));
	assert_int_equal(k.keys.items[k.of[0][0]].threads, 4);
	forget(&k);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

TEST(users_by_name_or_number)
{
	struct ctprof_snapshot *s = host_with_kernel_threads();

	build_process(s, 70, 1, 1000);
	live(s, 70, 70, 1, "shell");
	assert_true(label_pairs_add(s, &s->users, TEXT("0"), TEXT("root")));
	check_label(AXIS_USER, s, 0, "root");
	check_label(AXIS_USER, s, 3, "(unknown)"); /* its uid was not read */
	check_label(AXIS_USER, s, 4, "(unknown)");
	check_label(AXIS_USER, s, 5, "1000"); /* nobody has that number */
	snapshot_destroy(s);
}

/* --- cgroups --- */

TEST(units_and_containers)
{
	struct ctprof_snapshot *s = build_snapshot();

	live_in(s, 1, 1, 1, "p", "t", "/system.slice/cron.service");
	live_in(s, 2, 2, 1, "p", "t", "/system.slice/docker-" ID_A ".scope");
	live_in(s, 3, 3, 1, "p", "t", "/kubepods/besteffort/pod12/" ID_B);
	live_in(s, 4, 4, 1, "p", "t", "/system.slice");
	live_in(s, 5, 5, 1, "p", "t", "/docker/" ID_A);
	check_label(AXIS_UNIT, s, 0, "cron.service");
	check_label(AXIS_UNIT, s, 1, "docker-" ID_A ".scope");
	check_label(AXIS_UNIT, s, 3, "system.slice");
	check_label(AXIS_UNIT, s, 4, "(no unit)");
	check_label(AXIS_CONTAINER, s, 0, "(host)");
	check_label(AXIS_CONTAINER, s, 1, "0123456789ab");
	check_label(AXIS_CONTAINER, s, 2, "fedcba987654");
	check_label(AXIS_CONTAINER, s, 4, "0123456789ab");
	snapshot_destroy(s);
}

/* One unit whatever is below it. */
TEST(cgroups_of_one_unit_are_one_group)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct keyed k = { 0 };

	live_in(s, 1, 1, 1, "p", "t", "/system.slice/a.service/x");
	live_in(s, 2, 2, 1, "p", "t", "/system.slice/a.service/y");
	live_in(s, 3, 3, 1, "p", "t", "/system.slice/b.service");
	key_threads(&k, AXIS_UNIT, s, NULL);
	assert_true(are_together(&k, 0, 0, 0, 1));
	assert_false(are_together(&k, 0, 0, 0, 2));
	forget(&k);
	snapshot_destroy(s);
}

/* --- threads --- */

TEST(the_very_same_thread)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();
	struct keyed k = { 0 };

	live(x, 10, 10, 500, "a");
	live(x, 11, 11, 500, "a");
	live(y, 10, 10, 500, "renamed");
	live(y, 11, 11, 900, "a"); /* the number was used again */
	key_threads(&k, AXIS_THREAD, x, y);
	assert_true(are_together(&k, 0, 0, 1, 0));
	assert_false(are_together(&k, 0, 1, 1, 1));
	assert_false(are_together(&k, 0, 0, 0, 1));
	assert_int_equal(k.keys.count, 3);
	assert_string_equal(label(&k, 0, 1), "a[11]");
	assert_string_equal(label(&k, 1, 1), "a[11]");
	forget(&k);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

/* Nobody knows whether it is the same: it may be another of the same number. */
TEST(threads_of_unknown_start_are_not_the_same)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();
	struct keyed k = { 0 };

	live(x, 10, 10, 0, "a")->start_time_clock_ticks.measured = false;
	live(y, 10, 10, 0, "b")->start_time_clock_ticks.measured = false;
	key_threads(&k, AXIS_THREAD, x, y);
	assert_false(are_together(&k, 0, 0, 1, 0));
	forget(&k);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

/* A name may look like two names: then two groups have one label. */
TEST(one_label_of_two_groups)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct keyed k = { 0 };

	live_in(s, 1, 1, 1, "a > b", "c", "/");
	live_in(s, 2, 2, 1, "a", "b > c", "/");
	key_threads(&k, AXIS_PCOMM_COMM, s, NULL);
	assert_string_equal(label(&k, 0, 0), "a > b > c");
	assert_string_equal(label(&k, 0, 1), "a > b > c");
	assert_false(are_together(&k, 0, 0, 0, 1));
	assert_int_equal(k.keys.count, 2);
	forget(&k);
	snapshot_destroy(s);
}

/* Each of them is the same group in another capture, whichever comes first there. */
TEST(groups_of_one_label_are_found_again)
{
	struct ctprof_snapshot *x = build_snapshot(), *y = build_snapshot();
	struct keyed k = { 0 };

	live_in(x, 1, 1, 1, "a > b", "c", "/");
	live_in(x, 2, 2, 1, "a", "b > c", "/");
	live_in(y, 3, 3, 1, "a", "b > c", "/");
	live_in(y, 4, 4, 1, "a > b", "c", "/");
	key_threads(&k, AXIS_PCOMM_COMM, x, y);
	assert_int_equal(k.keys.count, 2);
	assert_true(are_together(&k, 0, 0, 1, 1));
	assert_true(are_together(&k, 0, 1, 1, 0));
	forget(&k);
	snapshot_destroy(x);
	snapshot_destroy(y);
}

TEST(the_count_of_threads_of_a_key)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct keyed k = { 0 };

	for (uint32_t i = 1; i <= 5; i++)
		live(s, i, i, i, i <= 3 ? "x" : "y");
	key_threads(&k, AXIS_PCOMM, s, NULL);
	assert_int_equal(k.keys.count, 2);
	assert_int_equal(k.keys.items[k.of[0][0]].threads, 3);
	assert_int_equal(k.keys.items[k.of[0][4]].threads, 2);
	forget(&k);
	snapshot_destroy(s);
}

TEST(no_threads_no_keys)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct keyed k = { 0 };

	for (enum axis_id axis = 0; axis < GROUP_AXIS_COUNT; axis++) {
		key_threads(&k, axis, s, s);
		assert_int_equal(k.keys.count, 0);
		forget(&k);
	}
	snapshot_destroy(s);
}

UNIT_TESTS(cmocka_unit_test(every_axis_is_named_once), cmocka_unit_test(names_and_patterns),
	   cmocka_unit_test(the_filter_selects_threads), cmocka_unit_test(empty_names_are_names),
	   cmocka_unit_test(a_pool_of_one_keeps_its_name),
	   cmocka_unit_test(a_name_of_several_threads_is_a_pattern),
	   cmocka_unit_test(literal_thread_names), cmocka_unit_test(all_keeps_its_patterns),
	   cmocka_unit_test(kworkers_are_one_group),
	   cmocka_unit_test(executables_and_command_lines),
	   cmocka_unit_test(process_two_of_a_container_is_no_kthreadd),
	   cmocka_unit_test(one_executable_is_one_group), cmocka_unit_test(users_by_name_or_number),
	   cmocka_unit_test(units_and_containers),
	   cmocka_unit_test(cgroups_of_one_unit_are_one_group),
	   cmocka_unit_test(the_very_same_thread),
	   cmocka_unit_test(threads_of_unknown_start_are_not_the_same),
	   cmocka_unit_test(one_label_of_two_groups),
	   cmocka_unit_test(groups_of_one_label_are_found_again),
	   cmocka_unit_test(the_count_of_threads_of_a_key), cmocka_unit_test(no_threads_no_keys))
