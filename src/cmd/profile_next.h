/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last lines of a profile's text: the commands that answer the next questions.
 */
#ifndef CMD_PROFILE_NEXT_H
#define CMD_PROFILE_NEXT_H

#include <stdio.h>

#include "report/profile_report.h"

/* Of a profile that was just taken, `file` is NULL: the question is about the process that has most
 * time, if it still runs. Otherwise it is the file that the profile is from. */
struct error *profile_next(FILE *out, const struct profile_report *report,
			   const char *file) MUST_CHECK;

#endif
