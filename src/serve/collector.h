/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that measures: a profile session whose readings, one for each interval, go named and
 * packed (tick.h) through a socket to the web process.
 *
 *	err = collector_open(&options, &collector);   needs privileges, which are dropped afterwards
 *	err = collector_run(collector, &is_over);
 *	collector_close(collector);
 *
 * The web process may ask for more (request.h), at a rate that is the collector's. What it has not
 * taken yet delays the next reading, which then is of a longer time: nothing is lost, and at most
 * one reading waits in memory.
 */
#ifndef SERVE_COLLECTOR_H
#define SERVE_COLLECTOR_H

#include <signal.h>

#include "capture/capture.h"
#include "sched/profile_session.h"

struct collector_options {
	const struct profile_options *profile;
	const struct capture_options *capture; /* of snapshots; must stay */
	bool no_inspection;                    /* of threads, whatever is asked for */
	uint64_t interval_ns;
	uint64_t duration_ns;   /* 0: until something else ends it */
	bool ends_with_targets; /* stop when none of them is there any more */
	/* Asked when there is none: may there be some later? NULL: no. */
	bool (*may_return)(void *context);
	void *context;
	const char *kstats;   /* of metrics of kstats that are read; NULL: all; "": none */
	int socket;           /* to the web process; stays the caller's */
	const char *version;  /* of ctprof, for the meta data */
	const sigset_t *mask; /* of signals while it sleeps, which may end it */
	const volatile sig_atomic_t *is_over; /* set by a signal's handler */
};

struct collector;

struct error *collector_open(const struct collector_options *options,
			     struct collector **ret) MUST_CHECK;
/* Until a signal or the end of the duration, or until the web process or all targets have ended. */
struct error *collector_run(struct collector *collector) MUST_CHECK;
/* Takes NULL, and half-open ones. */
void collector_close(struct collector *collector);
DEFINE_CLEANUP(collector_close, struct collector *)

#endif
