/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report as a part of a page (report/page.h).
 */
#ifndef REPORT_HTML_REPORT_H
#define REPORT_HTML_REPORT_H

#include "report/report.h"

/* Overview, bars of what threads did with their time, tables, and facts of the hosts. */
struct error *html_report_part(FILE *out, const struct report *report,
			       const struct report_style *style) MUST_CHECK;

/* "before.ctprof.zst -> after.ctprof.zst": the files, without folders. Allocated; NULL: no
 * memory. */
char *html_report_title(const struct report *report);

#endif
