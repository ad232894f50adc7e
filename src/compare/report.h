/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A report: everything that show and compare print, as typed rows, before any of it is text.
 *
 *	struct report *report;
 *	err = report_create(&sides, &report);
 *	for (size_t i = 0; i < SECTION_COUNT; i++)
 *		print(&report->sections[i]);
 *	report_destroy(report);
 *
 * With one snapshot its rows have a value; with two also the one before, and the change; with
 * several on a side, means and how sure their difference is.
 */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "compare/past_rate.h"
#include "compare/row.h"
#include "compare/sides.h"

/* A group that only one side has. */
struct unmatched_group {
	const struct group *group;
	uint32_t key;
	double rank; /* time it ran, in ns */
};

/* The metrics that are listed for such a group. */
#define UNMATCHED_METRICS 8
extern const enum metric_id unmatched_metrics[UNMATCHED_METRICS];

struct unmatched {
	ARRAY(struct unmatched_group); /* those that ran longest first */
	size_t left_out;
};

enum verdict { VERDICT_HOLDS, VERDICT_BROKEN, VERDICT_UNDECIDED };

/* The result of one condition: the rows that met it, and why it could not be decided. */
struct condition_result {
	const struct condition *condition;
	enum verdict verdict;
	size_t groups, unmeasured;    /* that it was about */
	size_t impossible;            /* of them, with a value that cannot be */
	size_t count;                 /* rows that broke it */
	struct report_section broken; /* these, as many as the limit allows */
};

struct overview;

struct report {
	const struct view *view;
	const struct sides *sides;
	const struct ctprof_snapshot *baseline, *candidate; /* no baseline: nothing is compared */
	const uint32_t *baseline_keys, *candidate_keys;
	bool comparing;
	bool has_rates;     /* totals of its window have a rate before it */
	bool against_rates; /* whose change a share is, rather than of the total */
	struct past past;   /* what those rates are of */
	bool repeated;      /* several captures on a side: rows have a significance */
	bool has_states;    /* some snapshot is of a recording of ctprof top */
	bool has_elapsed;
	bool odd_ticks;   /* of some other length than 1/100 s */
	double elapsed_s; /* from the (first) baseline to the (last) candidate */
	double rate_s; /* changes per second are of so many; of queries, their time; 0: unknown */
	enum boots boots;
	struct arena arena; /* of measures and texts */
	struct names names;
	struct word_map made; /* measures by section and name */
	struct {
		ARRAY(struct measure *);
	} more;                   /* measures that no table has */
	struct measure *measures; /* of metrics and derived metrics: METRIC_COUNT + DERIVED_COUNT */
	struct report_section sections[SECTION_COUNT];
	/* Groups of threads. */
	struct groups before, after, gone, born;
	uint32_t *order; /* key numbers in the order groups are shown in */
	struct coverage coverage_before, coverage_after;
	struct impossible impossible; /* of both snapshots */
	struct selection marked;      /* what has a value that cannot be, in some row */
	size_t marked_rows;
	struct metric_set folded; /* metrics whose row says the same as that of their twin */
	size_t matching, shared;  /* groups of that name; of them, on both sides */
	size_t strangers;         /* threads older than the capture that lacks them */
	bool *in_both; /* of several captures: keys that both sides have in one; else NULL */
	struct unmatched only_before, only_after;
	struct {
		ARRAY(struct condition_result);
	} results;
	struct overview *overview; /* what matters most (overview.h); NULL: not wanted */
	struct lines notes;        /* what a reader must know before the numbers; a line each */
	size_t notes_on_rows;      /* the first of them, which only say what is in a row */
};

/* The sides must outlive the report. */
struct error *report_create(const struct sides *sides, struct report **ret) MUST_CHECK;

/* Takes NULL. */
void report_destroy(struct report *report);
DEFINE_CLEANUP(report_destroy, struct report *)

/* Is the section wanted, and does the axis have it? */
bool report_has(const struct report *report, enum section section);

/* May this section have rows? The rows of taskstats are in the sections of the primary
 * and the derived metrics. */
bool report_has_section(const struct report *report, enum section section);

/* The section that lists a measure. In reports for people, a derived total is listed with the
 * totals of the window, since beside averages of the window it would read as a total of
 * lifetimes. */
enum section report_section_of(const struct report *report, const struct measure *measure);

#endif
