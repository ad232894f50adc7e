/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Run work that inspects other processes, with a time limit for each call.
 *
 * A process can make a call that looks at it block for ever (base/worker_pool.h says how). The
 * threads of a worker pool own their work; a guard is for work on data of the caller:
 *
 *	struct guard *guard = guard_create(&options);
 *	if (!guard_run(guard, work, job, release))
 *		a call took too long: the work ended there, and the job is its thread's
 *	guard_destroy(guard);
 *
 *	static void work(void *job)
 *	{
 *		guard_about(pid);
 *		if (!guard_enter())
 *			return;                      looking at this process hung a moment ago
 *		failed = ioctl(job->fd, ...);
 *		guard_leave();
 *		...
 *
 * The caller blocks while the worker runs, so the work may use the caller's data without locks.
 * Between guard_enter() and guard_leave() the caller may resume: use only the job and the stack
 * there. If the call was abandoned, guard_leave() ends the thread and does not return. So at
 * guard_enter() the caller's data must be consistent, and what only the work knows (memory,
 * descriptors) must be in the job, for `release`.
 *
 * Outside of such work guard_enter() and guard_leave() do nothing.
 */
#ifndef BASE_GUARD_H
#define BASE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/thread.h"

struct guard;

/* Calls about a subject that were given up: after so many, all others about it are refused for
 * good. An abandoned call leaks descriptors that are not in its job; this limit bounds the leak. */
#define GUARD_GIVEN_UP_MAX 32

/* To whom the time of calls about a process is charged: a number for each user that has a share, or
 * for each process. Called before the first call about a process, and given up like one. */
typedef uint64_t guard_subject_of(uint32_t pid);

struct guard_options {
	guard_subject_of *subject_of;
	uint64_t patience_ns; /* for one call */
	/* Slow calls about a subject may take one part of the time, with so much in advance; then
	 * they are refused for a while. Calls about all together may take half of it; then they
	 * are refused to subjects that were slow. */
	unsigned part;
	uint64_t advance_ns;
	enum thread_kind kind;
};

/* NULL without memory. */
struct guard *guard_create(const struct guard_options *options);

/* Takes NULL. Threads that hang are left behind. */
void guard_destroy(struct guard *guard);

/*
 * Run the work in a thread, and wait for it. Without a guard (NULL) the caller runs it. Work may
 * run work of the same guard, and is given up with it.
 *
 * False: it was given up in a call, or no thread could be started (RLIMIT_NPROC, pids.max), in
 * which case it was not run at all: the caller is not confined, so it must not do this work. The
 * job is the caller's no more; `release` (NULL: none) is called with it when the call returns, if
 * it does, or at once where there is no thread.
 */
bool guard_run(struct guard *guard, void (*work)(void *job), void *job, void (*release)(void *job));

/* The same for work that goes on with the rest when it is run again: until it was not given up.
 * False: no thread could be started, and the rest was not done. */
bool guard_run_whole(struct guard *guard, void (*work)(void *job), void *job);

/* Start the thread now, so that the lack of one is known before anything is done. The error says
 * what is missing, and names `purpose`: "read the files of processes". */
struct error *guard_start(struct guard *guard, const char *purpose) MUST_CHECK;

/* In work: the process that calls are about from now on; 0: of no process. */
void guard_about(uint32_t pid);

/* Before a call that may hang. False: it is refused, since another one about this subject hangs, or
 * since they took too long: errno is EAGAIN. */
bool guard_enter(void);

/* After it; keeps errno. */
void guard_leave(void);

/* The number of times that work was not run for lack of a thread. */
size_t guard_without_thread(const struct guard *guard);

#endif
