/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/replay_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/word_map.h"
#include "snapshot/file.h"
#include "snapshot/recording.h"
#include "top/counter_rows.h"
#include "top/state_rows.h"
#include "top/wanted.h"

/* A capture that was read, by its place in the recording. */
struct loaded {
	struct ctprof_snapshot *snapshot; /* NULL: none */
	uint32_t capture;
};

/* A window with the captures and readings that it is made from. */
struct replayed_window {
	struct loaded captures[2]; /* at its beginning, and its end */
	struct state_reading readings[2];
	struct state_window window;
	size_t at; /* which it is */
	bool is_there;
	/* Threads of the captures by id, filled at the first query. */
	struct word_map places[2];
	bool is_indexed;
};

struct replay {
	struct recording recording;
	/* Places of its captures in it, in the order in which they were made; those that cannot be
	 * read leave it. */
	struct {
		ARRAY(uint32_t);
	} order;
	size_t at; /* from capture `at` of that to the next */
	struct replayed_window shown, past;
	struct wanted wanted;
	const char *cgroup;
	struct arena arena; /* names of all windows: a host has few */
	struct names names;
	struct replay_facts facts;
	char engine[40]; /* outlives its snapshot */
	char problem[256];
};

static void replayed_window_deinit(struct replayed_window *replayed)
{
	for (size_t i = 0; i < array_length(replayed->captures); i++) {
		snapshot_destroy(replayed->captures[i].snapshot);
		state_reading_deinit(&replayed->readings[i]);
		word_map_deinit(&replayed->places[i]);
	}
	state_window_deinit(&replayed->window);
}

void replay_close(struct replay *replay)
{
	if (!replay)
		return;
	replayed_window_deinit(&replay->shown);
	replayed_window_deinit(&replay->past);
	recording_close(&replay->recording);
	array_deinit(&replay->order);
	wanted_deinit(&replay->wanted);
	names_deinit(&replay->names);
	arena_deinit(&replay->arena);
	free(replay);
}

/* The window that ends with this capture; the first capture ends none, and begins one. */
static struct error *go_to(struct replay *replay, const char *timestamp)
{
	size_t capture, at = 0;
	struct error *err = recording_pick(&replay->recording, timestamp, &capture);

	if (err)
		return err;
	/* If the capture has left the order, take the next one that has not. */
	while (at + 1 < replay->order.count && replay->order.items[at] < capture)
		at++;
	replay->at = at ? at - 1 : 0;
	return NULL;
}

/* --- opening it --- */

static struct error *put_in_order(struct replay *replay)
{
	const size_t count = replay->recording.captures.count;

	if (count > UINT32_MAX || !array_reserve(&replay->order, count))
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		replay->order.items[replay->order.count++] = (uint32_t)i;
	return recording_put_in_order(&replay->recording);
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static struct error *check_count(const struct replay *replay, const char *written)
{
	const size_t count = replay->recording.captures.count;

	return count < 2 ? error_create("a replay needs at least two captures; %s has %zu", written,
					count)
			 : NULL;
}

static struct error *open_recording(struct replay *replay, const char *written)
{
	const char *timestamp;
	_cleanup_free_ char *dir = recording_split(written, &timestamp);
	struct error *err;

	if (!timestamp && is_file(written))
		return error_create("cannot replay %s: a recording is a directory of captures",
				    written);
	/* Opening it gives the error. */
	err = recording_open(dir ? dir : written, &replay->recording);
	if (!err && !replay->recording.captures.count)
		err = error_create("no captures in %s (named e.g. 20261120T123005.000Z.ctprof.zst)",
				   written);
	if (!err)
		err = check_count(replay, written);
	if (!err)
		err = put_in_order(replay);
	if (err || !timestamp)
		return err;
	err = go_to(replay, timestamp);
	return err ? error_prefix(err, "%s", written) : NULL;
}

static struct error *create(const struct engine_options *options, struct replay **ret)
{
	_cleanup_(replay_close) struct replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return &error_no_memory;
	replay->recording.dir = -1;
	arena_init(&replay->arena, SIZE_MAX / 2);
	names_init(&replay->names, &replay->arena);
	replay->cgroup = options->cgroup;
	if (!wanted_init(&replay->wanted, options))
		return &error_no_memory;
	*ret = take_ptr(replay);
	return NULL;
}

struct error *replay_open(const char *recording, const struct engine_options *options,
			  struct replay **ret)
{
	_cleanup_(replay_close) struct replay *replay = NULL;
	struct error *err = create(options, &replay);

