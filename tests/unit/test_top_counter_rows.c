/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/counter_rows.h"

#include "base/units.h"
#include "state/window.h"
#include "unit/build.h"
#include "unit/state_scene.h"

#define MS  UINT64_C(1000000)
#define DAY UINT64_C(1795177805000000000)

/* Two captures a second apart, the later one 1000 s after boot. */
struct captures_scene {
	struct arena arena;
	struct names names;
	struct ctprof_snapshot *before, *now;
	struct state_reading readings[2];
	struct state_window window;
};

static struct ctprof_snapshot *captured(uint64_t at_unix_ns, uint64_t uptime_ticks)
{
	struct ctprof_snapshot *s = build_snapshot();

	s->captured_at_unix_ns = reading_of(at_unix_ns);
	s->host = arena_alloc(&s->arena, sizeof(*s->host));
	assert_non_null(s->host);
	s->host->uptime_clock_ticks = reading_of(uptime_ticks);
	return s;
}

static void scene_init(struct captures_scene *c)
{
	*c = (struct captures_scene){
		.before = captured(DAY, 99900),
		.now = captured(DAY + NS_PER_S, 100000),
	};
	arena_init(&c->arena, SIZE_MAX);
	names_init(&c->names, &c->arena);
}

static void scene_deinit(struct captures_scene *c)
{
	snapshot_destroy(c->before);
	snapshot_destroy(c->now);
	state_window_deinit(&c->window);
	state_reading_deinit(&c->readings[0]);
	state_reading_deinit(&c->readings[1]);
	names_deinit(&c->names);
	arena_deinit(&c->arena);
}

/* One that began so many ticks after boot. */
static struct ctprof_thread *thread_of(struct ctprof_snapshot *s, uint32_t tid, uint64_t start,
				       uint64_t run_ns, uint64_t wait_ns)
{
	struct ctprof_thread *t = build_thread(s, tid, tid, "p", "p", "");

	t->start_time_clock_ticks = reading_of(start);
	build_number(t, METRIC_run_time_ns, run_ns);
	build_number(t, METRIC_wait_time_ns, wait_ns);
	build_number(t, METRIC_voluntary_csw, run_ns / MS);
	build_number(t, METRIC_nonvoluntary_csw, 0);
	build_number(t, METRIC_state, 'S');
	return t;
}

static void make_window(struct captures_scene *c)
{
	expect_ok(
		counter_rows_read(c->before, c->now, &c->names, &c->readings[0], &c->readings[1]));
	expect_ok(state_window_make(&c->window, &c->readings[0], &c->readings[1]));
	for (size_t i = 0; i < c->window.deltas.count; i++)
		assert_int_equal(times_sum(&c->window.deltas.items[i].times),
				 c->window.deltas.items[i].window_ns);
}

static void expect_times(const struct captures_scene *c, size_t delta, enum state state,
			 uint64_t ns)
{
	assert_int_equal(state_times_of(&c->window.deltas.items[delta].times, state), ns);
}

TEST(times_from_counters)
{
	struct captures_scene c;
	struct ctprof_thread *t;

	scene_init(&c);
	t = thread_of(c.before, 7, 500, 100 * MS, 50 * MS);
	build_number(t, METRIC_blkio_delay_total_ns, 10 * MS);
	build_number(t, METRIC_swapin_delay_total_ns, 5 * MS);
	t = thread_of(c.now, 7, 500, 400 * MS, 250 * MS);
	build_number(t, METRIC_blkio_delay_total_ns, 110 * MS);
	build_number(t, METRIC_swapin_delay_total_ns, 45 * MS);
	make_window(&c);
	assert_int_equal(c.window.deltas.count, 1);
	assert_int_equal(c.window.deltas.items[0].window_ns, NS_PER_S);
	assert_int_equal(c.window.at_unix_ns, DAY + NS_PER_S);
	expect_times(&c, 0, STATE_EXEC, 300 * MS);
	expect_times(&c, 0, STATE_RUNNABLE, 200 * MS);
	expect_times(&c, 0, STATE_PAGING, 40 * MS);
	expect_times(&c, 0, STATE_SLEEP_DISK, 60 * MS);
	expect_times(&c, 0, STATE_SLEEP, 460 * MS);
	assert_true(state_is_measured(c.window.measured, STATE_PAGING));
	assert_false(state_is_measured(c.window.measured, STATE_LOCK));
	assert_false(state_is_measured(c.window.measured, STATE_SLEEP_NETWORK));
	scene_deinit(&c);
}

/* What goes on is in no counter, and counts. */
TEST(starved_from_the_first_window_on)
{
	struct captures_scene c;
	struct ctprof_thread *t;

	scene_init(&c);
	t = thread_of(c.before, 7, 500, 0, 0);
	build_number(t, METRIC_state, 'R');
	build_number(t, METRIC_wait_in_progress_ns, 5000 * MS);
	t = thread_of(c.now, 7, 500, 0, 0);
	build_number(t, METRIC_state, 'R');
	build_number(t, METRIC_wait_in_progress_ns, 6000 * MS);
	make_window(&c);
	expect_times(&c, 0, STATE_RUNNABLE, NS_PER_S);
	assert_int_equal(c.window.deltas.items[0].in_progress_ns, 6000 * MS);
	scene_deinit(&c);
}

