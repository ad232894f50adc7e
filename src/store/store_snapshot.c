/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store_snapshot.h"

#include <inttypes.h>
#include <string.h>

#include "base/sum.h"
#include "profile/profile.h"
#include "snapshot/timestamp.h"
#include "store/hosts.h"
#include "store/no_rows.h"
#include "store/spans.h"
#include "store/thread_rows.h"

#define CGROUPS_MOST UINT64_C(200000)
#define KIB          UINT64_C(1024)
/* Below it are numbers that mean something, such as that of init. */
#define NUMBER_LEAST 1000u
#define NS_PER_US    UINT64_C(1000)

struct snapshot_loading {
	struct ctprof_snapshot *snapshot;
	const struct store_url *url;
	bool by_thread;
	enum store_detail detail;
	struct thread_columns columns;
};

/* --- programs --- */

enum {
	PROGRAM_HOST,
	PROGRAM_PROCESS,
	PROGRAM_COMM,
	PROGRAM_CGROUP,
	PROGRAM_UID,
	PROGRAM_THREADS,
	PROGRAM_TGID,
	PROGRAM_TID,
	PROGRAM_STARTED,
	PROGRAM_COLUMNS
};

static const struct store_column program_columns[PROGRAM_COLUMNS] = {
	[PROGRAM_HOST] = { "host", STORE_STRING },
	[PROGRAM_PROCESS] = { "process", STORE_STRING },
	[PROGRAM_COMM] = { "comm", STORE_STRING },
	[PROGRAM_CGROUP] = { "cgroup", STORE_STRING },
	[PROGRAM_UID] = { "uid", STORE_U32 },
	[PROGRAM_THREADS] = { "threads", STORE_U64 },
	[PROGRAM_TGID] = { "tgid", STORE_U32 },
	[PROGRAM_TID] = { "tid", STORE_U32 },
	[PROGRAM_STARTED] = { "started", STORE_U64 },
};

static struct error *set_names(struct ctprof_snapshot *snapshot, const union store_value *row,
			       struct ctprof_thread *thread)
{
	const struct text host = row[PROGRAM_HOST].text, process = row[PROGRAM_PROCESS].text;
	_cleanup_free_ char *both = NULL;
	struct error *err;

	if (host.length) {
		both = text_print("%.*s/%.*s", (int)host.length, host.bytes, (int)process.length,
				  process.length ? process.bytes : "");
		if (!both)
			return &error_no_memory;
	}
	err = thread_row_name(snapshot, both ? text_of(both) : process, &thread->pcomm);
	if (!err)
		err = thread_row_name(snapshot, row[PROGRAM_COMM].text, &thread->comm);
	return err ? err : thread_row_name(snapshot, row[PROGRAM_CGROUP].text, &thread->cgroup);
}

/* A program is a thread and a process with a number of its own. It is as old as the time is long
 * (snapshot_age_ticks()): rates are those of the time. */
static void set_numbers(const struct snapshot_loading *loading, const union store_value *row,
			struct ctprof_thread *thread)
{
	if (loading->by_thread) {
		thread->start_time_clock_ticks = reading_of(row[PROGRAM_STARTED].number);
		thread->tid = (uint32_t)row[PROGRAM_TID].number;
		thread->tgid = (uint32_t)row[PROGRAM_TGID].number;
		return;
	}
	thread->start_time_clock_ticks = reading_of(0);
	thread->tid = thread->tgid = NUMBER_LEAST + (uint32_t)loading->snapshot->threads.count;
}

/* Threads of a process follow each other. */
static struct error *add_process(struct snapshot_loading *loading, uint32_t tgid, uint64_t uid)
{
	struct ctprof_snapshot *snapshot = loading->snapshot;
	const struct process process = { .tgid = tgid,
					 .uid = { .value = uid,
						  .measured = loading->detail == STORE_ROWS &&
							      uid != UID_UNKNOWN } };
	const size_t count = snapshot->processes.count;

	if (count && snapshot->processes.items[count - 1].tgid == tgid)
		return NULL;
	return array_push(&snapshot->processes, process) ? NULL : &error_no_memory;
}

static struct error *take_program(void *context, const union store_value *row)
{
	struct snapshot_loading *loading = context;
	struct ctprof_snapshot *snapshot = loading->snapshot;
	struct ctprof_thread *thread = snapshot_add_thread(snapshot);
	struct error *err;

