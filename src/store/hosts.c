/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "snapshot/timestamp.h"
#include "store/spans.h"

#define HOSTS_MOST UINT64_C(100000)
#define NS_PER_MS  UINT64_C(1000000)

/* --- reading --- */

enum load_column {
	LOAD_HOST,
	LOAD_MS,
	LOAD_THREADS,
	LOAD_AGENT,
	LOAD_BPF,
	LOAD_CPU,
	LOAD_MEMORY,
	LOAD_MEMORY_FULL,
	LOAD_IO,
	LOAD_IO_FULL,
	LOAD_IRQ_FULL,
	LOAD_MEASURED,
	LOAD_COLUMNS
};

static const struct store_column load_columns[LOAD_COLUMNS] = {
	[LOAD_HOST] = { "host", STORE_STRING },
	[LOAD_MS] = { "ms", STORE_U64 },
	[LOAD_THREADS] = { "threads", STORE_U64 },
	[LOAD_AGENT] = { "agent_cpu_ns", STORE_U64 },
	[LOAD_BPF] = { "bpf_ns", STORE_U64 },
	[LOAD_CPU] = { "cpu_some_ns", STORE_U64 },
	[LOAD_MEMORY] = { "memory_some_ns", STORE_U64 },
	[LOAD_MEMORY_FULL] = { "memory_full_ns", STORE_U64 },
	[LOAD_IO] = { "io_some_ns", STORE_U64 },
	[LOAD_IO_FULL] = { "io_full_ns", STORE_U64 },
	[LOAD_IRQ_FULL] = { "irq_full_ns", STORE_U64 },
	[LOAD_MEASURED] = { "measured", STORE_U64 },
};

enum fact_column {
	FACT_HOST,
	FACT_CPUS,
	FACT_MEMORY,
	FACT_KERNEL,
	FACT_ARCH,
	FACT_MODEL,
	FACT_COLUMNS
};

static const struct store_column fact_columns[FACT_COLUMNS] = {
	[FACT_HOST] = { "host", STORE_STRING },  [FACT_CPUS] = { "cpus", STORE_U32 },
	[FACT_MEMORY] = { "memory", STORE_U64 }, [FACT_KERNEL] = { "kernel", STORE_STRING },
	[FACT_ARCH] = { "arch", STORE_STRING },  [FACT_MODEL] = { "cpu_model", STORE_STRING },
};

static void host_deinit(struct store_host *host)
{
	free(host->name);
	free(host->kernel);
	free(host->arch);
	free(host->cpu_model);
}

static struct error *take_load(void *context, const union store_value *values)
{
	struct store_hosts *hosts = context;
	struct store_host host = {
		.name = text_safe_copy(values[LOAD_HOST].text),
		.threads = values[LOAD_THREADS].number,
		.agent_cpu_ns = values[LOAD_AGENT].number,
		.bpf_ns = values[LOAD_BPF].number,
		.cpu = { .some_ns = values[LOAD_CPU].number },
		.memory = { values[LOAD_MEMORY].number, values[LOAD_MEMORY_FULL].number },
		.io = { values[LOAD_IO].number, values[LOAD_IO_FULL].number },
		.irq = { .full_ns = values[LOAD_IRQ_FULL].number },
		.measured = values[LOAD_MEASURED].number,
		.kernel = strdup(""),
		.arch = strdup(""),
		.cpu_model = strdup(""),
	};

	if (__builtin_mul_overflow(values[LOAD_MS].number, NS_PER_MS, &host.observed_ns))
		host.observed_ns = UINT64_MAX;
	if (!host.name || !host.kernel || !host.arch || !host.cpu_model ||
	    !array_push(hosts, host)) {
		host_deinit(&host);
		return &error_no_memory;
	}
	sum_add(&hosts->observed_ns, host.observed_ns);
	if (host.observed_ns > hosts->longest_ns)
		hosts->longest_ns = host.observed_ns;
	return NULL;
}

static struct error *read_loads(struct store *store, const struct store_url *url,
				struct store_hosts *hosts)
{
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql, "SELECT toString(host), sum(ms), toUInt64(max(threads)), sum(agent_cpu_ns), "
		      "sum(bpf_ns), sum(cpu_some_ns), sum(memory_some_ns), sum(memory_full_ns), "
		      "sum(io_some_ns), sum(io_full_ns), sum(irq_full_ns), groupBitOr(measured) "
		      "FROM loads WHERE ");
	sql_add_time(&sql, url, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY host");
	err = store_query(store, &sql, load_columns, LOAD_COLUMNS, HOSTS_MOST, take_load, hosts);
	sql_deinit(&sql);
	return err;
}

/* Sums by hour are kept longer than loads. Where loads are gone, a host counts as observed in each
 * hour that it has sums of. */
