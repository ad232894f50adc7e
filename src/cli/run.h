/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command of the user while it is measured.
 *
 *	struct run *run;
 *	err = run_start(argv, &run);            forked, before execve(2)
 *	...                                     attach to run_pid(run)
 *	err = run_go(run);
 *	while (!run_has_ended(run))
 *		poll(run_fd(run), ...);
 *	err = run_wait(run, &result);
 *	run_destroy(run);
 *
 * While the command runs, the keyboard interrupts it and not the report about it: ctprof ignores
 * SIGINT and SIGQUIT, and the command has the actions that ctprof had before. It also inherits the
 * signal mask of the time of run_start, so block signals after that call.
 */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct run;

struct run_result {
	int status;          /* as a shell has it: 128 and the signal that ended it */
	struct rusage usage; /* of the command, without our child before it was that */
	bool peak_is_ours;   /* ru_maxrss may be of our child: the command had no more */
	double seconds;      /* from run_go to the end, or to when that was noticed */
};

/* A child that will be the command (found as execvp(3) does; ends with NULL), and waits until
 * run_go. It ends with us when we end before. `command` must stay. */
struct error *run_start(char **command, struct run **ret) MUST_CHECK;

/* The process number, which execve(2) does not change. */
pid_t run_pid(const struct run *run);

/*
 * Let it begin: once. An error is that it could not: its errno is ENOENT where there is no such
 * command, EACCES and others where it cannot be run. A child that was killed while it waited is no
 * error; run_wait says so.
 */
struct error *run_go(struct run *run) MUST_CHECK;

/* A descriptor, not the caller's, that is readable once it has ended; -1: Linux before 5.3 has none
 * (pidfd_open(2)). */
int run_fd(const struct run *run);

/* Never waits. */
bool run_has_ended(struct run *run);

/* Wait for its end. May be called again, with the same result. */
struct error *run_wait(struct run *run, struct run_result *ret) MUST_CHECK;

/* A child that never began is ended, one that runs is left alone. Takes NULL. */
void run_destroy(struct run *run);
DEFINE_CLEANUP(run_destroy, struct run *)

/* Print on standard error the results of the command that only its parent knows. */
void run_print(const char *name, const struct run_result *result);

#endif
