/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of a snapshot in groups, and two snapshots side by side.
 *
 *	struct groups groups;
 *	err = groups_init(&groups, snapshot, &group_axes[0]);
 *	for (size_t i = 0; i < groups.count; i++) {
 *		struct aggregate run_time;
 *		if (!group_aggregate(&groups.items[i], &metrics[METRIC_run_time_ns], &run_time))
 *			return &error_no_memory;
 *		...
 *	}
 *	groups_deinit(&groups);
 *
 * A group is a run of threads, and its values are made when they are asked for: there may be as
 * many groups as threads.
 */
#ifndef SNAPSHOT_GROUP_H
#define SNAPSHOT_GROUP_H

#include "metric/aggregate.h"
#include "metric/derived.h"
#include "snapshot/model.h"

/* What threads are grouped by. */
struct group_axis {
	const char *name; /* as on the command line, and over the column */
	const struct name *(*key)(const struct ctprof_thread *thread);
};

#define GROUP_AXIS_COUNT 3
extern const struct group_axis group_axes[GROUP_AXIS_COUNT];

struct group {
	const struct name *key; /* of the snapshot */
	const struct ctprof_thread *const *threads;
	size_t count;
};

struct groups {
	const struct ctprof_thread **threads; /* of all groups, one group after the other */
	ARRAY(struct group);                  /* ascending by key */
};

/* Groups of all threads; they refer to the snapshot. */
struct error *groups_init(struct groups *groups, const struct ctprof_snapshot *snapshot,
			  const struct group_axis *axis) MUST_CHECK;

void groups_deinit(struct groups *groups);

/* One metric of a group; aggregate_deinit releases it. False without memory: there is none then. */
bool group_aggregate(const struct group *group, const struct metric *metric,
		     struct aggregate *ret) MUST_CHECK;

/* One derived metric of a group. False when it has no value. */
bool group_derived(const struct group *group, const struct derived *derived,
		   struct derived_value *ret);

/* Which metrics were measured in some thread of groups, and which in every thread that can have
 * them. Starts as all zero. */
struct coverage {
	struct metric_set some, every;
	bool any_group;
};

void coverage_add(struct coverage *coverage, const struct group *group);

/* A group of two snapshots; one side is NULL when only the other has it. */
struct group_pair {
	const struct group *baseline, *candidate;
};

struct group_pairs {
	ARRAY(struct group_pair); /* ascending by key */
};

/* Join on equal keys. The pairs refer to both sides. */
struct error *groups_join(const struct groups *baseline, const struct groups *candidate,
			  struct group_pairs *ret) MUST_CHECK;

static inline const struct name *group_pair_key(const struct group_pair *pair)
{
	return pair->baseline ? pair->baseline->key : pair->candidate->key;
}

#endif
