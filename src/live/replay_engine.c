/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/replay_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/word_map.h"
#include "live/counter_rows.h"
#include "live/state_rows.h"
#include "live/wanted.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"

/* A capture that was read, by its place in the recording. */
struct loaded {
	struct ctprof_snapshot *snapshot; /* NULL: none */
	size_t number;
};

/* A window, and what it is made of. */
struct sight {
	struct loaded captures[2]; /* even ones and odd ones */
	struct state_reading readings[2];
	struct state_window window;
	size_t at; /* which it is */
	bool is_there;
	/* Threads of the captures by id, once somebody asked; even and odd ones. */
	struct word_map places[2];
	bool is_indexed;
};

struct replay {
	struct recording recording;
	size_t at; /* from capture `at` to the next */
	struct sight shown, past;
	struct wanted wanted;
	const char *cgroup;
	struct arena arena; /* names of all windows: a host has few */
	struct names names;
	struct replay_facts facts;
	char engine[40]; /* outlives its snapshot */
};

static void sight_deinit(struct sight *sight)
{
	for (size_t i = 0; i < array_length(sight->captures); i++) {
		snapshot_destroy(sight->captures[i].snapshot);
		state_reading_deinit(&sight->readings[i]);
		word_map_deinit(&sight->places[i]);
	}
	state_window_deinit(&sight->window);
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	sight_deinit(&replay->shown);
	sight_deinit(&replay->past);
	recording_close(&replay->recording);
	wanted_deinit(&replay->wanted);
	names_deinit(&replay->names);
	arena_deinit(&replay->arena);
	free(replay);
}

/* The window that ends with this capture; the first capture ends none, and begins one. */
static struct error *go_to(struct replay *replay, const char *moment)
{
	size_t capture;
	struct error *err = recording_pick(&replay->recording, moment, &capture);

	if (!err)
		replay->at = capture ? capture - 1 : 0;
	return err;
}

static struct error *open_recording(struct replay *replay, const char *written)
{
	const char *moment;
	_cleanup_free_ char *dir = recording_split(written, &moment);
	struct error *err;

	/* It says what is wrong with it. */
	err = recording_open(dir ? dir : written, &replay->recording);
	if (!err && replay->recording.captures.count < 2)
		err = error_create("%s holds %zu capture%s: a window is between two", written,
				   replay->recording.captures.count,
				   replay->recording.captures.count == 1 ? "" : "s");
	if (err || !moment)
		return err;
	err = go_to(replay, moment);
	return err ? error_prefix(err, "%s", written) : NULL;
}

struct error *replay_open(const char *recording, const struct engine_options *options,
			  struct replay **ret)
{
	_cleanup_(replay_close) struct replay *replay = calloc(1, sizeof(*replay));
	struct error *err;

	if (!replay)
		return &error_no_memory;
	replay->recording.dir = -1;
	arena_init(&replay->arena, SIZE_MAX / 2);
	names_init(&replay->names, &replay->arena);
	replay->cgroup = options->cgroup;
	err = wanted_init(&replay->wanted, options) ? open_recording(replay, recording)
						    : &error_no_memory;
	if (err)
		return err;
	*ret = take_ptr(replay);
	return NULL;
}

/* --- where it is --- */

size_t replay_count(const struct replay *replay)
{
	return replay->recording.captures.count - 1;
}

size_t replay_at(const struct replay *replay)
{
	return replay->at;
}

bool replay_step(struct replay *replay, int by)
{
	const size_t steps = (size_t)labs((long)by);

	if (by < 0 ? steps > replay->at : steps >= replay_count(replay) - replay->at)
		return false;
	replay->at = by < 0 ? replay->at - steps : replay->at + steps;
	return true;
}

struct error *replay_jump(struct replay *replay, const char *to)
{
	return go_to(replay, to);
}

/* --- captures --- */

static struct error *load_file(struct replay *replay, size_t number, struct ctprof_snapshot **ret)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	char name[RECORDING_NAME_SIZE];
	struct error *err;

	recording_name(name, replay->recording.captures.items[number].at_ms);
	if (asprintf(&path, "%s/%s", replay->recording.path, name) < 0)
		return &error_no_memory;
	err = file_open_input_at(replay->recording.dir, name, path, &fd);
	return err ? err : snapshot_load_fd(fd, path, ret);
}

static bool has_loaded(const struct sight *sight, size_t number)
{
	const struct loaded *loaded = &sight->captures[number % 2];

	return loaded->snapshot && loaded->number == number;
}

/* Of the window that is shown, captures are read already. */
static struct error *load(struct replay *replay, struct sight *sight, size_t number,
			  const struct ctprof_snapshot **ret)
{
	struct loaded *loaded = &sight->captures[number % 2];
	struct error *err;

	if (has_loaded(&replay->shown, number)) {
		*ret = replay->shown.captures[number % 2].snapshot;
		return NULL;
	}
	if (!has_loaded(sight, number)) {
		snapshot_destroy(loaded->snapshot);
		loaded->snapshot = NULL;
		loaded->number = number;
		err = load_file(replay, number, &loaded->snapshot);
		if (err)
			return err;
	}
	*ret = loaded->snapshot;
	return NULL;
}

/* --- windows --- */

static bool is_one_watch(const struct ctprof_snapshot *before, const struct ctprof_snapshot *now)
{
	struct state_watch a, b;

	return state_rows_watch(before, &a) && state_rows_watch(now, &b) &&
	       a.begun_ns == b.begun_ns && !counter_rows_other_boot(before, now);
}

