/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/sum.h"
#include "base/units.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* The times of a thread: exact if they were accounted, else from its samples. */
struct thread_row {
	const struct profile_thread *thread;
	uint64_t ns[CLASS_COUNT], sum, shown;
	uint64_t busy; /* of BUSY, as far as it is shown */
};

/* The classes of threads that have something to do. The others have all of the time that there is,
 * and would be first wherever most threads have nothing to do. */
#define BUSY                                                               \
	(1u << CLASS_ON_CPU | 1u << CLASS_RUNNABLE | 1u << CLASS_IO_WAIT | \
	 1u << CLASS_UNINTERRUPTIBLE)

struct thread_rows {
	struct thread_row *items;
	size_t count;
	unsigned occurring; /* classes: a bit each */
	bool has_processes; /* that are named otherwise than a thread of theirs */
};

static uint64_t wall_of(const struct profile_thread *thread)
{
	return thread->ended_ns > thread->begun_ns ? thread->ended_ns - thread->begun_ns : 0;
}

/* Times of states add up to the time for which the thread was watched: where they do, that is no
 * news. */
#define SUM_TOLERANCE 0.001

static bool adds_up(const struct thread_row *row)
{
	const double wall = (double)wall_of(row->thread);

	return !row->thread->is_accounted || fabs((double)row->sum - wall) <= SUM_TOLERANCE * wall;
}

static bool add_up(const struct thread_rows *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!adds_up(&rows->items[i]))
			return false;
	return true;
}

static int busiest_first(const void *a, const void *b)
{
	const struct thread_row *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	if (x->shown != y->shown)
		return x->shown < y->shown ? 1 : -1;
	if (x->sum != y->sum)
		return x->sum < y->sum ? 1 : -1;
	return (x->thread->tid > y->thread->tid) - (x->thread->tid < y->thread->tid);
}

static bool fill_rows(struct thread_rows *rows, const struct profile *profile, unsigned classes)
{
	rows->count = profile->threads.count;
	rows->items = calloc(rows->count + 1, sizeof(*rows->items));
	if (!rows->items)
		return false;
	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].thread = &profile->threads.items[i];
	for (size_t i = 0; i < profile->samples.count; i++) {
		const struct sample *sample = &profile->samples.items[i];
		struct thread_row *row = &rows->items[sample->thread];

		if (!row->thread->is_accounted)
			sum_add(&row->ns[sample->class], sample->ns);
	}
	for (size_t i = 0; i < rows->count; i++) {
		struct thread_row *row = &rows->items[i];

		for (unsigned class = 0; class < CLASS_COUNT; class ++) {
			if (row->thread->is_accounted)
				row->ns[class] = row->thread->ns[class];
			sum_add(&row->sum, row->ns[class]);
			if (classes >> class & 1)
				sum_add(&row->shown, row->ns[class]);
			if ((classes & BUSY) >> class & 1)
				sum_add(&row->busy, row->ns[class]);
			if (row->ns[class])
				rows->occurring |= 1u << class;
		}
		rows->has_processes |= row->thread->name != row->thread->process;
	}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof(*rows->items), busiest_first);
	return true;
}

enum thread_field { THREAD, TID, PROCESS, CLASS, SUM, WALL, SUM_OF_WALL };

static void get_thread_cell(const void *context, const void *row_,
			    const struct table_column *column, struct table_cell *ret)
{
	const struct thread_row *row = row_;
	const struct profile_thread *thread = row->thread;
	const uint64_t wall = wall_of(thread);

	(void)context;
	switch ((enum thread_field)column->field) {
	case THREAD:
		table_text(ret, name_text(thread->name));
		return;
	case TID:
		if (thread->tid)
			table_count(ret, thread->tid);
		return;
	case PROCESS:
		table_text(ret, name_text(thread->process));
		return;
	case CLASS:
		if (thread->is_accounted || row->ns[column->argument])
			table_ns(ret, row->ns[column->argument]);
		return;
	case SUM:
		table_ns(ret, row->sum);
		return;
	case WALL:
		if (thread->is_accounted)
			table_ns(ret, wall);
		return;
	case SUM_OF_WALL:
		if (thread->is_accounted && wall)
			table_real(ret, TABLE_PERCENT,
				   100 * share_of((double)row->sum, (double)wall));
		return;
	}
}

/* The others are last. */
static size_t rows_with_time(const struct thread_rows *rows)
{
	size_t count = rows->count;

	while (count && !rows->items[count - 1].shown)
		count--;
	return count;
}

/* What a terminal can do without, the last first. */
enum { MINOR_SUM = 1, MINOR_SLEEP, MINOR_IDLE, MINOR_ZERO };

static unsigned minor_of(const struct thread_rows *rows, size_t shown, unsigned class)
{
	bool is_zero = true;

	for (size_t i = 0; i < shown; i++)
		is_zero &= !rows->items[i].ns[class];
	return is_zero                ? MINOR_ZERO
	       : class == CLASS_IDLE  ? MINOR_IDLE
	       : !(BUSY >> class & 1) ? MINOR_SLEEP
				      : 0;
}

static struct error *print_thread_rows(FILE *out, const struct thread_rows *rows,
				       const struct profile_style *style)
{
	struct table_column columns[CLASS_COUNT + 6] = {
		{ "thread", .type = TABLE_TEXT, .field = THREAD },
		{ "tid", .type = TABLE_COUNT, .field = TID },
		{ "process", .type = TABLE_TEXT, .field = PROCESS },
	};
	size_t count = style->all || rows->has_processes ? 3 : 2;
	const size_t shown = rows_shown(style, style->all ? rows->count : rows_with_time(rows));
	uint64_t rest = 0;
	struct table table;

	for (unsigned class = 0; class < CLASS_COUNT; class ++)
		if (rows->occurring >> class & 1)
			columns[count++] = (struct table_column){
				profile_classes[class].name, .type = TABLE_NS, .field = CLASS,
				.argument = class, .minor = minor_of(rows, shown, class)
			};
	columns[count++] =
		(struct table_column){ "sum", .type = TABLE_NS, .field = SUM, .minor = MINOR_SUM };
	if (style->all || !add_up(rows, shown)) {
		columns[count++] = (struct table_column){ "wall", .type = TABLE_NS, .field = WALL };
		columns[count++] = (struct table_column){ "sum/wall", .type = TABLE_PERCENT,
							  .decimals = 2, .field = SUM_OF_WALL };
	}
	table_begin(&table, columns, count, profile_table(out, style, get_thread_cell, NULL));
	for (size_t i = 0; i < shown && table_row(&table, &rows->items[i]); i++)
		;
	for (size_t i = shown; i < rows->count; i++)
		sum_add(&rest, rows->items[i].shown);
	print_more_rows(&table, rows->count - shown, "thread", UNIT_NS, rest);
	return table_end(&table);
}

struct error *thread_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style)
{
	struct thread_rows rows = { 0 };
	struct error *err = NULL;

	if (!fill_rows(&rows, report->profile, profile_classes_shown(report)))
		return &error_no_memory;
	/* Classes of events have no time. */
	if (rows.count && rows.occurring) {
		print_heading(out, style, "Threads");
		err = print_thread_rows(out, &rows, style);
	}
	free(rows.items);
	return err;
}
