/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the parts of fleet_load() share: the keys of their queries, and whose values a row has.
 */
#ifndef FLEET_LOAD_ROWS_H
#define FLEET_LOAD_ROWS_H

#include "fleet/load.h"
#include "state/state.h"
#include "store/spans.h"

/* More rows than these are an error, which says to ask for less. */
#define FLEET_ROWS_MOST ((uint64_t)20 * 1000 * 1000)

/* Seconds in a nanosecond. */
#define FLEET_SECONDS 1e-9

struct fleet_loading {
	struct store *store;
	const struct store_url *url;
	struct fleet_slices slices;
	uint64_t slice_s; /* how long a slice is */
	enum store_detail detail;
	const struct fleet_parts *parts; /* NULL: hosts are whole */
	struct fleet_data *data;
};

/* Without `data`. `minutes` stays as long: it has the time that is read where slices are not apart.
 */
void fleet_loading_begin(struct fleet_loading *loading, struct store *store,
			 const struct store_url *url, struct fleet_slices slices,
			 const struct fleet_parts *parts, struct store_url *minutes);

/* The columns with which rows begin: for fleet_add_value(). */
enum { FLEET_ROW_HOST, FLEET_ROW_FACTS, FLEET_ROW_PROCESS, FLEET_ROW_SLICE, FLEET_ROW_VALUES };
extern const struct store_column fleet_row_columns[FLEET_ROW_VALUES];

/* The columns of states in tables of states, by enum thread_state: "exec_ns". */
extern const char *const fleet_state_columns[STATE_COUNT];

/* Begin a query: "SELECT " and these columns. `process` is an expression. */
void fleet_add_keys(struct sql *sql, const struct fleet_loading *loading, const char *process);
/* "... AS slice", the number of the slice that a row is in. */
void fleet_add_slice(struct sql *sql, const struct fleet_loading *loading);
/* A subquery of rows of samples. */
void fleet_add_samples(struct sql *sql, const struct fleet_loading *loading,
		       enum store_detail detail);
/* An expression: whether a row of samples is of a CPU, of a wait while the program is busy, or of
 * neither. */
enum { FLEET_SIDE_NONE, FLEET_SIDE_CPU, FLEET_SIDE_OFF };
void fleet_add_function_side(struct sql *sql);
/* ", facts" where they count. */
const char *fleet_more_keys(const struct fleet_loading *loading);

/* The number in `data` of the host or its part that a row is of. False: no memory. `*ret` is
 * FLEET_NONE if the row does not count. */
bool fleet_row_host(const struct fleet_loading *loading, struct fleet_data *data, struct text host,
		    uint64_t facts, uint32_t *ret) MUST_CHECK;

/* The same of a host that `data` has: FLEET_NONE if it has no such host. */
bool fleet_find_row_host(const struct fleet_loading *loading, const struct fleet_data *data,
			 struct text host, uint64_t facts, uint32_t *ret) MUST_CHECK;

/* Adds to a measure of the host and program of a row, and to a base of such measures: for `which`
 * see fleet_data_base(). */
struct error *fleet_add_value(struct fleet_loading *loading, const union store_value *row,
			      enum fleet_kind kind, struct text name, uint64_t which,
			      double amount) MUST_CHECK;
struct error *fleet_add_base(struct fleet_loading *loading, const union store_value *row,
			     enum fleet_kind kind, uint64_t which, double amount) MUST_CHECK;

/* The parts. */
struct error *fleet_load_states(struct fleet_loading *loading) MUST_CHECK;
struct error *fleet_load_counters(struct fleet_loading *loading) MUST_CHECK;
struct error *fleet_load_pressures(struct fleet_loading *loading) MUST_CHECK;
struct error *fleet_load_functions(struct fleet_loading *loading) MUST_CHECK;

#endif
