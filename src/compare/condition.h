/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conditions that a comparison must not meet: `--fail-if EXPR`.
 *
 *	[GROUP:]METRIC OPERATOR BOUND
 *
 *	run_time_ns > 10%		any group ran 10 % longer than before
 *	nginx*:majflt >= 1000		... had a thousand major faults more
 *	cpu_efficiency < -0.05		... fell by five points
 *
 * GROUP is a glob over names of groups, which may hold colons itself: METRIC begins after the last
 * one. OPERATOR is one of > >= < <=. BOUND is a change, candidate less baseline, in a unit of the
 * metric's dimension, or in percent of the baseline. Every rise from zero is above every
 * percentage.
 */
#ifndef COMPARE_CONDITION_H
#define COMPARE_CONDITION_H

#include "compare/report.h"

/* Parse an expression; the condition's group is allocated and freed with its view. `text` stays the
 * caller's. `find_metric` gives the number of a metric, or an error that names the nearest. */
struct error *condition_parse(const char *text,
			      struct error *(*find_metric)(const char *name, unsigned *ret),
			      struct condition *ret) MUST_CHECK;

/* A result for each condition of the report's view. False without memory. */
bool condition_start(struct report *report);

/* Is a condition about groups of this name? */
bool condition_is_about(const struct condition *condition, const struct name *group);

/* Judge a row of such a group. False without memory. */
bool condition_judge(struct condition_result *result, const struct row *row);

/* When all rows were seen. */
void condition_finish(struct report *report);

/* The worst of all results: broken, undecided, holds. */
enum verdict condition_verdict(const struct report *report);

#endif