TEST(stopped_and_idle_by_their_letter)
{
	struct captures_scene c;

	scene_init(&c);
	build_number(thread_of(c.before, 7, 500, 0, 0), METRIC_state, 'T');
	build_number(thread_of(c.now, 7, 500, 0, 0), METRIC_state, 'T');
	build_number(thread_of(c.before, 8, 500, 0, 0), METRIC_state, 'I');
	build_number(thread_of(c.now, 8, 500, 0, 0), METRIC_state, 'I');
	assert_true(array_push(&c.now->processes,
			       (struct process){ .tgid = 8, .ppid = reading_of(2) }));
	make_window(&c);
	expect_times(&c, 0, STATE_STOPPED, NS_PER_S);
	expect_times(&c, 1, STATE_IDLE, NS_PER_S);
	scene_deinit(&c);
}

TEST(a_new_thread_has_the_times_of_its_life)
{
	struct captures_scene c;

	scene_init(&c);
	thread_of(c.before, 7, 500, 0, 0);
	thread_of(c.now, 7, 500, 0, 0);
	/* The same number, another thread; and one that is older, and was not seen. */
	thread_of(c.before, 8, 600, 1000 * MS, 0);
	thread_of(c.now, 8, 99960, 100 * MS, 0);
	thread_of(c.now, 9, 700, 9000 * MS, 0);
	make_window(&c);
	assert_int_equal(c.window.deltas.count, 2);
	assert_true(c.window.deltas.items[1].is_new);
	assert_int_equal(c.window.deltas.items[1].window_ns, 400 * MS);
	expect_times(&c, 1, STATE_EXEC, 100 * MS);
	scene_deinit(&c);
}

/* Nobody has reaped them: one died in the window, the others were dead before, or not seen alive.
 */
TEST(the_dead_end_and_are_gone)
{
	struct captures_scene c;

	scene_init(&c);
	thread_of(c.before, 7, 500, 0, 0);
	build_number(thread_of(c.now, 7, 500, 1 * MS, 4 * MS), METRIC_state, 'Z');
	build_number(thread_of(c.before, 8, 500, 9 * MS, 0), METRIC_state, 'Z');
	build_number(thread_of(c.now, 8, 500, 9 * MS, 0), METRIC_state, 'Z');
	build_number(thread_of(c.now, 9, 99960, 2 * MS, 0), METRIC_state, 'X');
	make_window(&c);
	assert_int_equal(c.window.deltas.count, 2);
	for (size_t i = 0; i < c.window.deltas.count; i++)
		assert_true(c.window.deltas.items[i].thread->has_ended);
	assert_int_equal(c.window.deltas.items[0].thread->tid, 7);
	assert_int_equal(c.window.deltas.items[0].window_ns, 5 * MS);
	assert_int_equal(c.window.deltas.items[1].thread->tid, 9);
	scene_deinit(&c);
}

TEST(clocks_that_are_set)
{
	struct captures_scene c;

	scene_init(&c);
	c.now->captured_at_unix_ns = reading_of(DAY + 3600 * NS_PER_S);
	thread_of(c.before, 7, 500, 0, 0);
	thread_of(c.now, 7, 500, 0, 0);
	make_window(&c);
	assert_int_equal(c.window.deltas.items[0].window_ns, NS_PER_S);
	c.now->captured_at_unix_ns = reading_of(DAY - 3600 * NS_PER_S);
	make_window(&c);
	assert_int_equal(c.window.deltas.items[0].window_ns, NS_PER_S);
	scene_deinit(&c);
}

TEST(nothing_is_known_across_a_boot)
{
	struct captures_scene c;

	scene_init(&c);
	c.now->host->uptime_clock_ticks = reading_of(1000);
	thread_of(c.before, 7, 500, 0, 0);
	thread_of(c.now, 7, 500, 10 * MS, 0);
	assert_true(counter_rows_other_boot(c.before, c.now));
	make_window(&c);
	assert_int_equal(c.window.deltas.count, 0);
	scene_deinit(&c);
}

/* Whatever the counters say: sums are the time there was (make_window). */
TEST(no_time_is_reported_twice)
{
	uint64_t seed = 8;

	for (unsigned round = 0; round < 200; round++) {
		static const enum metric_id ids[] = {
			METRIC_run_time_ns,          METRIC_wait_time_ns,
			METRIC_blkio_delay_total_ns, METRIC_swapin_delay_total_ns,
			METRIC_voluntary_csw,        METRIC_nonvoluntary_csw,
			METRIC_wait_in_progress_ns,  METRIC_blkio_in_progress_ns,
		};
		static const char letters[] = "RSDTtIPZX";
		struct captures_scene c;

		scene_init(&c);
		for (uint32_t tid = 1; tid <= 20; tid++)
			for (unsigned side = 0; side < 2; side++) {
				struct ctprof_thread *t =
					thread_of(side ? c.now : c.before, tid, 500, 0, 0);

				for (size_t i = 0; i < array_length(ids); i++)
					if (next_random(&seed) & 1)
						build_number(t, ids[i],
							     next_random(&seed) % (2000 * MS));
				build_number(
					t, METRIC_state,
					(uint64_t)letters[next_random(&seed) % (side ? 9 : 7)]);
			}
		make_window(&c);
		assert_int_equal(c.window.deltas.count, 20);
		for (size_t i = 0; i < 20; i++)
			assert_true(c.window.deltas.items[i].window_ns <= NS_PER_S);
		scene_deinit(&c);
	}
}

UNIT_TESTS(cmocka_unit_test(times_from_counters),
	   cmocka_unit_test(starved_from_the_first_window_on),
	   cmocka_unit_test(stopped_and_idle_by_their_letter),
	   cmocka_unit_test(a_new_thread_has_the_times_of_its_life),
	   cmocka_unit_test(the_dead_end_and_are_gone), cmocka_unit_test(clocks_that_are_set),
	   cmocka_unit_test(nothing_is_known_across_a_boot),
	   cmocka_unit_test(no_time_is_reported_twice))
