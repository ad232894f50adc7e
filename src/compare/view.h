/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder compare/: groups, pairs and typed rows. sides assigns a key on an axis to each thread
 * of all snapshots; group sorts threads into runs by key; the report sums up each run once, front
 * to back, and pairs it with the other side. A change needs both sides measured. Rows are computed
 * first, and formatted by other folders.
 *
 * Varying names (of threads, instances, cgroups) are matched only here. A window restricts both
 * sides to their common threads. Waits in progress are added only when threads are summed up;
 * amounts per event never include them. Captures of one boot are compared by the differences
 * between them, since counters only grow: with Welch's test, adjusted by Benjamini and Hochberg
 * (150 lines here; GSL's licence would bind the program). --normalize divides 128-bit integers,
 * since a long double has other digits on other machines.
 */

/*
 * A view of one or two snapshots: the options of show, compare and diff that decide which rows
 * there are, and their numbers. Their form is up to the report.
 */
#ifndef COMPARE_VIEW_H
#define COMPARE_VIEW_H

#include "base/condition_text.h"
#include "base/units.h"
#include "compare/axis.h"
#include "compare/group.h"
#include "metric/section.h"

/* Totals may be divided by what the threads had. */
enum normalize { NORMALIZE_NOT, NORMALIZE_AGE, NORMALIZE_CPU };

enum order {
	ORDER_USUAL,        /* by change in each dimension, sleep last; of one snapshot, by group */
	ORDER_DELTA,        /* by change in each dimension */
	ORDER_PERCENT,      /* by change as a share of the baseline */
	ORDER_SHARE,        /* by change as a share of the host's change of that metric */
	ORDER_SIGNIFICANCE, /* by how sure the difference is, of several captures */
	ORDER_GROUPS,       /* groups by `sort` */
};

/* A metric, or a derived one when it is METRIC_COUNT or more. */
struct sort_key {
	unsigned metric;
	bool ascending;
};

#define SORT_KEYS_MAX 8

/* A metric is judged: `group` is a glob, NULL for all. */
struct condition {
	const char *text; /* as the user wrote it */
	char *group;      /* allocated */
	unsigned metric;  /* as in sort_key */
	enum condition_operator operator;
	struct amount bound;
};

struct patterns {
	ARRAY(const char *);
};

struct view {
	const struct group_axis *axis;
	struct key_rules keys;
	struct selection metrics; /* rows of groups of threads */
	bool metrics_named;       /* the user chose them: show them unmeasured too */
	unsigned sections;        /* a bit for each enum section */
	bool sections_named;
	struct patterns match, not_match; /* globs over names of groups */
	bool all_rows;                    /* also where there is nothing on either side */
	bool unmeasured;                  /* name what was not measured, and why */
	bool changed;                     /* only what is not the same */
	bool people;                      /* made to be read: hides and folds what adds nothing */
	double min_delta[DIMENSIONS];     /* in the smallest unit; 0: any */
	double min_percent;
	bool window;              /* only threads that both have */
	bool births;              /* in a window: also what threads did that began in it */
	bool rate;                /* changes per second */
	enum normalize normalize; /* of totals of threads */
	bool completed_only;      /* without waits in progress (waits.h) */
	bool overview;            /* make an overview (overview.h) */
	bool shares;              /* find each row's share of the host's change */
	bool rates;               /* find how fast the totals of a window grew before it */
	enum order order;
	struct sort_key sort[SORT_KEYS_MAX]; /* of ORDER_GROUPS */
	size_t sort_count;
	size_t limit; /* rows of a row group, or groups of threads where they are ranked; 0: all */
	struct {
		ARRAY(struct condition);
	} conditions;
};

/* The default view: all threads by process, without rows that carry no information. */
void view_init(struct view *view);

void view_deinit(struct view *view);

/* Leave rows of waits in progress out of a comparison unless they were requested: they are part of
 * totals anyway, and the sleep of each idle group would be the top row. */
void view_hide_waits(struct view *view);

/* Is it the group of ctprof's own threads? NULL is not. */
bool view_is_own(const struct name *group);

/* Is a group of this name wanted? */
bool view_matches(const struct view *view, const struct name *group);

#endif
