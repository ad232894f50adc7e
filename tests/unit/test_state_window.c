/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/window.h"

#include <math.h>

#include "unit/state_scene.h"

/* --- rows --- */

TEST(main_states_have_all_others)
{
	unsigned mains = 0;

	for (size_t i = 0; i < STATE_MAIN_COUNT; i++) {
		assert_true(state_is_main(state_mains[i]));
		assert_false(mains & 1u << state_mains[i]);
		mains |= 1u << state_mains[i];
	}
	for (enum state i = 0; i < STATE_COUNT; i++) {
		const struct state_row *row = &state_rows[i];

		assert_true(mains & 1u << row->main);
		assert_true(row->name && row->label && row->prose && row->letter);
		assert_int_equal(state_is_main(i), (mains & 1u << i) != 0);
		/* "lock_futex" is a part of "lock". */
		assert_true(text_starts(text_of(row->name), text_of(state_rows[row->main].name)));
		for (enum state other = 0; other < i; other++) {
			assert_string_not_equal(row->name, state_rows[other].name);
			assert_string_not_equal(row->label, state_rows[other].label);
			assert_int_not_equal(row->letter, state_rows[other].letter);
		}
	}
}

TEST(a_state_is_itself_and_its_parts)
{
	struct state_times times = { 0 }, twice;
	uint64_t sum = 0;

	for (enum state i = 0; i < STATE_COUNT; i++)
		times.ns[i] = 1ull << i;
	assert_int_equal(state_times_of(&times, STATE_EXEC), 7);
	assert_int_equal(state_times_of(&times, STATE_EXEC_USER), 2);
	assert_int_equal(state_times_of(&times, STATE_LOCK),
			 1u << STATE_LOCK | 1u << STATE_LOCK_FUTEX | 1u << STATE_LOCK_KERNEL);
	for (size_t i = 0; i < STATE_MAIN_COUNT; i++)
		sum += state_times_of(&times, state_mains[i]);
	assert_int_equal(sum, (1u << STATE_COUNT) - 1);
	assert_int_equal(times_sum(&times), sum);
	assert_true(state_is_measured_in_part(1u << STATE_SLEEP_DISK, STATE_SLEEP));
	assert_true(state_is_measured_in_part(1u << STATE_SLEEP, STATE_SLEEP));
	assert_false(state_is_measured_in_part(1u << STATE_SLEEP, STATE_SLEEP_DISK));
	assert_false(state_is_measured_in_part(1u << STATE_SLEEP_DISK, STATE_LOCK));
	twice = times;
	state_times_add(&twice, &times);
	for (enum state i = 0; i < STATE_COUNT; i++)
		assert_int_equal(twice.ns[i], 2ull << i);
}

/* --- one thread --- */

TEST(a_thread_that_goes_on)
{
	struct state_scene s;
	struct state_thread *t;
	const struct state_delta *delta;

	state_scene_init(&s);
	t = scene_thread(&s, &s.before, 7, 8, "a", "p");
	t->seen_ns = SCENE_BEGUN_NS + 50; /* read a little later than others */
	t->times.ns[STATE_EXEC] = 100;
	t->times.ns[STATE_LOCK_FUTEX] = 1000;
	t->switches = 3;
	t = scene_thread(&s, &s.now, 7, 8, "b", "p");
	t->times.ns[STATE_EXEC] = 300;
	t->times.ns[STATE_LOCK_FUTEX] = 1000;
	t->times.ns[STATE_IDLE] = 5;
	t->switches = 7;
	scene_window(&s);
	assert_int_equal(s.window.deltas.count, 1);
	assert_int_equal(s.window.begun_ns, SCENE_BEGUN_NS);
	assert_int_equal(s.window.ended_ns, SCENE_ENDED_NS);
	assert_int_equal(s.window.measured, s.now.measured);
	delta = &s.window.deltas.items[0];
	assert_ptr_equal(delta->thread, t);
	assert_int_equal(delta->window_ns, SCENE_ENDED_NS - SCENE_BEGUN_NS - 50);
	assert_int_equal(delta->times.ns[STATE_EXEC], 200);
	assert_int_equal(delta->times.ns[STATE_LOCK_FUTEX], 0);
	assert_int_equal(delta->times.ns[STATE_IDLE], 5);
	assert_int_equal(times_sum(&delta->times), 205);
	assert_int_equal(delta->switches, 4);
	assert_false(delta->is_new);
	state_scene_deinit(&s);
}

