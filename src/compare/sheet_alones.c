/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that one side has and the other has not; of a window, of threads that ended or began.
 */
#include <stdlib.h>

#include "compare/sheet_fill.h"

const enum metric_id alone_metrics[ALONE_METRICS] = {
	METRIC_run_time_ns, METRIC_wait_time_ns, METRIC_voluntary_csw, METRIC_nonvoluntary_csw,
	METRIC_majflt,      METRIC_read_bytes,   METRIC_write_bytes,   METRIC_hiwater_rss_bytes,
};

static int by_run_time(const void *a, const void *b)
{
	const struct alone *x = a, *y = b;

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

static void note_measured(struct alones *alones, const struct group *group)
{
	struct coverage coverage = { 0 };

	coverage_add(&coverage, group);
	for (size_t i = 0; i < ALONE_METRICS; i++)
		if (metric_set_has(&coverage.some, alone_metrics[i]))
			metric_set_add(&alones->measured, alone_metrics[i]);
}

/* Those that are in `groups` and not in `others`, which may be NULL for all. `key` becomes their
 * place in the order of names, for equals. */
static bool find_alones(const struct sheet *sheet, const struct groups *groups,
			const struct groups *others, struct alones *ret)
{
	for (uint32_t n = 0; n < sheet->sides->keys.count; n++) {
		uint32_t key = sheet->sides->by_name[n];
		const struct group *group = &groups->items[key];

		if (!group->count || (others && others->items[key].count) ||
		    (sheet->in_both && sheet->in_both[key]) ||
		    !view_matches(sheet->view, sheet->sides->keys.items[key].label))
			continue;
		if (!array_push(ret, (struct alone){ group, n, run_time_of(group) }))
			return false;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_run_time);
	for (size_t i = 0; i < ret->count; i++)
		ret->items[i].key = sheet->sides->by_name[ret->items[i].key];
	if (sheet->view->limit && ret->count > sheet->view->limit) {
		ret->left_out = ret->count - sheet->view->limit;
		ret->count = sheet->view->limit;
	}
	for (size_t i = 0; i < ret->count; i++)
		note_measured(ret, ret->items[i].group);
	return true;
}

bool sheet_find_alones(struct sheet *sheet)
{
	if (!sheet->comparing ||
	    !(sheet_has_part(sheet, SECTION_PRIMARY) || sheet_has_part(sheet, SECTION_DERIVED)))
		return true;
	if (sheet->view->window)
		return find_alones(sheet, &sheet->gone, NULL, &sheet->only_before) &&
		       find_alones(sheet, &sheet->born, NULL, &sheet->only_after);
	return find_alones(sheet, &sheet->before, &sheet->after, &sheet->only_before) &&
	       find_alones(sheet, &sheet->after, &sheet->before, &sheet->only_after);
}
