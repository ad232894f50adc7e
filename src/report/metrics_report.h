/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of `ctprof show` and `ctprof compare`: a row for each group and metric.
 */
#ifndef REPORT_METRICS_REPORT_H
#define REPORT_METRICS_REPORT_H

#include <stdio.h>

#include "snapshot/group.h"

/* The columns there are: COLUMN(id, name, stands right, in show, in compare). */
#define REPORT_COLUMNS(COLUMN)                                                                     \
	COLUMN(GROUP, "group", false, true, true)                                                  \
	COLUMN(THREADS, "threads", true, true, true)                                               \
	COLUMN(METRIC, "metric", false, true, true)                                                \
	COLUMN(VALUE, "value", true, true, false)                                                  \
	COLUMN(BASELINE, "baseline", true, false, true)                                            \
	COLUMN(CANDIDATE, "candidate", true, false, true)                                          \
	COLUMN(DELTA, "delta", true, false, true)                                                  \
	COLUMN(PERCENT, "%", true, false, true)                                                    \
	COLUMN(TAGS, "tags", false, false, false)

enum report_column {
#define COLUMN(id, name, right, show, compare) REPORT_##id,
	REPORT_COLUMNS(COLUMN)
#undef COLUMN
	REPORT_COLUMN_COUNT
};

extern const char *const report_column_names[REPORT_COLUMN_COUNT];

/* May this column stand in `show`, or in `compare`? (tags may in both.) */
bool report_column_fits(enum report_column column, bool comparing);

struct report_options {
	const struct group_axis *axis;
	struct metric_set metrics; /* rows to show ... */
	bool metrics_named;        /* ... because the user named them: unmeasured ones too */
	unsigned sections;         /* a bit for each enum metric_section */
	enum report_column columns[REPORT_COLUMN_COUNT];
	size_t column_count;       /* 0: the usual ones */
	const char *match;         /* glob on group names; NULL: all */
	bool all_rows;             /* rows of nothing measured, and unchanged ones, too */
	size_t limit;              /* rows of a table; 0: all */
	bool colour;
};

struct error *report_show(FILE *out, const struct ctprof_snapshot *snapshot,
			  const struct report_options *options) MUST_CHECK;

/* `baseline_name` and `candidate_name` are the files, for the lists of groups on one side. */
struct error *report_compare(FILE *out, const struct ctprof_snapshot *baseline,
			     const char *baseline_name, const struct ctprof_snapshot *candidate,
			     const char *candidate_name,
			     const struct report_options *options) MUST_CHECK;

#endif