/* What ran between two ticks is divided at the second: by then it is in no window but its own. */
TEST(later_divided_time_is_counted_once)
{
	struct state_scene s;
	struct state_thread *t;
	const struct state_times *times;

	state_scene_init(&s);
	t = scene_thread(&s, &s.before, 7, 8, "a", "p");
	t->times.ns[STATE_EXEC] = 90;
	t->times.ns[STATE_EXEC_USER] = 1000;
	t->times.ns[STATE_EXEC_SYSTEM] = 10;
	t = scene_thread(&s, &s.now, 7, 8, "a", "p");
	t->times.ns[STATE_EXEC] = 0;
	t->times.ns[STATE_EXEC_USER] = 1120;
	t->times.ns[STATE_EXEC_SYSTEM] = 40;
	scene_window(&s);
	times = &s.window.deltas.items[0].times;
	assert_int_equal(state_times_of(times, STATE_EXEC), 60);
	assert_int_equal(times_sum(times), 60);
	assert_true(times->ns[STATE_EXEC_USER] + times->ns[STATE_EXEC_SYSTEM] <= 60);
	state_scene_deinit(&s);
}

TEST(nothing_is_negative)
{
	struct state_scene s;
	struct state_thread *t;
	const struct state_delta *delta;

	state_scene_init(&s);
	t = scene_thread(&s, &s.before, 7, 8, "a", "p");
	t->times.ns[STATE_EXEC] = 100;
	t->times.ns[STATE_SLEEP] = 100;
	t->switches = 9;
	s.before.cost = (struct state_cost){ 5, 5, 5, 5, 5 };
	s.now.cost = (struct state_cost){ 4, 5, UINT64_MAX, 7, 8 };
	t = scene_thread(&s, &s.now, 7, 8, "a", "p");
	t->seen_ns = SCENE_BEGUN_NS - 1;
	t->times.ns[STATE_EXEC] = 99;
	t->times.ns[STATE_SLEEP] = 101;
	t->state = STATE_SLEEP;
	t->since_ns = SCENE_ENDED_NS;
	scene_window(&s);
	delta = &s.window.deltas.items[0];
	assert_int_equal(delta->window_ns, 0);
	assert_int_equal(delta->times.ns[STATE_EXEC], 0);
	assert_int_equal(delta->times.ns[STATE_SLEEP], 1);
	assert_int_equal(delta->switches, 0);
	assert_int_equal(delta->in_progress_ns, 0);
	assert_int_equal(s.window.cost.program_ns, 0);
	assert_int_equal(s.window.cost.own_cpu_ns, 0);
	assert_true(s.window.cost.threads_lost == UINT64_MAX - 5);
	assert_int_equal(s.window.cost.threads_torn, 2);
	assert_int_equal(s.window.cost.delays_impossible, 3);
	state_scene_deinit(&s);
}

TEST(one_that_began_in_the_window)
{
	struct state_scene s;
	struct state_thread *t;
	const struct state_delta *delta;

	state_scene_init(&s);
	t = scene_thread(&s, &s.now, 7, 8, "a", "p");
	t->begun_ns = SCENE_BEGUN_NS + 300000;
	t->times.ns[STATE_RUNNABLE] = 700000;
	t->switches = 2;
	scene_window(&s);
	delta = &s.window.deltas.items[0];
	assert_true(delta->is_new);
	assert_int_equal(delta->window_ns, 700000);
	assert_int_equal(delta->times.ns[STATE_RUNNABLE], 700000);
	assert_int_equal(delta->switches, 2);
	state_scene_deinit(&s);
}

/* It was watched for twice the window, and the reading before had lost it. */
TEST(one_that_was_missing_has_no_more_than_the_window)
{
	struct state_scene s;
	struct state_thread *t;
	const struct state_delta *delta;

	state_scene_init(&s);
	t = scene_thread(&s, &s.now, 7, 8, "a", "p");
	t->begun_ns = 0;
	t->times.ns[STATE_EXEC] = 500000;
	t->times.ns[STATE_IDLE] = 1500000;
	t->switches = 10;
	scene_window(&s);
	delta = &s.window.deltas.items[0];
	assert_true(delta->is_new);
	assert_int_equal(delta->window_ns, 1000000);
	assert_int_equal(delta->times.ns[STATE_EXEC], 250000);
	assert_int_equal(delta->times.ns[STATE_IDLE], 750000);
	assert_int_equal(delta->switches, 5);
	state_scene_deinit(&s);
}

