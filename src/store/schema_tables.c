/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/schema_tables.h"

#include "metric/metric.h"

/* ENGINE(table, engine, lifetime, time, partitioned) */
#define SCHEMA_ENGINES(ENGINE)                                                 \
	ENGINE(samples, "MergeTree", RAW, "t", true)                           \
	ENGINE(stacks, "ReplacingMergeTree(seen)", HOUR, "seen", false)        \
	ENGINE(states, "MergeTree", RAW, "t", true)                            \
	ENGINE(threads, "MergeTree", RAW, "t", true)                           \
	ENGINE(hosts, "ReplacingMergeTree(seen)", HOUR, "seen", false)         \
	ENGINE(loads, "MergeTree", MINUTE, "t", true)                          \
	ENGINE(cgroups, "MergeTree", RAW, "t", true)                           \
	ENGINE(cgroup_labels, "ReplacingMergeTree(seen)", HOUR, "seen", false) \
	ENGINE(losses, "MergeTree", HOUR, "t", true)

static const struct {
	const char *engine;
	enum store_keep keep;
	const char *time;
	bool is_partitioned;
} engines[STORE_TABLE_COUNT] = {
#define ENGINE_ROW(table, engine, keep, time, partitioned) \
	[STORE_TABLE_##table] = { engine, STORE_KEEP_##keep, time, partitioned },
	SCHEMA_ENGINES(ENGINE_ROW)
};

static const struct store_column version_columns[] = { { "version", STORE_U32 },
						       { "changed", STORE_TIME },
						       { "program", STORE_STRING } };
static const struct store_column metric_columns[] = { { "number", STORE_U8 },
						      { "name", STORE_STRING } };

const struct server_table schema_own_tables[SCHEMA_TABLES] = {
	[SCHEMA_TABLE_VERSION] = { "schema_version", version_columns, array_length(version_columns),
				   "MergeTree", "version", 0, NULL, false },
	[SCHEMA_TABLE_METRICS] = { "metrics", metric_columns, array_length(metric_columns),
				   "ReplacingMergeTree", "number", 0, NULL, false },
};

struct server_table schema_table(enum store_table_id id)
{
	const struct store_table *table = store_table(id);

	return (struct server_table){
		.name = table->name,
		.columns = table->columns,
		.count = table->count,
		.engine = engines[id].engine,
		.order = table->order,
		.keep = engines[id].keep,
		.time = engines[id].time,
		.is_partitioned = engines[id].is_partitioned,
	};
}

/* --- sums --- */

/* The columns of a table whose rows are summed up, by the place in their table. */
static bool samples_sum(size_t place, struct sum_column *column)
{
	column->is_key = place < SAMPLES_ns;
	if (!column->is_key)
		column->column.type = STORE_SUM64;
	return place != SAMPLES_longest_ns;
}

static bool states_sum(size_t place, struct sum_column *column)
{
	column->is_key = place < STATES_COUNT;
	return place != STATES_ms && place != STATES_threads;
}

static bool threads_sum(size_t place, struct sum_column *column)
{
	switch (place) {
	case THREADS_ms:
		column->column = (struct store_column){ "active_ms", STORE_SUM64 };
		column->expression = "ms";
		return true;
	case THREADS_tgid:
	case THREADS_tid:
	case THREADS_uid:
	case THREADS_started:
		return false;
	default:
		column->is_key = place < THREADS_COUNT;
		return column->is_key || metrics[place - THREADS_COUNT].kind == KIND_TOTAL;
	}
}

static const struct {
	enum store_table_id source;
	/* Returns whether the column has a place in the sums. */
	bool (*sum)(size_t place, struct sum_column *column);
	const char *order;
	struct {
		const char *name, *span;
	} spans[2];
} sum_rows[] = {
	{ STORE_TABLE_samples,
	  samples_sum,
	  "host, process, comm, class, state, stack, cgroup, t, facts",
	  { { "samples_1m", "toStartOfMinute" }, { "samples_1h", "toStartOfHour" } } },
	{ STORE_TABLE_states,
	  states_sum,
	  "host, process, comm, cgroup, t, facts",
	  { { "states_1m", "toStartOfMinute" }, { "states_1h", "toStartOfHour" } } },
	{ STORE_TABLE_threads,
	  threads_sum,
	  "host, process, comm, cgroup, measured0, measured1, t, facts",
	  { { "threads_1m", "toStartOfMinute" }, { "threads_1h", "toStartOfHour" } } },
};

void schema_sums_deinit(struct schema_sums *sums)
{
	free(sums->columns);
	free(sums->sums);
}

#define SPANS array_length(sum_rows->spans)

static enum store_keep keep_of_span(size_t span)
{
	return span == 0 ? STORE_KEEP_MINUTE : STORE_KEEP_HOUR;
}

bool schema_keep_of(struct text name, enum store_keep *ret)
{
	for (unsigned id = 0; id < STORE_TABLE_COUNT; id++)
		if (text_equal(name, text_of(store_table(id)->name))) {
			*ret = engines[id].keep;
			return true;
		}
	for (size_t i = 0; i < schema_sums_count(); i++)
		if (text_equal(name, text_of(sum_rows[i / SPANS].spans[i % SPANS].name))) {
			*ret = keep_of_span(i % SPANS);
			return true;
		}
	return false;
}

bool schema_has_sums(const struct store_table *table)
{
	for (size_t i = 0; i < array_length(sum_rows); i++)
		if (store_table(sum_rows[i].source) == table)
			return true;
	return false;
}

size_t schema_sums_count(void)
{
	return array_length(sum_rows) * SPANS;
}

struct error *schema_sums_init(struct schema_sums *sums, size_t number)
{
	const size_t row = number / SPANS, span = number % SPANS;
	const struct store_table *source = store_table(sum_rows[row].source);
	size_t count = 0;

	*sums = (struct schema_sums){
		.columns = calloc(source->count, sizeof(*sums->columns)),
		.sums = calloc(source->count, sizeof(*sums->sums)),
		.source = source->name,
		.span = sum_rows[row].spans[span].span,
	};
	if (!sums->columns || !sums->sums)
		return &error_no_memory;
	for (size_t place = 0; place < source->count; place++) {
		struct sum_column column = { .column = source->columns[place] };

		if (!sum_rows[row].sum(place, &column))
			continue;
		sums->columns[count] = column.column;
		sums->sums[count++] = column;
	}
	sums->table = (struct server_table){
		.name = sum_rows[row].spans[span].name,
		.columns = sums->columns,
		.count = count,
		.engine = "SummingMergeTree",
		.order = sum_rows[row].order,
		.keep = keep_of_span(span),
		.time = "t",
		.is_partitioned = true,
	};
	return NULL;
}