	if (!thread)
		return &error_no_memory;
	set_numbers(loading, row, thread);
	err = set_names(snapshot, row, thread);
	if (!err)
		err = add_process(loading, thread->tgid, row[PROGRAM_UID].number);
	if (!err)
		err = thread_columns_take(&loading->columns, row + PROGRAM_COLUMNS, snapshot,
					  thread);
	if (err)
		return err;
	thread->record.values.thread_count.v = row[PROGRAM_THREADS].number;
	if (loading->detail != STORE_ROWS)
		metric_set_remove(&thread->record.measured, METRIC_thread_count);
	return NULL;
}

/* Names and users are the last of each thread. */
static void add_threads(struct snapshot_loading *loading, struct sql *sql)
{
	sql_add(sql,
		"SELECT '', toString(argMax(process, t)), toString(argMax(comm, t)), "
		"toString(argMax(cgroup, t)), argMax(uid, t), toUInt64(1), tgid, tid, started");
	thread_columns_add(&loading->columns, sql);
	sql_add(sql, " FROM threads WHERE ");
	sql_add_time(sql, loading->url, SQL_SELECTORS_ALL);
	sql_add(sql, " GROUP BY tgid, tid, started ORDER BY tgid, tid, started");
}

/* Sums tell neither threads nor users. */
static void add_programs(struct snapshot_loading *loading, struct sql *sql)
{
	const char *host = loading->url->by_host ? "host, " : "";
	const bool has_threads = loading->detail == STORE_ROWS;
	_cleanup_free_ char *text = NULL;
	struct sql columns = { 0 };
	struct store_rows rows = { .table = "threads", .selectors = SQL_SELECTORS_ALL };

	sql_add(sql,
		"SELECT %s, toString(any(process)) AS of_process, toString(any(comm)) AS of_comm, "
		"toString(any(cgroup)) AS of_cgroup, %s, %s",
		loading->url->by_host ? "toString(host)" : "''",
		has_threads ? "uid" : "toUInt32(0)",
		has_threads ? "uniqExact(cityHash64(host, tgid, tid, started))" : "toUInt64(0)");
	sql_add(sql, ", toUInt32(0), toUInt32(0), toUInt64(0)");
	thread_columns_add(&loading->columns, sql);
	sql_add(sql, " FROM ");
	sql_add(&columns, "host, process, comm, cgroup%s",
		has_threads ? ", t, uid, tgid, tid, started" : "");
	thread_columns_add_names(&loading->columns, &columns);
	text = sql_text(&columns);
	sql->has_failed |= !text;
	rows.of_rows = rows.of_sums = text;
	if (text)
		sql_add_rows(sql, loading->url, loading->detail, &rows);
	sql_add(sql,
		" GROUP BY %s" SQL_PROGRAM_HASH "%s ORDER BY %sof_process, of_comm, of_cgroup%s",
		host, has_threads ? ", uid" : "", host, has_threads ? ", uid" : "");
	sql_deinit(&columns);
}

static struct error *load_programs(struct snapshot_loading *loading, struct store *store)
{
	struct store_column columns[PROGRAM_COLUMNS + THREAD_ROW_COLUMNS_MOST];
	struct sql sql = store_sql(store);
	struct error *err;

	thread_columns_init(&loading->columns, loading->detail != STORE_ROWS);
	memcpy(columns, program_columns, sizeof(program_columns));
	memcpy(columns + PROGRAM_COLUMNS, loading->columns.items,
	       loading->columns.count * sizeof(*columns));
	if (loading->by_thread)
		add_threads(loading, &sql);
	else
		add_programs(loading, &sql);
	err = store_query(store, &sql, columns, PROGRAM_COLUMNS + loading->columns.count,
			  STORE_PROGRAMS_MOST, take_program, loading);
	sql_deinit(&sql);
	return err;
}

/* --- cgroups --- */

enum {
	CGROUP_PATH,
	CGROUP_CPU,
	CGROUP_THROTTLED_NS,
	CGROUP_THROTTLED,
	CGROUP_MEMORY,
	CGROUP_MEMORY_MAX,
	CGROUP_READ,
	CGROUP_WRITTEN,
	CGROUP_CPU_SOME,
	CGROUP_MEMORY_FULL,
	CGROUP_IO_FULL,
	CGROUP_PIDS,
	CGROUP_MEASURED,
	CGROUP_COLUMNS
};

