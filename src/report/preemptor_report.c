/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "base/units.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* Rows are of programs (threads with one name) by default, as a program that is started over and
 * over is many threads, each of which ran little; and of single threads with --all. */
struct preemptor_row {
	const struct preemptor *who; /* the first of them */
	const struct waiter *waiter; /* NULL: all */
	uint64_t ns, waiters;
	uint32_t threads, cgroups; /* of those that ran; threads without a number do not count */
};

struct preemptor_rows {
	ARRAY(struct preemptor_row);
	struct word_map numbers, counted;
	struct waiters *waiters; /* NULL: rows are of all */
	bool are_threads;
	uint64_t ns;
};

/* Threads that run several programs, one after the other, are several of a profile: those with one
 * number and name are one here, and those with one name where rows are of programs. */
struct waiters {
	ARRAY(struct waiter {
		const struct profile_thread *thread; /* the first of them */
		uint64_t waited;                     /* for a CPU; 0: not measured */
		uint32_t threads;
	});
	struct word_map numbers, counted;
	bool are_threads;
};

/* Threads and cgroups that are counted once for each row. */
enum counted { WAITING, RUNNING, OF_CGROUP };

/* Set `ret` to whether this is new for the row. */
static struct error *count_once(struct word_map *counted, size_t row, enum counted what,
				uint64_t value, bool *ret)
{
	uint32_t *number = word_map_at(counted, (struct words){ { row, what, value } });

	if (!number)
		return &error_no_memory;
	*ret = *number == WORD_MAP_NEW;
	*number = 0;
	return NULL;
}

static struct error *find_waiter(struct waiters *waiters, const struct profile_thread *thread,
				 uint32_t *ret)
{
	struct words key = { { 0, 0, (uintptr_t)thread->name } };
	uint32_t *number;
	struct error *err;
	bool is_new;

	if (waiters->are_threads)
		key = (struct words){ { thread->tid, thread->tgid, (uintptr_t)thread->name } };
	number = word_map_at(&waiters->numbers, key);
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(waiters, (struct waiter){ .thread = thread }))
			return &error_no_memory;
		*number = (uint32_t)waiters->count - 1;
	}
	*ret = *number;
	err = count_once(&waiters->counted, *ret, WAITING, thread->tid, &is_new);
	if (!err)
		waiters->items[*ret].threads += is_new;
	return err;
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

static struct words key_of_preemptor(const struct preemptor_rows *rows, const struct preemptor *c,
				     uint32_t waiter)
{
	return rows->are_threads ? (struct words){ { (uint64_t)c->tid << 32 | waiter,
						     (uintptr_t)c->name, (uintptr_t)c->cgroup } }
				 : (struct words){ { waiter, (uintptr_t)c->name } };
}

/* Count the threads that waited, and the threads and cgroups that ran, once for each row. */
static struct error *count_threads(struct preemptor_rows *rows, size_t number,
				   const struct preemptor *c)
{
	struct preemptor_row *row = &rows->items[number];
	bool waits = false, runs = false, is_cgroup = false;
	struct error *err = count_once(&rows->counted, number, WAITING, c->thread, &waits);

	if (!err && c->tid)
		err = count_once(&rows->counted, number, RUNNING, c->tid, &runs);
	if (!err && c->cgroup)
		err = count_once(&rows->counted, number, OF_CGROUP, (uintptr_t)c->cgroup,
				 &is_cgroup);
	row->waiters += waits;
	row->threads += runs;
	row->cgroups += is_cgroup;
	if (is_cgroup && row->cgroups == 1 && !row->who->cgroup)
		row->who = c;
	return err;
}

static struct error *add_preemptor(struct preemptor_rows *rows, const struct preemptor *c,
				   const struct profile_thread *waiter)
{
	uint32_t *number, which = UINT32_MAX;

	if (rows->waiters) {
		struct error *err = find_waiter(rows->waiters, waiter, &which);

		if (err)
			return err;
	}
	number = word_map_at(&rows->numbers, key_of_preemptor(rows, c, which));
	if (!number)
		return &error_no_memory;
	if (*number == WORD_MAP_NEW) {
		struct preemptor_row row = { .who = c };

		/* They stay where they are: find_waiters has found all. */
		if (rows->waiters)
			row.waiter = &rows->waiters->items[which];
		if (!array_push(rows, row))
			return &error_no_memory;
		*number = (uint32_t)rows->count - 1;
	}
	sum_add(&rows->items[*number].ns, c->ns);
	sum_add(&rows->ns, c->ns);
	return count_threads(rows, *number, c);
}

static int by_ns(const void *a, const void *b)
{
	const struct preemptor_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->who->tid > y->who->tid) - (x->who->tid < y->who->tid);
}

enum preemptor_field { WAITER, RUNNER, THREADS, CGROUP, WAITERS, TIME, SHARE };

/* When columns are shown. */
enum { OVER_ALL = 1, BY_WAITER = 2, BY_PROGRAM = 4 };

