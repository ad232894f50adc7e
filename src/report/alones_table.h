/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that one side has, with what they are listed with: name, threads, and those of the
 * main values that some of them have.
 */
#ifndef REPORT_ALONES_TABLE_H
#define REPORT_ALONES_TABLE_H

#include "compare/sheet.h"
#include "report/cell.h"

#define ALONES_COLUMNS_MAX (2 + ALONE_METRICS)

struct alones_table {
	const struct sheet *sheet;
	const struct alones *alones;
	const char *headings[ALONES_COLUMNS_MAX];
	size_t columns;
	struct group_sums *sums;
};

/* Of the baseline, or of the candidate. False without memory. */
bool alones_table_init(struct alones_table *table, const struct sheet *sheet, bool before);

void alones_table_deinit(struct alones_table *table);

/* Call `take` with each cell of a row, from left to right; false when that did, or without memory.
 */
bool alones_table_row(struct alones_table *table, size_t row,
		      bool (*take)(void *context, size_t column, struct text text), void *context);

#endif
