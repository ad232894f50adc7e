/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole and its parts as a row of cells: which parts a cell shows, and how much of it is the left
 * one.
 *
 *	struct bar_cell cells[20];
 *	stacked_bar((uint64_t[]){ 30, 70 }, 2, 100, cells, 20, 8);
 *
 * A cell has `steps` steps: eighths where the terminal has such blocks, else 1. Parts get whole
 * steps by the largest remainder, so the bar is always as long as it should be, and no part is
 * wrong by more than a step.
 */
#ifndef TUI_STACKED_BAR_H
#define TUI_STACKED_BAR_H

#include <stddef.h>
#include <stdint.h>

#define BAR_PARTS_MAX 15
#define BAR_STEPS     8
/* The number of the part that is missing where the others are less than the whole. */
#define BAR_REST(parts) (parts)

struct bar_cell {
	uint8_t left, right; /* parts; the same where there is only one */
	uint8_t steps;       /* of the left one: 1 to `steps` */
};

/* Divide `units` among the parts and the rest; the results add up to `units`. If the parts exceed
 * the whole, they are the whole; of 0 all is rest. `ret` has room for count + 1. */
void bar_divide(const uint64_t *parts, size_t count, uint64_t whole, unsigned units, unsigned *ret);

/* A cell that three parts meet in shows the two that have most of it. */
void stacked_bar(const uint64_t *parts, size_t count, uint64_t whole, struct bar_cell *ret,
		 unsigned width, unsigned steps);

#endif
