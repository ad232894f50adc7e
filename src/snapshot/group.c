/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/group.h"

#include <stdlib.h>

static const struct name *pcomm_of(const struct ctprof_thread *thread)
{
	return thread->pcomm;
}

static const struct name *comm_of(const struct ctprof_thread *thread)
{
	return thread->comm;
}

static const struct name *cgroup_of(const struct ctprof_thread *thread)
{
	return thread->cgroup;
}

const struct group_axis group_axes[GROUP_AXIS_COUNT] = {
	{ "pcomm", pcomm_of },
	{ "cgroup", cgroup_of },
	{ "comm-exact", comm_of },
};

static int by_key(const void *a, const void *b, void *context)
{
	const struct ctprof_thread *const *x = a, *const *y = b;
	const struct group_axis *axis = context;

	return name_compare(axis->key(*x), axis->key(*y));
}

/* Threads of one key follow each other: each run is a group. */
static bool cut_into_groups(struct groups *groups, size_t count, const struct group_axis *axis)
{
	for (size_t i = 0; i < count; i++) {
		const struct name *key = axis->key(groups->threads[i]);

		if (groups->count && groups->items[groups->count - 1].key == key)
			groups->items[groups->count - 1].count++;
		else if (!array_push(groups, (struct group){ key, groups->threads + i, 1 }))
			return false;
	}
	return true;
}

struct error *groups_init(struct groups *groups, const struct ctprof_snapshot *snapshot,
			  const struct group_axis *axis)
{
	size_t count = snapshot->threads.count;

	*groups = (struct groups){ 0 };
	if (!count)
		return NULL;
	groups->threads = calloc(count, sizeof(const struct ctprof_thread *));
	if (!groups->threads)
		return &error_no_memory;
	for (size_t i = 0; i < count; i++)
		groups->threads[i] = snapshot_thread(snapshot, i);
	qsort_r(groups->threads, count, sizeof(const struct ctprof_thread *), by_key,
		(void *)(uintptr_t)axis);
	if (cut_into_groups(groups, count, axis))
		return NULL;
	groups_deinit(groups);
	return &error_no_memory;
}

void groups_deinit(struct groups *groups)
{
	free(groups->threads);
	groups->threads = NULL;
	array_deinit(groups);
}

bool group_aggregate(const struct group *group, const struct metric *metric, struct aggregate *ret)
{
	*ret = (struct aggregate){ 0 };
	for (size_t i = 0; i < group->count; i++) {
		if (!aggregate_add(ret, metric, &group->threads[i]->record)) {
			aggregate_deinit(ret, metric);
			return false;
		}
	}
	return true;
}

bool group_derived(const struct group *group, const struct derived *derived,
		   struct derived_value *ret)
{
	struct derived_sum sum = { 0 };

	for (size_t i = 0; i < group->count; i++)
		derived_add(&sum, derived, &group->threads[i]->record);
	return derived_result(&sum, derived, ret);
}

void coverage_add(struct coverage *coverage, const struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct metric_set *measured = &group->threads[i]->record.measured;

		for (size_t w = 0; w < array_length(measured->words); w++) {
			coverage->some.words[w] |= measured->words[w];
			if (coverage->any_group)
				coverage->every.words[w] &= measured->words[w];
			else
				coverage->every.words[w] = measured->words[w];
		}
		coverage->any_group = true;
	}
	/* What is a fact of the leader no other thread can have. */
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].leader_only && metric_set_has(&coverage->some, (enum metric_id)i))
			metric_set_add(&coverage->every, (enum metric_id)i);
}

struct error *groups_join(const struct groups *baseline, const struct groups *candidate,
			  struct group_pairs *ret)
{
	size_t b = 0, c = 0;

	*ret = (struct group_pairs){ 0 };
	while (b < baseline->count || c < candidate->count) {
		int order = b == baseline->count ? 1
			    : c == candidate->count
				    ? -1
				    : name_compare(baseline->items[b].key, candidate->items[c].key);
		struct group_pair pair = { order <= 0 ? &baseline->items[b] : NULL,
					   order >= 0 ? &candidate->items[c] : NULL };

		if (!array_push(ret, pair)) {
			array_deinit(ret);
			return &error_no_memory;
		}
		b += order <= 0;
		c += order >= 0;
	}
	return NULL;
}
