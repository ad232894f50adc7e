/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows of recordings, equal to those that were recorded.
 */
#include "top/replay_engine.h"

#include <stdio.h>
#include <string.h>

#include "base/word_map.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"
#include "top/state_rows.h"
#include "unit/build.h"
#include "unit/state_scene.h"

/* 2026-11-20 12:30:00 UTC; a capture each second. */
#define NOON_MS UINT64_C(1795177800000)
#define BEGUN   5

static struct ctprof_snapshot *capture_at(uint64_t at_ms)
{
	struct ctprof_snapshot *s = build_snapshot();

	s->captured_at_unix_ns = reading_of(at_ms * 1000000);
	return s;
}

static void add(struct recording *recording, uint64_t at_ms, struct ctprof_snapshot *s)
{
	char *packed;
	size_t size;

	expect_ok(snapshot_sort_threads(s));
	expect_ok(snapshot_pack(s, &packed, &size));
	expect_ok(recording_add(recording, at_ms, (struct text){ packed, size }));
	free(packed);
	snapshot_destroy(s);
}

/* --- what was recorded is what is replayed --- */

static void record_reading(struct recording *recording, const struct state_reading *reading,
			   uint64_t number)
{
	const struct state_watch watch = { "exact", BEGUN };
	struct ctprof_snapshot *s = capture_at(NOON_MS + 1000 * number);

	for (size_t i = 0; i < reading->threads.count; i++) {
		const struct state_thread *t = &reading->threads.items[i];
		struct ctprof_thread *thread;

		if (t->has_ended)
			continue;
		thread = build_thread(s, t->tgid, t->tid, t->process->bytes, t->name->bytes,
				      t->cgroup ? t->cgroup->bytes : "");
		thread->start_time_clock_ticks = reading_of(t->id);
	}
	expect_ok(state_rows_join(reading, &watch, UINT64_MAX, s));
	add(recording, NOON_MS + 1000 * number, s);
}

/* Of those that live, by number. */
static void expect_same_window(const struct state_window *live, const struct state_window *replayed)
{
	struct word_map found = { 0 };
	size_t living = 0;

	assert_int_equal(replayed->ended_ns - replayed->begun_ns, live->ended_ns - live->begun_ns);
	assert_int_equal(replayed->measured, live->measured);
	for (size_t i = 0; i < replayed->deltas.count; i++) {
		const struct state_delta *d = &replayed->deltas.items[i];

		*word_map_at(&found, (struct words){ { d->thread->tid } }) = (uint32_t)i;
		assert_int_equal(times_sum(&d->times), d->window_ns);
	}
	for (size_t i = 0; i < live->deltas.count; i++) {
		const struct state_delta *a = &live->deltas.items[i], *b;
		uint32_t at = word_map_find(&found, (struct words){ { a->thread->tid } });

		if (a->thread->has_ended)
			continue;
		living++;
		assert_int_not_equal(at, WORD_MAP_NEW);
		b = &replayed->deltas.items[at];
		assert_memory_equal(&a->times, &b->times, sizeof(a->times));
		assert_int_equal(a->window_ns, b->window_ns);
		assert_int_equal(a->switches, b->switches);
		assert_int_equal(a->in_progress_ns, b->in_progress_ns);
		assert_int_equal(a->thread->state, b->thread->state);
		assert_int_equal(a->is_new, b->is_new);
		expect_text(name_text(b->thread->name), a->thread->name->bytes);
		expect_text(name_text(b->thread->process), a->thread->process->bytes);
		expect_text(name_text(b->thread->cgroup),
			    a->thread->cgroup ? a->thread->cgroup->bytes : "");
	}
	assert_int_equal(replayed->deltas.count, living);
	word_map_deinit(&found);
}

#define WINDOWS 12

