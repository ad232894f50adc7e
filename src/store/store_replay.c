/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store_replay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "store/hosts.h"
#include "store/no_rows.h"
#include "store/replay_grid.h"
#include "store/replay_sums.h"
#include "store/spans.h"
#include "store/thread_rows.h"

#define NS_PER_MS      UINT64_C(1000000)
#define INTERVALS_MOST UINT64_C(1000000)

/* When the first window begins, by the clock of readings: no thread has times for longer. */
#define CLOCK_BEGUN_NS (UINT64_C(1) << 62)

struct store_replay {
	struct store_url url;
	struct store *store;
	pthread_mutex_t lock;    /* windows are read by other threads */
	struct replay_grid grid; /* capture i + 1 is at the end of window i */
	struct replay_hosts hosts;
	uint32_t cpus[REPLAY_HOSTS_MOST]; /* of each host; 0: not known */
	struct replay_sums sums;          /* of the capture that was read last */
};

static void replay_free(struct store_replay *replay)
{
	if (!replay)
		return;
	store_close(replay->store);
	replay_sums_deinit(&replay->sums);
	store_url_deinit(&replay->url);
	replay_grid_deinit(&replay->grid);
	replay_hosts_deinit(&replay->hosts);
	pthread_mutex_destroy(&replay->lock);
	free(replay);
}
DEFINE_CLEANUP(replay_free, struct store_replay *)

/* --- captures --- */

static uint64_t clock_at(const struct store_replay *replay, size_t capture)
{
	return CLOCK_BEGUN_NS + (capture ? replay->grid.windows.items[capture - 1].length_ns : 0);
}

/* The CPUs of the hosts that have an interval in the window; 0: those of one are not known. */
static uint32_t count_cpus(const struct store_replay *replay, const struct replay_window *window)
{
	uint32_t cpus = 0;

	for (size_t i = 0; i < replay->hosts.items.count; i++) {
		if (!replay_window_has(window, i))
			continue;
		if (!replay->cpus[i] || __builtin_add_overflow(cpus, replay->cpus[i], &cpus))
			return 0;
	}
	return cpus;
}

/* Which hosts have an interval in the window that ends with the capture. */
static struct error *describe_hosts(const struct store_replay *replay,
				    const struct replay_window *window,
				    struct ctprof_snapshot *snapshot)
{
	const size_t count = replay->hosts.items.count;
	bool *is_observed = arena_alloc(&snapshot->arena, count * sizeof(*is_observed));
	const uint32_t cpus = count_cpus(replay, window);

	if (!is_observed)
		return &error_no_memory;
	snapshot->hosts.count = count;
	snapshot->hosts.is_observed = is_observed;
	for (size_t i = 0; i < count; i++) {
		is_observed[i] = replay_window_has(window, i);
		snapshot->hosts.observed += is_observed[i];
	}
	if (cpus)
		snapshot->host->online_cpus = reading_of(cpus);
	return NULL;
}

static struct error *describe(const struct store_replay *replay, size_t capture, uint64_t at_ns,
			      struct ctprof_snapshot *snapshot)
{
	struct capture_info *info = arena_alloc(&snapshot->arena, sizeof(*info));
	struct host_context *host = arena_alloc(&snapshot->arena, sizeof(*host));
	struct error *err;

	if (!info || !host)
		return &error_no_memory;
	snapshot->capture = info;
	snapshot->host = host;
	snapshot->captured_at_unix_ns = reading_of(at_ns);
	info->states_begun_ns = reading_of(CLOCK_BEGUN_NS);
	info->states_at_ns = reading_of(clock_at(replay, capture));
	info->states_at_unix_ns = reading_of(at_ns);
	err = thread_row_name(snapshot, TEXT("agent"), &info->states_engine);
	return err ? err
		   : describe_hosts(replay, &replay->grid.windows.items[capture ? capture - 1 : 0],
				    snapshot);
}

static struct error *load(void *context, const struct captures *captures, size_t capture,
			  struct ctprof_snapshot **ret)
{
	struct store_replay *replay = context;
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	struct error *err = snapshot_create(&snapshot);

	if (!err)
		err = describe(replay, capture, captures->items[capture].at_ms * NS_PER_MS,
			       snapshot);
	if (!err && capture) {
		pthread_mutex_lock(&replay->lock);
		err = replay_sums_move(&replay->sums, replay->store,
				       &replay->grid.windows.items[capture - 1]);
		if (!err)
			err = replay_sums_copy(&replay->sums, snapshot);
		pthread_mutex_unlock(&replay->lock);
	}
	if (err)
		return err;
	*ret = take_ptr(snapshot);
	return NULL;
}

static void close_source(void *context)
{
	replay_free(context);
}

/* --- intervals --- */

static struct error *too_many(size_t hosts)
{
	return error_create("a replay covers at most %d hosts, and this query selects %zu: choose "
			    "fewer, e.g. by host=NAME",
			    REPLAY_HOSTS_MOST, hosts);
}

