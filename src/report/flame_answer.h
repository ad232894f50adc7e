/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for differences that are known to be real (profile/flame_change.h): the answer in one line,
 * the table of functions, and the verdicts of conditions.
 */
#ifndef REPORT_FLAME_ANSWER_H
#define REPORT_FLAME_ANSWER_H

#include "profile/flame_gate.h"
#include "report/profile_text.h"

/* "parse_json takes 5.1 % more CPU time (3.9 to 6.4 %); nothing else is known to differ", or "No
 * difference is known to be real". Names are safe on a terminal. Allocated; NULL: no memory. */
char *flame_answer(const struct flame *flame);

/* "+5.1 % (+3.9 .. +6.4 %), q 1e-04"; `buffer` of FLAME_CHANGE_TEXT_MAX bytes, which is returned.
 */
#define FLAME_CHANGE_TEXT_MAX 120
char *flame_change_text(char *buffer, const struct flame_change *change);

/* "--fail-if 'func:f > 2%': met by f: +5.1 % ...". Allocated; NULL: no memory. */
char *flame_condition_text(const struct flame_condition *condition);

/* The answer, and how many profiles it is from. */
struct error *difference_report(FILE *out, const struct profile_report *report,
				const struct profile_style *style) MUST_CHECK;

/* The functions and groups whose difference is known; with `all`, all that were compared. */
struct error *change_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style) MUST_CHECK;

/* How the differences were found out, and what would tell more. */
struct error *method_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style) MUST_CHECK;

/* All of it as one object: doc/profile.md describes it. */
struct error *changes_json(const struct profile_report *report, json_sink sink,
			   void *context) MUST_CHECK;

#endif