TEST(a_recording_is_replayed)
{
	static struct state_world world;
	struct state_window windows[WINDOWS] = { 0 }, replayed = { 0 };
	struct state_scene scene, kept[WINDOWS];
	const struct engine_options all = { 0 };
	struct recording recording;
	struct replay *replay;
	struct scratch scratch;

	scratch_init(&scratch);
	state_scene_init(&scene);
	world = (struct state_world){ .seed = 42, .now_ns = 1000000 };
	expect_ok(recording_open(scratch.path, &recording));
	scene.before.measured = scene.now.measured = (1u << STATE_COUNT) - 1;
	world_read(&scene, &world);
	record_reading(&recording, &scene.now, 0);
	for (size_t i = 0; i < WINDOWS; i++) {
		world_pass(&scene, &world, 1 + next_random(&world.seed) % 1000000);
		world_read(&scene, &world);
		record_reading(&recording, &scene.now, i + 1);
		/* The scene goes on; a window needs the threads of its own later reading. */
		kept[i] = (struct state_scene){ 0 };
		kept[i].now = scene.now;
		kept[i].now.threads.items =
			calloc(scene.now.threads.count + 1, sizeof(*scene.now.threads.items));
		assert_non_null(kept[i].now.threads.items);
		memcpy(kept[i].now.threads.items, scene.now.threads.items,
		       scene.now.threads.count * sizeof(*scene.now.threads.items));
		expect_ok(state_window_make(&windows[i], &scene.before, &kept[i].now));
	}
	recording_close(&recording);

	expect_ok(replay_open(scratch.path, &all, &replay));
	assert_int_equal(replay_count(replay), WINDOWS);
	for (size_t i = 0; i < WINDOWS; i++) {
		assert_int_equal(replay_at(replay), i);
		expect_ok(replay_window(replay, &replayed));
		expect_same_window(&windows[i], &replayed);
		assert_string_equal(replay_facts(replay)->engine, "exact");
		assert_int_equal(replay_step(replay, 1), i + 1 < WINDOWS);
	}
	/* And back, which is no other way. */
	for (size_t i = WINDOWS; i-- > 0;) {
		expect_ok(replay_window(replay, &replayed));
		expect_same_window(&windows[i], &replayed);
		assert_int_equal(replay_step(replay, -1), i > 0);
	}
	replay_close(replay);
	for (size_t i = 0; i < WINDOWS; i++) {
		free(kept[i].now.threads.items);
		state_window_deinit(&windows[i]);
	}
	state_window_deinit(&replayed);
	state_scene_deinit(&scene);
	scratch_deinit(&scratch);
}

/* --- moving about --- */

/* Five captures, a second apart, of a thread that runs a millisecond in each. */
static void record_plain(struct scratch *scratch)
{
	struct recording recording;

	scratch_init(scratch);
	expect_ok(recording_open(scratch->path, &recording));
	for (uint64_t i = 0; i < 5; i++) {
		struct ctprof_snapshot *s = capture_at(NOON_MS + 1000 * i);

		build_number(build_thread(s, 7, 7, "p", "p", "/a"), METRIC_run_time_ns,
			     i * 1000000);
		build_number(build_thread(s, 7, 8, "p", "q", "/a/b"), METRIC_run_time_ns, 0);
		build_number(build_thread(s, 9, 9, "r", "r", "/ab"), METRIC_run_time_ns, 0);
		add(&recording, NOON_MS + 1000 * i, s);
	}
	recording_close(&recording);
}

static uint64_t run_time_of(const struct ctprof_thread *thread)
{
	assert_non_null(thread);
	return metric_load_u64(&thread->record.values, &metrics[METRIC_run_time_ns]);
}

