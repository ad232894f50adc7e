/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last lines of a profile's text: the commands that answer the next questions.
 */
#ifndef CMD_PROFILE_NEXT_H
#define CMD_PROFILE_NEXT_H

#include <stdio.h>

#include "report/profile_report.h"

/* What a profile that was just taken was asked for. */
struct profile_asked {
	const char *threads;  /* the options that select threads; NULL or "": none was given */
	const char *states;   /* the options that select reasons; NULL or "": none was given */
	const uint32_t *pids; /* of -p */
	size_t pid_count;
	bool wakers, preemptors; /* --wakers, --preempted-by */
};

/*
 * Print the command to run next. `file` is the file from which the profile was loaded, or NULL if
 * it was just taken: the question is then about the process with most time, if it still runs. The
 * command selects the threads that `asked` did, but for `top --inspect`, which takes one process.
 */
struct error *profile_next(FILE *out, const struct profile_report *report, const char *file,
			   const struct profile_asked *asked) MUST_CHECK;

#endif
