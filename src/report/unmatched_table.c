/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/unmatched_table.h"

#include <stdio.h>
#include <stdlib.h>

bool unmatched_table_init(struct unmatched_table *table, const struct report *report, bool before)
{
	*table = (struct unmatched_table){
		.report = report,
		.unmatched = before ? &report->only_before : &report->only_after,
		.headings = { report->view->axis->heading, "threads" },
		.columns = 2,
		.sums = calloc(1, sizeof(*table->sums)),
	};
	for (size_t i = 0; i < UNMATCHED_METRICS; i++)
		if (metric_set_has(&table->unmatched->measured, unmatched_metrics[i]))
			table->headings[table->columns++] = metrics[unmatched_metrics[i]].name;
	return table->sums != NULL;
}

void unmatched_table_deinit(struct unmatched_table *table)
{
	if (table->sums)
		group_sums_deinit(table->sums);
	free(table->sums);
	table->sums = NULL;
}

bool unmatched_table_row(struct unmatched_table *table, size_t row,
			 bool (*take)(void *context, size_t column, struct text text),
			 void *context)
{
	const struct unmatched_group *group = &table->unmatched->items[row];
	const struct name *label = table->report->sides->keys.items[group->key].label;
	struct selection wanted = { .metrics = table->unmatched->measured };
	char cell[CELL_MAX];
	size_t column = 2;

	if (!group_sum(group->group, &wanted, &table->report->sides->waits.added,
		       &table->report->impossible, table->sums))
		return false;
	snprintf(cell, sizeof(cell), "%zu", group->group->count);
	if (!take(context, 0, name_text(label)) || !take(context, 1, text_of(cell)))
		return false;
	for (size_t i = 0; i < UNMATCHED_METRICS; i++) {
		enum metric_id id = unmatched_metrics[i];
		struct measure measure = { .unit = metrics[id].unit };
		struct row value = { .measure = &measure };

		if (!metric_set_has(&table->unmatched->measured, id))
			continue;
		value.after = aggregate_datum(&table->sums->metrics[id], &metrics[id]);
		if (!take(context, column++, text_of(cell_after(cell, &value))))
			return false;
	}
	return true;
}
