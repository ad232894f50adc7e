/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/group.h"

#include <stdlib.h>

/* Sorting by counting: how many threads each key has says where its run begins. */
struct error *groups_init(struct groups *groups, const struct ctprof_snapshot *s,
			  const uint32_t *key_of, size_t key_count)
{
	size_t count = s->threads.count, next = 0;

	*groups = (struct groups){
		.threads = calloc(count + 1, sizeof(const struct ctprof_thread *)),
		.items = calloc(key_count + 1, sizeof(*groups->items)),
	};
	if (!groups->threads || !groups->items) {
		groups_deinit(groups);
		return &error_no_memory;
	}
	for (size_t i = 0; i < count; i++)
		if (key_of[i] != NO_KEY)
			groups->items[key_of[i]].count++;
	for (size_t k = 0; k < key_count; k++) {
		groups->items[k].threads = groups->threads + next;
		next += groups->items[k].count;
		groups->items[k].count = 0;
	}
	for (size_t i = 0; i < count; i++) {
		struct group *group;

		if (key_of[i] == NO_KEY)
			continue;
		group = &groups->items[key_of[i]];
		groups->threads[(size_t)(group->threads - groups->threads) + group->count++] =
			snapshot_thread(s, i);
	}
	return NULL;
}

void groups_deinit(struct groups *groups)
{
	free(groups->threads);
	free(groups->items);
	*groups = (struct groups){ 0 };
}

static void reset(struct group_sums *sums, const struct selection *selection, size_t threads)
{
	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		aggregate_reset(&sums->metrics[i], &metrics[i]);
		if (metric_set_has(&selection->metrics, i))
			sums->metrics[i].threads = threads;
	}
	for (enum derived_id i = 0; i < DERIVED_COUNT; i++)
		sums->derived[i] = (struct derived_sum){ 0 };
}

/* Values that all threads of a group share. */
struct summing {
	const struct selection *selection;
	const struct metric_set *with_waits;
	enum metric_id waits[METRIC_COUNT]; /* selected, and in `with_waits` */
	enum derived_id derived[DERIVED_COUNT];
	size_t wait_count, derived_count;
	struct group_sums *sums;
};

static void summing_init(struct summing *summing, const struct selection *selection,
			 const struct metric_set *with_waits, struct group_sums *sums)
{
	summing->selection = selection;
	summing->with_waits = with_waits;
	summing->wait_count = summing->derived_count = 0;
	summing->sums = sums;
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(with_waits, i) && metric_set_has(&selection->metrics, i))
			summing->waits[summing->wait_count++] = i;
	for (enum derived_id i = 0; i < DERIVED_COUNT; i++)
		if (selection_has_derived(selection, i))
			summing->derived[summing->derived_count++] = i;
}

/* A record is read once, from front to back, and only where it was measured. */
static bool sum_thread(struct summing *summing, const struct thread_record *record,
		       const struct metric_set *impossible)
{
	struct group_sums *sums = summing->sums;

	for (size_t w = 0; w < array_length(record->measured.words); w++) {
		uint64_t left = record->measured.words[w] & summing->selection->metrics.words[w];

		for (; left; left &= left - 1) {
			size_t id = w * 64 + (size_t)__builtin_ctzll(left);

			if (!aggregate_take(&sums->metrics[id], &metrics[id], &record->values,
					    impossible &&
						    metric_set_has(impossible, (enum metric_id)id)))
				return false;
		}
	}
	for (size_t i = 0; i < summing->wait_count; i++) {
		enum metric_id id = summing->waits[i];

		aggregate_take_wait(&sums->metrics[id], &metrics[id], record);
	}
	for (size_t i = 0; i < summing->derived_count; i++) {
		enum derived_id id = summing->derived[i];

		derived_add(&sums->derived[id], &derived_metrics[id], record, summing->with_waits,
			    impossible);
	}
	return true;
}

bool group_sum(const struct group *group, const struct selection *selection,
	       const struct metric_set *with_waits, const struct impossible *impossible,
	       struct group_sums *sums)
{
	struct summing summing;

	reset(sums, selection, group->count);
	summing_init(&summing, selection, with_waits, sums);
	for (size_t t = 0; t < group->count; t++)
		if (!sum_thread(&summing, &group->threads[t]->record,
				impossible_of(impossible, group->threads[t])))
			return false;
	return true;
}

void group_sums_deinit(struct group_sums *sums)
{
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		aggregate_deinit(&sums->metrics[i], &metrics[i]);
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
	/* A metric that only some threads can have, as facts of leaders, is not missing in the
	 * others; nor is one that has a counterpart in all threads. */
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum metric_id id = (enum metric_id)i;

		if (metrics[i].counterpart &&
		    metric_set_has(&coverage->some, metrics[i].counterpart))
			metric_set_add(&coverage->some, id);
		if (metrics[i].owners != OWNERS_ALL && metric_set_has(&coverage->some, id))
			metric_set_add(&coverage->every, id);
	}
}
