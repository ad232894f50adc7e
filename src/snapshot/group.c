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
	{ "pcomm", "process name", pcomm_of },
	{ "cgroup", "cgroup v2 path", cgroup_of },
	{ "comm-exact", "thread name", comm_of },
};

/* From the name of a group to the group: names are interned, so the pointer is the key. */
struct index {
	struct group **slots;
	size_t room; /* a power of two */
};

static struct group **find(const struct index *index, const struct name *key)
{
	for (size_t i = key->hash;; i++) {
		struct group **slot = &index->slots[i & (index->room - 1)];

		if (!*slot || (*slot)->key == key)
			return slot;
	}
}

static bool grow(struct index *index)
{
	struct index bigger = { .room = index->room ? index->room * 2 : 256 };

	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < index->room; i++)
		if (index->slots[i])
			*find(&bigger, index->slots[i]->key) = index->slots[i];
	free(index->slots);
	*index = bigger;
	return true;
}

static struct group *group_of(struct groups *groups, struct index *index, const struct name *key)
{
	struct group **slot, **items, *group;

	if (groups->count >= index->room / 2 && !grow(index))
		return NULL;
	slot = find(index, key);
	if (*slot)
		return *slot;
	items = reallocarray(groups->items, groups->count + 1, sizeof(*items));
	if (!items)
		return NULL;
	groups->items = items;
	group = calloc(1, sizeof(*group));
	if (!group)
		return NULL;
	group->key = key;
	*slot = items[groups->count++] = group;
	return group;
}

static bool add_thread(struct group *group, const struct thread_record *record)
{
	group->threads++;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (!aggregate_add(&group->values[i], &metrics[i], record))
			return false;
	return true;
}

static int by_key(const void *a, const void *b)
{
	return name_compare((*(const struct group *const *)a)->key,
			    (*(const struct group *const *)b)->key);
}

struct error *groups_init(struct groups *groups, const struct ctprof_snapshot *snapshot,
			  const struct group_axis *axis)
{
	struct index index = { 0 };
	bool done = true;

	*groups = (struct groups){ 0 };
	for (size_t i = 0; i < snapshot->threads.count && done; i++) {
		const struct ctprof_thread *thread = snapshot_thread(snapshot, i);
		struct group *group = group_of(groups, &index, axis->key(thread));

		done = group && add_thread(group, &thread->record);
	}
	free(index.slots);
	if (!done) {
		groups_deinit(groups);
		return &error_no_memory;
	}
	if (groups->count)
		qsort(groups->items, groups->count, sizeof(*groups->items), by_key);
	return NULL;
}

void groups_deinit(struct groups *groups)
{
	for (size_t g = 0; g < groups->count; g++) {
		for (size_t i = 0; i < METRIC_COUNT; i++)
			aggregate_deinit(&groups->items[g]->values[i], &metrics[i]);
		free(groups->items[g]);
	}
	free(groups->items);
	*groups = (struct groups){ 0 };
}

struct error *groups_join(const struct groups *baseline, const struct groups *candidate,
			  struct group_pairs *ret)
{
	size_t b = 0, c = 0;

	*ret = (struct group_pairs){ 0 };
	while (b < baseline->count || c < candidate->count) {
		int order = b == baseline->count    ? 1
			    : c == candidate->count ? -1
						    : name_compare(baseline->items[b]->key,
								   candidate->items[c]->key);
		struct group_pair pair = { order <= 0 ? baseline->items[b] : NULL,
					   order >= 0 ? candidate->items[c] : NULL };

		if (!array_push(ret, pair)) {
			array_deinit(ret);
			return &error_no_memory;
		}
		b += order <= 0;
		c += order >= 0;
	}
	return NULL;
}
