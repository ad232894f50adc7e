/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The groups that one side has, with the columns of group_table.h.
 */
#ifndef REPORT_UNMATCHED_TABLE_H
#define REPORT_UNMATCHED_TABLE_H

#include "compare/report.h"
#include "report/table.h"

/* The groups of the baseline, or of the candidate; those that ran longest first. `options` say
 * format and place. */
struct error *unmatched_table_print(const struct report *report, bool before,
				    struct table_options options) MUST_CHECK;

#endif
