/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind tables made by hand.
 *
 *	struct unwind_table table = { .base = 0x10000 };
 *	uint32_t rule = made_rule(&table, (struct unwind_rule){ .kind = UNWIND_RULE_FRAME, ... });
 *	made_block(&table, (struct made_row[]){ { 0, rule }, { 0x80, UNWIND_NUMBER_NONE } }, 2);
 */
#ifndef UNIT_MADE_TABLE_H
#define UNIT_MADE_TABLE_H

#include "unit/unit.h"
#include "unwind/build.h"

struct made_row {
	uint32_t at; /* from the start of the block */
	uint32_t rule;
};

/* The number that it has in the table. */
uint32_t made_rule(struct unwind_table *table, struct unwind_rule rule);

/* The next block, of rows by `at`, the first of them 0; none: no block there. */
void made_block(struct unwind_table *table, const struct made_row *rows, size_t count);

/* A table of some blocks, with some that are missing; `rows_of` (not NULL) gets the rows of each.
 */
struct made_rows {
	ARRAY(struct made_row);
};
struct unwind_table made_random(uint64_t *seed, size_t blocks, struct made_rows *rows_of);

bool made_equal(const struct unwind_table *a, const struct unwind_table *b);

#endif
