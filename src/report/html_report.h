/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report of snapshots as a part of a page (report/page.h).
 */
#ifndef REPORT_HTML_REPORT_H
#define REPORT_HTML_REPORT_H

#include "report/report.h"

/* Print the overview, bars of the time per state (state_bars.h), the tables, and the facts of the
 * hosts. Fails only without memory. */
struct error *html_report_part(FILE *out, const struct report *report,
			       const struct report_style *style) MUST_CHECK;

/* The file names without folders: "before.ctprof.zst -> after.ctprof.zst". Allocated; NULL: no
 * memory. */
char *html_report_title(const struct report *report);

#endif
