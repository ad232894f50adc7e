/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"
#include "report/flame_walk.h"
#include "report/profile_heading.h"
#include "report/profile_stack.h"

/* Who ran, and while whom: one thread, or all of them. */
struct row {
	const struct preemptor *who;
	const struct profile_thread *waiter; /* NULL: all */
	uint64_t ns, waiters;
};

struct rows {
	ARRAY(struct row);
	struct word_map numbers;
	uint64_t ns;
};

static struct error *add_preemptor(struct rows *rows, const struct preemptor *c,
				   const struct profile_thread *waiter)
{
	struct words key = { { (uint64_t)c->tid << 32 | (waiter ? c->thread : UINT32_MAX),
			       (uintptr_t)c->name, (uintptr_t)c->cgroup } };
	uint32_t *number = word_map_at(&rows->numbers, key);
	struct row row = { .who = c, .waiter = waiter };

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
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->who->tid > y->who->tid) - (x->who->tid < y->who->tid);
}

static bool add_who(struct table *table, const struct preemptor *c)
{
	char text[200];

	if (!c->name->length)
		snprintf(text, sizeof(text), "[not known]");
	else
		snprintf(text, sizeof(text), "%.160s (%" PRIu32 ")", c->name->bytes, c->tid);
	return table_add(table, text_of(text), TABLE_PLAIN) &&
	       table_add(table, c->cgroup ? name_text(c->cgroup) : TEXT(UNMEASURED), TABLE_PLAIN);
}

/* The waiter's own runnable time is what its rows are shares of, where it was measured. */
static bool add_row(struct table *table, const struct rows *rows, const struct row *row)
{
	char time[UNITS_TEXT_MAX], share[32], count[32];
	_cleanup_free_ char *waiter = row->waiter ? thread_visible(row->waiter) : NULL;
	uint64_t whole = !row->waiter                ? rows->ns
			 : row->waiter->is_accounted ? row->waiter->ns[CLASS_RUNNABLE]
						     : 0;

	snprintf(share, sizeof(share), "%.1f%%", 100 * share_of((double)row->ns, (double)whole));
	snprintf(count, sizeof(count), "%" PRIu64, row->waiters);
	if (row->waiter && (!waiter || !table_add(table, text_of(waiter), TABLE_PLAIN)))
		return false;
	return add_who(table, row->who) &&
	       (row->waiter || table_add(table, text_of(count), TABLE_PLAIN)) &&
	       table_add(table, text_of(units_format(time, UNIT_NS, row->ns)), TABLE_PLAIN) &&
	       table_add(table, text_of(whole ? share : UNMEASURED), TABLE_PLAIN);
}

static const struct table_column over_all[] = {
	{ "who ran", false }, { "cgroup", false }, { "threads waited", true },
	{ "time", true },     { "share", true },
};
static const struct table_column by_waiter[] = {
	{ "who waited", false }, { "who ran", false },    { "cgroup", false },
	{ "time", true },        { "of its wait", true },
};

static struct error *print_rows(FILE *out, const struct profile *profile,
				const struct profile_style *style, bool is_by_waiter)
{
	struct rows rows = { 0 };
	struct error *err = NULL;
	struct table table;
	bool done = true;

	table_init(&table, is_by_waiter ? by_waiter : over_all, array_length(over_all));
	for (size_t i = 0; i < profile->preemptors.count && !err; i++) {
		const struct preemptor *c = &profile->preemptors.items[i];

		err = add_preemptor(&rows, c,
				    is_by_waiter ? &profile->threads.items[c->thread] : NULL);
	}
	if (rows.count)
		qsort(rows.items, rows.count, sizeof(*rows.items), by_ns);
	for (size_t i = 0; i < rows.count && i < rows_wanted(style) && done; i++)
		done = add_row(&table, &rows, &rows.items[i]);
	if (!err)
		err = done ? table_print(&table, out, style->width, style->colour)
			   : &error_no_memory;
	table_deinit(&table);
	array_deinit(&rows);
	word_map_deinit(&rows.numbers);
	return err;
}

struct error *preemptor_report(FILE *out, const struct profile_report *report,
			       const struct profile_style *style)
{
	struct error *err;

	if (!report->profile->preemptors.count)
		return NULL;
	print_heading(out, style, "Who ran instead");
	err = print_rows(out, report->profile, style, false);
	if (err)
		return err;
	print_heading(out, style, "Who ran instead of whom");
	return print_rows(out, report->profile, style, true);
}
