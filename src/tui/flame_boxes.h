/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the functions of a flame (profile/flame.h) are on a screen: rows of boxes, the callers
 * above.
 *
 *	struct flame_rows rows = { 0 };
 *	err = flame_rows_make(&rows, flame, zoomed, columns);
 *	...
 *	flame_rows_deinit(&rows);
 *
 * Row N has the nodes of depth N. The callers of the node that is zoomed into fill their rows, and
 * so does the node; below it, a box is as wide as its share of its caller. The boxes of the callees
 * of a box begin at its left edge and leave no gap: those that would be narrower than a column are
 * one box behind the others, and what is left at the right is the time of the function itself.
 */
#ifndef TUI_FLAME_BOXES_H
#define TUI_FLAME_BOXES_H

#include "profile/flame.h"

struct flame_box {
	uint32_t node;   /* NODE_NONE: several that are too narrow */
	uint32_t caller; /* of these */
	uint32_t hidden; /* how many they are */
	int x, width;
};

struct flame_row {
	ARRAY(struct flame_box); /* from left to right */
};

/* All zero is none. */
struct flame_rows {
	ARRAY(struct flame_row);
};

/* Replaces what was there, whose memory is used again. */
struct error *flame_rows_make(struct flame_rows *rows, const struct flame *flame, uint32_t zoomed,
			      int columns) MUST_CHECK;
void flame_rows_deinit(struct flame_rows *rows);

/* The box of a node in its row, or NULL. */
const struct flame_box *flame_rows_find(const struct flame_rows *rows, const struct flame *flame,
					uint32_t node);
/* The box at this column of a row, or NULL. */
const struct flame_box *flame_rows_at(const struct flame_rows *rows, size_t row, int x);

#endif
