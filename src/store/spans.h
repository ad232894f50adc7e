/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which tables a time is read from: the rows themselves; or sums by minute and hour
 * (store/schema.h) for its whole minutes and hours, and rows at its ends. Totals are the same. Sums
 * are smaller and kept longer, but lack what cannot be summed up.
 */
#ifndef STORE_SPANS_H
#define STORE_SPANS_H

#include "store/query.h"

/* What a time is read from. */
enum store_detail {
	STORE_ROWS,    /* rows alone */
	STORE_SUMS,    /* sums, and rows at the ends */
	STORE_MINUTES, /* sums by minute, of all minutes that the time touches */
	STORE_HOURS,   /* the same by hour */
};

/* Rows for up to two hours, since they have all columns; sums for longer times. */
enum store_detail store_detail_of(const struct store_url *url);

/*
 * If a query found no rows, set `*detail` to the next coarser one to try: sums are kept longer.
 * `*ret_more` is false if the table still has older rows than the time asked for, so that coarser
 * sums would be empty, too.
 */
struct error *store_detail_next(struct store *store, const struct store_url *url, const char *table,
				enum store_detail *detail, bool *ret_more) MUST_CHECK;

struct store_span {
	const char *suffix; /* of the table: "", "_1m", "_1h" */
	uint64_t from_s, to_s;
};

/* Hours in the middle, minutes on both sides, rows at both ends. */
#define STORE_SPANS_MAX 5

/* Divide from_s <= t < to_s into spans, in the order of time. Returns their number. */
size_t store_spans(uint64_t from_s, uint64_t to_s, enum store_detail detail,
		   struct store_span ret[STORE_SPANS_MAX]);

/* Add a subquery in parentheses over the rows that the URL selects, of a table that has sums. Its
 * columns are the expressions `of_rows`, or `of_sums` if it reads sums and the rows at their ends.
 */
struct store_rows {
	const char *table, *of_rows, *of_sums;
	unsigned selectors;
};
void sql_add_rows(struct sql *sql, const struct store_url *url, enum store_detail detail,
		  const struct store_rows *rows);

/* Add "t >= ... AND t < ..." and the selection, for a table without sums. */
void sql_add_time(struct sql *sql, const struct store_url *url, unsigned selectors);

#endif