static const struct table_column columns[] = {
	{ "who waited", .type = TABLE_TEXT, .when = BY_WAITER, .field = WAITER },
	{ "who ran", .type = TABLE_TEXT, .field = RUNNER },
	{ "threads", .type = TABLE_COUNT, .when = BY_PROGRAM, .field = THREADS },
	{ "cgroup", .type = TABLE_TEXT, .field = CGROUP },
	{ "threads waited", .type = TABLE_COUNT, .when = OVER_ALL, .field = WAITERS },
	{ "time", .type = TABLE_NS, .field = TIME },
	{ "share", .type = TABLE_PERCENT, .decimals = 1, .when = OVER_ALL, .field = SHARE },
	{ "of its wait", .type = TABLE_PERCENT, .decimals = 1, .when = BY_WAITER, .field = SHARE },
};

/* "hog (99)": the number only where there is one thread. */
static void put_runner(struct table_cell *ret, const struct preemptor_row *row)
{
	const struct preemptor *runner = row->who;

	if (!runner->name->length)
		table_text(ret, TEXT("[not known]"));
	else if (row->threads == 1 && runner->tid)
		table_printf(ret, "%.160s (%" PRIu32 ")", runner->name->bytes, runner->tid);
	else
		table_text(ret, name_text(runner->name));
}

static void put_waiter(struct table_cell *ret, const struct waiter *waiter)
{
	if (waiter->threads == 1)
		table_owned(ret, thread_visible(waiter->thread));
	else
		table_text(ret, name_text(waiter->thread->name));
}

static void get_preemptor_cell(const void *context, const void *row_,
			       const struct table_column *column, struct table_cell *ret)
{
	const struct preemptor_rows *rows = context;
	const struct preemptor_row *row = row_;
	uint64_t whole = rows->ns;

	switch ((enum preemptor_field)column->field) {
	case WAITER:
		put_waiter(ret, row->waiter);
		return;
	case RUNNER:
		put_runner(ret, row);
		return;
	case THREADS:
		if (row->threads)
			table_count(ret, row->threads);
		return;
	case CGROUP:
		if (row->cgroups > 1)
			table_printf(ret, "%" PRIu32 " cgroups", row->cgroups);
		else if (row->cgroups)
			table_text(ret, name_text(row->who->cgroup));
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
			whole = row->waiter->waited;
		if (whole)
			table_real(ret, TABLE_PERCENT,
				   100 * share_of((double)row->ns, (double)whole));
		return;
	}
}

static struct error *print_rows(FILE *out, const struct preemptor_rows *rows,
				const struct profile_style *style)
{
	struct table_options options = profile_table(out, style, get_preemptor_cell, rows);
	const size_t shown = rows_shown(style, rows->count);
	uint64_t rest = 0;
	struct table table;

	options.when = rows->waiters ? BY_WAITER : OVER_ALL;
	if (!rows->waiters && !rows->are_threads)
		options.when |= BY_PROGRAM;
	table_begin(&table, columns, array_length(columns), options);
	for (size_t i = 0; i < shown; i++)
		table_row(&table, &rows->items[i]);
	for (size_t i = shown; i < rows->count; i++)
		sum_add(&rest, rows->items[i].ns);
	print_more_rows(&table, rows->count - shown,
			rows->waiters       ? "pair"
			: rows->are_threads ? "thread"
					    : "program",
			UNIT_NS, rest);
	return table_end(&table);
}

static struct error *print_preemptors(FILE *out, const struct profile *profile,
				      const struct profile_style *style, bool is_by_waiter,
				      bool are_threads)
{
	struct waiters waiters = { .are_threads = are_threads };
	struct preemptor_rows rows = { .waiters = is_by_waiter ? &waiters : NULL,
				       .are_threads = are_threads };
	struct error *err = is_by_waiter ? find_waiters(&waiters, profile) : NULL;

	for (size_t i = 0; i < profile->preemptors.count && !err; i++) {
		const struct preemptor *c = &profile->preemptors.items[i];

		err = add_preemptor(&rows, c, &profile->threads.items[c->thread]);
	}
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), by_ns);
	if (!err)
		err = print_rows(out, &rows, style);
	array_deinit(&rows);
	word_map_deinit(&rows.numbers);
	word_map_deinit(&rows.counted);
	array_deinit(&waiters);
	word_map_deinit(&waiters.numbers);
	word_map_deinit(&waiters.counted);
	return err;
}

struct error *preemptor_report(FILE *out, const struct profile_report *report,
			       const struct profile_style *style)
{
	struct error *err;

	if (!report->profile->preemptors.count)
		return NULL;
	print_heading(out, style, "Who ran instead");
	err = print_preemptors(out, report->profile, style, false, false);
	if (!err && style->all) {
		print_heading(out, style, "Who ran instead, by thread");
		err = print_preemptors(out, report->profile, style, false, true);
	}
	if (err)
		return err;
	print_heading(out, style, "Who ran instead of whom");
	return print_preemptors(out, report->profile, style, true, style->all);
}
