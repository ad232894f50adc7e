/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inspection of a thread in the collector: the object that `top --inspect TID --format json`
 * prints (top/inspect_report.h), of the window of the last reading.
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
 * A thread is looked at several times, and files of processes may be slow, so this is done by a
 * thread beside the one that reads; it gets copies of all it needs. There is one at a time, and
 * then a pause that bounds what all inspections together may cost, whatever is asked for.
 */
#ifndef SERVE_THREAD_INSPECTOR_H
#define SERVE_THREAD_INSPECTOR_H

#include "base/units.h"
#include "serve/request.h"
#include "serve/tick.h"

/* From the end of an inspection to the next: so long at least, and so many times the CPU time that
 * it took, so that all together take a twentieth of a CPU. A program that makes its own inspection
 * expensive, which takes half a second at most, does not keep others waiting for long. */
#define INSPECTOR_PAUSE_NS      ((uint64_t)250 * 1000000)
#define INSPECTOR_PAUSE_TIMES   19
#define INSPECTOR_PAUSE_MOST_NS (5 * NS_PER_S)

struct thread_inspector;

/* The result for a request. */
struct inspection {
	uint32_t tid;
	enum reply_status status;
	char *bytes; /* the object, or a message; the receiver's */
	size_t length;
};

struct error *thread_inspector_create(struct thread_inspector **ret) MUST_CHECK;
/* Readable when there is a result. */
int thread_inspector_fd(const struct thread_inspector *inspector);

/* When the next may begin (CLOCK_MONOTONIC); UINT64_MAX: there is one in progress. */
uint64_t thread_inspector_due(const struct thread_inspector *inspector);

/*
 * Begin with a thread of the reading, the last of its kind with this number; `measured` has a bit
 * for each state that readings tell. Only what is in the reading is inspected, so only what is
 * profiled: of another number the result is REPLY_GONE. An error leaves nothing in progress.
 */
struct error *thread_inspector_begin(struct thread_inspector *inspector, const struct tick *tick,
				     uint64_t number, unsigned measured, uint32_t tid) MUST_CHECK;

/* False: there is no result yet. */
bool thread_inspector_end(struct thread_inspector *inspector, struct inspection *ret);

/* Takes NULL. Waits a moment for what is in progress. */
void thread_inspector_close(struct thread_inspector *inspector);

#endif
