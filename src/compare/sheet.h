/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sheet: everything a report says, as typed rows, before any of it is text.
 *
 *	struct sheet *sheet;
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
	size_t impossible;         /* of them, with a value that cannot be */
	size_t count;              /* rows that broke it */
	struct part broken;        /* these, as many as the limit allows */
};

struct sheet {
	const struct view *view;
	const struct sides *sides;
	const struct ctprof_snapshot *baseline, *candidate; /* no baseline: nothing is compared */
	const uint32_t *baseline_keys, *candidate_keys;
	bool comparing;
	bool trial;      /* several captures on a side: rows have a certainty */
	bool has_states; /* some snapshot is of a recording of ctprof top */
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
	struct impossible impossible; /* of both snapshots */
	struct selection marked;      /* what has a value that cannot be, in some row */
	size_t marked_rows;
	size_t matching, shared; /* groups of that name; of them, on both sides */
	size_t strangers;        /* threads older than the capture that lacks them */
	bool *in_both; /* of several captures: keys that both sides have in one; else NULL */
	struct alones only_before, only_after;
	struct {
		ARRAY(struct finding);
	} findings;
	struct lines notes; /* what a reader must know before the numbers; a line each */
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

/* The section in whose part the rows of a measure stand. */
enum section sheet_section_of(const struct measure *measure);

#endif
