/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of the table of threads, as sums of groups of its rows, and the threads of a snapshot
 * that are made of them.
 */
#ifndef STORE_THREAD_ROWS_H
#define STORE_THREAD_ROWS_H

#include "snapshot/model.h"
#include "store/query.h"

/* The columns that metrics have in an answer: first the two sets of measured metrics, then each
 * metric that has values. */
#define THREAD_ROW_COLUMNS_MOST (2 + METRIC_COUNT)

struct thread_columns {
	struct store_column items[THREAD_ROW_COLUMNS_MOST];
	enum metric_id metrics[THREAD_ROW_COLUMNS_MOST]; /* of those behind the sets */
	size_t count;
};

/* The columns, for store_query(). Of sums (store/spans.h) there are only totals. */
void thread_columns_init(struct thread_columns *columns, bool only_totals);

/* The metrics that rows neither have nor tell. */
struct metric_set thread_columns_lacking(void);

/* Add their names: ", measured0, ..., run_time_ns". */
void thread_columns_add_names(const struct thread_columns *columns, struct sql *sql);

/* Add their expressions over groups of rows: ", groupBitOr(measured0), ..., sum(run_time_ns)". */
void thread_columns_add(const struct thread_columns *columns, struct sql *sql);

/* Set the record of a thread from the values of these columns. */
struct error *thread_columns_take(const struct thread_columns *columns,
				  const union store_value *values, struct ctprof_snapshot *snapshot,
				  struct ctprof_thread *thread) MUST_CHECK;

/* The name of a thread, process or cgroup in a snapshot. */
struct error *thread_row_name(struct ctprof_snapshot *snapshot, struct text text,
			      const struct name **ret) MUST_CHECK;

#endif
