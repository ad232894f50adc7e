/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store_replay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "store/hosts.h"
#include "store/no_rows.h"
#include "store/replay_sums.h"
#include "store/spans.h"
#include "store/thread_rows.h"

#define NS_PER_MS      UINT64_C(1000000)
#define INTERVALS_MOST UINT64_C(100000)

struct store_replay {
	struct store_url url;
	struct store *store;
	pthread_mutex_t lock; /* windows are read by other threads */
	struct {
		ARRAY(struct replay_interval);
	} intervals;             /* by time; capture i + 1 is at the end of interval i */
	struct replay_sums sums; /* of the capture that was read last */
	uint32_t cpus;
};

struct replay_interval {
	uint64_t begun_s, ms;
	uint64_t end_ns; /* the length of all intervals up to its end */
};

static void replay_free(struct store_replay *replay)
{
	if (!replay)
		return;
	store_close(replay->store);
	replay_sums_deinit(&replay->sums);
	store_url_deinit(&replay->url);
	array_deinit(&replay->intervals);
	pthread_mutex_destroy(&replay->lock);
	free(replay);
}
DEFINE_CLEANUP(replay_free, struct store_replay *)

/* --- captures --- */

/* A window is as long as its interval says, although `t` has seconds, and hosts have pauses. */
static uint64_t clock_at(const struct store_replay *replay, size_t capture)
{
	return capture ? replay->intervals.items[capture - 1].end_ns : 0;
}

static struct error *describe(const struct store_replay *replay, size_t capture, uint64_t at_ns,
			      struct ctprof_snapshot *snapshot)
{
	struct capture_info *info = arena_alloc(&snapshot->arena, sizeof(*info));
	struct host_context *host = arena_alloc(&snapshot->arena, sizeof(*host));

	if (!info || !host)
		return &error_no_memory;
	snapshot->capture = info;
	snapshot->host = host;
	if (replay->cpus)
		host->online_cpus = reading_of(replay->cpus);
	snapshot->captured_at_unix_ns = reading_of(at_ns);
	info->states_begun_ns = reading_of(0);
	info->states_at_ns = reading_of(clock_at(replay, capture));
	info->states_at_unix_ns = reading_of(at_ns);
	return thread_row_name(snapshot, TEXT("agent"), &info->states_engine);
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
				       replay->intervals.items[capture - 1].begun_s + 1,
				       clock_at(replay, capture));
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

static struct error *take_interval(void *context, const union store_value *row)
{
	struct store_replay *replay = context;
	const uint64_t before_ns = clock_at(replay, replay->intervals.count);
	const struct replay_interval interval = {
		.begun_s = row[0].number,
		.ms = row[1].number,
		.end_ns = before_ns + row[1].number * NS_PER_MS,
	};

	return array_push(&replay->intervals, interval) ? NULL : &error_no_memory;
}

static struct error *read_intervals(struct store_replay *replay)
{
	static const struct store_column columns[] = { { "t", STORE_TIME }, { "ms", STORE_U32 } };
	struct sql sql = store_sql(replay->store);
	struct error *err;

	sql_add(&sql, "SELECT t, max(ms) FROM loads WHERE ");
	sql_add_time(&sql, &replay->url, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY t ORDER BY t");
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

/* Intervals may overlap, if there is a second agent or the clock was set; times of captures
 * increase. */
static struct error *list_captures(const struct store_replay *replay, struct captures *captures)
{
	uint64_t last_ms = replay->intervals.items[0].begun_s * 1000;

	if (!captures_add(captures, (struct capture_kept){ .at_ms = last_ms }))
		return &error_no_memory;
	for (size_t i = 0; i < replay->intervals.count; i++) {
		const struct replay_interval *interval = &replay->intervals.items[i];
		const uint64_t end_ms = interval->begun_s * 1000 + interval->ms;

		last_ms = end_ms > last_ms ? end_ms : last_ms + 1;
		if (!captures_add(captures, (struct capture_kept){ .at_ms = last_ms }))
			return &error_no_memory;
	}
	return NULL;
}

/* --- opening --- */

static struct error *check_host(struct store_replay *replay)
{
	struct store_hosts hosts = { 0 };
	struct error *err;

	if (replay->url.to_s - replay->url.from_s > STORE_REPLAY_MOST_S)
		return error_create("a replay covers at most a day: choose 'from' and 'to'");
	err = store_hosts_read(replay->store, &replay->url, &hosts);
	if (!err && hosts.count > 1)
		err = error_create("a replay is of one host, and this query selects %zu: add "
				   "e.g. host=%s",
				   hosts.count, hosts.items[0].name);
	if (!err)
		replay->cpus = hosts.items[0].cpus;
	store_hosts_deinit(&hosts);
	return err;
}

static struct error *open_replay(struct store_replay *replay, const struct store_options *options,
				 struct captures *captures)
{
	struct error *err = store_connect(&replay->url, options, &replay->store);

	if (!err)
		err = check_host(replay);
	if (!err)
		err = read_intervals(replay);
	if (!err && !replay->intervals.count)
		err = store_nothing(replay->store, &replay->url, "loads");
	if (!err)
		err = check_threads(replay);
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
	replay->sums.url = &replay->url;
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
	recording.source = (struct recording_source){ load, close_source, take_ptr(replay) };
	*ret = recording;
	return NULL;
}