static const struct store_column cgroup_columns[CGROUP_COLUMNS] = {
	[CGROUP_PATH] = { "cgroup", STORE_STRING },
	[CGROUP_CPU] = { "cpu_ns", STORE_U64 },
	[CGROUP_THROTTLED_NS] = { "throttled_ns", STORE_U64 },
	[CGROUP_THROTTLED] = { "throttled", STORE_U64 },
	[CGROUP_MEMORY] = { "memory_bytes", STORE_U64 },
	[CGROUP_MEMORY_MAX] = { "memory_max_bytes", STORE_U64 },
	[CGROUP_READ] = { "read_bytes", STORE_U64 },
	[CGROUP_WRITTEN] = { "written_bytes", STORE_U64 },
	[CGROUP_CPU_SOME] = { "cpu_some_ns", STORE_U64 },
	[CGROUP_MEMORY_FULL] = { "memory_full_ns", STORE_U64 },
	[CGROUP_IO_FULL] = { "io_full_ns", STORE_U64 },
	[CGROUP_PIDS] = { "pids", STORE_U64 },
	[CGROUP_MEASURED] = { "measured", STORE_U64 },
};

/* A bit of `measured` for each column of the table, from cpu_ns on. */
static struct reading reading_at(const union store_value *row, unsigned column, uint64_t divisor)
{
	return (struct reading){ .value = row[column].number / divisor,
				 .measured =
					 row[CGROUP_MEASURED].number >> (column - CGROUP_CPU) & 1 };
}

static struct error *take_cgroup(void *context, const union store_value *row)
{
	struct ctprof_snapshot *snapshot = ((struct snapshot_loading *)context)->snapshot;
	struct cgroup_counters cgroup = {
		.cpu = { .usage_usec = reading_at(row, CGROUP_CPU, NS_PER_US),
			 .throttled_usec = reading_at(row, CGROUP_THROTTLED_NS, NS_PER_US),
			 .nr_throttled = reading_at(row, CGROUP_THROTTLED, 1) },
		.memory = { .current = reading_at(row, CGROUP_MEMORY, 1),
			    .max = reading_at(row, CGROUP_MEMORY_MAX, 1) },
		.pids = { .current = reading_at(row, CGROUP_PIDS, 1) },
		.io = { .rbytes = reading_at(row, CGROUP_READ, 1),
			.wbytes = reading_at(row, CGROUP_WRITTEN, 1) },
	};
	struct error *err = thread_row_name(snapshot, row[CGROUP_PATH].text, &cgroup.path);

	/* No limit: in one of the intervals at least. */
	cgroup.memory.max.unlimited = cgroup.memory.max.measured && !row[CGROUP_MEMORY_MAX].number;
	cgroup.psi.cpu.some.total_usec = reading_at(row, CGROUP_CPU_SOME, NS_PER_US);
	cgroup.psi.memory.full.total_usec = reading_at(row, CGROUP_MEMORY_FULL, NS_PER_US);
	cgroup.psi.io.full.total_usec = reading_at(row, CGROUP_IO_FULL, NS_PER_US);
	if (!err && !array_push(&snapshot->cgroups, cgroup))
		err = &error_no_memory;
	return err;
}

/* Memory and tasks are the largest of one host, as they are of a time. */
static struct error *load_cgroups(struct snapshot_loading *loading, struct store *store)
{
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql,
		"SELECT toString(cgroup), sum(cpu_ns), sum(throttled_ns), "
		"toUInt64(sum(throttled)), max(memory_bytes), if(countIf(memory_max_bytes = 0 AND "
		"bitAnd(measured, %u) != 0) > 0, toUInt64(0), max(memory_max_bytes)), "
		"sum(read_bytes), sum(written_bytes), sum(cpu_some_ns), sum(memory_full_ns), "
		"sum(io_full_ns), toUInt64(max(pids)), groupBitOr(measured) FROM cgroups WHERE ",
		1u << (CGROUPS_memory_max_bytes - CGROUPS_cpu_ns));
	sql_add_time(&sql, loading->url, SQL_SELECT_HOSTS | 1u << STORE_SELECT_CGROUP);
	sql_add(&sql, " GROUP BY cgroup ORDER BY cgroup");
	err = store_query(store, &sql, cgroup_columns, CGROUP_COLUMNS, CGROUPS_MOST, take_cgroup,
			  loading);
	sql_deinit(&sql);
	return err;
}

/* --- the hosts --- */

