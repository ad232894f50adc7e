/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that one side has, with what they are listed with: name, threads, and those of the
 * main values that some of them have.
 */
#ifndef REPORT_UNMATCHED_TABLE_H
#define REPORT_UNMATCHED_TABLE_H

#include "compare/report.h"
#include "report/cell.h"

#define UNMATCHED_COLUMNS_MAX (2 + UNMATCHED_METRICS)

struct unmatched_table {
	const struct report *report;
	const struct unmatched *unmatched;
	const char *headings[UNMATCHED_COLUMNS_MAX];
	size_t columns;
	struct group_sums *sums;
};

/* Of the baseline, or of the candidate. False without memory. */
bool unmatched_table_init(struct unmatched_table *table, const struct report *report, bool before);

void unmatched_table_deinit(struct unmatched_table *table);

/* Call `take` with each cell of a row, from left to right; false when that did, or without memory.
 */
bool unmatched_table_row(struct unmatched_table *table, size_t row,
			 bool (*take)(void *context, size_t column, struct text text),
			 void *context);

#endif
