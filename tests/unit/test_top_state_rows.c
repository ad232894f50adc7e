/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/state_rows.h"

#include <stdio.h>
#include <string.h>

#include "unit/build.h"

#define ALL         ((1u << STATE_COUNT) - 1)
#define WATCH_BEGUN 1000
#define AT          100000

struct joining {
	struct arena arena;
	struct names names;
	struct state_reading reading;
	struct ctprof_snapshot *snapshot;
};

static void joining_init(struct joining *j)
{
	*j = (struct joining){
		.reading = { .at_ns = AT, .at_unix_ns = 7000000, .measured = ALL },
		.snapshot = build_snapshot(),
	};
	arena_init(&j->arena, SIZE_MAX);
	names_init(&j->names, &j->arena);
}

static void joining_deinit(struct joining *j)
{
	state_reading_deinit(&j->reading);
	snapshot_destroy(j->snapshot);
	names_deinit(&j->names);
	arena_deinit(&j->arena);
}

/* Watched for 90,000 ns; `own` of them in its own code, and the rest asleep since then. */
static struct state_thread *read_one(struct joining *j, uint32_t tgid, uint32_t tid, uint64_t own)
{
	struct state_thread t = {
		.tid = tid,
		.tgid = tgid,
		.begun_ns = 9990,
		.seen_ns = 99990,
		.times.ns = { [STATE_EXEC_USER] = own, [STATE_SLEEP_TIMER] = 90000 - own },
		.state = STATE_SLEEP_TIMER,
		.since_ns = 9990 + own,
		.switches = 3,
	};

	assert_true(array_push(&j->reading.threads, t));
	return &j->reading.threads.items[j->reading.threads.count - 1];
}

static void join(struct joining *j, uint64_t boot_ns)
{
	const struct state_watch watch = { "exact", WATCH_BEGUN };

	expect_ok(state_rows_join(&j->reading, &watch, boot_ns, j->snapshot));
}

static void expect_row(const struct ctprof_thread *thread, const char *name, uint64_t value)
{
	const struct metric *metric = metric_find(text_of(name));

	assert_non_null(metric);
	assert_true(is_measured(thread, metric_id(metric)));
	assert_int_equal(metric_load_u64(&thread->record.values, metric), value);
}

TEST(a_row_for_each_state_by_its_name)
{
	for (enum state each = 0; each < STATE_COUNT; each++) {
		char name[64];

		snprintf(name, sizeof(name), "state_%s_ns", state_rows[each].name);
		assert_string_equal(metrics[METRIC_state_exec_ns + each].name, name);
	}
}

TEST(whole_states_have_their_parts)
{
	struct joining j;
	struct ctprof_thread *t;

	joining_init(&j);
	t = build_thread(j.snapshot, 5, 6, "p", "t", "");
	read_one(&j, 5, 6, 30000)->times.ns[STATE_EXEC] = 11;
	join(&j, UINT64_MAX);
	expect_row(t, "state_exec_ns", 30011);
	expect_row(t, "state_exec_user_ns", 30000);
	expect_row(t, "state_exec_system_ns", 0);
	expect_row(t, "state_sleep_ns", 60000);
	expect_row(t, "state_sleep_timer_ns", 60000);
	expect_row(t, "state_lock_ns", 0);
	expect_row(t, "state_watched_ns", 90000);
	expect_row(t, "state_switches", 3);
	expect_row(t, "state_now_ns", 60000);
	expect_text(name_text(t->record.values.state_now.v), "sleep_timer");
	joining_deinit(&j);
}

/* A part says nothing of its whole. */
TEST(times_that_the_engine_lacks_are_unmeasured)
{
	struct joining j;
	struct ctprof_thread *t;

	joining_init(&j);
	j.reading.measured = 1u << STATE_EXEC_USER | 1u << STATE_RUNNABLE | 1u << STATE_SLEEP;
	t = build_thread(j.snapshot, 5, 6, "p", "t", "");
	read_one(&j, 5, 6, 30000);
	join(&j, UINT64_MAX);
	for (enum state each = 0; each < STATE_COUNT; each++)
		assert_int_equal(is_measured(t, METRIC_state_exec_ns + each),
				 each == STATE_EXEC_USER || each == STATE_RUNNABLE ||
					 each == STATE_SLEEP);
	joining_deinit(&j);
}

TEST(times_belong_to_their_thread)
{
	struct joining j;
	struct ctprof_thread *own, *other_process, *unread, *reborn, *after;

	joining_init(&j);
	own = build_thread(j.snapshot, 5, 5, "p", "own", "");
	other_process = build_thread(j.snapshot, 6, 6, "q", "other", "");
	unread = build_thread(j.snapshot, 7, 7, "r", "unread", "");
	reborn = build_thread(j.snapshot, 8, 8, "s", "reborn", "");
	after = build_thread(j.snapshot, 9, 9, "t", "after", "");
	own->start_time_clock_ticks = reading_of(100);
	after->start_time_clock_ticks = reading_of(101);
	read_one(&j, 5, 5, 1);
	read_one(&j, 66, 6, 2);
	/* Its number was free, and is used again. */
	read_one(&j, 8, 8, 3)->has_ended = true;
	read_one(&j, 8, 8, 4);
	read_one(&j, 9, 9, 5);
	join(&j, UINT64_C(1009999999));
	expect_row(own, "state_exec_user_ns", 1);
	assert_false(is_measured(other_process, METRIC_state_watched_ns));
	assert_false(is_measured(unread, METRIC_state_watched_ns));
	expect_row(reborn, "state_exec_user_ns", 4);
	assert_false(is_measured(after, METRIC_state_watched_ns));
	joining_deinit(&j);
}

