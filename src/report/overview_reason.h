/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why an overview names a group: its causes in words, with their amounts.
 */
#ifndef REPORT_OVERVIEW_REASON_H
#define REPORT_OVERVIEW_REASON_H

#include "report/amount.h"
#include "report/overview_line.h"

#define OVERVIEW_REASONS_MOST 3

/* An amount of a metric: "3.06 s", "43.2 MiB", "43,534". Returns `buffer`, as the next does. */
char *overview_amount(char buffer[AMOUNT_MAX], enum metric_id id, double amount);

/* The amount that a rate gives in the window of the overview; without a window, the rate. */
double overview_in_window(const struct overview *overview, double rate);

/* The same in words; without a window, per second: "3.06 s/s". */
char *overview_amount_in_window(char buffer[AMOUNT_MAX], const struct overview *overview,
				enum metric_id id, double rate);

/* The causes to print, and their number, in order of their scores, with two exceptions. CPU time
 * comes first for a group that stopped using it. Memory that doubled comes second at the latest:
 * growing memory causes waits and faults, which do not show it. */
size_t overview_told(const struct overview_group *group,
		     enum overview_cause told[OVERVIEW_REASONS_MOST]);

/* Print as many reasons of a group as fit into `room` columns. The earlier amount of memory is left
 * out if that makes room for another reason, unless memory comes first and another reason has room
 * already. Returns the number of reasons, printed or not. */
size_t overview_add_reasons(const struct report *report, struct overview_line *reasons,
			    const struct overview_group *group, size_t room);

#endif
