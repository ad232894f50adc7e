/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/flame_boxes.h"

#include "base/sum.h"

void flame_rows_deinit(struct flame_rows *rows)
{
	/* Rows beyond the last one may have memory too. */
	for (size_t i = 0; i < rows->room; i++)
		array_deinit(&rows->items[i]);
	array_deinit(rows);
}

/* An empty row behind the last one; NULL without memory. */
static struct flame_row *add_row(struct flame_rows *rows)
{
	const size_t room = rows->room;

	if (!array_reserve(rows, 1))
		return NULL;
	for (size_t i = room; i < rows->room; i++)
		rows->items[i] = (struct flame_row){ 0 };
	array_clear(&rows->items[rows->count]);
	return &rows->items[rows->count++];
}

/* The column at which this much of `total` ends. */
static int column_of(uint64_t part, uint64_t total, int width)
{
	if (part >= total)
		return width;
	return (int)(((unsigned __int128)part * (unsigned)width + total / 2) / total);
}

static bool is_wide(const struct flame_node *node, uint64_t total, int width)
{
	return (unsigned __int128)node->total * (unsigned)width >= total;
}

/* The callees of a box. Those that are drawn keep their order, by name: so they stay where they are
 * while a profile grows. */
static bool add_callees(struct flame_row *row, const struct flame *flame,
			const struct flame_box *caller)
{
	const struct flame_node *nodes = flame->nodes.items;
	const uint64_t total = nodes[caller->node].total;
	struct flame_box narrow = { .node = NODE_NONE, .caller = caller->node };
	uint64_t before = 0, narrow_total = 0;

	for (uint32_t i = nodes[caller->node].first_child; total && i != NODE_NONE;
	     i = nodes[i].next) {
		struct flame_box box = { .node = i, .caller = caller->node };
		int begin;

		if (!is_wide(&nodes[i], total, caller->width)) {
			sum_add(&narrow_total, nodes[i].total);
			narrow.hidden += nodes[i].total != 0;
			continue;
		}
		begin = column_of(before, total, caller->width);
		sum_add(&before, nodes[i].total);
		box.x = caller->x + begin;
		box.width = column_of(before, total, caller->width) - begin;
		/* Sums that ran over are less than what they are of. */
		if (box.width < 1)
			narrow.hidden++;
		else if (!array_push(row, box))
			return false;
	}
	sum_add(&narrow_total, before);
	narrow.x = column_of(before, total ? total : 1, caller->width);
	narrow.width = column_of(narrow_total, total ? total : 1, caller->width) - narrow.x;
	narrow.x += caller->x;
	return !narrow.hidden || narrow.width < 1 || array_push(row, narrow);
}

/* The node that is zoomed into, and its callers. */
static bool add_callers(struct flame_rows *rows, const struct flame *flame, uint32_t zoomed,
			int columns)
{
	const struct flame_node *nodes = flame->nodes.items;

	for (uint32_t depth = 0; depth <= nodes[zoomed].depth; depth++)
		if (!add_row(rows))
			return false;
	for (uint32_t i = zoomed; i != NODE_NONE; i = nodes[i].parent) {
		const struct flame_box box = { .node = i,
					       .caller = nodes[i].parent,
					       .width = columns };

		if (!array_push(&rows->items[nodes[i].depth], box))
			return false;
	}
	return true;
}

struct error *flame_rows_make(struct flame_rows *rows, const struct flame *flame, uint32_t zoomed,
			      int columns)
{
	rows->count = 0;
	if (!add_callers(rows, flame, zoomed, columns))
		return &error_no_memory;
	do {
		const struct flame_row *above;
		struct flame_row *row = add_row(rows);

		if (!row)
			return &error_no_memory;
		above = row - 1;
		for (size_t i = 0; i < above->count; i++)
			if (above->items[i].node != NODE_NONE &&
			    !add_callees(row, flame, &above->items[i]))
				return &error_no_memory;
	} while (rows->items[rows->count - 1].count);
	rows->count--;
	return NULL;
}

const struct flame_box *flame_rows_find(const struct flame_rows *rows, const struct flame *flame,
					uint32_t node)
{
	const uint32_t depth = node == NODE_NONE ? NODE_NONE : flame->nodes.items[node].depth;

	if (depth >= rows->count)
		return NULL;
	for (size_t i = 0; i < rows->items[depth].count; i++)
		if (rows->items[depth].items[i].node == node)
			return &rows->items[depth].items[i];
	return NULL;
}

const struct flame_box *flame_rows_at(const struct flame_rows *rows, size_t row, int x)
{
	for (size_t i = 0; row < rows->count && i < rows->items[row].count; i++) {
		const struct flame_box *box = &rows->items[row].items[i];

		if (x >= box->x && x < box->x + box->width)
			return box;
	}
	return NULL;
}