/* Since it is watched: the window begins with each thread. */
TEST(after_no_reading_all_is_new)
{
	struct state_scene s;
	struct state_thread *t;

	state_scene_init(&s);
	t = scene_thread(&s, &s.now, 7, 8, "a", "p");
	t->times.ns[STATE_EXEC] = 1500000;
	expect_ok(state_window_make(&s.window, &(struct state_reading){ 0 }, &s.now));
	assert_int_equal(s.window.deltas.count, 1);
	assert_true(s.window.deltas.items[0].is_new);
	assert_int_equal(s.window.deltas.items[0].window_ns, 1500000);
	assert_int_equal(s.window.deltas.items[0].times.ns[STATE_EXEC], 1500000);
	state_scene_deinit(&s);
}

TEST(one_that_ended_is_in_one_window)
{
	struct state_scene s;
	struct state_thread *t;

	state_scene_init(&s);
	scene_thread(&s, &s.before, 7, 8, "a", "p");
	t = scene_thread(&s, &s.now, 7, 8, "a", "p");
	t->has_ended = true;
	t->seen_ns = SCENE_BEGUN_NS + 10;
	t->times.ns[STATE_EXEC] = 10;
	t->state = STATE_SLEEP;
	t->since_ns = SCENE_BEGUN_NS + 3;
	/* It began and ended in it. */
	t = scene_thread(&s, &s.now, 7, 9, "a", "p");
	t->has_ended = true;
	t->begun_ns = SCENE_BEGUN_NS + 10;
	t->seen_ns = SCENE_BEGUN_NS + 30;
	t->times.ns[STATE_SLEEP_PIPE] = 20;
	scene_window(&s);
	assert_int_equal(s.window.deltas.count, 2);
	assert_int_equal(s.window.deltas.items[0].window_ns, 10);
	assert_int_equal(s.window.deltas.items[0].times.ns[STATE_EXEC], 10);
	assert_int_equal(s.window.deltas.items[0].in_progress_ns, 0);
	assert_int_equal(s.window.deltas.items[1].window_ns, 20);
	assert_true(s.window.deltas.items[1].is_new);
	/* An engine that still tells of it is not believed. */
	expect_ok(state_window_make(&s.window, &s.now, &s.now));
	assert_int_equal(s.window.deltas.count, 0);
	state_scene_deinit(&s);
}

TEST(a_tid_that_is_used_again_is_another_thread)
{
	struct state_scene s;
	struct state_thread *t;

	state_scene_init(&s);
	t = scene_thread(&s, &s.before, 7, 8, "old", "p");
	t->times.ns[STATE_IDLE] = 900000;
	t = scene_thread(&s, &s.now, 7, 8, "old", "p");
	t->has_ended = true;
	t->seen_ns = SCENE_BEGUN_NS + 1000;
	t->times.ns[STATE_IDLE] = 901000;
	t = scene_thread(&s, &s.now, 7, 8, "new", "p");
	t->id = 42;
	t->begun_ns = SCENE_BEGUN_NS + 2000;
	t->times.ns[STATE_EXEC] = 998000;
	scene_window(&s);
	assert_int_equal(s.window.deltas.count, 2);
	assert_int_equal(s.window.deltas.items[0].window_ns, 1000);
	assert_int_equal(s.window.deltas.items[0].times.ns[STATE_IDLE], 1000);
	assert_int_equal(s.window.deltas.items[1].window_ns, 998000);
	assert_int_equal(s.window.deltas.items[1].times.ns[STATE_IDLE], 0);
	assert_int_equal(s.window.deltas.items[1].times.ns[STATE_EXEC], 998000);
	/* So are two lines of a list. */
	scene_list(&s, &(struct state_view){ 0 }, NULL);
	assert_int_equal(s.list.lines.count, 2);
	assert_int_not_equal(s.list.lines.items[0].id, s.list.lines.items[1].id);
	state_scene_deinit(&s);
}

TEST(states_in_progress)
{
	static const struct {
		enum state state;
		uint64_t since_ns;
		bool has_ended;
		uint64_t in_progress_ns;
	} rows[] = {
		{ STATE_LOCK, SCENE_ENDED_NS - 5, false, 5 },
		/* Before the window too. */
		{ STATE_SLEEP_DISK, 1, false, SCENE_ENDED_NS - 1 },
		{ STATE_RUNNABLE, SCENE_BEGUN_NS, false, SCENE_ENDED_NS - SCENE_BEGUN_NS },
		{ STATE_IDLE, SCENE_BEGUN_NS, false, SCENE_ENDED_NS - SCENE_BEGUN_NS },
		{ STATE_EXEC, SCENE_BEGUN_NS, false, 0 },
		{ STATE_EXEC_SYSTEM, SCENE_BEGUN_NS, false, 0 },
		{ STATE_LOCK, 0, false, 0 },
		{ STATE_LOCK, SCENE_BEGUN_NS, true, 0 },
	};
	struct state_scene s;

	state_scene_init(&s);
	for (uint32_t i = 0; i < array_length(rows); i++) {
		struct state_thread *t = scene_new(&s, 1, i + 1, "a", "p");

		t->state = rows[i].state;
		t->since_ns = rows[i].since_ns;
		t->has_ended = rows[i].has_ended;
	}
	scene_window(&s);
	for (size_t i = 0; i < array_length(rows); i++)
		if (s.window.deltas.items[i].in_progress_ns != rows[i].in_progress_ns)
			fail_msg("row %zu", i);
	state_scene_deinit(&s);
}

