/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a report: one number of one group, on one side or on two.
 */
#ifndef COMPARE_ROW_H
#define COMPARE_ROW_H

#include "base/array.h"
#include "compare/view.h"
#include "metric/datum.h"
#include "metric/metric.h"

/* The quantity of a row. */
struct measure {
	const char *name;
	unsigned number; /* in the order of the registry */
	enum unit unit;
	enum section section;
	unsigned kind;               /* keeps numbers of one name in one section apart */
	bool is_total;               /* it only grows: has a rate, and a share of the host's */
	bool is_ratio;               /* no percentages of it: its difference says it */
	const char *per;             /* what its values are divided by: "/s"; NULL: nothing */
	bool is_signed;              /* its readings are two's complement */
	const struct metric *metric; /* whose tags it has; NULL */
};

/* Is it a metric of threads, raw or derived? Those come first in the order of the registry. */
static inline bool measure_is_metric(const struct measure *measure)
{
	return measure->number < METRIC_COUNT + DERIVED_COUNT;
}

static inline bool measure_is_derived(const struct measure *measure)
{
	return measure_is_metric(measure) && measure->number >= METRIC_COUNT;
}

/* A number that is the name of something, such as a CPU: two of them have no difference. */
static inline bool measure_is_label(const struct measure *measure)
{
	return measure->metric && measure->metric->is_label;
}

/* The test of a row over several captures of each side. */
struct significance {
	size_t before_count, after_count;   /* independent values */
	double before_spread, after_spread; /* standard deviations; NaN of one value */
	double p;                           /* adjusted for all rows; above 1: not tested */
};

struct row {
	const struct measure *measure;
	const struct name *group; /* NULL in sections without groups */
	uint32_t number;          /* of the group, in the order groups are shown in */
	uint32_t threads_before, threads_after;
	struct datum before, after; /* one snapshot: `after` */
	struct datum_change change;
	bool has_rate_before, has_host_share;
	double rate_before; /* of a total in a window: per second, before the baseline */
	double host_share;  /* of the change of the whole host */
	const struct significance *significance; /* NULL: one capture on each side */
};

/* Does a thread have more time in it than there was (impossible.h), on either side? */
static inline bool row_is_impossible(const struct row *row)
{
	return row->before.impossible || row->after.impossible;
}

/* Rows of one dimension, ordered among each other; tables put an empty line between two. */
struct row_group {
	ARRAY(struct row);
	size_t left_out; /* rows that the limit cut */
};

/* Dimensions, and at last rows without a difference. */
enum { ROW_GROUP_NO_NUMBER = DIMENSIONS, ROW_GROUP_COUNT };

/* A table of a report: the rows of one section. */
struct report_section {
	enum section id; /* whose heading and subject it has */
	bool by_group;   /* rows stand as they came, all in the first group */
	struct row_group row_groups[ROW_GROUP_COUNT]; /* by dimension; the first alone when ranked
							 across dimensions */
	const struct name *last_group;                /* of those by group */
	uint32_t last_number;
	size_t groups, groups_left_out;
	size_t telling;   /* rows that changed, or of one snapshot all: also those that were cut */
	bool any_value;   /* some row had one, shown or not */
	size_t unchanged; /* rows that people are not shown because both sides are the same */
	size_t blank;     /* also not shown: derived metrics without a value in the window */
};

void report_section_deinit(struct report_section *section);

/* Take in a row, unless the view hides it; its change is that of a comparison when `comparing`.
 * False without memory. */
bool report_section_add(struct report_section *section, const struct view *view, bool comparing,
			struct row row);

/* Order the rows and cut to the limit. */
void report_section_finish(struct report_section *section, const struct view *view);

static inline size_t report_section_rows(const struct report_section *section)
{
	size_t count = 0;

	for (size_t i = 0; i < ROW_GROUP_COUNT; i++)
		count += section->row_groups[i].count;
	return count;
}

#endif