/* Both captures of the window that is shown, whatever was looked at beside. */
TEST(values_of_a_thread_in_captures)
{
	const struct engine_options all = { 0 };
	struct state_window window = { 0 };
	const struct state_window *past;
	struct replay_thread thread;
	struct scratch scratch;
	struct replay *replay;

	record_plain(&scratch);
	expect_ok(replay_open(scratch.path, &all, &replay));
	/* Nothing was read yet. */
	expect_ok(replay_thread(replay, 7, &thread));
	assert_null(thread.before);
	assert_null(thread.now);
	for (size_t at = 0; at < 4; at++) {
		expect_ok(replay_window(replay, &window));
		expect_ok(replay_thread(replay, 7, &thread));
		assert_int_equal(run_time_of(thread.before), at * 1000000);
		assert_int_equal(run_time_of(thread.now), (at + 1) * 1000000);
		assert_int_equal(replay_capture(replay)->captured_at_unix_ns.value,
				 (NOON_MS + 1000 * (at + 1)) * 1000000);
		expect_ok(replay_thread(replay, 12345, &thread));
		assert_null(thread.before);
		assert_null(thread.now);
		/* Every other window, in an order of their own. */
		for (size_t k = 0; k < 4; k++) {
			const size_t other = (at + 3 * k) % 4;

			expect_ok(replay_window_at(replay, other, &past));
			assert_int_equal(past->at_unix_ns,
					 (NOON_MS + 1000 * (other + 1)) * 1000000);
			assert_int_equal(past->deltas.count, 3);
			assert_int_equal(state_times_of(&past->deltas.items[0].times, STATE_EXEC),
					 1000000);
		}
		/* The shown one is as it was. */
		assert_int_equal(replay_at(replay), at);
		assert_int_equal(window.at_unix_ns, (NOON_MS + 1000 * (at + 1)) * 1000000);
		assert_int_equal(window.deltas.items[0].thread->tid, 7);
		expect_ok(replay_thread(replay, 7, &thread));
		assert_int_equal(run_time_of(thread.now), (at + 1) * 1000000);
		replay_step(replay, 1);
	}
	replay_close(replay);
	state_window_deinit(&window);
	scratch_deinit(&scratch);
}

static size_t opened_at(const struct scratch *scratch, const char *moment)
{
	const struct engine_options all = { 0 };
	struct replay *replay;
	char path[128];
	size_t at;

	snprintf(path, sizeof(path), "%s%s", scratch->path, moment);
	expect_ok(replay_open(path, &all, &replay));
	at = replay_at(replay);
	replay_close(replay);
	return at;
}

TEST(the_window_that_ended_then)
{
	struct scratch scratch;

	setenv("TZ", "UTC", 1);
	record_plain(&scratch);
	assert_int_equal(opened_at(&scratch, ""), 0);
	assert_int_equal(opened_at(&scratch, "@first"), 0);
	assert_int_equal(opened_at(&scratch, "@12:30:01"), 0);
	assert_int_equal(opened_at(&scratch, "@12:30:02"), 1);
	assert_int_equal(opened_at(&scratch, "@12:30:02.5"), 1);
	assert_int_equal(opened_at(&scratch, "@-1s"), 2);
	assert_int_equal(opened_at(&scratch, "@last"), 3);
	scratch_deinit(&scratch);
}

TEST(steps_and_jumps)
{
	const struct engine_options all = { 0 };
	struct state_window window = { 0 };
	struct scratch scratch;
	struct replay *replay;

	setenv("TZ", "UTC", 1);
	record_plain(&scratch);
	expect_ok(replay_open(scratch.path, &all, &replay));
	assert_false(replay_step(replay, -1));
	assert_false(replay_step(replay, 4));
	assert_true(replay_step(replay, 3));
	assert_false(replay_step(replay, 1));
	assert_false(replay_step(replay, INT32_MAX));
	assert_false(replay_step(replay, INT32_MIN));
	assert_int_equal(replay_at(replay), 3);
	assert_true(replay_step(replay, -2));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 2000) * 1000000);
	assert_string_equal(replay_facts(replay)->engine, "captures");
	assert_true(replay_facts(replay)->load[0] < 0);
	expect_ok(replay_jump(replay, "12:30:04"));
	assert_int_equal(replay_at(replay), 3);
	expect_error(replay_jump(replay, "12:29"), "too early");
	expect_error(replay_jump(replay, "soon"), "invalid time 'soon'");
	assert_int_equal(replay_at(replay), 3);
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.deltas.count, 3);
	assert_int_equal(state_times_of(&window.deltas.items[0].times, STATE_EXEC), 1000000);
	assert_int_equal(window.deltas.items[0].window_ns, UINT64_C(1000000000));
	replay_close(replay);
	state_window_deinit(&window);
	scratch_deinit(&scratch);
}

