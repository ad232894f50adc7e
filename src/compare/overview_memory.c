/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of all groups at a capture. Unlike all other causes it is a level, not a total: the
 * rates of a span hold that at its end.
 *
 * Of a process it is Pss + SwapPss of smaps_rollup: what several processes share is divided among
 * them, so the numbers of processes add up, and what was swapped out is no less of a leak.
 */
#include <math.h>
#include <stdlib.h>

#include "compare/overview_fill.h"

#define KIB 1024.0

static double kib_of(const struct counts *sizes, struct text key)
{
	const struct count *size = counts_find(sizes, key);

	return size ? (double)size->value : 0;
}

double overview_memory_of(const struct ctprof_thread *leader)
{
	const struct counts *sizes = leader->smaps_rollup_kib;

	if (!sizes || !counts_find(sizes, TEXT("Pss")))
		return NAN;
	return (kib_of(sizes, TEXT("Pss")) + kib_of(sizes, TEXT("SwapPss"))) * KIB;
}

/* A kernel thread and a process that has ended have no memory of their own. */
static bool has_no_memory(const struct ctprof_snapshot *s, const struct ctprof_thread *leader)
{
	return is_kernel_thread(s, leader) || leader->record.values.state.v == 'Z' ||
	       leader->record.values.state.v == 'X';
}

bool overview_take_memory(struct overview_work *work, struct overview_rates *rates, size_t number)
{
	const struct ctprof_snapshot *s = work->report->sides->snapshots[number];
	const uint32_t *key_of = work->report->sides->key_of[number];
	double *sums = calloc(work->keys + 1, sizeof(*sums));
	bool measured = false;

	if (!sums)
		return false;
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(s, i);
		double memory = overview_memory_of(thread);

		if (thread->tid != thread->tgid || key_of[i] == NO_KEY)
			continue;
		measured = measured || !isnan(memory);
		if (!isnan(memory) || !has_no_memory(s, thread))
			sums[key_of[i]] += memory;
	}
	for (uint32_t key = 0; measured && key < work->keys; key++)
		*overview_rate(rates, key, work->columns.first[CAUSE_MEMORY]) = sums[key];
	free(sums);
	return true;
}
