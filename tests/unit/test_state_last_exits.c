/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/last_exits.h"

#include <stdio.h>

#include "unit/unit.h"

static struct arena arena;
static struct names names;

static const struct name *named(const char *text)
{
	return names_intern(&names, text, strlen(text));
}

static struct state_thread thread_of(uint32_t tid, const char *process, const char *cgroup)
{
	return (struct state_thread){ .tid = tid,
				      .tgid = tid,
				      .name = named(process),
				      .process = named(process),
				      .cgroup = named(cgroup) };
}

static struct state_thread ended(uint32_t tid, const char *process, const char *cgroup,
				 uint32_t code, uint64_t at_ns)
{
	struct state_thread thread = thread_of(tid, process, cgroup);

	thread.has_ended = thread.has_exit_code = true;
	thread.exit_code = code;
	thread.seen_ns = at_ns;
	return thread;
}

static void take(struct last_exits *exits, const struct state_thread *threads, size_t count)
{
	struct state_window window = { 0 };

	for (size_t i = 0; i < count; i++)
		assert_true(
			array_push(&window.deltas, (struct state_delta){ .thread = &threads[i] }));
	last_exits_take(exits, &window);
	array_deinit(&window.deltas);
}

static void expect(const struct last_exits *exits, struct state_thread thread, uint32_t depth,
		   enum state_grouping grouping, const char *text, uint64_t at_ns)
{
	const struct state_line line = { .thread = &thread,
					 .threads = !thread.has_ended,
					 .depth = depth };
	char buffer[LAST_EXIT_TEXT_MAX];
	struct last_exit own;
	const struct last_exit *last = last_exits_of(exits, &line, grouping, 1000, &own);

	if (!text) {
		assert_null(last);
		return;
	}
	assert_non_null(last);
	assert_string_equal(last_exit_text(buffer, last), text);
	assert_int_equal(last->at_ns, at_ns);
}

TEST(rows_have_the_exits_of_their_like)
{
	struct last_exits exits = { 0 };
	struct state_thread threads[] = {
		ended(10, "web", "/a", 9, 100),           /* SIGKILL */
		ended(11, "db", "/a", 3 << 8, 200),       /* exit(3) */
		ended(12, "web", "/b", 11, 300),          /* SIGSEGV */
		ended(13, "web", "/a", 0, 50),            /* earlier, though it is listed later */
		ended(14, "other", "/c", 6 | 0x80, 5000), /* SIGABRT and a core, later than now */
		thread_of(20, "db", "/b"),
	};

	take(&exits, threads, array_length(threads));
	expect(&exits, thread_of(30, "web", "/a"), 0, STATE_BY_PROCESS, "KILL", 100);
	expect(&exits, thread_of(30, "web", "/a"), 0, STATE_BY_THREAD, "KILL", 100);
	expect(&exits, thread_of(30, "web", "/a"), 0, STATE_BY_CGROUP, "3", 200);
	expect(&exits, thread_of(30, "web", "/a"), 1, STATE_BY_CGROUP, "KILL", 100);
	expect(&exits, thread_of(30, "web", "/a"), 0, STATE_BY_POOL, "SEGV", 300);
	expect(&exits, thread_of(30, "db", "/b"), 0, STATE_BY_PROCESS, NULL, 0);
	expect(&exits, thread_of(30, "other", "/c"), 0, STATE_BY_PROCESS, NULL, 0);
	/* Its own is not that of others. */
	expect(&exits, ended(31, "web", "/a", 4 << 8, 700), 0, STATE_BY_THREAD, "4", 700);
	last_exits_deinit(&exits);
}

TEST(threads_of_a_living_process_are_no_exits)
{
	struct last_exits exits = { 0 };
	struct state_thread thread;

	thread = ended(10, "web", "/a", 0, 100);
	thread.tid = 11;
	take(&exits, &thread, 1);
	expect(&exits, thread_of(10, "web", "/a"), 0, STATE_BY_PROCESS, NULL, 0);
	last_exits_deinit(&exits);
}

TEST(the_oldest_make_room)
{
	struct last_exits exits = { 0 };
	char name[32];

	for (uint32_t i = 0; i < 3 * LAST_EXITS_MAX; i++) {
		struct state_thread thread;

		snprintf(name, sizeof(name), "p%u", i);
		thread = ended(i + 1, name, "/a", 9, i % 1000);
		thread.seen_ns = i / 100;
		take(&exits, &thread, 1);
		assert_true(exits.rows.count <= LAST_EXITS_MAX);
	}
	expect(&exits, thread_of(1, name, "/a"), 0, STATE_BY_PROCESS, "KILL",
	       (3 * LAST_EXITS_MAX - 1) / 100);
	expect(&exits, thread_of(1, "p0", "/a"), 0, STATE_BY_PROCESS, NULL, 0);
	last_exits_deinit(&exits);
}

static int init_names(void **state)
{
	(void)state;
	arena_init(&arena, SIZE_MAX);
	names_init(&names, &arena);
	return 0;
}

static int deinit_names(void **state)
{
	(void)state;
	names_deinit(&names);
	arena_deinit(&arena);
	return 0;
}

UNIT_TESTS(cmocka_unit_test_setup_teardown(rows_have_the_exits_of_their_like, init_names,
					   deinit_names),
	   cmocka_unit_test_setup_teardown(threads_of_a_living_process_are_no_exits, init_names,
					   deinit_names),
	   cmocka_unit_test_setup_teardown(the_oldest_make_room, init_names, deinit_names))
