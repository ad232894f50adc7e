/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "base/word_map.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"

/* A thread, or an interrupt, that ended waits. */
struct waker_row {
	const struct name *name;
	uint32_t tid; /* 0: an interrupt */
	uint64_t count, ns, longest;
};

struct waker_rows {
	ARRAY(struct waker_row);
	struct word_map numbers;
	uint64_t ns;
};

enum waker_field { WAKER, TIMES, TIME, LONGEST, SHARE };

static const struct table_column columns[] = {
	{ "woken by", .type = TABLE_TEXT, .field = WAKER },
	{ "times", .type = TABLE_COUNT, .field = TIMES },
	{ "waited", .type = TABLE_NS, .field = TIME },
	{ "longest", .type = TABLE_NS, .field = LONGEST },
	{ "share", .type = TABLE_PERCENT, .decimals = 1, .field = SHARE },
};

static void get_waker_cell(const void *context, const void *row_, const struct table_column *column,
			   struct table_cell *ret)
{
	const struct waker_rows *rows = context;
	const struct waker_row *row = row_;

	switch ((enum waker_field)column->field) {
	case WAKER:
		table_printf(ret, row->tid ? "%.160s (%" PRIu32 ")" : "%.160s", row->name->bytes,
			     row->tid);
		return;
	case TIMES:
		table_count(ret, row->count);
		return;
	case TIME:
		table_ns(ret, row->ns);
		return;
	case LONGEST:
		table_ns(ret, row->longest);
		return;
	case SHARE:
		if (rows->ns)
			table_real(ret, TABLE_PERCENT,
				   100 * share_of((double)row->ns, (double)rows->ns));
		return;
	}
}

static struct error *add_block(struct waker_rows *rows, const struct block *block)
{
	const struct words key = { { block->waker_tid, (uintptr_t)block->waker } };
	const struct waker_row row = { .name = block->waker, .tid = block->waker_tid };
	uint32_t *number = word_map_at(&rows->numbers, key);
	struct waker_row *found;

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(rows, row))
			return &error_no_memory;
		*number = (uint32_t)rows->count - 1;
	}
	found = &rows->items[*number];
	found->count++;
	sum_add(&found->ns, block->ns);
	sum_add(&rows->ns, block->ns);
	if (block->ns > found->longest)
		found->longest = block->ns;
	return NULL;
}

static int by_time(const void *a, const void *b)
{
	const struct waker_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static struct error *print_wakers(FILE *out, const struct profile_style *style,
				  const struct waker_rows *rows)
{
	const size_t shown = rows_shown(style, rows->count);
	char heading[80];
	struct table table;
	uint64_t rest = 0, count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += rows->items[i].count;
	for (size_t i = shown; i < rows->count; i++)
		sum_add(&rest, rows->items[i].ns);
	snprintf(heading, sizeof(heading), "Who ended its %" PRIu64 " longest wait%s", count,
		 plural(count));
	print_heading(out, style, heading);
	table_begin(&table, columns, array_length(columns),
		    profile_table(out, style, get_waker_cell, rows));
	for (size_t i = 0; i < shown; i++)
		table_row(&table, &rows->items[i]);
	print_more_rows(&table, rows->count - shown, "thread", UNIT_NS, rest);
	return table_end(&table);
}

struct error *waker_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style)
{
	const struct profile *profile = report->profile;
	struct waker_rows rows = { 0 };
	struct error *err = NULL;

	for (size_t i = 0; i < profile->longest.count && !err; i++)
		if (profile->longest.items[i].waker)
			err = add_block(&rows, &profile->longest.items[i]);
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), by_time);
	if (!err && rows.count)
		err = print_wakers(out, style, &rows);
	array_deinit(&rows);
	word_map_deinit(&rows.numbers);
	return err;
}
