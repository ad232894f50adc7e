/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times of threads by state since the start, for /metrics, in a bounded number of series.
 *
 * A group is all threads of one cgroup whose names have one pattern (base/pattern.h). A series is a
 * group and a state in which it has been. When there is no room for all groups, those that are
 * shown are the ones that ran most in the reading in which they were seen first; the time of all
 * others is in GROUPS_OTHER. Groups whose threads have all ended make room when other groups need
 * it, and any group does when metrics of kstats need it: their time so far is then added to
 * GROUPS_ENDED. So nothing is counted twice or lost, the sum over all series is exact, and a series
 * grows until it is removed.
 */
#ifndef SERVE_METRIC_GROUPS_H
#define SERVE_METRIC_GROUPS_H

#include "serve/store.h"

struct metric_group_time {
	const struct name *cgroup;  /* NULL: unknown, or all */
	const struct name *threads; /* the pattern of their names */
	uint32_t group;
	uint64_t ns[STATE_COUNT];
};

struct metric_group {
	const struct name *cgroup, *threads;
	uint32_t shown; /* in `shown`; TICK_NONE: in another one's time */
	uint64_t seen;  /* the last reading with time of it, counted from 1 */
	/* In that reading, as long as it is not shown. */
	uint64_t run_ns, ns;
	uint32_t states; /* a bit for each */
};

enum { GROUPS_OTHER, GROUPS_ENDED, GROUPS_SPECIAL };

struct metric_groups {
	size_t series_most; /* without those of GROUPS_SPECIAL */
	size_t series;
	uint64_t readings, generation;
	struct arena arena;
	struct names names;
	struct word_map numbers; /* of groups, by cgroup and pattern */
	struct {
		ARRAY(struct metric_group);
	} all;
	struct {
		ARRAY(struct metric_group_time);
	} shown;
	uint64_t special[GROUPS_SPECIAL][STATE_COUNT];
	uint64_t last[STATE_COUNT]; /* of all groups, in the last reading */
	uint64_t last_ns;           /* its length */
	struct {
		ARRAY(uint32_t); /* groups of the threads of the dictionary */
	} of_thread;
};

void metric_groups_init(struct metric_groups *groups, size_t series_most);
void metric_groups_deinit(struct metric_groups *groups);

/* Limit the number of series from now on. If there are more, groups are added to GROUPS_ENDED:
 * first those that have ended, then the others, the one that was shown last first. */
void metric_groups_limit(struct metric_groups *groups, size_t series_most);

/* Add the newest reading of the store. */
struct error *metric_groups_take(struct metric_groups *groups,
				 const struct tick_store *store) MUST_CHECK;

/* How many groups had time in the last reading, and are not shown. */
size_t metric_groups_in_other(const struct metric_groups *groups);

#endif
