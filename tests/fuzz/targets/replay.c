/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording that somebody else made: the first part of the input is a time to jump to, each other
 * part the text of a capture, a second after the one before. All windows are read, forth and back,
 * and printed.
 */
#include "top/replay_engine.h"

#include <string.h>
#include <zstd.h>

#include "files_fuzz.h"
#include "report/states_report.h"
#include "snapshot/recording.h"

/* 2026-11-20 12:30:00 UTC. */
#define NOON_MS      UINT64_C(1795177800000)
#define CAPTURES_MAX 8

static void put_capture(size_t number, struct text json)
{
	size_t room = ZSTD_compressBound(json.length), length;
	char name[RECORDING_NAME_SIZE], *packed = malloc(room);

	must(packed);
	length = ZSTD_compress(packed, room, json.bytes, json.length, 1);
	must(!ZSTD_isError(length));
	recording_name(name, NOON_MS + 1000 * number);
	must(fuzz_put_file(name, (struct text){ packed, length }));
	free(packed);
}

static void check_window(const struct state_window *window)
{
	for (size_t i = 0; i < window->deltas.count; i++) {
		const struct state_delta *delta = &window->deltas.items[i];

		must(delta->thread && delta->thread->name && delta->thread->process);
		must(delta->thread->state <= STATE_COUNT);
	}
}

static void print_window(const struct state_window *window, const char *engine, size_t number)
{
	FILE *out = fopen("/dev/null", "we");
	struct state_list list;

	must(out);
	state_list_init(&list);
	for (enum state_grouping grouping = 0; grouping < STATE_GROUPINGS; grouping++) {
		const struct state_view view = { .grouping = grouping,
						 .sort.key = (number + grouping) % STATE_SORT_COUNT,
						 .is_tree = number % 2 };
		struct states_report report = { .window = window,
						.list = &list,
						.engine = engine,
						.number = number,
						.grouping = grouping };

		must(!state_list_make(&list, window, &view));
		must(list.total.threads + list.total.ended == window->deltas.count);
		for (; report.format < STATES_FORMAT_COUNT; report.format++)
			must(!states_report_print(&report, out));
	}
	state_list_deinit(&list);
	fclose(out);
}

/* Whatever was read before, it is the same. */
static void check_past(struct replay *replay, size_t number, const struct state_window *window)
{
	const struct state_window *past;

	must(!replay_window_at(replay, number, &past));
	must(past->deltas.count == window->deltas.count);
	must(past->begun_ns == window->begun_ns && past->ended_ns == window->ended_ns);
}

static void check_threads(struct replay *replay, const struct state_window *window)
{
	struct replay_thread found;

	must(replay_capture(replay));
	for (size_t i = 0; i < window->deltas.count; i++) {
		must(!replay_thread(replay, window->deltas.items[i].thread->id, &found));
		must(found.now);
	}
}

static void read_window(struct replay *replay, struct state_window *window)
{
	const size_t number = replay_at(replay);
	struct error *err = replay_window(replay, window);

	if (err) {
		fuzz_check_error(err);
		return;
	}
	check_window(window);
	check_threads(replay, window);
	must(replay_facts(replay)->engine);
	print_window(window, replay_facts(replay)->engine, number);
	check_past(replay, number, window);
}

/* One at a distance, of which some captures are those that are shown, and some are not. */
static void read_past(struct replay *replay, size_t number)
{
	const struct state_window *past;
	struct error *err = replay_window_at(replay, number, &past);

	if (err)
		fuzz_check_error(err);
	else
		check_window(past);
}

static void read_all(struct replay *replay, const char *moment)
{
	struct state_window window = { 0 };
	struct error *err;

	do {
		read_window(replay, &window);
		read_past(replay, (replay_at(replay) * 3 + 1) % replay_count(replay));
	} while (replay_step(replay, 1));
	must(replay_at(replay) == replay_count(replay) - 1);
	while (replay_step(replay, -2))
		read_window(replay, &window);
	err = replay_jump(replay, moment);
	if (err)
		fuzz_check_error(err);
	must(replay_at(replay) < replay_count(replay));
	read_window(replay, &window);
	state_window_deinit(&window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct engine_options all;
	struct text bytes = fuzz_copy(data, size), rest = bytes, part = { 0 };
	_cleanup_free_ char *moment = NULL;
	struct replay *replay;
	struct error *err;
	size_t count = 0;

	fuzz_clear_dir();
	fuzz_cut_part(&rest, &part);
	moment = strndup(part.length ? part.bytes : "", part.length);
	while (count < CAPTURES_MAX && fuzz_cut_part(&rest, &part))
		put_capture(count++, part);
	err = replay_open(fuzz_dir(), &all, &replay);
	must(!err == (count >= 2));
	if (err) {
		fuzz_check_error(err);
	} else {
		read_all(replay, moment);
		replay_close(replay);
	}
	fuzz_release(bytes);
	return 0;
}
