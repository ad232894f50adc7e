/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files that fill a sheet share: sheet.c and sheet_*.c, merge.c, psi_rows.c, trial.c and
 * notes.c. Everybody else takes sheet.h.
 */
#ifndef COMPARE_SHEET_FILL_H
#define COMPARE_SHEET_FILL_H

#include "compare/sheet.h"

/* A measure of a section by name, made at first; numbers of one name in one section may be of
 * several kinds. NULL without memory. */
struct measure *sheet_measure_of(struct sheet *sheet, enum section section, unsigned kind,
				 struct text name);

static inline struct measure *sheet_measure(struct sheet *sheet, enum section section,
					    struct text name)
{
	return sheet_measure_of(sheet, section, 0, name);
}

/* Add a row of something that is not a group of threads. A side that has it not is NULL. */
bool sheet_add(struct sheet *sheet, const struct measure *measure, const struct name *group,
	       uint32_t number, const struct datum *before, const struct datum *after) MUST_CHECK;

/* Fill in the change, per second if so wanted. */
void sheet_change(const struct sheet *sheet, struct row *row);

/* Count a row with a value that cannot be, for the note about them. */
void sheet_mark(struct sheet *sheet, const struct row *row);

bool sheet_note(struct sheet *sheet, const char *format, ...)
	__attribute__((format(printf, 2, 3))) MUST_CHECK;

/* A sheet of two of the snapshots by number (the first may be NO_BASELINE), as a piece of another.
 */
#define NO_BASELINE SIZE_MAX
struct error *sheet_of_two(const struct sides *sides, const struct view *view, size_t baseline,
			   size_t candidate, struct sheet **ret) MUST_CHECK;

/* Fill the rows of a sheet of several captures on each side. */
struct error *sheet_fill_trial(struct sheet *sheet) MUST_CHECK;

/* Each fills the sections it is about. */
struct error *sheet_fill_threads(struct sheet *sheet) MUST_CHECK;
struct error *sheet_fill_cgroups(struct sheet *sheet) MUST_CHECK;
struct error *sheet_fill_processes(struct sheet *sheet) MUST_CHECK;
struct error *sheet_fill_host(struct sheet *sheet) MUST_CHECK;
struct error *sheet_fill_notes(struct sheet *sheet) MUST_CHECK;

/* The groups of threads (sheet_groups.c), and those of one side (sheet_alones.c). */
struct error *sheet_make_groups(struct sheet *sheet) MUST_CHECK;
bool sheet_find_alones(struct sheet *sheet) MUST_CHECK;

#endif
