/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sheet: everything a report says, as typed rows, before any of it is text.
 *
 *	struct sheet sheet;
 *	err = sheet_create(&sides, &sheet);
 *	for (size_t i = 0; i < SECTION_COUNT; i++)
 *		print(&sheet->parts[i]);
 *	sheet_destroy(sheet);
 *
 * With one snapshot its rows have a value; with two also the one before, and the change; with
 * several on a side, means and how sure their difference is.
 */
#ifndef COMPARE_SHEET_H
#define COMPARE_SHEET_H

#include "compare/row.h"
#include "compare/sides.h"

/* A group that only one side has. */
struct alone {
	const struct group *group;
	uint32_t key;
	double rank; /* time it ran, in ns */
};

/* What such a group is listed with. */
#define ALONE_METRICS 8
extern const enum metric_id alone_metrics[ALONE_METRICS];

struct alones {
	ARRAY(struct alone); /* those that ran longest first */
	size_t left_out;
	struct metric_set measured; /* of the alone_metrics: some group has them */
};

enum verdict { VERDICT_HOLDS, VERDICT_BROKEN, VERDICT_UNDECIDED };

/* Of one judgement: the rows that broke it, and why it could not be decided. */
struct finding {
	const struct judgement *judgement;
	enum verdict verdict;
	size_t groups, unmeasured; /* that it was about */
	size_t count;              /* rows that broke it */
	struct part broken;        /* these, as many as the limit allows */
};

struct sheet {
	const struct view *view;
	const struct sides *sides;
	const struct ctprof_snapshot *baseline, *candidate; /* no baseline: nothing is compared */
	const uint32_t *baseline_keys, *candidate_keys;
	bool comparing;
	bool trial; /* several captures on a side: rows have a certainty */
	bool has_elapsed;
	bool odd_ticks;   /* of some other length than 1/100 s */
	double elapsed_s; /* from the (first) baseline to the (last) candidate */
	enum boots boots;
	struct arena arena; /* of measures and texts */
	struct names names;
	struct word_map made; /* measures by section and name */
	struct {
		ARRAY(struct measure *);
	} more;                   /* measures that no table has */
	struct measure *measures; /* of metrics and derived metrics: METRIC_COUNT + DERIVED_COUNT */
	struct part parts[SECTION_COUNT];
	/* Of groups of threads. */
	struct groups before, after, gone, born;
	uint32_t *order; /* key numbers in the order groups are shown in */
	struct coverage coverage_before, coverage_after;
	size_t matching, shared; /* groups of that name; of them, on both sides */
	size_t strangers;        /* threads older than the capture that lacks them */
	bool *in_both; /* of several captures: keys that both sides have in one; else NULL */
	struct alones only_before, only_after;
	struct {
		ARRAY(struct finding);
	} findings;
	struct {
		ARRAY(char *);
	} notes; /* what a reader must know before the numbers; a line each */
};

/* The sides must outlive the sheet. */
struct error *sheet_create(const struct sides *sides, struct sheet **ret) MUST_CHECK;

/* Takes NULL. */
void sheet_destroy(struct sheet *sheet);
DEFINE_CLEANUP(sheet_destroy, struct sheet *)

/* Is the section wanted, and does the axis have it? */
bool sheet_has(const struct sheet *sheet, enum section section);

/* May the part of this section have rows? The rows of taskstats stand in the parts of the primary
 * and the derived metrics. */
bool sheet_has_part(const struct sheet *sheet, enum section section);

/* --- for the files that fill a sheet --- */

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

#endif
