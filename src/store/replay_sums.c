/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/replay_sums.h"

#include <string.h>

#include "base/sum.h"
#include "profile/profile.h"
#include "store/spans.h"
#include "store/thread_rows.h"

#define THREADS_MOST UINT64_C(1000000)

enum {
	THREAD_PROCESS,
	THREAD_COMM,
	THREAD_CGROUP,
	THREAD_TGID,
	THREAD_TID,
	THREAD_UID,
	THREAD_STARTED,
	THREAD_COLUMNS
};

static const struct store_column thread_row_columns[THREAD_COLUMNS] = {
	[THREAD_PROCESS] = { "process", STORE_STRING },
	[THREAD_COMM] = { "comm", STORE_STRING },
	[THREAD_CGROUP] = { "cgroup", STORE_STRING },
	[THREAD_TGID] = { "tgid", STORE_U32 },
	[THREAD_TID] = { "tid", STORE_U32 },
	[THREAD_UID] = { "uid", STORE_U32 },
	[THREAD_STARTED] = { "started", STORE_U64 },
};

struct sums_loading {
	struct replay_sums *sums;
	uint64_t length_ns; /* of the intervals of the rows */
	struct thread_columns columns;
};

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

static struct error *find_thread(struct replay_sums *sums, const union store_value *row,
				 struct ctprof_thread **ret)
{
	uint32_t *number = word_map_at(
		&sums->numbers, (struct words){ { row[THREAD_TGID].number, row[THREAD_TID].number,
						  row[THREAD_STARTED].number } });
	struct ctprof_thread *thread;

	if (!number)
		return &error_no_memory;
	if (*number != WORD_MAP_NEW) {
		*ret = snapshot_thread(sums->snapshot, *number);
		return NULL;
	}
	thread = snapshot_add_thread(sums->snapshot);
	if (!thread)
		return &error_no_memory;
	*number = (uint32_t)sums->snapshot->threads.count - 1;
	thread->tgid = (uint32_t)row[THREAD_TGID].number;
	thread->tid = (uint32_t)row[THREAD_TID].number;
	thread->start_time_clock_ticks = reading_of(row[THREAD_STARTED].number);
	*ret = thread;
	return NULL;
}

static struct error *take_user(struct replay_sums *sums, const union store_value *row)
{
	const uint32_t uid = (uint32_t)row[THREAD_UID].number;
	bool is_new;
	uint32_t *known = map_add(&sums->uids, (uint32_t)row[THREAD_TGID].number, &is_new);

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

/* A thread is observed for no longer than the intervals are. The sum of its states may be longer,
 * since states are rounded, and intervals have whole milliseconds. */
static void limit_observed(struct thread_record *record, uint64_t length_ns)
{
	const struct metric *observed = &metrics[METRIC_state_watched_ns];

	if (metric_set_has(&record->measured, METRIC_state_watched_ns) &&
	    metric_load_u64(&record->values, observed) > length_ns)
		metric_place_u64(&record->values, observed, length_ns);
}

static struct error *take_thread(void *context, const union store_value *row)
{
	struct sums_loading *loading = context;
	struct ctprof_thread more = { 0 }, *thread;
	struct error *err = find_thread(loading->sums, row, &thread);

	if (!err)
		err = name_thread(loading->sums->snapshot, row, thread);
	if (!err)
		err = take_user(loading->sums, row);
	if (!err)
		err = thread_columns_take(&loading->columns, row + THREAD_COLUMNS,
					  loading->sums->snapshot, &more);
	if (err)
		return err;
	limit_observed(&more.record, loading->length_ns);
	add_totals(&thread->record, &more.record);
	return NULL;
}

/* Of the rows from `begin_s` on. */
static struct error *load_rows(struct replay_sums *sums, struct store *store, uint64_t begin_s,
			       uint64_t end_s, uint64_t length_ns)
{
	struct store_column columns[THREAD_COLUMNS + THREAD_ROW_COLUMNS_MOST];
	struct sums_loading loading = { .sums = sums, .length_ns = length_ns };
	struct store_url url = *sums->url;
	struct sql sql = store_sql(store);
	struct error *err;

	url.from_s = begin_s;
	url.to_s = end_s;
	thread_columns_init(&loading.columns, true);
	memcpy(columns, thread_row_columns, sizeof(thread_row_columns));
	memcpy(columns + THREAD_COLUMNS, loading.columns.items,
	       loading.columns.count * sizeof(*columns));
	sql_add(&sql, "SELECT argMax(toString(process), t), argMax(toString(comm), t), "
		      "argMax(toString(cgroup), t), tgid, tid, min(uid), started");
	thread_columns_add(&loading.columns, &sql);
	sql_add(&sql, " FROM threads WHERE ");
	sql_add_time(&sql, &url, SQL_SELECTORS_ALL);
	sql_add(&sql, " GROUP BY tgid, tid, started");
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
	*sums = (struct replay_sums){ .url = sums->url };
}

struct error *replay_sums_move(struct replay_sums *sums, struct store *store, uint64_t end_s,
			       uint64_t end_ns)
{
	struct error *err = NULL;

	if (end_s < sums->end_s)
		replay_sums_deinit(sums);
	if (!sums->snapshot)
		err = snapshot_create(&sums->snapshot);
	if (!err && end_s != sums->end_s)
		err = load_rows(sums, store, sums->end_s ? sums->end_s : sums->url->from_s, end_s,
				end_ns - sums->end_ns);
	if (err) {
		replay_sums_deinit(sums);
		return err;
	}
	sums->end_s = end_s;
	sums->end_ns = end_ns;
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

static struct error *add_processes(const struct replay_sums *sums, struct ctprof_snapshot *snapshot)
{
	uint32_t last = 0;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const uint32_t tgid = snapshot_thread(snapshot, i)->tgid;
		const uint32_t *uid = map_find(&sums->uids, tgid);
		struct process process = { .tgid = tgid };

		if (i && tgid == last)
			continue;
		last = tgid;
		if (uid && *uid != UID_UNKNOWN)
			process.uid = reading_of(*uid);
		if (!array_push(&snapshot->processes, process))
			return &error_no_memory;
	}
	return NULL;
}

struct error *replay_sums_copy(const struct replay_sums *sums, struct ctprof_snapshot *snapshot)
{
	struct error *err = NULL;

	for (size_t i = 0; i < sums->snapshot->threads.count && !err; i++)
		err = copy_thread(snapshot_thread(sums->snapshot, i), snapshot);
	if (!err)
		err = snapshot_sort_threads(snapshot);
	return err ? err : add_processes(sums, snapshot);
}
