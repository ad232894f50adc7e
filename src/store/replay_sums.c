/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/replay_sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "profile/profile.h"
#include "store/spans.h"
#include "store/thread_rows.h"

#define NS_PER_MS    UINT64_C(1000000)
#define THREADS_MOST UINT64_C(200000)

enum {
	THREAD_HOST,
	THREAD_PROCESS,
	THREAD_COMM,
	THREAD_CGROUP,
	THREAD_TGID,
	THREAD_TID,
	THREAD_UID,
	THREAD_STARTED,
	THREAD_MS,
	THREAD_COLUMNS
};

static const struct store_column thread_row_columns[THREAD_COLUMNS] = {
	[THREAD_HOST] = { "host", STORE_STRING }, [THREAD_PROCESS] = { "process", STORE_STRING },
	[THREAD_COMM] = { "comm", STORE_STRING }, [THREAD_CGROUP] = { "cgroup", STORE_STRING },
	[THREAD_TGID] = { "tgid", STORE_U32 },    [THREAD_TID] = { "tid", STORE_U32 },
	[THREAD_UID] = { "uid", STORE_U32 },      [THREAD_STARTED] = { "started", STORE_U64 },
	[THREAD_MS] = { "ms", STORE_U64 },
};

struct sums_loading {
	struct replay_sums *sums;
	struct thread_columns columns;
};

/* --- hosts --- */

void replay_hosts_init(struct replay_hosts *hosts)
{
	*hosts = (struct replay_hosts){ .items = { .count = 0 } };
	arena_init(&hosts->arena, SIZE_MAX / 2);
	names_init(&hosts->names, &hosts->arena);
}

void replay_hosts_deinit(struct replay_hosts *hosts)
{
	array_deinit(&hosts->items);
	word_map_deinit(&hosts->numbers);
	names_deinit(&hosts->names);
	arena_deinit(&hosts->arena);
}

uint32_t replay_hosts_find(const struct replay_hosts *hosts, struct text name)
{
	const struct name *known = names_find(&hosts->names, name.bytes, name.length);

	return known ? word_map_find(&hosts->numbers, (struct words){ { (uintptr_t)known } })
		     : WORD_MAP_NEW;
}

/* --- rows --- */

/* What the rows say of a thread, apart from its metrics. */
static struct error *name_thread(struct ctprof_snapshot *snapshot, const union store_value *row,
				 struct ctprof_thread *thread)
{
	struct error *err = thread_row_name(snapshot, row[THREAD_PROCESS].text, &thread->pcomm);

	if (!err)
		err = thread_row_name(snapshot, row[THREAD_COMM].text, &thread->comm);
	return err ? err : thread_row_name(snapshot, row[THREAD_CGROUP].text, &thread->cgroup);
}

static uint64_t two_words(uint64_t high, uint64_t low)
{
	return high << 32 | (uint32_t)low;
}

static struct error *find_thread(struct replay_sums *sums, const union store_value *row,
				 uint32_t host, struct ctprof_thread **ret)
{
	uint32_t *number = word_map_at(
		&sums->numbers,
		(struct words){ { two_words(row[THREAD_TGID].number, row[THREAD_TID].number),
				  row[THREAD_STARTED].number, host } });
	struct ctprof_thread *thread;

	if (!number)
		return &error_no_memory;
	if (*number != WORD_MAP_NEW) {
		*ret = snapshot_thread(sums->snapshot, *number);
		return NULL;
	}
	if (sums->snapshot->threads.count == THREADS_MOST)
		return error_create("more than %" PRIu64 " threads did something in this time: "
				    "select fewer hosts or a shorter time",
				    THREADS_MOST);
	thread = snapshot_add_thread(sums->snapshot);
	if (!thread)
		return &error_no_memory;
	*number = (uint32_t)sums->snapshot->threads.count - 1;
	thread->host = host;
	thread->tgid = (uint32_t)row[THREAD_TGID].number;
	thread->tid = (uint32_t)row[THREAD_TID].number;
	thread->start_time_clock_ticks = reading_of(row[THREAD_STARTED].number);
	*ret = thread;
	return NULL;
}