static struct error *read_hours(struct store *store, const struct store_url *url,
				struct store_hosts *hosts)
{
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql, "SELECT toString(host), toUInt64(uniqExact(t) * 3600000)");
	for (size_t i = LOAD_THREADS; i < LOAD_COLUMNS; i++)
		sql_add(&sql, ", toUInt64(0)");
	sql_add(&sql, " FROM ");
	sql_add_rows(&sql, url, STORE_HOURS,
		     &(struct store_rows){ "states", "host, t", "host, t", SQL_SELECT_HOSTS });
	sql_add(&sql, " GROUP BY host");
	err = store_query(store, &sql, load_columns, LOAD_COLUMNS, HOSTS_MOST, take_load, hosts);
	sql_deinit(&sql);
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct store_host *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static struct error *set_text(char **text, struct text value)
{
	char *copy = text_safe_copy(value);

	if (!copy)
		return &error_no_memory;
	free(*text);
	*text = copy;
	return NULL;
}

/* Hosts that have facts but no load in this time are left out. */
static struct error *take_facts(void *context, const union store_value *values)
{
	struct store_hosts *hosts = context;
	_cleanup_free_ char *name = text_safe_copy(values[FACT_HOST].text);
	const struct store_host key = { .name = name };
	struct store_host *host;
	struct error *err;

	if (!name)
		return &error_no_memory;
	host = bsearch(&key, hosts->items, hosts->count, sizeof(key), by_name);
	if (!host)
		return NULL;
	host->cpus = (uint32_t)values[FACT_CPUS].number;
	host->memory_bytes = values[FACT_MEMORY].number;
	err = set_text(&host->kernel, values[FACT_KERNEL].text);
	if (!err)
		err = set_text(&host->arch, values[FACT_ARCH].text);
	return err ? err : set_text(&host->cpu_model, values[FACT_MODEL].text);
}

static struct error *read_facts(struct store *store, const struct store_url *url,
				struct store_hosts *hosts)
{
	struct sql sql = store_sql(store);
	struct error *err;

	qsort(hosts->items, hosts->count, sizeof(*hosts->items), by_name);
	sql_add(&sql, "SELECT toString(host), argMax(cpus, seen), argMax(memory_bytes, seen), "
		      "argMax(toString(kernel), seen), argMax(toString(arch), seen), "
		      "argMax(toString(cpu_model), seen) FROM hosts WHERE 1");
	sql_add_selection(&sql, url, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY host");
	err = store_query(store, &sql, fact_columns, FACT_COLUMNS, HOSTS_MOST, take_facts, hosts);
	sql_deinit(&sql);
	return err;
}

struct error *store_hosts_read(struct store *store, const struct store_url *url,
			       struct store_hosts *ret)
{
	struct store_hosts hosts = { 0 };
	enum store_detail detail = STORE_ROWS;
	struct error *err = read_loads(store, url, &hosts);
	bool has_more = false;

	if (!err && !hosts.count)
		err = store_detail_next(store, url, "loads", &detail, &has_more);
	if (!err && !hosts.count && has_more)
		err = read_hours(store, url, &hosts);
	if (!err && !hosts.count)
		err = store_nothing(store, url, "loads");
	if (!err)
		err = read_facts(store, url, &hosts);
	if (err) {
		store_hosts_deinit(&hosts);
		return err;
	}
	*ret = hosts;
	return NULL;
}

void store_hosts_deinit(struct store_hosts *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		host_deinit(&hosts->items[i]);
	array_deinit(hosts);
}

/* --- words --- */

char *store_hosts_words(const struct store_hosts *hosts)
{
	return hosts->count == 1 ? strdup(hosts->items[0].name)
				 : text_print("%zu hosts", hosts->count);
}

static const char *text_at(const struct store_host *host, size_t offset)
{
	return *(char *const *)(const void *)((const char *)host + offset);
}

static const char *common(const struct store_hosts *hosts, size_t offset)
{
	const char *text = text_at(&hosts->items[0], offset);

	for (size_t i = 1; i < hosts->count; i++)
		if (strcmp(text, text_at(&hosts->items[i], offset)) != 0)
			return NULL;
	return *text ? text : NULL;
}

const char *store_hosts_kernel(const struct store_hosts *hosts)
{
	return common(hosts, offsetof(struct store_host, kernel));
}

const char *store_hosts_arch(const struct store_hosts *hosts)
{
	return common(hosts, offsetof(struct store_host, arch));
}

const char *store_hosts_cpu_model(const struct store_hosts *hosts)
{
	return common(hosts, offsetof(struct store_host, cpu_model));
}

uint64_t store_hosts_cpus(const struct store_hosts *hosts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < hosts->count; i++)
		sum_add(&sum, hosts->items[i].cpus);
	return sum;
}

