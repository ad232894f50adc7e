/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* Innermost frames that say where it blocked. */
#define FRAMES 5 /* of the kernel, and of the program */

enum longest_field { AT, LENGTH, RUNNABLE, CLASS, THREAD, WAKER, STACK };

static const struct table_column columns[] = {
	{ "at", .type = TABLE_NS, .field = AT },
	{ "blocked", .type = TABLE_NS, .field = LENGTH },
	{ "then runnable", .type = TABLE_NS, .field = RUNNABLE },
	{ "class", .type = TABLE_TEXT, .field = CLASS },
	{ "thread", .type = TABLE_TEXT, .field = THREAD },
	{ "woken by", .type = TABLE_TEXT, .field = WAKER },
	{ "stack, innermost first", .type = TABLE_TEXT, .field = STACK },
};

struct blocks {
	const struct profile *profile;
	uint64_t first_ns; /* times are shown as of then */
};

/* Times are relative to the first time that a thread was watched. */
static uint64_t first_start(const struct profile *profile)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < profile->threads.count; i++)
		if (profile->threads.items[i].begun_ns &&
		    profile->threads.items[i].begun_ns < first)
			first = profile->threads.items[i].begun_ns;
	for (size_t i = 0; i < profile->longest.count; i++)
		if (profile->longest.items[i].begun_ns < first)
			first = profile->longest.items[i].begun_ns;
	return first;
}

static void get_block_cell(const void *context, const void *row, const struct table_column *column,
			   struct table_cell *ret)
{
	const struct blocks *blocks = context;
	const struct profile *profile = blocks->profile;
	const struct block *block = row;
	char time[UNITS_TEXT_MAX];

	switch ((enum longest_field)column->field) {
	case AT:
		table_string(ret, units_format_delta(ret->buffer, UNIT_NS,
						     block->begun_ns - blocks->first_ns));
		return;
	case LENGTH:
		table_printf(ret, "%s%s", units_format(time, UNIT_NS, block->ns),
			     block->is_in_progress ? "+" : "");
		return;
	case RUNNABLE:
		if (!block->is_in_progress)
			table_ns(ret, block->runnable_ns);
		return;
	case CLASS:
		table_string(ret, profile_classes[block->class].name);
		return;
	case THREAD:
		table_owned(ret, thread_visible(&profile->threads.items[block->thread]));
		return;
	case WAKER:
		/* An interrupt has no number. */
		if (block->waker)
			table_printf(ret, block->waker_tid ? "%.160s (%" PRIu32 ")" : "%.160s",
				     block->waker->bytes, block->waker_tid);
		return;
	case STACK:
		table_owned(ret, stack_visible(profile, block->node, FRAMES));
		return;
	}
}

struct error *longest_report(FILE *out, const struct profile_report *report,
			     const struct profile_style *style)
{
	const struct profile *profile = report->profile;
	const struct blocks blocks = { profile, first_start(profile) };
	struct table table;

	if (!profile->longest.count)
		return NULL;
	print_heading(out, style, "Longest blocks");
	table_begin(&table, columns, array_length(columns),
		    profile_table(out, style, get_block_cell, &blocks));
	for (size_t i = 0; i < profile->longest.count; i++)
		table_row(&table, &profile->longest.items[i]);
	return table_end(&table);
}
