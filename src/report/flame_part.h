/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame graph as a part of a page (report/page.h). The page must set `has_flames`.
 */
#ifndef REPORT_FLAME_PART_H
#define REPORT_FLAME_PART_H

#include <stdio.h>

#include "report/profile_report.h"

/* Print what a page of profile_print_html() has below its title. The scripts are in the page. */
struct error *flame_part_print(FILE *out, const struct profile_report *report) MUST_CHECK;

#endif
