/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "fleet/load_rows.h"
#include "fleet/measures.h"

enum { STATES_FIRST = FLEET_ROW_VALUES, STATES_END = STATES_FIRST + STATE_COUNT };

const char *const fleet_state_columns[STATE_COUNT] = {
#define STATE_COLUMN(id, main, name, ...) [STATE_##id] = name "_ns",
	THREAD_STATES(STATE_COLUMN)
#undef STATE_COLUMN
};

static double sum_of_states(const union store_value *row, unsigned states)
{
	double sum = 0;

	for (unsigned i = 0; i < STATE_COUNT; i++)
		if (states & 1u << i)
			sum += (double)row[STATES_FIRST + i].number;
	return sum * FLEET_SECONDS;
}

#define OF(id) (1u << STATE_##id)

static struct error *take_states(void *context, const union store_value *row)
{
	struct fleet_loading *loading = context;
	const double all = sum_of_states(row, (1u << STATE_COUNT) - 1);
	const double busy = sum_of_states(row, FLEET_BUSY);
	struct error *err = fleet_add_base(loading, row, FLEET_STATE, 0, busy);

	if (!err)
		err = fleet_add_base(loading, row, FLEET_WAIT, 0, all);
	for (size_t i = 0; !err && i < fleet_state_count; i++)
		err = fleet_add_value(loading, row, fleet_states[i].kind,
				      text_of(fleet_states[i].name), 0,
				      sum_of_states(row, fleet_states[i].states));
	return err;
}

/* "a, b", or "sum(a), sum(b)"; to be freed. */
static char *state_list(const char *before, const char *after)
{
	char *list = NULL;
	size_t length;
	FILE *out = open_memstream(&list, &length);

	if (!out)
		return NULL;
	for (unsigned i = 0; i < STATE_COUNT; i++)
		fprintf(out, ", %s%s%s", before, fleet_state_columns[i], after);
	if (fclose(out) == 0)
		return list;
	free(list);
	return NULL;
}

struct error *fleet_load_states(struct fleet_loading *loading)
{
	struct store_column columns[STATES_END];
	_cleanup_free_ char *sums = state_list("sum(", ")"), *names = state_list("", "");
	_cleanup_free_ char *rows =
		names ? text_print("host, process, t%s%s", fleet_more_keys(loading), names) : NULL;
	struct sql sql;
	struct error *err;

	if (!sums || !rows)
		return &error_no_memory;
	memcpy(columns, fleet_row_columns, sizeof(fleet_row_columns));
	for (size_t i = FLEET_ROW_VALUES; i < STATES_END; i++)
		columns[i] = (struct store_column){ "sum", STORE_U64 };
	sql = store_sql(loading->store);
	fleet_add_keys(&sql, loading, "process");
	sql_add(&sql, "%s FROM ", sums);
	sql_add_rows(&sql, loading->url, loading->detail,
		     &(struct store_rows){ "states", rows, rows, SQL_SELECTORS_ALL });
	sql_add(&sql, " GROUP BY host, process, slice%s", fleet_more_keys(loading));
	err = store_query(loading->store, &sql, columns, STATES_END, FLEET_ROWS_MOST, take_states,
			  loading);
	sql_deinit(&sql);
	return err;
}
