/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of tables of rows.
 */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "compare/report.h"
#include "report/cell.h"

/* COLUMN(id, name, stands right, in tables of one snapshot, in tables of two, how soon it is left
 * out on a narrow terminal, the highest first; 0: never) */
#define COLUMNS(COLUMN)                                      \
	COLUMN(GROUP, "group", false, true, true, 0)         \
	COLUMN(THREADS, "threads", true, true, true, 3)      \
	COLUMN(METRIC, "metric", false, true, true, 0)       \
	COLUMN(VALUE, "value", true, true, false, 0)         \
	COLUMN(BASELINE, "baseline", true, false, true, 1)   \
	COLUMN(CANDIDATE, "candidate", true, false, true, 0) \
	COLUMN(ARROW, "arrow", false, false, true, 0)        \
	COLUMN(DELTA, "delta", true, false, true, 2)         \
	COLUMN(PERCENT, "%", true, false, true, 0)           \
	COLUMN(SHARE, "share", true, false, true, 0)         \
	COLUMN(PROBABILITY, "p", true, false, true, 0)       \
	COLUMN(TAGS, "tags", false, true, true, 4)

enum column {
#define COLUMN(id, ...) COLUMN_##id,
	COLUMNS(COLUMN)
#undef COLUMN
		COLUMN_COUNT
};

struct column_info {
	const char *name;
	bool right, in_show, in_compare;
	unsigned minor;
};
extern const struct column_info column_infos[COLUMN_COUNT];

/* The displayed columns, in order. */
struct columns {
	enum column ids[COLUMN_COUNT];
	size_t count;
};

/* Usual sets of columns by name: FORMAT(id, name, prose, columns after group, threads, metric) */
#define DISPLAY_FORMATS(FORMAT)                                                               \
	FORMAT(FULL, "full", COLUMN_BASELINE, COLUMN_CANDIDATE, COLUMN_DELTA, COLUMN_PERCENT) \
	FORMAT(DELTA_ONLY, "delta-only", COLUMN_DELTA, COLUMN_PERCENT)                        \
	FORMAT(NO_PERCENT, "no-pct", COLUMN_BASELINE, COLUMN_CANDIDATE, COLUMN_DELTA)         \
	FORMAT(ARROW, "arrow", COLUMN_ARROW, COLUMN_DELTA, COLUMN_PERCENT)                    \
	FORMAT(PERCENT_ONLY, "pct-only", COLUMN_PERCENT)

enum display_format {
#define FORMAT(id, ...) FORMAT_##id,
	DISPLAY_FORMATS(FORMAT)
#undef FORMAT
		DISPLAY_FORMAT_COUNT
};
extern const char *const display_format_names[DISPLAY_FORMAT_COUNT];

/* The columns of a table of one snapshot, or of a comparison in that format. */
struct columns columns_usual(const struct report *report, enum display_format format);

/* The columns of `wanted` that a section has: hosts have no groups, cgroups no threads. */
struct columns columns_of_section(const struct columns *wanted, enum section section);

/* The heading of a column. */
const char *column_heading(const struct report *report, enum section section, enum column column);

/* Do its cells stand at the right, as numbers do? */
bool column_stands_right(enum section section, enum column column);

/* The text of a cell; may point into `buffer` or into the row. */
struct text column_text(char buffer[CELL_MAX], const struct report *report, const struct row *row,
			enum column column);

#endif
