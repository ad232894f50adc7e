/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "store/no_rows.h"
#include "store/spans.h"

#define HOSTS_MOST UINT64_C(100000)
#define NS_PER_MS  UINT64_C(1000000)

/* --- reading --- */

enum load_column {
	LOAD_HOST,
	LOAD_MS,
	LOAD_FIRST,
	LOAD_END,
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
	LOAD_SPAN, /* in ms, from the first interval to the last; 0: not known */
	LOAD_LONGEST,
	LOAD_COLUMNS
};

static const struct store_column load_columns[LOAD_COLUMNS] = {
	[LOAD_HOST] = { "host", STORE_STRING },
	[LOAD_MS] = { "ms", STORE_U64 },
	[LOAD_FIRST] = { "first", STORE_TIME },
	[LOAD_END] = { "end", STORE_U64 },
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
	[LOAD_SPAN] = { "span", STORE_U64 },
	[LOAD_LONGEST] = { "longest", STORE_U64 },
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

static uint64_t ms_to_ns(uint64_t ms)
{
	uint64_t ns;

	return __builtin_mul_overflow(ms, NS_PER_MS, &ns) ? UINT64_MAX : ns;
}

/* Do the intervals add up to clearly more than passed? `t` is in whole seconds, so up to an
 * interval may be lacking at either end. */
static bool has_two_agents(uint64_t ms, uint64_t span_ms, uint64_t longest_ms)
{
	return span_ms && (double)ms > 1.1 * (double)span_ms + (double)longest_ms;
}

static struct error *take_load(void *context, const union store_value *values)
{
	const uint64_t ms = values[LOAD_MS].number, span_ms = values[LOAD_SPAN].number;
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
		.has_two_agents = has_two_agents(ms, span_ms, values[LOAD_LONGEST].number),
		.intervals_ns = ms_to_ns(ms),
	};

	host.observed_ns = host.has_two_agents ? ms_to_ns(span_ms) : host.intervals_ns;
	if (!host.name || !host.kernel || !host.arch || !host.cpu_model ||
	    !array_push(hosts, host)) {
		host_deinit(&host);
		return &error_no_memory;
	}
	sum_add(&hosts->observed_ns, host.observed_ns);
	if (host.observed_ns > hosts->longest_ns)
		hosts->longest_ns = host.observed_ns;
	if (!hosts->first_s || values[LOAD_FIRST].number < hosts->first_s)
		hosts->first_s = values[LOAD_FIRST].number;
	if (values[LOAD_END].number > hosts->end_s)
		hosts->end_s = values[LOAD_END].number;
	return NULL;
}

static struct error *read_loads(struct store *store, const struct store_url *url,
				struct store_hosts *hosts)
{
	struct sql sql = store_sql(store);
	struct error *err;

	sql_add(&sql,
		"SELECT toString(host), sum(ms), min(t), max(toUInt64(t) + toUInt64(intDiv(ms "
		"+ 999, 1000))), toUInt64(max(threads)), sum(agent_cpu_ns), sum(bpf_ns), "
		"sum(cpu_some_ns), sum(memory_some_ns), sum(memory_full_ns), sum(io_some_ns), "
		"sum(io_full_ns), sum(irq_full_ns), groupBitOr(measured), (toUInt64(max(t)) - "
		"toUInt64(min(t))) * 1000 + toUInt64(max(ms)), toUInt64(max(ms)) FROM loads "
		"WHERE ");
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

	sql_add(&sql, "SELECT toString(host), toUInt64(uniqExact(t) * 3600000), min(t), "
		      "max(toUInt64(t) + toUInt64(3600))");
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

/* --- names that two agents use --- */

#define SHARED_NAMED 8

void store_hosts_note_shared(const struct store_hosts *hosts, FILE *notes)
{
	size_t named = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		if (!hosts->items[i].has_two_agents)
			continue;
		if (named++ == SHARED_NAMED) {
			fprintf(notes, "ctprof: the same is true of other hosts\n");
			return;
		}
		fprintf(notes,
			"ctprof: host %s: its rows add up to more time than passed; it seems that "
			"two agents use this name\n",
			hosts->items[i].name);
	}
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
