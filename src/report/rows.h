/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the tables of metrics: one metric of one group, or of one group on two sides.
 */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include <stdio.h>

#include "base/array.h"
#include "metric/derived.h"
#include "snapshot/group.h"

/* The columns there are: COLUMN(id, name, stands right, usual in show, usual in compare). */
#define REPORT_COLUMNS(COLUMN)                            \
	COLUMN(GROUP, "group", false, true, true)         \
	COLUMN(THREADS, "threads", true, true, true)      \
	COLUMN(METRIC, "metric", false, true, true)       \
	COLUMN(VALUE, "value", true, true, false)         \
	COLUMN(BASELINE, "baseline", true, false, true)   \
	COLUMN(CANDIDATE, "candidate", true, false, true) \
	COLUMN(DELTA, "delta", true, false, true)         \
	COLUMN(PERCENT, "%", true, false, true)           \
	COLUMN(TAGS, "tags", false, false, false)

enum report_column {
#define COLUMN(id, name, right, show, compare) REPORT_##id,
	REPORT_COLUMNS(COLUMN)
#undef COLUMN
		REPORT_COLUMN_COUNT
};

extern const char *const report_column_names[REPORT_COLUMN_COUNT];

/* May this column stand in a table of one snapshot, or of two? (tags may in both.) */
bool report_column_fits(enum report_column column, bool comparing);

/* Which columns, in which order. */
struct report_columns {
	enum report_column ids[REPORT_COLUMN_COUNT];
	size_t count;
};

/* The usual ones. */
struct report_columns report_columns_usual(bool comparing);

struct row {
	const struct group *baseline; /* NULL in a table of one snapshot */
	const struct group *candidate;
	const struct metric *metric; /* one of these two is NULL */
	const struct derived *derived;
	bool has_delta;         /* both sides have a number */
	bool differs;           /* the sides have not the same value */
	unsigned __int128 size; /* of the delta, for ordering rows of one unit and kind */
};

/* No more rows than will be printed are kept, however many groups there are. */
struct rows {
	ARRAY(struct row);
	size_t limit;    /* rows to keep; 0: all */
	size_t left_out; /* rows that were not kept */
};

/* Append a row, unless there are enough. False without memory. */
bool rows_add(struct rows *rows, struct row row);

/* Fill in what the row says of the change. False without memory. */
bool row_find_change(struct row *row);

/* Has the row nothing new to say: both sides are equal, or none has a value? */
static inline bool row_is_unchanged(const struct row *row)
{
	return !row->size && !row->differs;
}

/* Take in a row whose change was found: rows_sort_by_change keeps the first of them. False without
 * memory. */
bool rows_add_by_change(struct rows *rows, struct row row);

/*
 * Order by change: rows of one unit stand together (time is not compared with bytes): times, ticks,
 * bytes, counts, others, and at last those without a number; in each the largest change first.
 */
void rows_sort_by_change(struct rows *rows);

/* Print a table of them, and how many were left out. `group_heading` stands over the groups. */
struct error *rows_print(FILE *out, const struct rows *rows, const struct report_columns *columns,
			 const char *group_heading, bool colour) MUST_CHECK;

#endif