static struct error *take_user(struct replay_sums *sums, const union store_value *row,
			       uint32_t host)
{
	const uint32_t uid = (uint32_t)row[THREAD_UID].number;
	bool is_new;
	uint32_t *known = map_add(&sums->uids, two_words(host, row[THREAD_TGID].number), &is_new);

	if (!known)
		return &error_no_memory;
	if (is_new || *known == UID_UNKNOWN)
		*known = uid;
	return NULL;
}

/* Each row of a thread has a thread_count of 1. What does not fit stays as it was. */
static void add_totals(struct thread_record *sum, const struct thread_record *more)
{
	for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
		uint64_t value;

		if (!metric_set_has(&more->measured, id))
			continue;
		value = metric_load_u64(&more->values, &metrics[id]);
		if (id != METRIC_thread_count && metric_set_has(&sum->measured, id))
			sum_add(&value, metric_load_u64(&sum->values, &metrics[id]));
		if (metric_store_u64(&sum->values, &metrics[id], value))
			metric_set_add(&sum->measured, id);
	}
}

/* A thread is observed for no longer than its intervals are. The sum of its states may be longer,
 * since states are rounded, and intervals have whole milliseconds. */
static void limit_observed(struct thread_record *record, uint64_t length_ms)
{
	const struct metric *observed = &metrics[METRIC_state_watched_ns];
	uint64_t length_ns;

	if (__builtin_mul_overflow(length_ms, NS_PER_MS, &length_ns))
		length_ns = UINT64_MAX;

	if (metric_set_has(&record->measured, METRIC_state_watched_ns) &&
	    metric_load_u64(&record->values, observed) > length_ns)
		metric_place_u64(&record->values, observed, length_ns);
}

static struct error *take_thread(void *context, const union store_value *row)
{
	struct sums_loading *loading = context;
	const struct replay_hosts *hosts = loading->sums->hosts;
	const uint32_t host =
		hosts->items.count > 1 ? replay_hosts_find(hosts, row[THREAD_HOST].text) : 0;
	struct ctprof_thread more = { 0 }, *thread;
	struct error *err;

	/* It came into the store after the intervals were read. */
	if (host == WORD_MAP_NEW)
		return NULL;
	err = find_thread(loading->sums, row, host, &thread);
	if (!err)
		err = name_thread(loading->sums->snapshot, row, thread);
	if (!err)
		err = take_user(loading->sums, row, host);
	if (!err)
		err = thread_columns_take(&loading->columns, row + THREAD_COLUMNS,
					  loading->sums->snapshot, &more);
	if (err)
		return err;
	limit_observed(&more.record, row[THREAD_MS].number);
	add_totals(&thread->record, &more.record);
	return NULL;
}

/* Add the condition for rows that are in no window before `begin`, and in one before `end`. The
 * table finds rows by `t`. */
static void add_rows(const struct replay_sums *sums, uint64_t begin, uint64_t end, struct sql *sql)
{
	const uint64_t scale = sums->grid->is_by_middle ? 1000 : 1;
	const uint64_t earlier = sums->grid->is_by_middle ? sums->grid->longest_ms / 2 : 0;
	struct store_url url = *sums->url;

	if (begin > earlier && (begin - earlier) / scale > url.from_s)
		url.from_s = (begin - earlier) / scale;
	if ((end + scale - 1) / scale < url.to_s)
		url.to_s = (end + scale - 1) / scale;
	sql_add_time(sql, &url, SQL_SELECTORS_ALL);
	if (sums->grid->is_by_middle)
		sql_add(sql,
			" AND toUInt64(toUInt32(t)) * 1000 + intDiv(ms, 2) >= %" PRIu64
			" AND toUInt64(toUInt32(t)) * 1000 + intDiv(ms, 2) < %" PRIu64,
			begin, end);
}

