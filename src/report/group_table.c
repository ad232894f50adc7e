/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/group_table.h"

#include <stdlib.h>

#include "report/cell.h"
#include "report/fields.h"
#include "report/wording.h"

enum { NAME, THREADS, VALUE };

struct group_column {
	const char *heading;
	unsigned minor;
	enum metric_id metrics[2];
};

static const struct group_column group_columns[] = {
#define COLUMN(heading, minor, metric, other) \
	{ heading, minor, { METRIC_##metric, METRIC_##other } },
	GROUP_COLUMNS(COLUMN)
#undef COLUMN
};
#define COLUMNS_MOST (2 + array_length(group_columns) + SORT_KEYS_MAX)

struct group_row {
	const struct name *label;
	size_t threads;
	const struct group_sums *sums;
};

static struct datum datum_of(const struct group_sums *sums, unsigned number)
{
	return number < METRIC_COUNT ? aggregate_datum(&sums->metrics[number], &metrics[number])
				     : derived_datum(&sums->derived[number - METRIC_COUNT],
						     &derived_metrics[number - METRIC_COUNT]);
}

static void get_value(const struct report *report, const struct group_row *group,
		      const struct table_column *column, struct table_cell *ret)
{
	const struct row row = { .measure = &report->measures[column->argument],
				 .after = datum_of(group->sums, column->argument) };

	table_string(ret, cell_after(ret->buffer, &row));
	if (column->exact)
		row_exact(&row, FIELD_ID_VALUE, ret->exact);
}

static void get_group_cell(const void *context, const void *row, const struct table_column *column,
			   struct table_cell *ret)
{
	const struct report *report = context;
	const struct group_row *group = row;

	if (column->field == NAME)
		table_text(ret, name_text(group->label));
	else if (column->field == THREADS)
		table_count(ret, group->threads);
	else
		get_value(report, group, column, ret);
}

/* --- columns --- */

struct columns_made {
	struct table_column items[COLUMNS_MOST];
	size_t count;
	struct selection wanted;
};

static void add_column(struct columns_made *columns, const char *heading, unsigned minor,
		       unsigned number)
{
	if (selection_has(&columns->wanted, number))
		return;
	selection_add(&columns->wanted, number);
	columns->items[columns->count++] =
		(struct table_column){ heading,           .type = TABLE_TEXT, .right = true,
				       .minor = minor,    .exact = true,      .field = VALUE,
				       .argument = number };
}

/* Those that some group has, and those that the user ranks groups by. */
static void make_columns(const struct report *report, const struct group *const *groups,
			 size_t count, struct columns_made *ret)
{
	struct coverage coverage = { 0 };

	*ret = (struct columns_made){
		.items = { { report->view->axis->heading, .type = TABLE_TEXT, .field = NAME },
			   { "threads", .type = TABLE_COUNT, .minor = 1, .field = THREADS } },
		/* A row of a query counts programs, and not their threads. */
		.count = report->candidate->observed_ns ? 1 : 2,
	};
	for (size_t i = 0; i < count; i++)
		coverage_add(&coverage, groups[i]);
	for (size_t i = 0; i < array_length(group_columns); i++)
		for (size_t k = 0; k < array_length(group_columns[i].metrics); k++) {
			const enum metric_id id = group_columns[i].metrics[k];

			if (id == METRIC_COUNT || !metric_set_has(&coverage.some, id))
				continue;
			add_column(ret, group_columns[i].heading, group_columns[i].minor, id);
			break;
		}
	for (size_t i = 0; i < report->view->sort_count; i++) {
		const unsigned number = report->view->sort[i].metric;

		if (number >= METRIC_COUNT || metric_set_has(&coverage.some, number))
			add_column(ret, report->measures[number].name, 0, number);
	}
}

/* --- rows --- */

static bool put_rows(struct table *table, const struct report *report,
		     const struct group *const *groups, const uint32_t *keys, size_t count,
		     const struct selection *wanted, struct group_sums *sums)
{
	for (size_t i = 0; i < count; i++) {
		const struct group_row row = {
			.label = report->sides->keys.items[keys[i]].label,
			.threads = groups[i]->count,
			.sums = sums,
		};

		if (!group_sum(groups[i], wanted, &report->sides->waits.added, &report->impossible,
			       sums) ||
		    !table_row(table, &row))
			return false;
	}
	return true;
}

struct error *group_table_print(const struct report *report, const struct group *const *groups,
				const uint32_t *keys, size_t count, size_t left_out,
				struct table_options options)
{
	struct group_sums *sums = calloc(1, sizeof(*sums));
	struct columns_made columns;
	struct table table;
	struct error *err;
	bool done;

	make_columns(report, groups, count, &columns);
	options.get = get_group_cell;
	options.context = report;
	table_begin(&table, columns.items, columns.count, options);
	done = sums && put_rows(&table, report, groups, keys, count, &columns.wanted, sums) &&
	       wording_left_out(&table, left_out, "group");
	err = table_end(&table);
	if (sums)
		group_sums_deinit(sums);
	free(sums);
	return err || done ? err : &error_no_memory;
}

struct error *group_table_print_all(const struct report *report, struct table_options options)
{
	const size_t most = report->sides->keys.count, limit = report->view->limit;
	_cleanup_free_ const struct group **groups = calloc(most + 1, sizeof(struct group *));
	_cleanup_free_ uint32_t *keys = calloc(most + 1, sizeof(*keys));
	size_t count = 0, left_out = 0;

	if (!groups || !keys)
		return &error_no_memory;
	for (size_t i = 0; i < most; i++) {
		const uint32_t key = report->order[i];

		if (!report->after.items[key].count ||
		    !view_matches(report->view, report->sides->keys.items[key].label))
			continue;
		if (limit && count == limit) {
			left_out++;
			continue;
		}
		groups[count] = &report->after.items[key];
		keys[count++] = key;
	}
	return group_table_print(report, groups, keys, count, left_out, options);
}
