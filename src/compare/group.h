/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The threads of a snapshot in groups, one for each key, and what a group adds up to.
 *
 *	err = groups_init(&groups, snapshot, key_of, keys.count);
 *	...
 *	if (!group_sum(&groups.items[key], &wanted, &sides->waits.added, &impossible, &sums))
 *		return &error_no_memory;
 *
 * A group is a run of threads, and its values are made when they are asked for: there may be as
 * many groups as threads.
 */
#ifndef COMPARE_GROUP_H
#define COMPARE_GROUP_H

#include "compare/impossible.h"
#include "metric/aggregate.h"
#include "metric/derived.h"
#include "snapshot/model.h"

/* The number for no key: such threads are in no group. */
#define NO_KEY UINT32_MAX

struct group {
	const struct ctprof_thread *const *threads; /* in the order of the snapshot */
	size_t count;
};

struct groups {
	const struct ctprof_thread **threads; /* of all groups, one group after the other */
	struct group *items;                  /* by key number; some may be empty */
};

/* `key_of` has the key number of each thread. The groups refer to the snapshot. */
struct error *groups_init(struct groups *groups, const struct ctprof_snapshot *snapshot,
			  const uint32_t *key_of, size_t key_count) MUST_CHECK;

void groups_deinit(struct groups *groups);

/* Metrics, and derived ones, a bit for each. */
struct selection {
	struct metric_set metrics;
	uint32_t derived;
};

static inline bool selection_has_derived(const struct selection *selection, enum derived_id id)
{
	return selection->derived >> id & 1;
}

/* Metrics and derived metrics share one numbering: derived ones come after the others. */
static inline void selection_add(struct selection *selection, unsigned number)
{
	if (number < METRIC_COUNT)
		metric_set_add(&selection->metrics, (enum metric_id)number);
	else
		selection->derived |= 1u << (number - METRIC_COUNT);
}

static inline bool selection_has(const struct selection *selection, unsigned number)
{
	return number < METRIC_COUNT
		       ? metric_set_has(&selection->metrics, (enum metric_id)number)
		       : selection_has_derived(selection, (enum derived_id)(number - METRIC_COUNT));
}

/* The sums of a group. All zero at first; used for one group after another, as it keeps its
 * memory. */
struct group_sums {
	struct aggregate metrics[METRIC_COUNT];
	struct derived_sum derived[DERIVED_COUNT];
};

/* Add up the selected metrics of a group, and to those in `with_waits` what has passed of waits
 * that are not accounted yet (waits.h). Values that cannot be are counted. False without memory. */
bool group_sum(const struct group *group, const struct selection *selection,
	       const struct metric_set *with_waits, const struct impossible *impossible,
	       struct group_sums *sums) MUST_CHECK;

void group_sums_deinit(struct group_sums *sums);

/* The metrics that were measured in some thread of groups, and in all threads that can have them.
 * Starts as all zero. */
struct coverage {
	struct metric_set some, every;
	bool any_group;
};

void coverage_add(struct coverage *coverage, const struct group *group);

#endif
