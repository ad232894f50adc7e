/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A service level objective (SLO) of a metric, and whether it was met:
 *
 *	p99<50us    p99.9<=1ms    max<10ms    mean<3us    count>100    lost<1
 *
 * Slots tell a percentile with bounds only, so there are three answers.
 */
#ifndef KSTATS_SLO_H
#define KSTATS_SLO_H

#include "base/text.h"
#include "kstats/distribution.h"

enum kstats_verdict {
	KSTATS_KEPT,   /* whatever the values in their slots are */
	KSTATS_BROKEN, /* so, too */
	/* The bounds have the limit between them; nothing was recorded; or the limit is a time and
	 * the values are not. */
	KSTATS_UNDECIDED,
};

enum kstats_quantity {
	KSTATS_QUANTITY_PERCENTILE,
	KSTATS_QUANTITY_MAX,
	KSTATS_QUANTITY_MEAN,
	KSTATS_QUANTITY_COUNT,
	KSTATS_QUANTITY_LOST, /* events that are in no slot */
};

/* What is judged of a metric: "p99.9", "max", "mean", "count", "lost". */
struct kstats_aspect {
	enum kstats_quantity quantity;
	double fraction; /* of a percentile, 0 to 1 */
};
bool kstats_aspect_parse(struct text text, struct kstats_aspect *ret);
/* Is it a number of events, whatever the unit of values? */
bool kstats_aspect_is_number(const struct kstats_aspect *aspect);

struct kstats_slo {
	struct kstats_aspect aspect;
	bool is_above; /* > or >=, not < or <= */
	bool or_equal;
	bool is_time; /* the limit was given with a unit of time, and is in ns */
	double limit; /* in the unit of values */
};

/* Limits of `count` and `lost` are numbers; others may be times as well. */
struct error *kstats_slo_parse(struct text text, struct kstats_slo *ret) MUST_CHECK;

/* A measured value, as bounds. Uncounted losses have no upper bound: INFINITY. */
struct kstats_measured {
	double low, high;
};
/* `distribution` is that of all rows of `table`; all 0 where it is empty. */
struct kstats_measured kstats_measure(const struct kstats_aspect *aspect,
				      const struct kstats_table *table,
				      const struct kstats_distribution *distribution);

/* The measured value is written to `ret`, unless it is NULL. */
enum kstats_verdict kstats_slo_judge(const struct kstats_slo *slo, const struct kstats_table *table,
				     const struct kstats_distribution *distribution,
				     struct kstats_measured *ret);

#endif
