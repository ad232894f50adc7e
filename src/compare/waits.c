/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/waits.h"

/* The totals for which some thread has the elapsed time of waits in progress. */
static struct metric_set totals_with_waits(const struct ctprof_snapshot *s)
{
	struct metric_set totals = { 0 }, seen = { 0 };

	for (size_t t = 0; t < s->threads.count; t++)
		for (size_t w = 0; w < array_length(seen.words); w++)
			seen.words[w] |= snapshot_thread(s, t)->record.measured.words[w];
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].in_progress && metric_set_has(&seen, i) &&
		    metric_set_has(&seen, metrics[i].in_progress))
			metric_set_add(&totals, i);
	return totals;
}

void waits_find(struct waits *ret, const struct ctprof_snapshot *const *snapshots, size_t count,
		bool completed_only)
{
	struct metric_set any = { 0 };

	*ret = (struct waits){ 0 };
	for (size_t i = 0; i < count; i++) {
		const struct metric_set has = totals_with_waits(snapshots[i]);

		for (size_t w = 0; w < array_length(any.words); w++)
			any.words[w] |= has.words[w];
		for (enum metric_id m = 0; m < METRIC_COUNT; m++)
			if (!completed_only && metrics[m].in_progress && !ret->lacking[m] &&
			    !metric_set_has(&has, m))
				ret->lacking[m] = snapshots[i];
	}
	for (enum metric_id m = 0; m < METRIC_COUNT; m++)
		if (metric_set_has(&any, m))
			metric_set_add(completed_only || ret->lacking[m] ? &ret->left_out
									 : &ret->added,
				       m);
}

struct metric_set waits_left_out(const struct waits *waits, const struct ctprof_snapshot *s)
{
	struct metric_set totals = { 0 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		if (metric_set_has(&waits->left_out, i) && waits->lacking[i] == s)
			metric_set_add(&totals, i);
	return totals;
}
