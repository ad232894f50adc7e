/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/unmatched_table.h"

#include <stdlib.h>

#include "report/cell.h"
#include "report/wording.h"

enum { NAME, THREADS, VALUE };

struct unmatched_row {
	const struct name *label;
	size_t threads;
	const struct group_sums *sums;
};

static void get_unmatched_cell(const void *context, const void *row,
			       const struct table_column *column, struct table_cell *ret)
{
	const struct unmatched_row *group = row;
	const enum metric_id id = column->argument;
	const struct measure measure = { .unit = metrics[id].unit };

	(void)context;
	if (column->field == NAME)
		table_text(ret, name_text(group->label));
	else if (column->field == THREADS)
		table_count(ret, group->threads);
	else
		table_string(ret, cell_after(ret->buffer,
					     &(struct row){ .measure = &measure,
							    .after = aggregate_datum(
								    &group->sums->metrics[id],
								    &metrics[id]) }));
}

static bool put_rows(struct table *table, const struct report *report,
		     const struct unmatched *unmatched, struct group_sums *sums)
{
	const struct selection wanted = { .metrics = unmatched->measured };

	for (size_t i = 0; i < unmatched->count; i++) {
		const struct unmatched_group *group = &unmatched->items[i];
		const struct unmatched_row row = {
			.label = report->sides->keys.items[group->key].label,
			.threads = group->group->count,
			.sums = sums,
		};

		if (!group_sum(group->group, &wanted, &report->sides->waits.added,
			       &report->impossible, sums) ||
		    !table_row(table, &row))
			return false;
	}
	return true;
}

struct error *unmatched_table_print(const struct report *report, bool before,
				    struct table_options options)
{
	const struct unmatched *unmatched = before ? &report->only_before : &report->only_after;
	struct group_sums *sums = calloc(1, sizeof(*sums));
	struct table_column columns[2 + UNMATCHED_METRICS] = {
		{ report->view->axis->heading, .type = TABLE_TEXT, .field = NAME },
		{ "threads", .type = TABLE_COUNT, .field = THREADS },
	};
	size_t count = 2;
	struct table table;
	struct error *err;
	bool done;

	for (size_t i = 0; i < UNMATCHED_METRICS; i++)
		if (metric_set_has(&unmatched->measured, unmatched_metrics[i]))
			columns[count++] = (struct table_column){
				metrics[unmatched_metrics[i]].name,
				.type = TABLE_TEXT,
				.right = true,
				.field = VALUE,
				.argument = unmatched_metrics[i],
				.minor = count > 2 ? (unsigned)count : 0,
			};
	options.get = get_unmatched_cell;
	table_begin(&table, columns, count, options);
	done = sums && put_rows(&table, report, unmatched, sums) &&
	       wording_left_out(&table, unmatched->left_out, "group");
	err = table_end(&table);
	if (sums)
		group_sums_deinit(sums);
	free(sums);
	return err || done ? err : &error_no_memory;
}
