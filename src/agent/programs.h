/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The times of an interval by program, for stores that keep a series for each set of labels: the
 * number of series is bounded, and their sum is exact.
 *
 *	struct programs programs = { 0 };      lives as long as the sink
 *
 *	err = programs_take(&programs, profile, PROGRAMS_BY_COMM);
 *	for (i = 0; i < programs.all.count; i++)
 *		send(&programs.all.items[i]);
 *	programs_deinit(&programs);
 *
 * A program is the file that a process executes, with the name of the process and its cgroup. Its
 * threads are told apart by their names. In names of processes and threads, what varies is replaced
 * (base/pattern.h), so that worker-1 and worker-2 are one. A program with threads of one name is a
 * series. When there are PROGRAM_SERIES_MOST, others are the program "other", until one of them has
 * not been seen for PROGRAM_INTERVALS_KEPT; those that run most come first.
 */
#ifndef AGENT_PROGRAMS_H
#define AGENT_PROGRAMS_H

#include "profile/pprof_parts.h"

#define PROGRAM_SERIES_MOST    500
#define PROGRAM_INTERVALS_KEPT 30

/* Longer labels are cut: Pyroscope refuses values of more than 2048 bytes. */
#define PROGRAM_LABEL_MOST 1024

#define PROGRAM_OTHER      "other"
#define PROGRAM_KERNEL     "kernel" /* the program of all threads of the kernel */

/* Names are valid UTF-8, and live until the next programs_take(). */
struct push_program {
	const struct name *service; /* the program: the last part of the path */
	const struct name *path;    /* of the program; NULL: unknown */
	const struct name *process; /* the pattern of its name */
	const struct name *cgroup;  /* NULL: unknown, or several */
	uint64_t on_cpu_ns, off_cpu_ns;
	const struct pprof_part_sample *samples;
	size_t count;
};

enum programs_by {
	PROGRAMS_BY_COMM,   /* samples are summed by stack and pattern of the threads' names */
	PROGRAMS_BY_THREAD, /* by stack and thread, without `comm` */
};

struct programs {
	struct {
		ARRAY(struct push_program);
	} all; /* that have samples */
	struct {
		ARRAY(struct pprof_part_sample);
	} samples;          /* of all of them */
	struct arena arena; /* of names of this interval */
	struct names names;
	bool has_names;
	uint64_t interval; /* counted from 1 */
	struct {
		MAP(struct text, uint64_t);
	} known; /* series, by their labels; the interval in which each was seen last */
};

/* Replaces what was there. Samples without time are left out. */
struct error *programs_take(struct programs *programs, const struct profile *profile,
			    enum programs_by by) MUST_CHECK;

/* All zero is allowed. */
void programs_deinit(struct programs *programs);

#endif