static void expect_threads(const struct scratch *scratch, struct engine_options options,
			   size_t count)
{
	struct state_window window = { 0 };
	struct replay *replay;

	expect_ok(replay_open(scratch->path, &options, &replay));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.deltas.count, count);
	replay_close(replay);
	state_window_deinit(&window);
}

TEST(targets)
{
	const uint32_t process = 7, thread = 9;
	struct scratch scratch;

	record_plain(&scratch);
	expect_threads(&scratch, (struct engine_options){ .pids = &process, .pid_count = 1 }, 2);
	expect_threads(&scratch, (struct engine_options){ .tids = &thread, .tid_count = 1 }, 1);
	expect_threads(&scratch, (struct engine_options){ .cgroup = "/a" }, 2);
	scratch_deinit(&scratch);
}

/* Times of two watches are not subtracted from each other. */
TEST(a_window_between_two_watches_is_of_counters)
{
	const struct engine_options all = { 0 };
	const uint64_t begun[] = { 1, 1, 2 };
	struct state_window window = { 0 };
	struct recording recording;
	struct scratch scratch;
	struct replay *replay;

	scratch_init(&scratch);
	expect_ok(recording_open(scratch.path, &recording));
	for (size_t i = 0; i < array_length(begun); i++) {
		const struct state_watch watch = { "exact", begun[i] };
		struct state_thread thread = { .tid = 7, .tgid = 7, .seen_ns = 100 * (i + 1) };
		struct state_reading reading = { .at_ns = 100 * (i + 1),
						 .measured = 1u << STATE_EXEC };
		struct ctprof_snapshot *s = capture_at(NOON_MS + 1000 * i);

		build_number(build_thread(s, 7, 7, "p", "p", ""), METRIC_run_time_ns, 5 * i);
		thread.times.ns[STATE_EXEC] = thread.seen_ns;
		assert_true(array_push(&reading.threads, thread));
		expect_ok(state_rows_join(&reading, &watch, UINT64_MAX, s));
		state_reading_deinit(&reading);
		add(&recording, NOON_MS + 1000 * i, s);
	}
	recording_close(&recording);
	expect_ok(replay_open(scratch.path, &all, &replay));
	expect_ok(replay_window(replay, &window));
	assert_string_equal(replay_facts(replay)->engine, "exact");
	assert_int_equal(state_times_of(&window.deltas.items[0].times, STATE_EXEC), 100);
	assert_true(replay_step(replay, 1));
	expect_ok(replay_window(replay, &window));
	assert_string_equal(replay_facts(replay)->engine, "captures");
	assert_int_equal(state_times_of(&window.deltas.items[0].times, STATE_EXEC), 5);
	replay_close(replay);
	state_window_deinit(&window);
	scratch_deinit(&scratch);
}

/* What a full disk left, what was cut, what has gone: windows go from the one before to the one
 * after, forth, back and by a jump, and nothing that can be read is lost. */
