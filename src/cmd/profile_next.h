/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last lines of a profile's text: the commands that answer the next questions.
 */
#ifndef CMD_PROFILE_NEXT_H
#define CMD_PROFILE_NEXT_H

#include <stdio.h>

#include "report/profile_report.h"

/* The options with which a profile was taken, so that the suggested command can repeat them. */
struct profile_asked {
	const char *threads; /* options that select threads, quoted for a shell; NULL or "": none */
	const char *states;  /* --state as given; NULL or "": none */
	const uint32_t *pids; /* of -p, `pid_count` of them */
	size_t pid_count;
	bool wakers, preemptors; /* --wakers, --preempted-by */
};

/*
 * Print the command to run next. `file` is the file from which the profile was loaded, or NULL if
 * it was just taken: the question is then about the process with most time, if it still runs. The
 * command selects the same threads as `asked`, except `top --inspect`, which takes one process.
 */
struct error *profile_next(FILE *out, const struct profile_report *report, const char *file,
			   const struct profile_asked *asked) MUST_CHECK;

#endif
