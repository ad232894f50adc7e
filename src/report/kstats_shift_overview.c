/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/kstats_shift_overview.h"

#include <stdlib.h>
#include <string.h>

#include "report/kstats_shift_report.h"
#include "report/kstats_values.h"
#include "report/percentiles.h"
#include "report/table.h"

/* --- a metric --- */

static struct kstats_shift_side side_of(const struct kstats_distribution *of)
{
	struct kstats_shift_side side = { of->count, KSTATS_SHIFT_NONE, KSTATS_SHIFT_NONE };

	if (percentile_is_known(of->count, 0.5))
		side.p50 = kstats_percentile(of, 0.5).high;
	if (percentile_is_known(of->count, 0.99))
		side.p99 = kstats_percentile(of, 0.99).high;
	return side;
}

static void find_largest_change(const struct kstats_distribution *old,
				const struct kstats_distribution *new,
				struct kstats_shift_line *line)
{
	const uint64_t least = old->count < new->count ? old->count : new->count;

	for (size_t i = 0; i < PERCENTILES; i++) {
		const struct percentile_row *row = &percentile_rows[i];
		double factor = kstats_shift_factor(old, new, row->fraction);
		struct kstats_shift shift;

		if (!percentile_is_known(least, row->fraction) || factor <= line->factor)
			continue;
		shift = kstats_shift(old, new, row->fraction);
		line->quantity = row->name;
		line->factor = factor;
		line->change = kstats_shift_shares(&shift);
	}
}

struct error *kstats_shift_line_of(const struct kstats_table *before,
				   const struct kstats_table *after, struct kstats_shift_line *ret)
{
	_cleanup_(kstats_distribution_clear) struct kstats_distribution old = { 0 };
	_cleanup_(kstats_distribution_clear) struct kstats_distribution new = { 0 };
	struct error *err = kstats_distribution_of(before, NULL, &old);

	*ret = (struct kstats_shift_line){ .before = before, .after = after, .factor = 1 };
	if (!err)
		err = kstats_distribution_of(after, NULL, &new);
	if (err)
		return err;
	ret->title = kstats_shift_title(before, after);
	ret->old = side_of(&old);
	ret->new = side_of(&new);
	find_largest_change(&old, &new, ret);
	return ret->title ? NULL : &error_no_memory;
}

void kstats_shift_line_clear(struct kstats_shift_line *line)
{
	free(line->title);
	line->title = NULL;
}

static int by_factor(const void *a, const void *b)
{
	const struct kstats_shift_line *x = a, *y = b;

	if (x->factor != y->factor)
		return x->factor < y->factor ? 1 : -1;
	return strcmp(x->title, y->title);
}

void kstats_shift_sort(struct kstats_shift_line *lines, size_t count)
{
	if (count)
		qsort(lines, count, sizeof(*lines), by_factor);
}

/* --- the table --- */

enum field { NAME, OLD_P50, NEW_P50, OLD_P99, NEW_P99, CHANGE };

static const struct table_column columns[] = {
	{ "metric", .type = TABLE_TEXT, .field = NAME },
	{ "p50 before", .type = TABLE_TEXT, .right = true, .field = OLD_P50 },
	{ "after", .type = TABLE_TEXT, .right = true, .field = NEW_P50 },
	{ "p99 before", .type = TABLE_TEXT, .right = true, .field = OLD_P99 },
	{ "after", .type = TABLE_TEXT, .right = true, .field = NEW_P99 },
	{ "largest change", .type = TABLE_TEXT, .field = CHANGE },
};

static void bound_cell(struct table_cell *cell, const struct kstats_table *table, uint64_t bound)
{
	char text[UNITS_TEXT_MAX];

	if (bound != KSTATS_SHIFT_NONE)
		table_printf(cell, "%s", kstats_format_exact(text, table, bound));
}

static void change_cell(struct table_cell *cell, const struct kstats_shift_line *line)
{
	char text[UNITS_TEXT_MAX];

	if (!line->old.count || !line->new.count)
		table_printf(cell, "nothing recorded %s", line->old.count ? "after" : "before");
	else if (!line->quantity)
		table_printf(cell, "none beyond chance");
	else
		table_printf(cell, "%s %s", line->quantity,
			     kstats_format_shares(text, line->change));
}

static void get_cell(const void *context, const void *row, const struct table_column *column,
		     struct table_cell *ret)
{
	const struct kstats_shift_line *line = row;

	(void)context;
	switch ((enum field)column->field) {
	case NAME:
		table_string(ret, line->title);
		return;
	case OLD_P50:
		bound_cell(ret, line->before, line->old.p50);
		return;
	case NEW_P50:
		bound_cell(ret, line->after, line->new.p50);
		return;
	case OLD_P99:
		bound_cell(ret, line->before, line->old.p99);
		return;
	case NEW_P99:
		bound_cell(ret, line->after, line->new.p99);
		return;
	case CHANGE:
		change_cell(ret, line);
		return;
	}
}

struct error *kstats_shift_overview(FILE *out, const struct kstats_shift_line *lines, size_t count,
				    size_t limit, size_t width)
{
	const size_t shown = count < limit ? count : limit;
	struct table table;
	struct error *err;

	table_begin(&table, columns, array_length(columns),
		    (struct table_options){
			    .format = TABLE_AS_TEXT, .out = out, .get = get_cell, .width = width });
	for (size_t i = 0; i < shown; i++)
		table_row(&table, &lines[i]);
	err = table_end(&table);
	if (shown < count)
		fprintf(out, "... %zu more metric%s (--all)\n", count - shown,
			plural(count - shown));
	return err;
}
