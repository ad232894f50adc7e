/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the files that make an overview: overview.c, overview_spans.c, which finds
 * the rates of all groups, and overview_memory.c, which finds their memory. All others include
 * overview.h.
 */
#ifndef COMPARE_OVERVIEW_FILL_H
#define COMPARE_OVERVIEW_FILL_H

#include "compare/overview.h"

/* A metric that measures a cause. A cause may have several. */
struct overview_column {
	enum overview_cause cause;
	enum metric_id metric; /* METRIC_COUNT: memory */
};

/* The columns of all causes; columns of one cause are adjacent. */
struct overview_columns {
	struct overview_column items[CAUSE_COUNT * CAUSE_METRICS];
	size_t count;
	size_t first[CAUSE_COUNT + 1]; /* of each cause; the last is `count` */
};

/* Rates of all groups over one span of time. */
struct overview_rates {
	double *of; /* per second, memory in bytes; by key, by column; NaN: not measured */
	size_t columns;
	bool measured[CAUSE_COUNT * CAUSE_METRICS]; /* by column: some group has a value */
};

struct overview_work {
	struct report *report;
	struct overview *overview;
	struct overview_columns columns;
	size_t keys;
	bool *wanted;       /* by key */
	bool *own;          /* by key: all its threads are ctprof's, which was not asked for */
	bool *kernel;       /* by key: all its threads are the kernel's */
	size_t *threads[2]; /* by key, in the last capture of each side */
	struct {
		ARRAY(struct overview_rates);
	} sides[2];        /* before and after, by span */
	struct view piece; /* of a report of one span */
};

static inline double *overview_rate(const struct overview_rates *rates, uint32_t key, size_t column)
{
	return &rates->of[(size_t)key * rates->columns + column];
}

/* Fill in the rates of both sides, the totals, the host, and over what time all that is. Keys are
 * known. */
struct error *overview_take_spans(struct overview_work *work) MUST_CHECK;

/* Fill in the memory of all groups at capture `number` of the report. False without memory. */
bool overview_take_memory(struct overview_work *work, struct overview_rates *rates, size_t number);

/* That of a process, in bytes; NaN: not measured. */
double overview_memory_of(const struct ctprof_thread *leader);

#endif
