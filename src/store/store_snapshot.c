/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/store_snapshot.h"

#include <string.h>

#include "base/sum.h"
#include "profile/profile.h"
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
	PROGRAM_COLUMNS
};

static const struct store_column program_columns[PROGRAM_COLUMNS] = {
	[PROGRAM_HOST] = { "host", STORE_STRING }, [PROGRAM_PROCESS] = { "process", STORE_STRING },
	[PROGRAM_COMM] = { "comm", STORE_STRING }, [PROGRAM_CGROUP] = { "cgroup", STORE_STRING },
	[PROGRAM_UID] = { "uid", STORE_U32 },      [PROGRAM_THREADS] = { "threads", STORE_U64 },
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

/* A program is a thread and a process with a number of its own. */
static struct error *take_program(void *context, const union store_value *row)
{
	struct snapshot_loading *loading = context;
	struct ctprof_snapshot *snapshot = loading->snapshot;
	struct ctprof_thread *thread = snapshot_add_thread(snapshot);
	struct process process = { .uid = { .value = row[PROGRAM_UID].number,
					    .measured = loading->detail == STORE_ROWS &&
							row[PROGRAM_UID].number != UID_UNKNOWN } };
	struct error *err;

	if (!thread)
		return &error_no_memory;
	/* As old as the time is long (snapshot_age_ticks()): rates are those of the time. */
	thread->start_time_clock_ticks = reading_of(0);
	thread->tid = thread->tgid = process.tgid =
		NUMBER_LEAST + (uint32_t)snapshot->threads.count;
	err = set_names(snapshot, row, thread);
	if (!err && !array_push(&snapshot->processes, process))
		err = &error_no_memory;
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

/* The mean of the hosts that measured it: pressure is a part of a host's time. */
static void set_pressure_of(struct psi_half *pressure, const struct store_hosts *hosts,
			    unsigned column, size_t offset)
{
	uint64_t us = 0, measured = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		const struct store_host *host = &hosts->items[i];
		const uint64_t *ns = (const void *)((const char *)host + offset);

		if (!(host->measured >> (column - LOADS_cpu_ns) & 1))
			continue;
		sum_add(&us, *ns / NS_PER_US);
		measured++;
	}
	if (measured)
		pressure->total_usec = reading_of(us / measured);
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

/* --- the whole --- */

static struct error *load(struct snapshot_loading *loading, struct store *store)
{
	struct ctprof_snapshot *snapshot = loading->snapshot;
	struct store_hosts hosts = { 0 };
	struct error *err = store_hosts_read(store, loading->url, &hosts);
	bool has_more = true;

	loading->detail = store_detail_of(loading->url);
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
	if (!err) {
		snapshot->captured_at_unix_ns = reading_of(hosts.end_s * NS_PER_S);
		snapshot_sort(snapshot);
		snapshot->observed_ns = hosts.observed_ns;
		snapshot->longest_observed_ns = hosts.longest_ns;
	}
	store_hosts_deinit(&hosts);
	return err;
}

struct error *store_snapshot_load(struct store *store, const struct store_url *url,
				  struct ctprof_snapshot **ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	struct snapshot_loading loading = { .url = url };
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
		if (metrics[i].kind == KIND_TOTAL && metric_set_has(&record->measured, i))
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
