/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inspects threads for the collector. The result is the object that `top --inspect TID --format
 * json` prints (top/inspect_report.h), for the window of the last reading.
 *
 *	err = thread_inspector_create(&inspector);
 *	...
 *	if (now >= thread_inspector_due(inspector))
 *		err = thread_inspector_begin(inspector, &tick, number, tid);
 *	poll thread_inspector_fd(inspector) for POLLIN
 *	if (thread_inspector_end(inspector, &inspection))
 *		...
 *	thread_inspector_close(inspector);
 *
 * An inspection reads a thread's state several times, and files in /proc may be slow. So it runs in
 * a thread of its own, with copies of all data that it needs, and readings go on meanwhile. There
 * is one inspection at a time. The pause after it bounds the cost of all inspections together, for
 * any number of requests.
 */
#ifndef SERVE_THREAD_INSPECTOR_H
#define SERVE_THREAD_INSPECTOR_H

#include "base/units.h"
#include "serve/request.h"
#include "serve/tick.h"

/* The pause between two inspections: INSPECTOR_PAUSE_TIMES the CPU time of the first, so that all
 * together take at most a twentieth of a CPU, but at least INSPECTOR_PAUSE_NS. It is at most
 * INSPECTOR_PAUSE_MOST_NS, so that a program whose inspection is expensive does not delay others
 * for long: an inspection takes at most half a second. */
#define INSPECTOR_PAUSE_NS      ((uint64_t)250 * 1000000)
#define INSPECTOR_PAUSE_TIMES   19
#define INSPECTOR_PAUSE_MOST_NS (5 * NS_PER_S)

struct thread_inspector;

/* The result for a request. */
struct inspection {
	uint32_t tid;
	enum reply_status status;
	char *bytes; /* the object, or an error message; release with free() */
	size_t length;
};

struct error *thread_inspector_create(struct thread_inspector **ret) MUST_CHECK;
/* Readable when there is a result. */
int thread_inspector_fd(const struct thread_inspector *inspector);

/* When the next inspection may begin (CLOCK_MONOTONIC); UINT64_MAX: one is in progress. */
uint64_t thread_inspector_due(const struct thread_inspector *inspector);

/*
 * Begin to inspect the thread `tid`, by its last entry in the reading `tick`, whose number is
 * `number`. `measured` has a bit for each state that readings contain. Only threads in the reading
 * are inspected, that is, those that are profiled: for any other, the result is REPLY_GONE. After
 * an error, no inspection is in progress.
 */
struct error *thread_inspector_begin(struct thread_inspector *inspector, const struct tick *tick,
				     uint64_t number, unsigned measured, uint32_t tid) MUST_CHECK;

/* False: there is no result yet. */
bool thread_inspector_end(struct thread_inspector *inspector, struct inspection *ret);

/* Takes NULL. Waits up to a second for an inspection in progress. */
void thread_inspector_close(struct thread_inspector *inspector);

#endif