/* What is read is what was joined, but for what no capture has. */
TEST(there_and_back)
{
	struct joining j;
	struct state_reading again = { 0 };
	struct state_watch watch;
	const struct state_thread *t;

	joining_init(&j);
	assert_false(state_rows_watch(j.snapshot, &watch));
	build_thread(j.snapshot, 5, 5, "p", "unread", "");
	build_thread(j.snapshot, 5, 6, "p", "t", "/c");
	read_one(&j, 5, 6, 30000)->times.ns[STATE_SLEEP] = 17;
	j.reading.measured &= ~(1u << STATE_LOCK_KERNEL);
	join(&j, UINT64_MAX);
	assert_true(state_rows_watch(j.snapshot, &watch));
	assert_string_equal(watch.engine, "exact");
	assert_int_equal(watch.begun_ns, WATCH_BEGUN);
	expect_ok(state_rows_read(j.snapshot, &j.names, &again));
	assert_int_equal(again.at_ns, AT);
	assert_int_equal(again.at_unix_ns, 7000000);
	assert_int_equal(again.measured, j.reading.measured);
	assert_int_equal(again.threads.count, 1);
	t = &again.threads.items[0];
	assert_int_equal(t->tid, 6);
	assert_int_equal(t->tgid, 5);
	assert_memory_equal(&t->times, &j.reading.threads.items[0].times, sizeof(t->times));
	assert_int_equal(t->state, STATE_SLEEP_TIMER);
	assert_int_equal(t->seen_ns - t->begun_ns, 90000);
	assert_int_equal(t->seen_ns - t->since_ns, 60000);
	assert_int_equal(t->switches, 3);
	expect_text(name_text(t->name), "t");
	expect_text(name_text(t->process), "p");
	expect_text(name_text(t->cgroup), "/c");
	state_reading_deinit(&again);
	joining_deinit(&j);
}

/* Who runs is in no wait. */
TEST(a_running_thread_has_no_wait)
{
	struct joining j;
	struct ctprof_thread *t;

	joining_init(&j);
	t = build_thread(j.snapshot, 5, 5, "p", "p", "");
	read_one(&j, 5, 5, 1)->state = STATE_EXEC;
	join(&j, UINT64_MAX);
	expect_row(t, "state_now_ns", 0);
	expect_text(name_text(t->record.values.state_now.v), "exec");
	joining_deinit(&j);
}

/* The taskstats engine knows times, and not what a thread does now. */
TEST(unknown_current_states_are_unmeasured)
{
	struct joining j;
	struct state_reading again = { 0 };
	struct ctprof_thread *t;

	joining_init(&j);
	t = build_thread(j.snapshot, 5, 5, "p", "p", "");
	read_one(&j, 5, 5, 30000)->state = STATE_COUNT;
	join(&j, UINT64_MAX);
	expect_row(t, "state_watched_ns", 90000);
	assert_false(is_measured(t, METRIC_state_now));
	assert_false(is_measured(t, METRIC_state_now_ns));
	expect_ok(state_rows_read(j.snapshot, &j.names, &again));
	assert_int_equal(again.threads.count, 1);
	assert_int_equal(again.threads.items[0].state, STATE_COUNT);
	assert_int_equal(again.threads.items[0].since_ns, 0);
	state_reading_deinit(&again);
	joining_deinit(&j);
}

TEST(users_and_the_kernel_are_of_processes)
{
	static const struct process processes[] = {
		{ .tgid = 2, .ppid = { .measured = true } },
		{ .tgid = 3, .ppid = { .value = 2, .measured = true } },
		{ .tgid = 4,
		  .ppid = { .value = 1, .measured = true },
		  .uid = { .value = 42, .measured = true } },
	};
	const struct state_processes by_number = { processes, array_length(processes) };
	static const bool is_kernel[] = { true, true, false, false };
	struct joining j;

	joining_init(&j);
	for (uint32_t tgid = 2; tgid <= 5; tgid++) {
		const struct ctprof_thread *thread =
			build_thread(j.snapshot, tgid, tgid, "p", "p", "");
		struct state_thread t;

		assert_true(state_rows_describe(&by_number, thread, &j.names, &t));
		assert_int_equal(t.is_kernel, is_kernel[tgid - 2]);
		assert_int_equal(t.uid, tgid == 4 ? 42 : 0);
		assert_null(t.cgroup);
	}
	joining_deinit(&j);
}

UNIT_TESTS(cmocka_unit_test(a_row_for_each_state_by_its_name),
	   cmocka_unit_test(whole_states_have_their_parts),
	   cmocka_unit_test(times_that_the_engine_lacks_are_unmeasured),
	   cmocka_unit_test(times_belong_to_their_thread), cmocka_unit_test(there_and_back),
	   cmocka_unit_test(a_running_thread_has_no_wait),
	   cmocka_unit_test(unknown_current_states_are_unmeasured),
	   cmocka_unit_test(users_and_the_kernel_are_of_processes))