static struct error *read_states(struct replay *replay, struct sight *sight,
				 const struct ctprof_snapshot *before,
				 const struct ctprof_snapshot *now)
{
	struct error *err = state_rows_read(before, &replay->names, &sight->readings[0]);

	return err ? err : state_rows_read(now, &replay->names, &sight->readings[1]);
}

static void tell_engine(struct replay *replay, const struct ctprof_snapshot *before,
			const struct ctprof_snapshot *now)
{
	struct state_watch watch;

	replay->facts.engine = "captures";
	replay->facts.note =
		counter_rows_other_boot(before, now) ? "the host was booted in between" : NULL;
	if (!is_one_watch(before, now) || !state_rows_watch(now, &watch))
		return;
	snprintf(replay->engine, sizeof(replay->engine), "%s", watch.engine);
	replay->facts.engine = replay->engine;
	replay->facts.note = NULL;
}

static double known(const struct reading *reading, double scale)
{
	return reading->measured ? (double)reading->value / scale : -1;
}

static void read_host(struct replay_facts *facts, const struct ctprof_snapshot *s)
{
	static const char *const loads[] = { "load1_x100", "load5_x100", "load15_x100" };
	const struct psi_resource *const psi[] = { &s->psi.cpu, &s->psi.memory, &s->psi.io };

	facts->cpus = s->host ? (unsigned)s->host->online_cpus.value : 0;
	for (size_t i = 0; i < array_length(loads); i++) {
		facts->load[i] = -1;
		facts->psi[i] = known(&psi[i]->some.avg10, 100);
	}
	for (size_t i = 0; i < s->counters.count; i++) {
		const struct counter_set *set = &s->counters.items[i];

		for (size_t k = 0; k < array_length(loads) && set->kind == COUNTERS_KERNEL; k++) {
			const struct count *load = counts_find(&set->counts, text_of(loads[k]));

			if (load)
				facts->load[k] = (double)load->value / 100;
		}
	}
}

static struct error *make(struct replay *replay, struct sight *sight, size_t at,
			  const struct ctprof_snapshot **ret_before,
			  const struct ctprof_snapshot **ret_now)
{
	const struct ctprof_snapshot *before, *now;
	struct error *err = load(replay, sight, at, &before);

	sight->is_there = sight->is_indexed = false;
	if (!err)
		err = load(replay, sight, at + 1, &now);
	if (!err)
		err = is_one_watch(before, now)
			      ? read_states(replay, sight, before, now)
			      : counter_rows_read(before, now, &replay->names, &sight->readings[0],
						  &sight->readings[1]);
	if (err)
		return err;
	for (size_t i = 0; i < array_length(sight->readings); i++)
		wanted_keep(&replay->wanted, replay->cgroup, &sight->readings[i]);
	*ret_before = before;
	*ret_now = now;
	return NULL;
}

struct error *replay_window(struct replay *replay, struct state_window *ret)
{
	const struct ctprof_snapshot *before, *now;
	struct sight *sight = &replay->shown;
	struct error *err = make(replay, sight, replay->at, &before, &now);

	if (err)
		return err;
	read_host(&replay->facts, now);
	tell_engine(replay, before, now);
	sight->at = replay->at;
	sight->is_there = true;
	return state_window_make(ret, &sight->readings[0], &sight->readings[1]);
}

struct error *replay_window_at(struct replay *replay, size_t number,
			       const struct state_window **ret)
{
	const struct ctprof_snapshot *before, *now;
	struct sight *sight = &replay->past;
	struct error *err = NULL;

	if (!sight->is_there || sight->at != number) {
		err = make(replay, sight, number, &before, &now);
		if (!err)
			err = state_window_make(&sight->window, &sight->readings[0],
						&sight->readings[1]);
	}
	if (err)
		return err;
	sight->at = number;
	sight->is_there = true;
	*ret = &sight->window;
	return NULL;
}

/* --- what captures have beside --- */

static struct error *index_threads(struct sight *sight)
{
	for (size_t i = 0; i < array_length(sight->places) && !sight->is_indexed; i++) {
		const struct ctprof_snapshot *s = sight->captures[i].snapshot;

		word_map_deinit(&sight->places[i]);
		sight->places[i] = (struct word_map){ 0 };
		if (!word_map_reserve(&sight->places[i], s->threads.count))
			return &error_no_memory;
		for (size_t k = 0; k < s->threads.count; k++) {
			uint32_t *place = word_map_at(
				&sight->places[i],
				(struct words){ { state_rows_id(snapshot_thread(s, k)) } });

			if (!place)
				return &error_no_memory;
			*place = (uint32_t)k;
		}
	}
	sight->is_indexed = true;
	return NULL;
}

static const struct ctprof_thread *find(const struct sight *sight, size_t number, uint64_t id)
{
	const uint32_t place = word_map_find(&sight->places[number % 2], (struct words){ { id } });

	return place == WORD_MAP_NEW ? NULL
				     : snapshot_thread(sight->captures[number % 2].snapshot, place);
}

struct error *replay_thread(struct replay *replay, uint64_t id, struct replay_thread *ret)
{
	struct sight *sight = &replay->shown;
	struct error *err = sight->is_there ? index_threads(sight) : NULL;

	*ret = (struct replay_thread){ NULL, NULL };
	if (err || !sight->is_there)
		return err;
	*ret = (struct replay_thread){ find(sight, sight->at, id), find(sight, sight->at + 1, id) };
	return NULL;
}

const struct ctprof_snapshot *replay_capture(const struct replay *replay)
{
	return replay->shown.captures[(replay->shown.at + 1) % 2].snapshot;
}

const struct replay_facts *replay_facts(const struct replay *replay)
{
	return &replay->facts;
}
