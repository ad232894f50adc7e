/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/row.h"

#include <math.h>
#include <stdlib.h>

void report_section_deinit(struct report_section *section)
{
	for (size_t i = 0; i < ROW_GROUP_COUNT; i++)
		array_deinit(&section->row_groups[i]);
}

/* --- which rows are hidden --- */

/* Nothing on either side, or the same category: a row without information. */
static bool says_nothing(const struct row *row, bool comparing)
{
	if (!comparing && measure_is_metric(row->measure))
		return row->after.kind == DATUM_NONE;
	if (!comparing)
		return datum_is_nothing(&row->after);
	if (row->change.differs)
		return false;
	if (section_infos[row->measure->section].only_changes)
		return true;
	if (row->after.kind == DATUM_CATEGORY || row->after.kind == DATUM_CPUS ||
	    row->after.kind == DATUM_UNLIMITED)
		return true;
	return datum_is_nothing(&row->before) && datum_is_nothing(&row->after);
}

static bool is_small(const struct row *row, const struct view *view)
{
	enum dimension dimension = unit_dimension(row->measure->unit);
	double size = fabs(row->change.delta) * (double)unit_scale(row->measure->unit);

	if (row->change.has_delta && size < view->min_delta[dimension])
		return true;
	return row->change.has_share && !row->measure->is_ratio &&
	       fabs(row->change.share) * 100 < view->min_percent;
}

/* Would people see the same number twice? */
static bool is_unchanged(const struct row *row, const struct view *view)
{
	return view->people && !view->all_rows && !row->change.differs;
}

/* Is the row an average over events of which there were none in the window: the group was idle, or
 * has ended? */
static bool is_blank(const struct row *row, const struct view *view)
{
	return view->people && view->window && !view->all_rows && !view->metrics_named &&
	       measure_is_derived(row->measure) && row->after.kind == DATUM_NONE;
}

static bool is_row_hidden(struct report_section *section, const struct row *row,
			  const struct view *view, bool comparing)
{
	/* A metric that the user named is shown even if it is unmeasured. */
	bool is_answer = view->metrics_named && measure_is_metric(row->measure) &&
			 row->before.kind == DATUM_NONE && row->after.kind == DATUM_NONE;

	if (!view->all_rows && !is_answer && says_nothing(row, comparing))
		return true;
	if (!comparing)
		return false;
	if ((view->changed && !row->change.differs) || is_small(row, view))
		return true;
	if (is_blank(row, view)) {
		section->blank++;
		return true;
	}
	if (is_answer || !is_unchanged(row, view))
		return false;
	section->unchanged++;
	return true;
}

/* --- order --- */

static double order_rank(const struct row *row, enum order order)
{
	switch (order) {
	case ORDER_PERCENT:
		/* From nothing is the largest rise; of those, by how much. */
		return row->change.has_share && !row->measure->is_ratio ? fabs(row->change.share)
									: -1;
	case ORDER_SIGNIFICANCE:
		return row->significance && row->significance->p <= 1 ? 1 - row->significance->p
								      : -1;
	case ORDER_SHARE:
		return row->has_host_share ? fabs(row->host_share) : -1;
	default:
		return fabs(row->change.delta) * (double)unit_scale(row->measure->unit);
	}
}

static int by_group(const struct row *x, const struct row *y)
{
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return name_compare(x->group, y->group);
}

static int by_measure(const struct row *x, const struct row *y)
{
	return (x->measure->number > y->measure->number) -
	       (x->measure->number < y->measure->number);
}

/* Every thread that is idle slept for as long as the comparison took, and more threads for longer
 * than all CPUs can run: what happened would stand below that. What ctprof itself did, to read the
 * others, is above those, and what cannot be is below all. */
static int rank_class(const struct row *row, const struct view *view)
{
	if (row_is_impossible(row))
		return 3;
	if (view->order != ORDER_USUAL)
		return 0;
	if (row->measure->metric && row->measure->metric->is_idle)
		return 2;
	return view->people && view_is_own(row->group);
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct row *x = a, *y = b;
	const struct view *view = context;
	const enum order *order = &view->order;
	double p = order_rank(x, *order), q = order_rank(y, *order);
	int found = rank_class(x, view) - rank_class(y, view);

	if (found)
		return found;
	if (p != q)
		return p < q ? 1 : -1;
	if (!x->change.has_delta)
		return by_group(x, y) ? by_group(x, y) : by_measure(x, y);
	/* Equal shares: in each dimension the larger change first. */
	found = (int)unit_dimension(x->measure->unit) - (int)unit_dimension(y->measure->unit);
	if (found)
		return found;
	p = order_rank(x, ORDER_DELTA);
	q = order_rank(y, ORDER_DELTA);
	if (p != q)
		return p < q ? 1 : -1;
	found = by_group(x, y);
	return found ? found : by_measure(x, y);
}

static void sort_row_group(struct row_group *group, const struct view *view)
{
	if (group->count)
		qsort_r(group->items, group->count, sizeof(*group->items), by_rank,
			(void *)(uintptr_t)view);
	if (view->limit && group->count > view->limit) {
		group->left_out += group->count - view->limit;
		group->count = view->limit;
		array_fit(group);
	}
}

/* Ranks of shares compare across dimensions: all rows are then in one group. */
static struct row_group *row_group_of(struct report_section *section, const struct view *view,
				      const struct row *row)
{
	if (section->by_group)
		return &section->row_groups[0];
	if (!row->change.has_delta)
		return &section->row_groups[ROW_GROUP_NO_NUMBER];
	if (view->order == ORDER_PERCENT || view->order == ORDER_SHARE ||
	    view->order == ORDER_SIGNIFICANCE)
		return &section->row_groups[0];
	return &section->row_groups[unit_dimension(row->measure->unit)];
}

/* --- taking in --- */

/* A section by group keeps only the first groups. */
static bool is_beyond(struct report_section *section, const struct view *view,
		      const struct row *row)
{
	bool is_new = !section->groups || section->last_number != row->number ||
		      section->last_group != row->group;

	section->last_number = row->number;
	section->last_group = row->group;
	if (is_new && view->limit && section->groups + section->groups_left_out >= view->limit)
		section->groups_left_out++;
	else if (is_new)
		section->groups++;
	return section->groups_left_out > 0;
}

bool report_section_add(struct report_section *section, const struct view *view, bool comparing,
			struct row row)
{
	struct row_group *group;

	section->any_value |= row.before.kind != DATUM_NONE || row.after.kind != DATUM_NONE;
	if (is_row_hidden(section, &row, view, comparing))
		return true;
	section->telling += !comparing || row.change.differs;
	if (section->by_group && is_beyond(section, view, &row))
		return true;
	group = row_group_of(section, view, &row);
	/* Now and then, so that each row costs little more than the sorting of its share. */
	if (!section->by_group && view->limit && group->count >= 4096 &&
	    group->count / 4 >= view->limit)
		sort_row_group(group, view);
	return array_push(group, row);
}

void report_section_finish(struct report_section *section, const struct view *view)
{
	for (size_t i = 0; i < ROW_GROUP_COUNT && !section->by_group; i++)
		sort_row_group(&section->row_groups[i], view);
}
