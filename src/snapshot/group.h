/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads of a snapshot in groups, each metric of a group as one value, and two snapshots side by
 * side.
 *
 *	struct groups groups;
 *	err = groups_init(&groups, snapshot, &group_axes[0]);
 *	for (size_t i = 0; i < groups.count; i++)
 *		show(groups.items[i].key, &groups.items[i].values[METRIC_run_time_ns]);
 *	groups_deinit(&groups);
 */
#ifndef SNAPSHOT_GROUP_H
#define SNAPSHOT_GROUP_H

#include "metric/aggregate.h"
#include "snapshot/model.h"

/* What threads are grouped by. */
struct group_axis {
	const char *name; /* as on the command line, and over the column */
	const char *prose;
	const struct name *(*key)(const struct ctprof_thread *thread);
};

#define GROUP_AXIS_COUNT 3
extern const struct group_axis group_axes[GROUP_AXIS_COUNT];

struct group {
	const struct name *key; /* of the snapshot */
	size_t threads;
	struct aggregate values[METRIC_COUNT];
};

struct groups {
	struct group **items; /* ascending by key */
	size_t count;
};

/* Groups of all threads; they refer to the snapshot. */
struct error *groups_init(struct groups *groups, const struct ctprof_snapshot *snapshot,
			  const struct group_axis *axis) MUST_CHECK;

void groups_deinit(struct groups *groups);

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
