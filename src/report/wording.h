/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts around tables, the same in text and in Markdown, and safe for terminals.
 */
#ifndef REPORT_WORDING_H
#define REPORT_WORDING_H

#include <stdio.h>

#include "compare/condition.h"
#include "report/table.h"

/* "baseline: 2026-11-20 05:57:10 UTC, 392 threads, before.ctprof.zst (its note)" and so on, how far
 * apart they are, and what must be known: a line each. */
void wording_head(FILE *out, const struct report *report);

/* Of those lines, what must be known where there are no rows: that something is missing. */
void wording_notes_on_data(FILE *out, const struct report *report);

/* A line that counts unmeasured metrics; a line for each reason where the user asked for it, or for
 * the metrics. */
void wording_coverage(FILE *out, const struct report *report);

/* Why there are no rows at all; NULL when there may be. */
const char *wording_nothing(const struct report *report);

/* Why a section without rows has none, where that is worth a line; else NULL. */
const char *wording_empty(const struct report *report, enum section section);

/* Is there no row and no group of one side because nothing changed? */
bool wording_is_all_same(const struct report *report);

/* "421 more values did not change (--all-rows shows them)", or that nothing did; NULL: all rows are
 * shown. Allocated. */
char *wording_unchanged(const struct report *report);

/* "3 groups only in the baseline (FILE):", or of a window; NULL when there is none. Allocated. */
char *wording_unmatched(const struct report *report, bool before);

/* The number of rows that the limit left out, as a line of the table: "... 12 more rows
 * (--all)". False without memory, which the table keeps. */
bool wording_left_out(struct table *table, size_t count, const char *what);

/* "--fail-if 'EXPR': yes, 2 rows". Allocated. */
char *wording_condition_result(const struct condition_result *result);

#endif
