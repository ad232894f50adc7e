/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what comparisons of hosts found: for people the answer in words, a table and the command
 * to run next; for programs a table of all findings.
 */
#ifndef FLEET_FINDINGS_REPORT_H
#define FLEET_FINDINGS_REPORT_H

#include "fleet/finding.h"
#include "fleet/hosts.h"
#include "fleet/wait_states.h"
#include "report/table.h"

struct fleet_report {
	const struct fleet_data *data;
	const struct fleet_findings *findings;
	const struct fleet_wait_states *waits;     /* of the findings */
	const struct fleet_silent_hosts *silent;   /* NULL: unknown */
	const struct fleet_partial_hosts *partial; /* that were not compared */
	enum fleet_comparison comparison;
	const char *first, *second;       /* names of groups, or of times: "before 14:00" */
	size_t first_hosts, second_hosts; /* of groups */
	const char *by;                   /* of groups: the label and its values */
	const char *url;                  /* as the user wrote it */
	uint64_t from_s, cut_s, to_s;     /* of times */
	enum table_format format;
	size_t limit; /* rows for people; 0: all */
	size_t width; /* of the terminal */
	bool all;     /* a row for each finding; else one for each host and program */
};

/* Prints to `out`. If nothing could be compared, that is an error (errnum ENODATA), and no table is
 * printed: a program must not take it for no difference. */
struct error *fleet_report_print(const struct fleet_report *report, FILE *out) MUST_CHECK;

#endif
