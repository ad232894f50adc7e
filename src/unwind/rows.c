/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/rows.h"

#define BLOCK_MASK (((uint64_t)1 << UNWIND_BLOCK_BITS) - 1)

void unwind_rows_init(struct unwind_rows *rows, struct unwind_table *table)
{
	*rows = (struct unwind_rows){ .table = table, .number = UNWIND_NUMBER_NONE };
}

static uint32_t *open_block(const struct unwind_rows *rows)
{
	const struct unwind_table *table = rows->table;

	return &table->words.items[table->blocks.items[table->blocks.count - 1]];
}

/* Set the number of rows before all pages up to `page`. */
static void turn_to(struct unwind_rows *rows, uint32_t page)
{
	uint32_t *head = open_block(rows);

	rows->page_start += (uint64_t)(page - rows->page) << UNWIND_PAGE_BITS;
	while (rows->page < page) {
		rows->page++;
		rows->page_rows = 0;
		head[rows->page / 2] |= rows->block_rows << (rows->page % 2 * 16);
	}
}

static bool push_row(struct unwind_rows *rows, uint32_t offset, uint32_t number)
{
	if (!array_push(&rows->table->words, UNWIND_ROW(offset, number)))
		return false;
	rows->block_rows++;
	rows->page_rows++;
	rows->table->rows++;
	return true;
}

/* The row that found no room was on the last byte of its page, so the next page begins with what it
 * said. */
static bool end_full_page(struct unwind_rows *rows)
{
	if (!rows->is_full)
		return true;
	rows->is_full = false;
	if (rows->page >= UNWIND_PAGES - 1)
		return true;
	turn_to(rows, rows->page + 1);
	return push_row(rows, 0, rows->in_force);
}

static bool push_in_page(struct unwind_rows *rows, uint32_t offset, uint32_t number)
{
	struct unwind_table *table = rows->table;
	uint32_t *last = &table->words.items[table->words.count - 1];

	if (rows->page_rows < UNWIND_PAGE_ROWS)
		return push_row(rows, offset, number);
	*last = UNWIND_ROW(UNWIND_ROW_OFFSET(*last), UNWIND_NUMBER_OTHER);
	table->refused++;
	rows->is_full = true;
	return true;
}

static bool close_block(struct unwind_rows *rows)
{
	if (!rows->has_block)
		return true;
	if (!end_full_page(rows))
		return false;
	turn_to(rows, UNWIND_PAGES);
	rows->has_block = false;
	return true;
}

/* The next block, with what is in force where it begins. */
static bool start_block(struct unwind_rows *rows, uint32_t number)
{
	static const uint32_t head[UNWIND_BLOCK_HEAD];
	struct unwind_table *table = rows->table;
	uint32_t place = (uint32_t)table->words.count;
	const uint64_t start = table->base + ((uint64_t)table->blocks.count << UNWIND_BLOCK_BITS);

	if (table->words.count > UNWIND_TABLE_WORDS_MAX ||
	    !array_reserve(&table->words, UNWIND_BLOCK_HEAD) || !array_push(&table->blocks, place))
		return false;
	memcpy(table->words.items + place, head, sizeof(head));
	table->words.count += UNWIND_BLOCK_HEAD;
	rows->has_block = true;
	rows->page = rows->block_rows = rows->page_rows = 0;
	rows->page_start = start;
	return push_row(rows, 0, number);
}

/* All blocks before number `wanted` that are not there yet. */
static bool fill_blocks(struct unwind_rows *rows, uint64_t wanted)
{
	struct unwind_table *table = rows->table;

	while (table->blocks.count < wanted) {
		if (rows->in_force == UNWIND_NUMBER_POINTER) {
			if (!array_push(&table->blocks, UNWIND_POINTER_BLOCK))
				return false;
		} else if (rows->in_force != UNWIND_NUMBER_NONE) {
			if (!start_block(rows, rows->in_force) || !close_block(rows))
				return false;
		} else if (!array_push(&table->blocks, UNWIND_NO_BLOCK)) {
			return false;
		}
	}
	return true;
}

/* The block that the row is in. A row where it begins is not needed any more then. */
static bool enter_block(struct unwind_rows *rows, uint64_t address, uint32_t number, bool *ret_done)
{
	struct unwind_table *table = rows->table;
	uint64_t wanted;

	if (!table->blocks.count)
		table->base = address & ~BLOCK_MASK;
	wanted = (address - table->base) >> UNWIND_BLOCK_BITS;
	if (rows->has_block && wanted < table->blocks.count)
		return true;
	if (!close_block(rows) || !fill_blocks(rows, wanted))
		return false;
	if (address & BLOCK_MASK)
		return start_block(rows, rows->in_force);
	*ret_done = true;
	/* Nothing need not be said. */
	return number == UNWIND_NUMBER_NONE || start_block(rows, number);
}

static bool enter_page(struct unwind_rows *rows, uint32_t page, uint32_t offset)
{
	if (page == rows->page)
		return true;
	/* The row to come says itself what its page begins with. */
	if (page == rows->page + 1 && !offset)
		rows->is_full = false;
	if (!end_full_page(rows))
		return false;
	turn_to(rows, page);
	return true;
}

/* Apart from the usual case, which needs few registers. */
__attribute__((noinline)) static bool flush_anywhere(struct unwind_rows *rows)
{
	uint32_t within = (uint32_t)(rows->address & BLOCK_MASK);
	uint32_t offset = within & ((1u << UNWIND_PAGE_BITS) - 1);
	bool is_done = false;

	if (!enter_block(rows, rows->address, rows->number, &is_done))
		return false;
	if (!is_done && (!enter_page(rows, within >> UNWIND_PAGE_BITS, offset) ||
			 !push_in_page(rows, offset, rows->number)))
		return false;
	rows->in_force = rows->number;
	return true;
}

/* Most rows are in the page of the one before, with room for them. */
bool unwind_rows_flush(struct unwind_rows *rows)
{
	struct unwind_table *table = rows->table;
	const uint64_t within = rows->address - rows->page_start;

	if (within >= 1u << UNWIND_PAGE_BITS || rows->page_rows >= UNWIND_PAGE_ROWS ||
	    table->words.count == table->words.room || !rows->has_block)
		return flush_anywhere(rows);
	table->words.items[table->words.count++] = UNWIND_ROW(within, rows->number);
	rows->block_rows++;
	rows->page_rows++;
	table->rows++;
	rows->in_force = rows->number;
	return true;
}

bool unwind_rows_finish(struct unwind_rows *rows)
{
	return (rows->number == rows->in_force || unwind_rows_flush(rows)) && close_block(rows);
}
