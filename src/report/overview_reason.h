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

/* What a rate comes to in the window of the overview; without one, the rate. */
double overview_in_window(const struct overview *overview, double rate);

/* The same in words; without a window, per second: "3.06 s/s". */
char *overview_amount_in_window(char buffer[AMOUNT_MAX], const struct overview *overview,
				enum metric_id id, double rate);

/* The causes to tell, and their number: of a group that stands still CPU time first, for that says
 * it; and memory that doubled second at the latest, since waits and faults may come of it, but do
 * not tell of it. */
size_t overview_told(const struct overview_group *group,
		     enum overview_cause told[OVERVIEW_REASONS_MOST]);

/* The reasons of a group in one line of so many columns, as many as have room: the amount of memory
 * before gives way to a further reason. Returns how many there are to tell. */
size_t overview_add_reasons(const struct report *report, struct overview_line *reasons,
			    const struct overview_group *group, size_t room);

#endif