/* --- many --- */

TEST(a_window_is_used_again)
{
	struct state_scene s;
	struct state_delta *kept;

	state_scene_init(&s);
	for (uint32_t i = 1; i <= 100; i++)
		scene_new(&s, 1, i, "a", "p");
	scene_window(&s);
	assert_int_equal(s.window.deltas.count, 100);
	kept = s.window.deltas.items;
	s.now.threads.count = 60;
	scene_window(&s);
	assert_int_equal(s.window.deltas.count, 60);
	s.now.threads.count = 100;
	scene_window(&s);
	assert_int_equal(s.window.deltas.count, 100);
	assert_ptr_equal(s.window.deltas.items, kept);
	expect_ok(state_window_make(&s.window, &(struct state_reading){ 0 },
				    &(struct state_reading){ 0 }));
	assert_int_equal(s.window.deltas.count, 0);
	state_scene_deinit(&s);
}

static void check_delta(const struct state_delta *delta, const struct state_reading *before)
{
	const struct state_thread *then = NULL, *now = delta->thread;
	double percent = 0;

	for (size_t i = 0; i < before->threads.count; i++)
		if (before->threads.items[i].id == now->id)
			then = &before->threads.items[i];
	assert_int_equal(delta->is_new, !then);
	assert_int_equal(delta->window_ns, now->seen_ns - (then ? then->seen_ns : now->begun_ns));
	assert_int_equal(times_sum(&delta->times), delta->window_ns);
	for (size_t i = 0; delta->window_ns && i < STATE_MAIN_COUNT; i++)
		percent += 100.0 * (double)state_times_of(&delta->times, state_mains[i]) /
			   (double)delta->window_ns;
	assert_true(!delta->window_ns || fabs(percent - 100) < 1e-9);
	for (enum state state = 0; state < STATE_COUNT; state++)
		assert_int_equal(delta->times.ns[state],
				 now->times.ns[state] - (then ? then->times.ns[state] : 0));
}

/* Of exact readings, nothing is lost and nothing is twice: the windows of a thread add up to its
 * life, and what it did in each to the window. */
TEST(windows_add_up)
{
	struct state_world *world = calloc(1, sizeof(*world));
	struct state_scene s;
	uint64_t windows_ns = 0, lives_ns = 0;

	assert_non_null(world);
	*world = (struct state_world){ .seed = 1, .now_ns = 1000 };
	state_scene_init(&s);
	world_read(&s, world);
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned steps = 0; steps < 1 + round % 3; steps++)
			world_pass(&s, world, 1 + next_random(&world->seed) % 1000000);
		world_read(&s, world);
		scene_window(&s);
		assert_int_equal(s.window.deltas.count, s.now.threads.count);
		for (size_t i = 0; i < s.window.deltas.count; i++) {
			const struct state_delta *delta = &s.window.deltas.items[i];

			check_delta(delta, &s.before);
			windows_ns += delta->window_ns;
			if (delta->thread->has_ended || round == 59)
				lives_ns += delta->thread->seen_ns - delta->thread->begun_ns;
		}
	}
	assert_true(world->next_id > 2 * WORLD_THREADS);
	assert_int_equal(windows_ns, lives_ns);
	state_scene_deinit(&s);
	free(world);
}

UNIT_TESTS(cmocka_unit_test(main_states_have_all_others),
	   cmocka_unit_test(a_state_is_itself_and_its_parts),
	   cmocka_unit_test(a_thread_that_goes_on),
	   cmocka_unit_test(later_divided_time_is_counted_once),
	   cmocka_unit_test(nothing_is_negative), cmocka_unit_test(one_that_began_in_the_window),
	   cmocka_unit_test(one_that_was_missing_has_no_more_than_the_window),
	   cmocka_unit_test(after_no_reading_all_is_new),
	   cmocka_unit_test(one_that_ended_is_in_one_window),
	   cmocka_unit_test(a_tid_that_is_used_again_is_another_thread),
	   cmocka_unit_test(states_in_progress), cmocka_unit_test(a_window_is_used_again),
	   cmocka_unit_test(windows_add_up))
