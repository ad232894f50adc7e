/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rows of a table, as they come, into the blocks of unwind/pool.h.
 *
 *	struct unwind_rows rows;
 *	unwind_rows_init(&rows, &table);
 *	if (unwind_rows_put(&rows, start, number) && unwind_rows_put(&rows, end, 0) && ...)
 *		done = unwind_rows_finish(&rows);
 */
#ifndef UNWIND_ROWS_H
#define UNWIND_ROWS_H

#include "unwind/build.h"

struct unwind_rows {
	struct unwind_table *table;
	/* The row that was put last, which another one at its address replaces. */
	uint64_t address;
	uint32_t number;
	uint32_t in_force;   /* before it */
	bool has_block;      /* the last one of the table is not complete */
	uint32_t page;       /* of the row before it, in the block */
	uint64_t page_start; /* address where that begins */
	uint32_t block_rows, page_rows;
	bool is_full; /* the page has no room for all its rows */
};

void unwind_rows_init(struct unwind_rows *rows, struct unwind_table *table);

/* Write the row that was put last, which says something else than the one before. For
 * unwind_rows_put(). */
bool unwind_rows_flush(struct unwind_rows *rows);

/*
 * From `address` on the rule `number` is in force. Addresses do not go down, and are at most
 * UNWIND_BLOCKS_MAX blocks from the first that has a rule. A row that says what is in force anyway
 * is left out. False without memory.
 */
static inline bool unwind_rows_put(struct unwind_rows *rows, uint64_t address, uint32_t number)
{
	if (address != rows->address && rows->number != rows->in_force && !unwind_rows_flush(rows))
		return false;
	rows->address = address;
	rows->number = number;
	return true;
}

/* When all are there. What is in force is UNWIND_NUMBER_NONE then. */
bool unwind_rows_finish(struct unwind_rows *rows);

#endif