	if (!err)
		err = open_recording(replay, recording);
	if (!err)
		*ret = take_ptr(replay);
	return err;
}

struct error *replay_open_recording(struct recording recording,
				    const struct engine_options *options, struct replay **ret)
{
	_cleanup_(replay_close) struct replay *replay = NULL;
	struct error *err = create(options, &replay);

	if (err) {
		recording_close(&recording);
		return err;
	}
	replay->recording = recording;
	err = check_count(replay, recording.path);
	if (!err)
		err = put_in_order(replay);
	if (!err)
		*ret = take_ptr(replay);
	return err;
}

/* --- where it is --- */

size_t replay_count(const struct replay *replay)
{
	return replay->order.count - 1;
}

size_t replay_at(const struct replay *replay)
{
	return replay->at;
}

bool replay_has_hosts(const struct replay *replay)
{
	return replay->recording.hosts.count > 1;
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

static bool is_loaded(const struct loaded *loaded, uint32_t capture)
{
	return loaded->snapshot && loaded->capture == capture;
}

/* The captures of the shown window are read already. */
static const struct ctprof_snapshot *find_shown(const struct replay *replay, uint32_t capture)
{
	for (size_t i = 0; i < array_length(replay->shown.captures); i++)
		if (is_loaded(&replay->shown.captures[i], capture))
			return replay->shown.captures[i].snapshot;
	return NULL;
}

/* The capture at one end of the window. */
static struct error *load_capture(struct replay *replay, struct replayed_window *replayed,
				  size_t end, uint32_t capture, const struct ctprof_snapshot **ret)
{
	struct loaded *loaded = &replayed->captures[end];
	struct error *err;

	*ret = replayed == &replay->shown ? NULL : find_shown(replay, capture);
	if (*ret)
		return NULL;
	if (!is_loaded(loaded, capture)) {
		snapshot_destroy(loaded->snapshot);
		*loaded = (struct loaded){ .capture = capture };
		err = recording_load(&replay->recording, capture, &loaded->snapshot);
		if (err)
			return err;
	}
	*ret = loaded->snapshot;
	return NULL;
}

/* The recording goes on without it: a capture of a disk that was full, or one that was removed. */
static void leave_out(struct replay *replay, size_t number, struct error *err)
{
	const size_t length = strlen(replay->recording.path);

	memmove(replay->order.items + number, replay->order.items + number + 1,
		(replay->order.count - number - 1) * sizeof(*replay->order.items));
	replay->order.count--;
	replay->facts.left_out++;
	/* The name says which, where the path is known. */
	snprintf(replay->problem, sizeof(replay->problem), "%s",
		 !strncmp(err->message, replay->recording.path, length) &&
				 err->message[length] == '/'
			 ? err->message + length + 1
			 : err->message);
	text_make_safe(replay->problem);
	replay->facts.problem = replay->problem;
	replay->past.is_there = false;
	error_destroy(err);
}

/* --- windows --- */

static bool is_one_watch(const struct ctprof_snapshot *before, const struct ctprof_snapshot *now)
{
	struct state_watch a, b;

	return state_rows_watch(before, &a) && state_rows_watch(now, &b) &&
	       a.begun_ns == b.begun_ns && !counter_rows_other_boot(before, now);
}

static struct error *read_states(struct replay *replay, struct replayed_window *replayed,
				 const struct ctprof_snapshot *before,
				 const struct ctprof_snapshot *now)
{
	struct error *err = state_rows_read(before, &replay->names, &replayed->readings[0]);

	return err ? err : state_rows_read(now, &replay->names, &replayed->readings[1]);
}

static void set_engine(struct replay *replay, const struct ctprof_snapshot *before,
		       const struct ctprof_snapshot *now)
{
	struct state_watch watch;

	replay->facts.engine = "captures";
	replay->facts.note =
		counter_rows_other_boot(before, now) ? "the host was rebooted in between" : NULL;
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

static void read_host_facts(struct replay_facts *facts, const struct ctprof_snapshot *s)
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

/* Windows that follow each other have one capture in common: the end of one is the beginning of
 * the next. */
static void keep_common(const struct replay *replay, struct replayed_window *replayed, size_t at)
{
	struct loaded *captures = replayed->captures, first = captures[0];

	if (!is_loaded(&captures[1], replay->order.items[at]) &&
	    !is_loaded(&captures[0], replay->order.items[at + 1]))
		return;
	captures[0] = captures[1];
	captures[1] = first;
}

/* Both captures of the window `at`, as it is when those that cannot be read are left out. */
static struct error *load_both(struct replay *replay, struct replayed_window *replayed, size_t *at,
			       const struct ctprof_snapshot *ret[2])
{
	keep_common(replay, replayed, *at);
	for (size_t end = 0; end < 2;) {
		struct error *err = load_capture(replay, replayed, end,
						 replay->order.items[*at + end], &ret[end]);

		if (!err) {
			end++;
			continue;
		}
		if (err == &error_no_memory || replay->order.count <= 2)
			return err;
		leave_out(replay, *at + end, err);
		end = 0;
		if (*at + 1 >= replay->order.count)
			*at = replay->order.count - 2;
		keep_common(replay, replayed, *at);
	}
	return NULL;
}

/* Totals of a silent host are in both captures, so that they go on when it is back. In this window
 * its threads have no part. */
static void drop_silent_hosts(const struct ctprof_snapshot *now, struct state_reading *reading)
{
	size_t kept = 0;

	if (now->hosts.observed == now->hosts.count)
		return;
	for (size_t i = 0; i < reading->threads.count; i++)
		if (now->hosts.is_observed[reading->threads.items[i].host])
			reading->threads.items[kept++] = reading->threads.items[i];
	reading->threads.count = kept;
}

static struct error *make_window(struct replay *replay, struct replayed_window *replayed,
				 size_t *at, const struct ctprof_snapshot **ret_before,
				 const struct ctprof_snapshot **ret_now)
{
	const struct ctprof_snapshot *both[2] = { NULL }, *before, *now;
	struct error *err;

	replayed->is_there = replayed->is_indexed = false;
	err = load_both(replay, replayed, at, both);
	before = both[0];
	now = both[1];
	if (!err)
		err = is_one_watch(before, now)
			      ? read_states(replay, replayed, before, now)
			      : counter_rows_read(before, now, &replay->names,
						  &replayed->readings[0], &replayed->readings[1]);
	if (err)
		return err;
	drop_silent_hosts(now, &replayed->readings[1]);
	for (size_t i = 0; i < array_length(replayed->readings); i++)
		wanted_keep(&replay->wanted, replay->cgroup, &replayed->readings[i]);
	*ret_before = before;
	*ret_now = now;
	return NULL;
}

/* Make a window of the difference of the captures at its ends; `now` is the one at its end. */
static struct error *subtract(const struct replay *replay, const struct replayed_window *replayed,
			      const struct ctprof_snapshot *now, struct state_window *ret)
{
	const struct recording_hosts *hosts = &replay->recording.hosts;

	ret->hosts = (struct state_hosts){ hosts->names, hosts->count, now->hosts.observed };
	return state_window_make(ret, &replayed->readings[0], &replayed->readings[1]);
}

struct error *replay_window(struct replay *replay, struct state_window *ret)
{
	const struct ctprof_snapshot *before, *now;
	struct replayed_window *replayed = &replay->shown;
	struct error *err = make_window(replay, replayed, &replay->at, &before, &now);

	if (err)
		return err;
	read_host_facts(&replay->facts, now);
	set_engine(replay, before, now);
	replayed->at = replay->at;
	replayed->is_there = true;
	return subtract(replay, replayed, now, ret);
}

struct error *replay_window_at(struct replay *replay, size_t number,
			       const struct state_window **ret)
{
	const struct ctprof_snapshot *before, *now;
	struct replayed_window *replayed = &replay->past;
	const size_t count = replay->order.count;
	struct error *err = NULL;

	*ret = NULL;
	if (!replayed->is_there || replayed->at != number) {
		size_t made = number;

		err = make_window(replay, replayed, &made, &before, &now);
		/* The numbers of later windows have changed. */
		if (replay->order.count < count) {
			replay->at -= count - replay->order.count;
			replay->shown.at = replay->at;
			return err;
		}
		if (!err)
			err = subtract(replay, replayed, now, &replayed->window);
	}
	if (err)
		return err;
	replayed->at = number;
	replayed->is_there = true;
	*ret = &replayed->window;
	return NULL;
}

/* --- what captures have beside --- */

static struct error *index_window_threads(struct replayed_window *replayed)
{
	for (size_t i = 0; i < array_length(replayed->places) && !replayed->is_indexed; i++) {
		const struct ctprof_snapshot *s = replayed->captures[i].snapshot;

		word_map_deinit(&replayed->places[i]);
		replayed->places[i] = (struct word_map){ 0 };
		if (!word_map_reserve(&replayed->places[i], s->threads.count))
			return &error_no_memory;
		for (size_t k = 0; k < s->threads.count; k++) {
			uint32_t *place = word_map_at(
				&replayed->places[i],
				(struct words){ { state_rows_id(snapshot_thread(s, k)) } });

			if (!place)
				return &error_no_memory;
			*place = (uint32_t)k;
		}
	}
	replayed->is_indexed = true;
	return NULL;
}

static const struct ctprof_thread *find_thread_at(const struct replayed_window *replayed,
						  size_t end, uint64_t id)
{
	const uint32_t place = word_map_find(&replayed->places[end], (struct words){ { id } });

	return place == WORD_MAP_NEW ? NULL
				     : snapshot_thread(replayed->captures[end].snapshot, place);
}

struct error *replay_thread(struct replay *replay, uint64_t id, struct replay_thread *ret)
{
	struct replayed_window *replayed = &replay->shown;
	struct error *err = replayed->is_there ? index_window_threads(replayed) : NULL;

	*ret = (struct replay_thread){ NULL, NULL };
	if (err || !replayed->is_there)
		return err;
	*ret = (struct replay_thread){ find_thread_at(replayed, 0, id),
				       find_thread_at(replayed, 1, id) };
	return NULL;
}

const struct ctprof_snapshot *replay_capture(const struct replay *replay)
{
	return replay->shown.captures[1].snapshot;
}

const struct replay_facts *replay_facts(const struct replay *replay)
{
	return &replay->facts;
}
