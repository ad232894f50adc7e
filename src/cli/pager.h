/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pager between a report and the terminal, as git(1) and systemctl(1) have one.
 *
 *	pager_begin(PAGER_TEXT);     everything is read and computed
 *	printf(...);                 the report
 *	                             main ends it, and keeps the exit status
 *
 * The program is $CTPROF_PAGER, $PAGER, or "less -FRX", which ends by itself where the report fits
 * the screen. There is none with --no-pager, with an empty variable or "cat", where standard output
 * is no terminal that can move its cursor, and where it cannot be started. Messages on a terminal
 * go through it too, or they would be lost in its screen.
 *
 * Programs that run as another user
 * ---------------------------------
 * Pagers start shells and editors. A user whom sudo(8), doas(1) or pkexec(1) allow no more than
 * ctprof, as root or as somebody else, gets less(1) of /usr/bin or /bin with LESSSECURE=1, whatever
 * the variables say; and so does a user of an executable with privileges (security/privileges.h).
 * The pager of others is their own choice.
 */
#ifndef CLI_PAGER_H
#define CLI_PAGER_H

#include <stdbool.h>

#include "base/error.h"

/* The kind of output: a report for people, whose long lines are folded on a terminal (cli/fold.h),
 * or data for programs. */
enum pager_content { PAGER_TEXT, PAGER_DATA };

/* Start it, once, before the first byte and after all privileges are dropped that will be: the
 * pager has no more. For the rest of the program, SIGINT is the pager's, and a pager that quits
 * early is no error. */
void pager_begin(enum pager_content content);

/* Print what is left, and wait until the user has read it. False: there was no pager. */
bool pager_end(void);

/* Like pager_end(), and returns an error if standard output could not be written. The error state
 * of the stream is cleared and its unwritten bytes are dropped, so a second call reports only what
 * was printed since the first. */
struct error *output_end(void) MUST_CHECK;

#endif
