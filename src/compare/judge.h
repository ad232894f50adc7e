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
#ifndef COMPARE_JUDGE_H
#define COMPARE_JUDGE_H

#include "compare/sheet.h"

/* Parse an expression; the judgement's group is allocated and freed with its view. `text` stays the
 * caller's. `find_metric` gives the number of a metric, or an error that names the nearest. */
struct error *judgement_parse(const char *text,
			      struct error *(*find_metric)(const char *name, unsigned *ret),
			      struct judgement *ret) MUST_CHECK;

/* Findings for all judgements of the sheet's view. False without memory. */
bool judge_start(struct sheet *sheet);

/* Is a judgement about groups of this name? */
bool judge_is_about(const struct judgement *judgement, const struct name *group);

/* Judge a row of such a group. False without memory. */
bool judge_row(struct finding *finding, const struct row *row);

/* When all rows were seen. */
void judge_finish(struct sheet *sheet);

/* The worst of all findings: broken, undecided, holds. */
enum verdict judge_verdict(const struct sheet *sheet);

#endif
