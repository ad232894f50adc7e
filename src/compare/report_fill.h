/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the files that fill a report: report.c and report_*.c, merge.c, psi_rows.c,
 * repeats.c and notes.c. All others include report.h.
 */
#ifndef COMPARE_REPORT_FILL_H
#define COMPARE_REPORT_FILL_H

#include "compare/report.h"

/* A measure of a section by name, made at first; numbers of one name in one section may be of
 * several kinds. NULL without memory. */
struct measure *report_measure_of(struct report *report, enum section section, unsigned kind,
				  struct text name);

static inline struct measure *report_measure(struct report *report, enum section section,
					     struct text name)
{
	return report_measure_of(report, section, 0, name);
}

/* Add a row of something that is not a group of threads. A side that has it not is NULL. */
bool report_add(struct report *report, const struct measure *measure, const struct name *group,
		uint32_t number, const struct datum *before, const struct datum *after) MUST_CHECK;

/* Fill in the change, per second if so wanted. */
void report_change(const struct report *report, struct row *row);

/* Does the report have rates before its window (report_past.c)? */
void report_find_rates(struct report *report);

/* Fill in how fast a total grew before the window: that of a group of threads, or with NULL of
 * anything else. The change is known. */
void report_rate_before(const struct report *report, const struct group *before, struct row *row);

/* When a capture was made, in ticks since boot; the birth of its youngest thread is close. */
uint64_t report_now_ticks(const struct ctprof_snapshot *s);

/* Was the whole host captured? Process 1 is always there. */
bool report_is_of_host(const struct ctprof_snapshot *s);

/* Count a row with a value that cannot be, for the note about them. */
void report_mark(struct report *report, const struct row *row);

bool report_note(struct report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3))) MUST_CHECK;

/* A report of two of the snapshots by number (the first may be NO_BASELINE), as a piece of another.
 */
#define NO_BASELINE SIZE_MAX
struct error *report_of_two(const struct sides *sides, const struct view *view, size_t baseline,
			    size_t candidate, struct report **ret) MUST_CHECK;

/* Fill the rows of a report of several captures on each side. */
struct error *report_fill_repeats(struct report *report) MUST_CHECK;

/* Each fills the sections it is about. */
struct error *report_fill_threads(struct report *report) MUST_CHECK;
struct error *report_fill_cgroups(struct report *report) MUST_CHECK;
struct error *report_fill_processes(struct report *report) MUST_CHECK;
struct error *report_fill_host(struct report *report) MUST_CHECK;
struct error *report_fill_notes(struct report *report) MUST_CHECK;

/* The groups of threads (report_groups.c), and those of one side (report_unmatched.c). */
struct error *report_make_groups(struct report *report) MUST_CHECK;
bool report_find_unmatched(struct report *report) MUST_CHECK;

#endif
