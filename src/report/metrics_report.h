/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `ctprof show` and `ctprof compare` print: tables with a row for each group and metric, why
 * something was not measured, and which groups are on one side only.
 */
#ifndef REPORT_METRICS_REPORT_H
#define REPORT_METRICS_REPORT_H

#include <stdio.h>

#include "report/rows.h"

struct report_options {
	const struct group_axis *axis;
	struct metric_set metrics;     /* rows to show ... */
	uint32_t derived;              /* ... and derived ones, a bit for each */
	bool metrics_named;            /* the user named them: show unmeasured ones too */
	unsigned sections;             /* a bit for each enum metric_section */
	struct report_columns columns; /* none: the usual ones */
	struct {
		ARRAY(const char *);
	} match;       /* globs, one of which a group's name matches; none: all */
	bool all_rows; /* rows of nothing measured, and unchanged ones, too */
	size_t limit;  /* rows of a table; 0: all */
	bool colour;
};

/* Releases what options hold. */
void report_options_deinit(struct report_options *options);

/* A snapshot and the name of its file. */
struct report_side {
	const struct ctprof_snapshot *snapshot;
	const char *name;
};

/* When the options select nothing, the report says so. */
struct error *report_show(FILE *out, struct report_side side,
			  const struct report_options *options) MUST_CHECK;

struct error *report_compare(FILE *out, struct report_side baseline, struct report_side candidate,
			     const struct report_options *options) MUST_CHECK;

#endif
