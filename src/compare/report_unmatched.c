/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that one side has and the other has not; of a window, of threads that ended or began.
 */
#include <stdlib.h>

#include "compare/report_fill.h"

const enum metric_id unmatched_metrics[UNMATCHED_METRICS] = {
	METRIC_run_time_ns, METRIC_wait_time_ns, METRIC_voluntary_csw, METRIC_nonvoluntary_csw,
	METRIC_majflt,      METRIC_read_bytes,   METRIC_write_bytes,   METRIC_hiwater_rss_bytes,
};

static int by_run_time(const void *a, const void *b)
{
	const struct unmatched_group *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? 1 : -1;
	return (x->key > y->key) - (x->key < y->key);
}

static double run_time_of(const struct group *group)
{
	double sum = 0;

	for (size_t i = 0; i < group->count; i++)
		if (metric_set_has(&group->threads[i]->record.measured, METRIC_run_time_ns))
			sum += (double)group->threads[i]->record.values.run_time_ns.v;
	return sum;
}

/* Find the groups that are in `groups` and not in `others`, which may be NULL for all. `key`
 * becomes their index in the order of names, to order equal ones. */
static bool find_unmatched(const struct report *report, const struct groups *groups,
			   const struct groups *others, struct unmatched *ret)
{
	for (uint32_t n = 0; n < report->sides->keys.count; n++) {
		uint32_t key = report->sides->by_name[n];
		const struct group *group = &groups->items[key];
		const struct name *label = report->sides->keys.items[key].label;

		if (!group->count || (others && others->items[key].count) ||
		    (report->in_both && report->in_both[key]) || !view_matches(report->view, label))
			continue;
		/* What reads the others is not what people look for. */
		if (!array_push(ret,
				(struct unmatched_group){ group, n,
							  report->view->people && view_is_own(label)
								  ? -1
								  : run_time_of(group) }))
			return false;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_run_time);
	for (size_t i = 0; i < ret->count; i++)
		ret->items[i].key = report->sides->by_name[ret->items[i].key];
	if (report->view->limit && ret->count > report->view->limit) {
		ret->left_out = ret->count - report->view->limit;
		ret->count = report->view->limit;
	}
	return true;
}

bool report_find_unmatched(struct report *report)
{
	if (!report->comparing || !(report_has_section(report, SECTION_PRIMARY) ||
				    report_has_section(report, SECTION_DERIVED)))
		return true;
	if (report->view->window)
		return find_unmatched(report, &report->gone, NULL, &report->only_before) &&
		       find_unmatched(report, &report->born, NULL, &report->only_after);
	return find_unmatched(report, &report->before, &report->after, &report->only_before) &&
	       find_unmatched(report, &report->after, &report->before, &report->only_after);
}
