/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last lines of a profile's text: the commands that answer the next questions.
 */
#ifndef CMD_PROFILE_NEXT_H
#define CMD_PROFILE_NEXT_H

#include <stdio.h>

#include "report/profile_report.h"

/* Print the command to run next. `file` is the file from which the profile was loaded, or NULL if
 * it was just taken: the command is then about the process with most time, if it still runs. */
struct error *profile_next(FILE *out, const struct profile_report *report,
			   const char *file) MUST_CHECK;

#endif