/* Rows are by host. */
static struct error *find_host(struct replay_hosts *hosts, struct text text, uint32_t *ret)
{
	const struct name *name = names_intern(&hosts->names, text.bytes, text.length);
	uint32_t *number =
		name ? word_map_at(&hosts->numbers, (struct words){ { (uintptr_t)name } }) : NULL;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (hosts->items.count == REPLAY_HOSTS_MOST)
			return too_many(hosts->items.count + 1);
		if (!array_push(&hosts->items, name))
			return &error_no_memory;
		*number = (uint32_t)hosts->items.count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *take_interval(void *context, const union store_value *row)
{
	struct store_replay *replay = context;
	struct replay_interval interval = {
		.begun_s = row[1].number,
		.ms = (uint32_t)row[2].number,
	};
	struct error *err = find_host(&replay->hosts, row[0].text, &interval.host);

	if (err)
		return err;
	return array_push(&replay->grid.intervals, interval) ? NULL : &error_no_memory;
}

static struct error *read_intervals(struct store_replay *replay)
{
	static const struct store_column columns[] = { { "host", STORE_STRING },
						       { "t", STORE_TIME },
						       { "ms", STORE_U32 } };
	struct sql sql = store_sql(replay->store);
	struct error *err;

	sql_add(&sql, "SELECT toString(host), t, max(ms) FROM loads WHERE ");
	sql_add_time(&sql, &replay->url, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY host, t ORDER BY host, t");
	err = store_query(replay->store, &sql, columns, array_length(columns), INTERVALS_MOST,
			  take_interval, replay);
	sql_deinit(&sql);
	return err;
}

static struct error *note_row(void *context, const union store_value *row)
{
	(void)row;
	*(bool *)context = true;
	return NULL;
}

/* Intervals are those of hosts. If no row of their threads matches, a name may be misspelt: all
 * windows would be empty. */
static struct error *check_threads(struct store_replay *replay)
{
	static const struct store_column column = { "found", STORE_U8 };
	struct sql sql;
	bool selects = false, found = false;
	struct error *err;

	for (enum store_selector i = STORE_SELECT_PROCESS; i < STORE_SELECTORS; i++)
		selects = selects || replay->url.globs[i].count;
	if (!selects)
		return NULL;
	sql = store_sql(replay->store);
	sql_add(&sql, "SELECT 1 FROM threads WHERE ");
	sql_add_time(&sql, &replay->url, SQL_SELECTORS_ALL);
	sql_add(&sql, " LIMIT 1");
	err = store_query(replay->store, &sql, &column, 1, 1, note_row, &found);
	sql_deinit(&sql);
	return err || found ? err : store_nothing(replay->store, &replay->url, "threads");
}

static struct error *list_captures(const struct store_replay *replay, struct captures *captures)
{
	const struct replay_window *windows = replay->grid.windows.items;
	bool is_done = captures_add(captures, (struct capture_kept){ .at_ms = windows->begin_ms });

	for (size_t i = 0; is_done && i < replay->grid.windows.count; i++)
		is_done =
			captures_add(captures, (struct capture_kept){ .at_ms = windows[i].end_ms });
	return is_done ? NULL : &error_no_memory;
}

/* --- opening --- */

static void set_cpus(struct store_replay *replay, const struct store_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++) {
		const struct text name = text_of(hosts->items[i].name);
		const uint32_t number = replay_hosts_find(&replay->hosts, name);

		if (number != WORD_MAP_NEW)
			replay->cpus[number] = hosts->items[i].cpus;
	}
}

/* The intervals of all hosts. Facts of the hosts tell first how many there are. */
static struct error *read_hosts(struct store_replay *replay)
{
	struct store_hosts hosts = { 0 };
	struct error *err;

	if (replay->url.to_s - replay->url.from_s > STORE_REPLAY_MOST_S)
		return error_create("a replay covers at most a day: choose 'from' and 'to'");
	err = store_hosts_read(replay->store, &replay->url, &hosts);
	if (!err && hosts.count > REPLAY_HOSTS_MOST)
		err = too_many(hosts.count);
	if (!err)
		err = read_intervals(replay);
	if (!err)
		set_cpus(replay, &hosts);
	store_hosts_deinit(&hosts);
	return err;
}

static struct error *open_replay(struct store_replay *replay, const struct store_options *options,
				 struct captures *captures)
{
	struct error *err = store_connect(&replay->url, options, &replay->store);

	if (!err)
		err = read_hosts(replay);
	if (!err && !replay->grid.intervals.count)
		err = store_nothing(replay->store, &replay->url, "loads");
	if (!err)
		err = check_threads(replay);
	if (!err)
		err = replay_grid_make(&replay->grid, replay->hosts.items.count);
	return err ? err : list_captures(replay, captures);
}

struct error *store_replay_open(const char *written, uint64_t now_s,
				const struct store_options *options, struct recording *ret)
{
	_cleanup_(replay_free) struct store_replay *replay = calloc(1, sizeof(*replay));
	struct recording recording = { .dir = -1, .suffix = "" };
	struct error *err;

	if (!replay)
		return &error_no_memory;
	pthread_mutex_init(&replay->lock, NULL);
	replay_hosts_init(&replay->hosts);
	replay->sums = (struct replay_sums){ .url = &replay->url,
					     .grid = &replay->grid,
					     .hosts = &replay->hosts };
	err = store_url_parse(written, now_s, &replay->url);
	if (err)
		return error_prefix(err, "URL of a store");
	recording.path = strdup(replay->url.written);
	err = recording.path ? open_replay(replay, options, &recording.captures) : &error_no_memory;
	if (err && err != &error_no_memory)
		err = error_prefix(err, "%s", replay->url.written);
	if (err) {
		recording_close(&recording);
		return err;
	}
	recording.hosts =
		(struct recording_hosts){ replay->hosts.items.items, replay->hosts.items.count };
	recording.source = (struct recording_source){ load, close_source, take_ptr(replay) };
	*ret = recording;
	return NULL;
}
