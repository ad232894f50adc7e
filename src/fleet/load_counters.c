/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of threads, and the pressure on hosts. */
#include "fleet/load_rows.h"
#include "fleet/measures.h"
#include "store/tables.h"

/* --- counters --- */

enum { METRICS_MASK0 = FLEET_ROW_VALUES, METRICS_MASK1, METRICS_RUN, METRICS_FIRST };
#define METRICS_MOST 32

static bool is_measured(const union store_value *row, enum metric_id metric)
{
	const unsigned bit = store_metric_bit(metric);

	return row[bit < 64 ? METRICS_MASK0 : METRICS_MASK1].number >> (bit % 64) & 1;
}

/* Which were measured, by a bit for each: these have a base together. */
static uint64_t measured_metrics(const union store_value *row)
{
	uint64_t measured = 0;

	for (size_t i = 0; i < fleet_metric_count; i++)
		measured |= (uint64_t)is_measured(row, fleet_metrics[i].metric) << i;
	return measured;
}

static struct error *take_metrics(void *context, const union store_value *row)
{
	struct fleet_loading *loading = context;
	const double run = (double)row[METRICS_RUN].number * FLEET_SECONDS;
	const uint64_t measured = measured_metrics(row);
	struct error *err;

	if (!is_measured(row, METRIC_run_time_ns) || !measured)
		return NULL;
	err = fleet_add_base(loading, row, FLEET_METRIC, measured, run);
	for (size_t i = 0; !err && i < fleet_metric_count; i++)
		if (measured >> i & 1)
			err = fleet_add_value(loading, row, FLEET_METRIC,
					      text_of(fleet_metrics[i].name), measured,
					      (double)row[METRICS_FIRST + i].number);
	return err;
}

struct error *fleet_load_counters(struct fleet_loading *loading)
{
	struct store_column columns[METRICS_MOST];
	_cleanup_free_ char *names = text_print(
		"host, process, t%s, measured0, measured1, run_time_ns", fleet_more_keys(loading));
	const size_t count = METRICS_FIRST + fleet_metric_count;
	struct sql sql = store_sql(loading->store);
	struct error *err;

	memcpy(columns, fleet_row_columns, sizeof(fleet_row_columns));
	for (size_t i = FLEET_ROW_VALUES; i < count; i++)
		columns[i] = (struct store_column){ "value", STORE_U64 };
	fleet_add_keys(&sql, loading, "process");
	sql_add(&sql, ", measured0, measured1, sum(run_time_ns)");
	for (size_t i = 0; names && i < fleet_metric_count; i++) {
		char *more = text_print("%s, %s", names, fleet_metrics[i].name);

		free(names);
		names = more;
		sql_add(&sql, ", sum(%s)", fleet_metrics[i].name);
	}
	sql_add(&sql, " FROM ");
	if (names)
		sql_add_rows(&sql, loading->url, loading->detail,
			     &(struct store_rows){ "threads", names, names, SQL_SELECTORS_ALL });
	sql_add(&sql, " GROUP BY host, process, slice, measured0, measured1%s",
		fleet_more_keys(loading));
	err = !names ? &error_no_memory
		     : store_query(loading->store, &sql, columns, count, FLEET_ROWS_MOST,
				   take_metrics, loading);
	sql_deinit(&sql);
	return err;
}

/* --- pressure --- */

/* For each pressure, its sum and the length of the intervals in which it was measured, in ms. */
enum { PRESSURE_NS, PRESSURE_MS, PRESSURE_VALUES };

static struct error *take_pressures(void *context, const union store_value *row)
{
	struct fleet_loading *loading = context;
	struct error *err = NULL;

	for (size_t i = 0; !err && i < fleet_pressure_count; i++) {
		const union store_value *values = row + FLEET_ROW_VALUES + i * PRESSURE_VALUES;

		if (!values[PRESSURE_MS].number)
			continue;
		err = fleet_add_base(loading, row, FLEET_HOST, i,
				     (double)values[PRESSURE_MS].number / 1000);
		if (!err)
			err = fleet_add_value(loading, row, FLEET_HOST,
					      text_of(fleet_pressures[i].name), i,
					      (double)values[PRESSURE_NS].number * FLEET_SECONDS);
	}
	return err;
}

struct error *fleet_load_pressures(struct fleet_loading *loading)
{
	struct store_column columns[METRICS_MOST];
	const size_t count = FLEET_ROW_VALUES + fleet_pressure_count * PRESSURE_VALUES;
	struct sql sql;
	struct error *err;

	if (store_url_selects_programs(loading->url))
		return NULL;
	sql = store_sql(loading->store);
	memcpy(columns, fleet_row_columns, sizeof(fleet_row_columns));
	for (size_t i = FLEET_ROW_VALUES; i < count; i++)
		columns[i] = (struct store_column){ "value", STORE_U64 };
	fleet_add_keys(&sql, loading, "''");
	for (size_t i = 0; i < fleet_pressure_count; i++)
		sql_add(&sql, ", sum(%s), sum(ms * bitAnd(bitShiftRight(measured, %u), 1))",
			store_table(STORE_TABLE_loads)->columns[fleet_pressures[i].column].name,
			(unsigned)fleet_pressures[i].column - LOADS_cpu_ns);
	sql_add(&sql, " FROM loads WHERE ");
	sql_add_time(&sql, loading->url, SQL_SELECT_HOSTS);
	sql_add(&sql, " GROUP BY host, slice%s", fleet_more_keys(loading));
	err = store_query(loading->store, &sql, columns, count, FLEET_ROWS_MOST, take_pressures,
			  loading);
	sql_deinit(&sql);
	return err;
}
