/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/tables.h"

#include "base/array.h"
#include "metric/metric.h"
#include "state/state.h"

#define COLUMN(type, name)                { #name, STORE_##type },

#define STATE_COLUMNS                     THREAD_STATES(STATE_COLUMN)
#define STATE_COLUMN(id, main, name, ...) { name "_ns", STORE_SUM64 },

/* Totals are changes, which fill all bits of a number up to its length; others are values at the
 * end of an interval, which seldom change. Labels are texts. */
#define STORE_TYPE_OF(type)                        \
	_Generic((struct type){ 0 }, struct label  \
		 : STORE_TEXT, struct letter       \
		 : STORE_TEXT, struct cpu_set      \
		 : STORE_TEXT, struct flag         \
		 : STORE_U8, struct ordinal_i32    \
		 : STORE_I64, struct total_ns      \
		 : STORE_SUM64, struct total_count \
		 : STORE_SUM64, struct total_bytes \
		 : STORE_SUM64, struct total_ticks \
		 : STORE_SUM64, default            \
		 : STORE_U64)

#define METRIC(type, name, ...) { #name, STORE_TYPE_OF(type) },

static const struct store_column samples_columns[] = { STORE_SAMPLES(COLUMN) };
static const struct store_column stacks_columns[] = { STORE_STACKS(COLUMN) };
static const struct store_column states_columns[] = { STORE_STATES(COLUMN) STATE_COLUMNS };
static const struct store_column threads_columns[] = { STORE_THREADS(COLUMN)
#include "metric/metrics.def"
};
static const struct store_column hosts_columns[] = { STORE_HOSTS(COLUMN) };
static const struct store_column loads_columns[] = { STORE_LOADS(COLUMN) };
static const struct store_column cgroups_columns[] = { STORE_CGROUPS(COLUMN) };
static const struct store_column cgroup_labels_columns[] = { STORE_CGROUP_LABELS(COLUMN) };
static const struct store_column losses_columns[] = { STORE_LOSSES(COLUMN) };

/* A metric without a bit does not compile. */
static const unsigned char metric_bits[METRIC_COUNT] = {
#undef METRIC
#define METRIC(type, name, ...) [METRIC_##name] = STORE_BIT_##name,
#include "metric/metrics.def"
};

unsigned store_metric_bit(unsigned id)
{
	return metric_bits[id];
}

const char *const store_metric_names[STORE_METRIC_COUNT] = {
#define METRIC_NAME(name) #name,
	STORE_METRICS(METRIC_NAME)
};

static const struct store_table tables[] = {
#define TABLE_ROW(name, columns, order) \
	[STORE_TABLE_##name] = { #name, order, name##_columns, array_length(name##_columns) },
	STORE_TABLES(TABLE_ROW)
};

const struct store_table *store_table(enum store_table_id id)
{
	return &tables[id];
}
