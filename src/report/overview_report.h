/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The overview of a report (compare/overview.h), before its tables: at most OVERVIEW_LINES lines of
 * OVERVIEW_COLUMNS columns, and the same as a member of JSON.
 */
#ifndef REPORT_OVERVIEW_REPORT_H
#define REPORT_OVERVIEW_REPORT_H

#include <stdio.h>

#include "base/json_writer.h"
#include "compare/overview.h"

#define OVERVIEW_LINES   24
#define OVERVIEW_COLUMNS 100

/* In so many columns, if there are no more; 0: as many as it needs. The command at the end is
 * whole. Nothing for a report that has none. */
struct report_style;
void overview_print(FILE *out, const struct report *report, const struct report_style *style,
		    size_t columns);

/* The key "overview" and its object; nothing for a report that has none. */
void overview_write(struct json_writer *w, const struct report *report);

#endif