TEST(captures_that_cannot_be_read_are_left_out)
{
	const struct engine_options all = { 0 };
	struct state_window window = { 0 };
	const struct state_window *past;
	char name[RECORDING_NAME_SIZE];
	struct scratch scratch;
	struct replay *replay;

	record_plain(&scratch);
	recording_name(name, NOON_MS + 2000);
	assert_int_equal(truncate(scratch_path(&scratch, name), 0), 0);
	expect_ok(replay_open(scratch.path, &all, &replay));
	assert_int_equal(replay_count(replay), 4);
	assert_true(replay_step(replay, 1));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 3000) * 1000000);
	assert_int_equal(window.ended_ns - window.begun_ns, 2 * NS_PER_S);
	assert_int_equal(replay_facts(replay)->left_out, 1);
	assert_non_null(strstr(replay_facts(replay)->problem, name));
	assert_int_equal(replay_count(replay), 3);
	/* The next one, and both once more from there. */
	assert_true(replay_step(replay, 1));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 4000) * 1000000);
	assert_false(replay_step(replay, 1));
	assert_true(replay_step(replay, -2));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 1000) * 1000000);
	expect_ok(replay_jump(replay, "12:30:02Z"));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 3000) * 1000000);
	/* The last one has gone, and is asked for; then one before, for the inspector. */
	replay_close(replay);
	expect_ok(replay_open(scratch.path, &all, &replay));
	recording_name(name, NOON_MS + 4000);
	assert_int_equal(unlinkat(scratch.dir, name, 0), 0);
	assert_true(replay_step(replay, 3));
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 3000) * 1000000);
	assert_int_equal(replay_at(replay), 1);
	assert_int_equal(replay_facts(replay)->left_out, 2);
	recording_name(name, NOON_MS);
	assert_int_equal(truncate(scratch_path(&scratch, name), 10), 0);
	expect_ok(replay_window_at(replay, 0, &past));
	assert_null(past);
	assert_int_equal(replay_at(replay), 0);
	expect_ok(replay_window(replay, &window));
	assert_int_equal(window.at_unix_ns, (NOON_MS + 3000) * 1000000);
	replay_close(replay);
	state_window_deinit(&window);
	scratch_deinit(&scratch);
}

static void remove_capture(const struct scratch *scratch, uint64_t at_ms)
{
	char name[RECORDING_NAME_SIZE];

	recording_name(name, at_ms);
	assert_int_equal(unlinkat(scratch->dir, name, 0), 0);
}

/* The end of one window is the beginning of the next: forth or back, a step reads one capture. What
 * has been read need not be there any more. */
TEST(a_step_reads_one_capture)
{
	const struct engine_options all = { 0 };
	struct state_window window = { 0 };
	const struct state_window *past;
	struct scratch scratch;
	struct replay *replay;

	for (int step = -1; step <= 1; step += 2) {
		record_plain(&scratch);
		expect_ok(replay_open(scratch.path, &all, &replay));
		assert_true(replay_step(replay, 2));
		expect_ok(replay_window(replay, &window));
		remove_capture(&scratch, NOON_MS + (step < 0 ? 2000 : 3000));
		assert_true(replay_step(replay, step));
		expect_ok(replay_window(replay, &window));
		assert_int_equal(window.at_unix_ns, (NOON_MS + (step < 0 ? 2000 : 4000)) * 1000000);
		assert_int_equal(replay_facts(replay)->left_out, 0);
		replay_close(replay);
		scratch_deinit(&scratch);
	}
	/* Nor when the inspector goes back. */
	record_plain(&scratch);
	expect_ok(replay_open(scratch.path, &all, &replay));
	assert_true(replay_step(replay, 3));
	expect_ok(replay_window(replay, &window));
	for (size_t at = 3; at-- > 0;) {
		remove_capture(&scratch, NOON_MS + 1000 * (at + 1));
		expect_ok(replay_window_at(replay, at, &past));
		assert_non_null(past);
		assert_int_equal(past->at_unix_ns, (NOON_MS + 1000 * (at + 1)) * 1000000);
	}
	replay_close(replay);
	state_window_deinit(&window);
	scratch_deinit(&scratch);
}

