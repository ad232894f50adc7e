/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps keys and columns of files to rows of metrics.def.
 *
 * The plan is made once from the table, so a new metric of a known file needs only a row.
 */
#ifndef CAPTURE_PLAN_H
#define CAPTURE_PLAN_H

#include "metric/metric.h"

/* A metric that a key or a column of a file provides. */
struct binding {
	const struct metric *metric;
	const struct metric_source *source;
	struct text key;
	unsigned column;      /* of taskstats, the number of the field */
	bool is_less;         /* the key is what the source takes off ... */
	unsigned difference;  /* ... in this one of the plan's differences */
	struct binding *next; /* with the same hash */
};

#define PLAN_BINDINGS_MAX (2 * METRIC_COUNT)
#define PLAN_SLOTS        64

/* Rows whose value is one key less another. */
#define PLAN_DIFFERENCES_MAX 4

struct plan {
	struct binding bindings[PLAN_BINDINGS_MAX];
	size_t count, difference_count;
	struct binding *keys[SOURCE_COUNT][PLAN_SLOTS]; /* of files of "key: value" */
};

/* Fill a plan in the caller's storage. */
void plan_init(struct plan *plan);

static inline unsigned plan_slot(struct text key)
{
	if (!key.length)
		return 0;
	return ((unsigned)key.length * 5 + (unsigned char)key.bytes[0] * 3 +
		(unsigned char)key.bytes[key.length - 1]) %
	       PLAN_SLOTS;
}

/* The chain in which bindings of this key are, among others: compare. */
static inline const struct binding *plan_chain(const struct plan *plan,
					       enum metric_source_id source, struct text key)
{
	return plan->keys[source][plan_slot(key)];
}

#endif
