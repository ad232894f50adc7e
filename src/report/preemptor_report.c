/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "base/units.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* A thread that ran while one thread, or any, was runnable. */
struct preemptor_row {
	const struct preemptor *who;
	const struct profile_thread *waiter; /* NULL: all */
	uint64_t ns, waiters;
	uint64_t waited; /* by that thread, for a CPU; 0: not measured */
};

struct preemptor_rows {
	ARRAY(struct preemptor_row);
	struct word_map numbers;
	struct waiters *waiters; /* NULL: rows are of all */
	uint64_t ns;
};

/* Threads that run several programs, one after the other, are several of a profile: those with one
 * number and name are one here. */
struct waiters {
	ARRAY(struct waiter {
		const struct profile_thread *thread;
		uint64_t waited;
	});
	struct word_map numbers;
};

static struct error *find_waiter(struct waiters *waiters, const struct profile_thread *thread,
				 uint32_t *ret)
{
	uint32_t *number = word_map_at(
		&waiters->numbers,
		(struct words){ { thread->tid, thread->tgid, (uintptr_t)thread->name } });

	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(waiters, (struct waiter){ .thread = thread }))
			return &error_no_memory;
		*number = (uint32_t)waiters->count - 1;
	}
	*ret = *number;
	return NULL;
}

static struct error *find_waiters(struct waiters *waiters, const struct profile *profile)
{
	for (size_t i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];
		uint32_t number;
		struct error *err = find_waiter(waiters, thread, &number);

		if (err)
			return err;
		if (thread->is_accounted)
			sum_add(&waiters->items[number].waited, thread->ns[CLASS_RUNNABLE]);
	}
	return NULL;
}

static struct error *add_preemptor(struct preemptor_rows *rows, const struct preemptor *c,
				   const struct profile_thread *waiter)
{
	struct preemptor_row row = { .who = c };
	uint32_t *number, which = UINT32_MAX;

	if (rows->waiters) {
		struct error *err = find_waiter(rows->waiters, waiter, &which);

		if (err)
			return err;
		row.waiter = rows->waiters->items[which].thread;
		row.waited = rows->waiters->items[which].waited;
	}
	number = word_map_at(&rows->numbers,
			     (struct words){ { (uint64_t)c->tid << 32 | which, (uintptr_t)c->name,
					       (uintptr_t)c->cgroup } });
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(rows, row))
			return &error_no_memory;
		*number = (uint32_t)rows->count - 1;
	}
	rows->items[*number].ns += c->ns;
	rows->items[*number].waiters++;
	rows->ns += c->ns;
	return NULL;
}

static int by_ns(const void *a, const void *b)
{
	const struct preemptor_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->who->tid > y->who->tid) - (x->who->tid < y->who->tid);
}

enum preemptor_field { WAITER, RUNNER, CGROUP, WAITERS, TIME, SHARE };

/* When columns are shown. */
enum { OVER_ALL = 1, BY_WAITER = 2 };

static const struct table_column columns[] = {
	{ "who waited", .type = TABLE_TEXT, .when = BY_WAITER, .field = WAITER },
	{ "who ran", .type = TABLE_TEXT, .field = RUNNER },
	{ "cgroup", .type = TABLE_TEXT, .field = CGROUP },
	{ "threads waited", .type = TABLE_COUNT, .when = OVER_ALL, .field = WAITERS },
	{ "time", .type = TABLE_NS, .field = TIME },
	{ "share", .type = TABLE_PERCENT, .decimals = 1, .when = OVER_ALL, .field = SHARE },
	{ "of its wait", .type = TABLE_PERCENT, .decimals = 1, .when = BY_WAITER, .field = SHARE },
};

static void get_preemptor_cell(const void *context, const void *row_,
			       const struct table_column *column, struct table_cell *ret)
{
	const struct preemptor_rows *rows = context;
	const struct preemptor_row *row = row_;
	const struct preemptor *runner = row->who;
	uint64_t whole = rows->ns;

	switch ((enum preemptor_field)column->field) {
	case WAITER:
		table_owned(ret, thread_visible(row->waiter));
		return;
	case RUNNER:
		if (runner->name->length && !runner->tid)
			table_text(ret, name_text(runner->name));
		else if (runner->name->length)
			table_printf(ret, "%.160s (%" PRIu32 ")", runner->name->bytes, runner->tid);
		else
			table_text(ret, TEXT("[not known]"));
		return;
	case CGROUP:
		if (runner->cgroup)
			table_text(ret, name_text(runner->cgroup));
		return;
	case WAITERS:
		table_count(ret, row->waiters);
		return;
	case TIME:
		table_ns(ret, row->ns);
		return;
	case SHARE:
		/* Rows of a waiter are shares of its own runnable time, where it was measured. */
		if (row->waiter)
			whole = row->waited;
		if (whole)
			table_real(ret, TABLE_PERCENT,
				   100 * share_of((double)row->ns, (double)whole));
		return;
	}
}

static struct error *print_preemptor_rows(FILE *out, const struct profile *profile,
					  const struct profile_style *style, bool is_by_waiter)
{
	struct waiters waiters = { 0 };
	struct preemptor_rows rows = { .waiters = is_by_waiter ? &waiters : NULL };
	struct table_options options = profile_table(out, style, get_preemptor_cell, &rows);
	struct error *err = is_by_waiter ? find_waiters(&waiters, profile) : NULL;
	uint64_t rest = 0;
	struct table table;
	size_t shown;

	for (size_t i = 0; i < profile->preemptors.count && !err; i++) {
		const struct preemptor *c = &profile->preemptors.items[i];

		err = add_preemptor(&rows, c, &profile->threads.items[c->thread]);
	}
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), by_ns);
	shown = rows_shown(style, rows.count);
	options.when = is_by_waiter ? BY_WAITER : OVER_ALL;
	if (!err) {
		table_begin(&table, columns, array_length(columns), options);
		for (size_t i = 0; i < shown; i++)
			table_row(&table, &rows.items[i]);
		for (size_t i = shown; i < rows.count; i++)
			sum_add(&rest, rows.items[i].ns);
		print_more_rows(&table, rows.count - shown, is_by_waiter ? "pair" : "thread",
				UNIT_NS, rest);
		err = table_end(&table);
	}
	array_deinit(&rows);
	word_map_deinit(&rows.numbers);
	array_deinit(&waiters);
	word_map_deinit(&waiters.numbers);
	return err;
}

struct error *preemptor_report(FILE *out, const struct profile_report *report,
			       const struct profile_style *style)
{
	struct error *err;

	if (!report->profile->preemptors.count)
		return NULL;
	print_heading(out, style, "Who ran instead");
	err = print_preemptor_rows(out, report->profile, style, false);
	if (err)
		return err;
	print_heading(out, style, "Who ran instead of whom");
	return print_preemptor_rows(out, report->profile, style, true);
}