/* The clock was set back by 2.4 seconds between the third capture and the fourth. */
TEST(captures_follow_each_other_by_the_time_since_boot)
{
	static const uint64_t at_ms[] = { 0, 1000, 1900, 500, 1500, 2500 };
	/* In the same order for all who read it: what a text means, in ms. */
	static const struct {
		const char *text;
		uint64_t ms;
	} picked[] = { { "first", 0 },
		       { "last", 2500 },
		       { "-1s", 1500 }, /* 1900 was before the clock was set */
		       { "12:30:01.900Z", 1900 },
		       { "12:30:01.800Z", 1500 } };
	const struct engine_options all = { 0 };
	struct state_window window = { 0 };
	struct recording recording;
	struct scratch scratch;
	struct replay *replay;

	scratch_init(&scratch);
	expect_ok(recording_open(scratch.path, &recording));
	for (size_t i = 0; i < array_length(at_ms); i++) {
		struct ctprof_snapshot *s = capture_at(NOON_MS + at_ms[i]);

		build_number(build_thread(s, 7, 7, "p", "p", ""), METRIC_run_time_ns, 1000 * i);
		s->host = arena_alloc(&s->arena, sizeof(*s->host));
		assert_non_null(s->host);
		*s->host = (struct host_context){
			.boot_id = snapshot_name(s, TEXT("one-boot")),
			.uptime_clock_ticks = reading_of(100000 + 100 * i),
		};
		add(&recording, NOON_MS + at_ms[i], s);
	}
	recording_close(&recording);
	for (size_t i = 0; i < array_length(picked); i++) {
		_cleanup_free_ char *written = text_print("%s@%s", scratch.path, picked[i].text);
		_cleanup_free_ char *path = NULL;
		char name[RECORDING_NAME_SIZE];

		expect_ok(recording_find(written, &path));
		recording_name(name, NOON_MS + picked[i].ms);
		assert_string_equal(strrchr(path, '/') + 1, name);
	}
	expect_ok(replay_open(scratch.path, &all, &replay));
	assert_int_equal(replay_count(replay), array_length(at_ms) - 1);
	for (size_t i = 1; i < array_length(at_ms); i++) {
		expect_ok(replay_window(replay, &window));
		assert_int_equal(window.at_unix_ns, (NOON_MS + at_ms[i]) * 1000000);
		assert_int_equal(state_times_of(&window.deltas.items[0].times, STATE_EXEC), 1000);
		replay_step(replay, 1);
	}
	expect_ok(replay_jump(replay, "12:30:01.500Z"));
	assert_int_equal(replay_at(replay), 3);
	replay_close(replay);
	state_window_deinit(&window);
	scratch_deinit(&scratch);
}

TEST(invalid_recordings)
{
	const struct engine_options all = { 0 };
	struct recording recording;
	struct scratch scratch;
	struct replay *replay;
	char early[128];

	scratch_init(&scratch);
	expect_error(replay_open(scratch.path, &all, &replay), "no captures in ");
	expect_ok(recording_open(scratch.path, &recording));
	add(&recording, NOON_MS, capture_at(NOON_MS));
	expect_error(replay_open(scratch.path, &all, &replay),
		     "a replay needs at least two captures");
	expect_error(replay_open(scratch_path(&scratch, "absent"), &all, &replay),
		     "No such file or directory");
	add(&recording, NOON_MS + 1000, capture_at(NOON_MS + 1000));
	snprintf(early, sizeof(early), "%s@2025-01-01T00:00", scratch.path);
	expect_error(replay_open(early, &all, &replay), "too early");
	/* Somebody removes a file while we look. */
	expect_ok(replay_open(scratch.path, &all, &replay));
	recording_close(&recording);
	{
		struct state_window window = { 0 };
		char name[RECORDING_NAME_SIZE];

		recording_name(name, NOON_MS);
		assert_int_equal(unlinkat(scratch.dir, name, 0), 0);
		expect_error(replay_window(replay, &window), "No such file or directory");
	}
	replay_close(replay);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(values_of_a_thread_in_captures),
	   cmocka_unit_test(a_recording_is_replayed), cmocka_unit_test(the_window_that_ended_then),
	   cmocka_unit_test(steps_and_jumps), cmocka_unit_test(targets),
	   cmocka_unit_test(captures_that_cannot_be_read_are_left_out),
	   cmocka_unit_test(a_step_reads_one_capture),
	   cmocka_unit_test(captures_follow_each_other_by_the_time_since_boot),
	   cmocka_unit_test(a_window_between_two_watches_is_of_counters),
	   cmocka_unit_test(invalid_recordings))
