/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/alones_table.h"

#include <stdio.h>
#include <stdlib.h>

bool alones_table_init(struct alones_table *table, const struct sheet *sheet, bool before)
{
	*table = (struct alones_table){
		.sheet = sheet,
		.alones = before ? &sheet->only_before : &sheet->only_after,
		.headings = { sheet->view->axis->heading, "threads" },
		.columns = 2,
		.sums = calloc(1, sizeof(*table->sums)),
	};
	for (size_t i = 0; i < ALONE_METRICS; i++)
		if (metric_set_has(&table->alones->measured, alone_metrics[i]))
			table->headings[table->columns++] = metrics[alone_metrics[i]].name;
	return table->sums != NULL;
}

void alones_table_deinit(struct alones_table *table)
{
	if (table->sums)
		group_sums_deinit(table->sums);
	free(table->sums);
	table->sums = NULL;
}

bool alones_table_row(struct alones_table *table, size_t row,
		      bool (*take)(void *context, size_t column, struct text text), void *context)
{
	const struct alone *alone = &table->alones->items[row];
	const struct name *label = table->sheet->sides->keys.items[alone->key].label;
	struct selection wanted = { .metrics = table->alones->measured };
	char cell[CELL_MAX];
	size_t column = 2;

	if (!group_sum(alone->group, &wanted, &table->sheet->sides->waits.added,
		       &table->sheet->impossible, table->sums))
		return false;
	snprintf(cell, sizeof(cell), "%zu", alone->group->count);
	if (!take(context, 0, name_text(label)) || !take(context, 1, text_of(cell)))
		return false;
	for (size_t i = 0; i < ALONE_METRICS; i++) {
		enum metric_id id = alone_metrics[i];
		struct measure measure = { .unit = metrics[id].unit };
		struct row value = { .measure = &measure };

		if (!metric_set_has(&table->alones->measured, id))
			continue;
		value.after = aggregate_datum(&table->sums->metrics[id], &metrics[id]);
		if (!take(context, column++, text_of(cell_after(cell, &value))))
			return false;
	}
	return true;
}
