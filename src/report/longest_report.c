/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* Innermost frames that say where it blocked. */
#define FRAMES 5 /* of the kernel, and of the program */

static const struct table_column columns[] = {
	{ "at", true },
	{ "blocked", true },
	{ "then runnable", true },
	{ "class", false },
	{ "thread", false },
	{ "woken by", false },
	{ "stack, innermost first", false },
};

/* Times stand against the first moment that anything was watched. */
static uint64_t first_moment(const struct profile *profile)
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

static bool add_text(struct table *table, char *text)
{
	bool done = text && table_add(table, text_of(text), TABLE_PLAIN);

	free(text);
	return done;
}

static bool add_waker(struct table *table, const struct block *block)
{
	char text[200];

	if (!block->waker)
		return table_add(table, text_of(UNMEASURED), TABLE_PLAIN);
	/* An interrupt has no number. */
	snprintf(text, sizeof(text), block->waker_tid ? "%.160s (%" PRIu32 ")" : "%.160s",
		 block->waker->bytes, block->waker_tid);
	return table_add(table, text_of(text), TABLE_PLAIN);
}

static bool add_row(struct table *table, const struct profile *profile, const struct block *block,
		    uint64_t first)
{
	char at[UNITS_TEXT_MAX], length[UNITS_TEXT_MAX + 8], runnable[UNITS_TEXT_MAX];

	units_format_delta(at, UNIT_NS, block->begun_ns - first);
	units_format(length, UNIT_NS, block->ns);
	if (block->is_in_progress)
		strcat(length, "+");
	units_format(runnable, UNIT_NS, block->runnable_ns);
	return table_add(table, text_of(at), TABLE_PLAIN) &&
	       table_add(table, text_of(length), TABLE_PLAIN) &&
	       table_add(table, text_of(block->is_in_progress ? UNMEASURED : runnable),
			 TABLE_PLAIN) &&
	       table_add(table, text_of(profile_classes[block->class].name), TABLE_PLAIN) &&
	       add_text(table, thread_visible(&profile->threads.items[block->thread])) &&
	       add_waker(table, block) &&
	       add_text(table, stack_visible(profile, block->node, FRAMES));
}

struct error *longest_report(FILE *out, const struct profile_report *report,
			     const struct profile_style *style)
{
	const struct profile *profile = report->profile;
	uint64_t first = first_moment(profile);
	struct table table;
	struct error *err;
	bool done = true;

	if (!profile->longest.count)
		return NULL;
	print_heading(out, style, "Longest blocks");
	table_init(&table, columns, array_length(columns));
	for (size_t i = 0; i < profile->longest.count && done; i++)
		done = add_row(&table, profile, &profile->longest.items[i], first);
	err = done ? table_print(&table, out, style->width, style->colour) : &error_no_memory;
	table_deinit(&table);
	return err;
}
