/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare/row.h"

#include <math.h>
#include <stdlib.h>

void part_deinit(struct part *part)
{
	for (size_t i = 0; i < BLOCK_COUNT; i++)
		array_deinit(&part->blocks[i]);
}

/* --- which rows are hidden --- */

/* Nothing on either side, or the same category: what nobody would miss. */
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

static bool is_hidden(const struct row *row, const struct view *view, bool comparing)
{
	/* What the user named and nobody measured is an answer. */
	bool is_answer = view->metrics_named && measure_is_metric(row->measure) &&
			 row->before.kind == DATUM_NONE && row->after.kind == DATUM_NONE;

	if (!view->all_rows && !is_answer && says_nothing(row, comparing))
		return true;
	if (!comparing)
		return false;
	return (view->changed && !row->change.differs) || is_small(row, view);
}

/* --- order --- */

static double rank_of(const struct row *row, enum order order)
{
	switch (order) {
	case ORDER_PERCENT:
		/* From nothing is the largest rise; of those, by how much. */
		return row->change.has_share && !row->measure->is_ratio ? fabs(row->change.share)
									: -1;
	case ORDER_CERTAINTY:
		return row->certainty && row->certainty->p <= 1 ? 1 - row->certainty->p : -1;
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
 * than all CPUs can run: what happened would stand below that. What cannot be is below all. */
static int rank_class(const struct row *row, enum order order)
{
	if (row_is_impossible(row))
		return 2;
	return order == ORDER_USUAL && row->measure->metric && row->measure->metric->is_idle;
}

static int by_rank(const void *a, const void *b, void *context)
{
	const struct row *x = a, *y = b;
	const enum order *order = context;
	double p = rank_of(x, *order), q = rank_of(y, *order);
	int found = rank_class(x, *order) - rank_class(y, *order);

	if (found)
		return found;
	if (p != q)
		return p < q ? 1 : -1;
	if (!x->change.has_delta)
		return by_group(x, y) ? by_group(x, y) : by_measure(x, y);
	/* Of equal shares, in each dimension the larger change first. */
	found = (int)unit_dimension(x->measure->unit) - (int)unit_dimension(y->measure->unit);
	if (found)
		return found;
	p = rank_of(x, ORDER_DELTA);
	q = rank_of(y, ORDER_DELTA);
	if (p != q)
		return p < q ? 1 : -1;
	found = by_group(x, y);
	return found ? found : by_measure(x, y);
}

static void sort_block(struct block *block, const struct view *view)
{
	enum order order = view->order;

	if (block->count)
		qsort_r(block->items, block->count, sizeof(*block->items), by_rank, &order);
	if (view->limit && block->count > view->limit) {
		block->left_out += block->count - view->limit;
		block->count = view->limit;
	}
}

/* Ranks of shares compare across dimensions: then there is one block. */
static struct block *block_of(struct part *part, const struct view *view, const struct row *row)
{
	if (part->by_group)
		return &part->blocks[0];
	if (!row->change.has_delta)
		return &part->blocks[BLOCK_NO_NUMBER];
	if (view->order == ORDER_PERCENT || view->order == ORDER_SHARE ||
	    view->order == ORDER_CERTAINTY)
		return &part->blocks[0];
	return &part->blocks[unit_dimension(row->measure->unit)];
}

/* --- taking in --- */

/* Of parts by group, only the first groups are kept. */
static bool is_beyond(struct part *part, const struct view *view, const struct row *row)
{
	bool is_new =
		!part->groups || part->last_number != row->number || part->last_group != row->group;

	part->last_number = row->number;
	part->last_group = row->group;
	if (is_new && view->limit && part->groups + part->groups_left_out >= view->limit)
		part->groups_left_out++;
	else if (is_new)
		part->groups++;
	return part->groups_left_out > 0;
}

bool part_add(struct part *part, const struct view *view, bool comparing, struct row row)
{
	struct block *block;

	part->any_value |= row.before.kind != DATUM_NONE || row.after.kind != DATUM_NONE;
	if (is_hidden(&row, view, comparing))
		return true;
	if (part->by_group && is_beyond(part, view, &row))
		return true;
	block = block_of(part, view, &row);
	/* Now and then, so that each row costs little more than the sorting of its share. */
	if (!part->by_group && view->limit && block->count >= 4096 &&
	    block->count / 4 >= view->limit)
		sort_block(block, view);
	return array_push(block, row);
}

void part_finish(struct part *part, const struct view *view)
{
	for (size_t i = 0; i < BLOCK_COUNT && !part->by_group; i++)
		sort_block(&part->blocks[i], view);
}
