/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a time: all rows, or sums by minute and hour (store/schema.h) where the time has whole
 * ones, with the rows themselves at its ends. Totals are the same either way. Sums lack what cannot
 * be summed up, and are kept longer than rows.
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

/* Rows up to two hours: they say more. */
enum store_detail store_detail_of(const struct store_url *url);

/*
 * What to read where there was nothing: sums, which are kept longer, if the kept rows of this table
 * begin after the time. `*ret_more` false: nothing else, as rows of the time would still be there.
 */
struct error *store_detail_next(struct store *store, const struct store_url *url, const char *table,
				enum store_detail *detail, bool *ret_more) MUST_CHECK;

struct store_span {
	const char *suffix; /* of the table: "", "_1m", "_1h" */
	uint64_t from_s, to_s;
};

/* hours in the middle, minutes at both sides, rows at both ends */
#define STORE_SPANS_MAX 5

/* Divide from_s <= t < to_s, in the order of time. Returns how many there are. */
size_t store_spans(uint64_t from_s, uint64_t to_s, enum store_detail detail,
		   struct store_span ret[STORE_SPANS_MAX]);

/* Add a subquery in parentheses: expressions over the rows that the URL selects, of a table that
 * has sums. `of_sums` is used for rows at the ends of sums, too. */
struct store_rows {
	const char *table, *of_rows, *of_sums;
	unsigned selectors;
};
void sql_add_rows(struct sql *sql, const struct store_url *url, enum store_detail detail,
		  const struct store_rows *rows);

/* Add "t >= ... AND t < ..." and the selection, for a table without sums. */
void sql_add_time(struct sql *sql, const struct store_url *url, unsigned selectors);

#endif