/* Pressure is a part of a host's time: the part is that of all hosts that measured it, and the time
 * that of the host that was observed longest. */
static void set_pressure_of(struct psi_half *pressure, const struct store_hosts *hosts,
			    unsigned column, size_t offset)
{
	uint64_t us = 0, intervals_ns = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		const struct store_host *host = &hosts->items[i];
		const uint64_t *ns = (const void *)((const char *)host + offset);

		if (!(host->measured >> (column - LOADS_cpu_ns) & 1))
			continue;
		sum_add(&us, *ns / NS_PER_US);
		sum_add(&intervals_ns, host->intervals_ns);
	}
	if (intervals_ns)
		pressure->total_usec = reading_of(sum_scaled(us, hosts->longest_ns, intervals_ns));
}

static void set_pressure(struct ctprof_snapshot *snapshot, const struct store_hosts *hosts)
{
	struct psi *psi = &snapshot->psi;

#define PRESSURE_OF(resource, half)                                                 \
	set_pressure_of(&psi->resource.half, hosts, LOADS_##resource##_##half##_ns, \
			offsetof(struct store_host, resource.half##_ns))
	PRESSURE_OF(cpu, some);
	PRESSURE_OF(memory, some);
	PRESSURE_OF(memory, full);
	PRESSURE_OF(io, some);
	PRESSURE_OF(io, full);
	PRESSURE_OF(irq, full);
#undef PRESSURE_OF
}

static struct error *set_name(struct ctprof_snapshot *snapshot, const char *text,
			      const struct name **ret)
{
	return text ? thread_row_name(snapshot, text_of(text), ret) : NULL;
}

static struct error *set_hosts(struct ctprof_snapshot *snapshot, const struct store_hosts *hosts)
{
	struct host_context *host = arena_alloc(&snapshot->arena, sizeof(*host));
	const uint64_t cpus = store_hosts_cpus(hosts), memory = store_hosts_memory(hosts);
	struct error *err;

	if (!host)
		return &error_no_memory;
	snapshot->host = host;
	err = set_name(snapshot, store_hosts_kernel(hosts), &host->kernel_release);
	if (!err)
		err = set_name(snapshot, store_hosts_arch(hosts), &host->arch);
	if (!err)
		err = set_name(snapshot, store_hosts_cpu_model(hosts), &host->cpu_model);
	if (cpus)
		host->online_cpus = reading_of(cpus);
	if (memory)
		host->total_memory_kib = reading_of(memory / KIB);
	set_pressure(snapshot, hosts);
	return err;
}

/* --- threads, each by itself --- */

/* Numbers of threads are those of a host. */
static struct error *check_threads(const struct store_url *url, const struct store_hosts *hosts)
{
	if (hosts->count > 1)
		return error_create("--group-by thread is of one host, and this query selects %zu: "
				    "add e.g. host=%s",
				    hosts->count, hosts->items[0].name);
	if (url->to_s - url->from_s > STORE_THREADS_MOST_S)
		return error_create("--group-by thread covers at most a day: choose 'from' and "
				    "'to'");
	return NULL;
}

/* Threads of the kernel have the same numbers and starts after each boot. */
static struct error *take_boot(void *context, const union store_value *row)
{
	struct ctprof_snapshot *snapshot = context;
	char when[TIMESTAMP_TEXT_SIZE];

	if (row[1].number) {
		timestamp_print(when, row[1].number * 1000);
		return error_create("--group-by thread is of one boot, and the host booted at %s: "
				    "choose 'from' after that, or 'to' before it",
				    when);
	}
	return row[0].text.length ? thread_row_name(snapshot, row[0].text, &snapshot->host->boot_id)
				  : NULL;
}

/* The last boot before the end of the query. */
static struct error *load_boot(struct snapshot_loading *loading, struct store *store,
			       const struct store_hosts *hosts)
{
	static const struct store_column columns[] = { { "boot", STORE_STRING },
						       { "booted", STORE_U64 } };
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql,
		"SELECT toString(argMax(boot, booted)), toUInt64(max(if(booted > "
		"toDateTime(%" PRIu64
		"), toUInt32(booted), toUInt32(0)))) FROM hosts WHERE host = ",
		hosts->first_s);
	sql_add_value(&sql, text_of(hosts->items[0].name));
	sql_add(&sql, " AND booted <= toDateTime(%" PRIu64 ")", hosts->end_s);
	err = store_query(store, &sql, columns, array_length(columns), 1, take_boot,
			  loading->snapshot);
	sql_deinit(&sql);
	return err;
}

/* --- the whole --- */

static struct error *load(struct snapshot_loading *loading, struct store *store)
{
	struct ctprof_snapshot *snapshot = loading->snapshot;
	struct store_hosts hosts = { 0 };
	struct error *err = store_hosts_read(store, loading->url, &hosts);
	bool has_more = !loading->by_thread;

	store_hosts_note_shared(&hosts, stderr);
	loading->detail = loading->by_thread ? STORE_ROWS : store_detail_of(loading->url);
	if (!err && loading->by_thread)
		err = check_threads(loading->url, &hosts);
	if (!err && loading->by_thread)
		err = load_programs(loading, store);
	while (!err && !snapshot->threads.count && has_more) {
		err = load_programs(loading, store);
		if (!err && !snapshot->threads.count)
			err = store_detail_next(store, loading->url, "threads", &loading->detail,
						&has_more);
	}
	if (!err && !snapshot->threads.count)
		err = store_nothing(store, loading->url, "threads");
	snapshot->unknown = thread_columns_lacking();
	snapshot->has_sums_only = loading->detail != STORE_ROWS;
	if (!err)
		err = load_cgroups(loading, store);
	if (!err)
		err = set_hosts(snapshot, &hosts);
	if (!err && loading->by_thread)
		err = load_boot(loading, store, &hosts);
	if (!err) {
		snapshot->captured_at_unix_ns = reading_of(hosts.end_s * NS_PER_S);
		snapshot_sort(snapshot);
		snapshot->has_programs = !loading->by_thread;
		snapshot->observed_ns = hosts.observed_ns;
		snapshot->longest_observed_ns = hosts.longest_ns;
	}
	store_hosts_deinit(&hosts);
	return err;
}

struct error *store_snapshot_load(struct store *store, const struct store_url *url, bool by_thread,
				  struct ctprof_snapshot **ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	struct snapshot_loading loading = { .url = url, .by_thread = by_thread };
	struct error *err = snapshot_create(&snapshot);

	if (err)
		return err;
	loading.snapshot = snapshot;
	err = load(&loading, store);
	if (err)
		return err;
	*ret = take_ptr(snapshot);
	return NULL;
}

/* --- other lengths --- */

static void scale(struct reading *reading, uint64_t times, uint64_t parts)
{
	if (reading->measured)
		reading->value = sum_scaled(reading->value, times, parts);
}

static void scale_psi(struct psi *psi, uint64_t times, uint64_t parts)
{
	struct psi_resource *const resources[] = { &psi->cpu, &psi->memory, &psi->io, &psi->irq };

	for (size_t i = 0; i < array_length(resources); i++) {
		scale(&resources[i]->some.total_usec, times, parts);
		scale(&resources[i]->full.total_usec, times, parts);
	}
}

static void scale_thread(struct thread_record *record, uint64_t times, uint64_t parts)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].kind == KIND_TOTAL && i != METRIC_thread_count &&
		    metric_set_has(&record->measured, i))
			metric_place_u64(&record->values, &metrics[i],
					 sum_scaled(metric_load_u64(&record->values, &metrics[i]),
						    times, parts));
}

void store_snapshot_scale(struct ctprof_snapshot *snapshot, uint64_t times, uint64_t parts,
			  uint64_t longest_ns)
{
	for (size_t i = 0; i < snapshot->threads.count; i++)
		scale_thread(&snapshot_thread(snapshot, i)->record, times, parts);
	for (size_t i = 0; i < snapshot->cgroups.count; i++) {
		struct cgroup_counters *cgroup = &snapshot->cgroups.items[i];

		scale(&cgroup->cpu.usage_usec, times, parts);
		scale(&cgroup->cpu.throttled_usec, times, parts);
		scale(&cgroup->cpu.nr_throttled, times, parts);
		scale(&cgroup->io.rbytes, times, parts);
		scale(&cgroup->io.wbytes, times, parts);
		scale_psi(&cgroup->psi, times, parts);
	}
	/* That of the hosts is their mean, and so of the time of one. */
	if (snapshot->longest_observed_ns)
		scale_psi(&snapshot->psi, longest_ns, snapshot->longest_observed_ns);
	snapshot->observed_ns = sum_scaled(snapshot->observed_ns, times, parts);
	snapshot->longest_observed_ns = longest_ns;
}