static struct error *load_rows(struct replay_sums *sums, struct store *store, uint64_t begin,
			       uint64_t end)
{
	const bool has_hosts = sums->hosts->items.count > 1;
	struct store_column columns[THREAD_COLUMNS + THREAD_ROW_COLUMNS_MOST];
	struct sums_loading loading = { .sums = sums };
	struct sql sql = store_sql(store);
	struct error *err;

	thread_columns_init(&loading.columns, true);
	memcpy(columns, thread_row_columns, sizeof(thread_row_columns));
	memcpy(columns + THREAD_COLUMNS, loading.columns.items,
	       loading.columns.count * sizeof(*columns));
	sql_add(&sql,
		"SELECT %s, argMax(toString(process), t), argMax(toString(comm), t), "
		"argMax(toString(cgroup), t), tgid, tid, min(uid), started, sum(ms)",
		has_hosts ? "toString(host)" : "''");
	thread_columns_add(&loading.columns, &sql);
	sql_add(&sql, " FROM threads WHERE ");
	add_rows(sums, begin, end, &sql);
	sql_add(&sql, " GROUP BY tgid, tid, started%s", has_hosts ? ", host" : "");
	err = store_query(store, &sql, columns, THREAD_COLUMNS + loading.columns.count,
			  THREADS_MOST, take_thread, &loading);
	sql_deinit(&sql);
	return err;
}

/* --- the sums --- */

void replay_sums_deinit(struct replay_sums *sums)
{
	snapshot_destroy(sums->snapshot);
	word_map_deinit(&sums->numbers);
	map_deinit(&sums->uids);
	*sums = (struct replay_sums){ .url = sums->url, .grid = sums->grid, .hosts = sums->hosts };
}

struct error *replay_sums_move(struct replay_sums *sums, struct store *store,
			       const struct replay_window *window)
{
	struct error *err = NULL;

	if (window->rows_end < sums->rows_end)
		replay_sums_deinit(sums);
	if (!sums->snapshot)
		err = snapshot_create(&sums->snapshot);
	if (!err && window->rows_end != sums->rows_end)
		err = load_rows(sums, store, sums->rows_end, window->rows_end);
	if (err) {
		replay_sums_deinit(sums);
		return err;
	}
	sums->rows_end = window->rows_end;
	return NULL;
}

static struct error *copy_name(struct ctprof_snapshot *snapshot, const struct name **name)
{
	return thread_row_name(snapshot, name_text(*name), name);
}

static struct error *copy_thread(const struct ctprof_thread *from, struct ctprof_snapshot *snapshot)
{
	struct ctprof_thread *thread = snapshot_add_thread(snapshot);
	struct error *err;

	if (!thread)
		return &error_no_memory;
	*thread = *from;
	err = copy_name(snapshot, &thread->pcomm);
	if (!err)
		err = copy_name(snapshot, &thread->comm);
	return err ? err : copy_name(snapshot, &thread->cgroup);
}

static int by_process(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	const int order = compare_u32(&x->tgid, &y->tgid);

	return order ? order : compare_u32(&x->host, &y->host);
}

static struct error *add_processes(struct replay_sums *sums, struct ctprof_snapshot *snapshot)
{
	map_for_each(&sums->uids, slot)
	{
		struct process process = { .tgid = (uint32_t)slot->key,
					   .host = (uint32_t)(slot->key >> 32) };

		if (slot->value != UID_UNKNOWN)
			process.uid = reading_of(slot->value);
		if (!array_push(&snapshot->processes, process))
			return &error_no_memory;
	}
	qsort(snapshot->processes.items, snapshot->processes.count,
	      sizeof(*snapshot->processes.items), by_process);
	return NULL;
}

struct error *replay_sums_copy(struct replay_sums *sums, struct ctprof_snapshot *snapshot)
{
	struct error *err = NULL;

	for (size_t i = 0; i < sums->snapshot->threads.count && !err; i++)
		err = copy_thread(snapshot_thread(sums->snapshot, i), snapshot);
	if (!err)
		err = snapshot_sort_threads(snapshot);
	return err ? err : add_processes(sums, snapshot);
}
