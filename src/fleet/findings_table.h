/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of findings: its columns and cells, for people and for programs.
 */
#ifndef FLEET_FINDINGS_TABLE_H
#define FLEET_FINDINGS_TABLE_H

#include "fleet/finding_lines.h"

/* Prints a row for each line, at most `limit`, in the format of the report. */
struct error *fleet_findings_table_print(const struct fleet_report *report,
					 const struct finding_lines *lines, size_t limit,
					 FILE *out) MUST_CHECK;

#endif
