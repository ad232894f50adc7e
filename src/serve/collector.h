/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that measures: a profile session whose readings, one for each interval, go named and
 * packed (tick.h) through a socket to the web process.
 *
 *	err = collector_open(&options, &collector);   needs privileges, which are dropped afterwards
 *	err = collector_run(collector, &is_over);
 *	collector_close(collector);
 *
 * The web process may request more (request.h); the collector decides how often it answers. While
 * the web process has not received a message completely, the next reading is delayed, and then
 * covers a longer time: nothing is lost, and at most one reading waits in memory.
 *
 * A caller in the same process gets each reading as a profile, too (collector_receiver), with or
 * without a web process.
 */
#ifndef SERVE_COLLECTOR_H
#define SERVE_COLLECTOR_H

#include <signal.h>

#include "capture/capture.h"
#include "profile/symbolise.h"
#include "sched/profile_session.h"
#include "serve/tick.h"

struct collector_reading {
	/* What was counted in the interval. NULL: the first interval begins. */
	const struct profile *profile;
	const struct tick_host *host; /* NULL at the beginning */
	/* Of all threads, taken right after the profile was read; the receiver may change it. NULL:
	 * none was asked for, or `failure` says why there is none. */
	struct ctprof_snapshot *snapshot;
	const char *failure;
	struct symbolise_left left; /* files whose functions have no names; after prepare() */
};

/* Called by the collector's thread, which waits for them. */
struct collector_receiver {
	void *context;
	/* Called with each reading before its frames have names, which takes much memory, and once
	 * when the first interval begins. May be NULL. */
	struct error *(*prepare)(void *context, struct collector_reading *reading);
	/* Takes a reading, whose frames have names, and which the collector releases. An error ends
	 * the collector. NULL: there is no receiver. */
	struct error *(*take)(void *context, struct collector_reading *reading);
	int fd; /* work() is called when it is readable; -1: never */
	struct error *(*work)(void *context);
	bool wants_snapshots;
	/* Called with threads of snapshots while they are taken, as in struct capture_options. */
	bool (*is_idle)(void *context, const struct ctprof_thread *thread);
	unsigned without; /* what these leave out: a bit for each enum capture_part */
};

struct collector_options {
	const struct profile_options *profile;
	const struct capture_options *capture; /* of snapshots; what it points to must stay */
	bool no_inspection;                    /* ignore requests to inspect threads */
	bool no_inline;                        /* as in struct symbolise_options */
	uint64_t interval_ns;
	uint64_t duration_ns;   /* 0: no limit */
	bool ends_with_targets; /* stop when all targets have ended */
	/* Called when all targets have ended: may new ones appear? NULL: no. */
	bool (*may_return)(void *context);
	void *context;
	const char *kstats; /* names of the metrics to read: a glob; NULL: all; "": none */
	int socket;         /* to the web process; the caller closes it. -1: there is none */
	struct collector_receiver receiver;
	const char *version;                  /* of ctprof, for the meta data */
	const sigset_t *mask;                 /* signal mask while the collector sleeps */
	const volatile sig_atomic_t *is_over; /* set by a signal's handler */
};

struct collector;

struct error *collector_open(const struct collector_options *options,
			     struct collector **ret) MUST_CHECK;
/* Run until a signal arrives, the duration is over, or the web process or all targets have ended.
 */
struct error *collector_run(struct collector *collector) MUST_CHECK;
/* Takes NULL, and half-open ones. */
void collector_close(struct collector *collector);
DEFINE_CLEANUP(collector_close, struct collector *)

#endif