uint64_t store_hosts_memory(const struct store_hosts *hosts)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < hosts->count; i++)
		sum_add(&sum, hosts->items[i].memory_bytes);
	return sum;
}

/* --- nothing --- */

#define NAMED_MOST 6

/* What there is: names, and when. */
struct there {
	char names[400];
	size_t length, shown;
	uint64_t count;
	uint64_t first_s, last_s;
};

static struct error *take_there(void *context, const union store_value *values)
{
	struct there *there = context;
	_cleanup_free_ char *name = text_safe_copy(values[0].text);
	int length;

	if (!name)
		return &error_no_memory;
	there->count++;
	if (!there->first_s || values[1].number < there->first_s)
		there->first_s = values[1].number;
	if (values[2].number > there->last_s)
		there->last_s = values[2].number;
	if (there->shown == NAMED_MOST)
		return NULL;
	length = snprintf(there->names + there->length, sizeof(there->names) - there->length,
			  "%s%.40s", there->shown ? ", " : "", *name ? name : "\"\"");
	there->shown++;
	if (length > 0)
		there->length += (size_t)length;
	return NULL;
}

static struct error *find_there(struct store *store, const struct store_url *url, bool in_time,
				const char *table, const char *column, struct there *ret)
{
	static const struct store_column columns_there[] = { { "name", STORE_STRING },
							     { "first", STORE_TIME },
							     { "last", STORE_TIME } };
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql, "SELECT toString(%s), min(t), max(t) FROM %s WHERE ", column, table);
	if (in_time)
		sql_add_time(&sql, url, SQL_SELECT_HOSTS);
	else
		sql_add(&sql, "1");
	sql_add(&sql, " GROUP BY %s ORDER BY count() DESC, %s LIMIT 1000", column, column);
	*ret = (struct there){ 0 };
	err = store_query(store, &sql, columns_there, array_length(columns_there), 1000, take_there,
			  ret);
	sql_deinit(&sql);
	return err;
}

static void print_more(struct there *there)
{
	if (there->count > there->shown)
		snprintf(there->names + there->length, sizeof(there->names) - there->length,
			 " and %" PRIu64 "%s more", there->count - there->shown,
			 there->count == 1000 ? " or" : "");
}

/* "2026-11-20T12:30:05Z". */
struct stamp {
	char text[TIMESTAMP_TEXT_SIZE];
};

static struct stamp stamp_of(uint64_t seconds)
{
	struct stamp stamp;

	timestamp_print(stamp.text, seconds * 1000);
	memcpy(stamp.text + sizeof("2026-11-20T12:30:05") - 1, "Z", 2);
	return stamp;
}

static struct error *no_host(struct store *store, const struct store_url *url)
{
	const struct stamp from = stamp_of(url->from_s), to = stamp_of(url->to_s);
	struct there there;
	struct error *err = find_there(store, url, false, "loads", "host", &there);

	if (err)
		return err;
	if (!there.count)
		return error_coded(ENODATA, "the tables are empty: no agent has sent anything");
	print_more(&there);
	return error_coded(
		ENODATA, "no selected host has rows from %s to %s; the store has %s, from %s to %s",
		from.text, to.text, there.names, stamp_of(there.first_s).text,
		stamp_of(there.last_s).text);
}

/* The error for hosts without rows in the table, or if there are no such hosts. */
static struct error *no_rows_of(struct store *store, const struct store_url *url, const char *table)
{
	struct there there;
	struct error *err = find_there(store, url, true, "loads", "host", &there);

	if (err)
		return err;
	if (!there.count)
		return no_host(store, url);
	return error_coded(ENODATA, "the selected hosts have no rows of %s from %s to %s", table,
			   stamp_of(url->from_s).text, stamp_of(url->to_s).text);
}

struct error *store_nothing(struct store *store, const struct store_url *url, const char *table)
{
	static const enum store_selector order[] = { STORE_SELECT_PROCESS, STORE_SELECT_COMM,
						     STORE_SELECT_CGROUP };
	enum store_selector by = STORE_SELECT_PROCESS;
	struct there there;
	struct error *err;

	if (strcmp(table, "loads") == 0)
		return no_host(store, url);
	for (size_t i = array_length(order); i--;)
		if (url->globs[order[i]].count)
			by = order[i];
	err = find_there(store, url, true, table, store_selector_names[by], &there);
	if (err)
		return err;
	if (!there.count)
		return no_rows_of(store, url, table);
	print_more(&there);
	return error_coded(ENODATA, "no rows of %s match; values of '%s' in this time: %s", table,
			   store_selector_names[by], there.names);
}
