/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles as text for people. Each prints nothing, not even its heading, where there is nothing to
 * say; all of it is safe on a terminal.
 */
#ifndef REPORT_PROFILE_TEXT_H
#define REPORT_PROFILE_TEXT_H

#include <stdio.h>

#include "profile/reason.h"
#include "report/profile_report.h"

struct profile_style {
	size_t width; /* of the terminal, when lines are to be cut; else 0 */
	bool colour;
	bool utf8;    /* lines and bars may be drawn by characters that are not ASCII */
	size_t limit; /* rows, or ends of the tree of stacks; 0: PROFILE_ROWS */
	bool all;     /* every row, all stacks with all of their frames, and all counts */
	/* Functions with less of the whole are left out of it, but for what is most of the little
	 * that the others leave; 0: PROFILE_LEAST_SHARE */
	double least_share;
};

#define PROFILE_ROWS        10
#define PROFILE_LEAST_SHARE 0.01

/* A line with the title and where it is from. */
struct error *head_report(FILE *out, const struct profile_report *report,
			  const struct profile_style *style) MUST_CHECK;

/* A line about the idle waits that the rest leaves out. */
struct error *idle_report(FILE *out, const struct profile_report *report,
			  const struct profile_style *style) MUST_CHECK;

/*
 * The CPU time of each program, most first, with its processes and threads, also those without a
 * sample, and how many of the processes ended or executed another program; of a profile of time on
 * the CPU alone. A process that executes several programs counts in each.
 */
struct error *program_report(FILE *out, const struct profile_report *report,
			     const struct profile_style *style) MUST_CHECK;

/*
 * The time of each program for each reason that matters, most first: of what was not left out.
 * Waits that end when another process acts (network, pipe, other) weigh a tenth for the order, and
 * those for a child, a time or work nothing.
 */
struct error *reason_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style) MUST_CHECK;

/*
 * A line for each cgroup whose quota throttled its threads for a considerable time, longest first.
 * A profile of the whole host also has the least share of their waits for a CPU that was due to the
 * quota.
 */
struct error *quota_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style) MUST_CHECK;
/* Does quota_report() print any line? */
bool quota_report_has_any(const struct profile_report *report);

/*
 * The heaviest functions of the flame, with all that they call, as a tree, heaviest first: callers
 * above what they call, and indented only where ways part. It ends in at most `limit` places. Of
 * two profiles, what changed most.
 */
struct error *stack_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style) MUST_CHECK;

/* The waits of each program for each reason at each place, by reason_weight() of their time; a
 * reason that is small among the waits of its program weighs REASON_SMALL_WEIGHT at most. A place
 * is the innermost function of the program itself, and what that calls. Waits for work are last,
 * and left out beside others. */
struct error *waits_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style) MUST_CHECK;

/* The thread and the reason that the next command should ask about. The program is that of the
 * first row of waits_report() whose reason is a lock, storage, paging, a socket or a CPU, else of
 * the first row; reasons that are small among the waits of their program (reason_is_small) are
 * skipped. The reason is the one for which that program, or all selected threads, wait longest,
 * except for waits by design. `*ret_thread` is an index in `threads`, or UINT32_MAX: there are no
 * waits. */
struct error *waits_heaviest(const struct profile_report *report, uint32_t *ret_thread,
			     enum reason *ret_reason) MUST_CHECK;

/* The functions of the flame, by the time that they have themselves. While a thread waits, that is
 * of the function which made it wait, and not of the scheduler. Their sum is the whole. */
struct error *function_report(FILE *out, const struct profile_report *report,
			      const struct profile_style *style) MUST_CHECK;

/* The same as a member of a profile's JSON, with all functions. `report` is a struct
 * profile_report; of a difference nothing is written. */
struct error *functions_json(struct json_writer *w, const void *report) MUST_CHECK;

/* Print the time of each thread by class, and the sum against wall time. Threads that ran, waited
 * for a CPU or slept uninterruptibly most come first; then those with most of the reported classes.
 * "-" is not measured. */
struct error *thread_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style) MUST_CHECK;

/* The threads and interrupts that ended the longest blocks, with the sum of what these lasted. */
struct error *waker_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style) MUST_CHECK;

/* The longest single blocks. */
struct error *longest_report(FILE *out, const struct profile_report *report,
			     const struct profile_style *style) MUST_CHECK;

/* The programs that ran while others were runnable: in sum, then for each that waited; with `all`,
 * also the single threads. */
struct error *preemptor_report(FILE *out, const struct profile_report *report,
			       const struct profile_style *style) MUST_CHECK;

/* Print histograms of blocked and runnable intervals, by group and class. Percentiles are ranges
 * that contain the exact value. */
struct error *histogram_report(FILE *out, const struct profile_report *report,
			       const struct profile_style *style) MUST_CHECK;

/* Print which files and runtimes hide names of functions, where that matters, and what to do. */
struct error *names_report(FILE *out, const struct profile_report *report,
			   const struct profile_style *style) MUST_CHECK;

/* Counts of events seen, kept, filtered, lost and truncated, and the cost. */
struct error *footer_report(FILE *out, const struct profile_report *report,
			    const struct profile_style *style) MUST_CHECK;

#endif
