/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that do work which may hang, and are then left behind.
 *
 * What belongs to another process can hang whoever looks at it: its memory (userfaultfd), its files
 * (NFS, FUSE), the lock of its memory map. There is no time limit for such calls, so they are left
 * to a crew, which is waited for only as long as one of its threads makes progress.
 *
 *	struct work { struct crew crew; ... };
 *	crew_init(&work->crew);
 *	crew_start(&work->crew, work_on, work)	each ends by crew_finish and release
 *	crew_wait(&work->crew, deadline)
 *	look at what is done
 *	release: if (crew_leave(&work->crew)) free all of it
 *
 * What they work on belongs to all: the last one to leave frees it, be it who waited or one that
 * hung. What is not done when the wait is over may still be written to.
 */
#ifndef BASE_CREW_H
#define BASE_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct crew {
	pthread_mutex_t lock; /* also for what they want to publish */
	pthread_cond_t finished;
	unsigned users, workers;  /* workers: those who have not finished */
	_Atomic uint64_t step_ns; /* time of the last progress (CLOCK_MONOTONIC) */
	_Atomic bool stop;        /* nobody waits: workers end at the next opportunity */
	uint64_t patience_ns;     /* a wait ends after so long without a step; 10 s unless set */
	/* Called about once a second while waiting, e.g. to start more workers. May be NULL. */
	void (*look)(void *context);
	void *look_context;
};

/* The caller is its first user. */
void crew_init(struct crew *crew);

/* A thread that runs `work`, and gets no signals. False: there is none to be had. */
bool crew_start(struct crew *crew, void *(*work)(void *), void *argument);

/* Until all have finished, until `deadline_ns` (CLOCK_MONOTONIC; 0: none), or until nobody did a
 * step for `patience_ns`. Returns whether all have finished; else `stop` is set. */
bool crew_wait(struct crew *crew, uint64_t deadline_ns);

/* How many are still at work. */
unsigned crew_workers(struct crew *crew);

/* One more user, who leaves too. */
void crew_join(struct crew *crew);

/* A step is done. */
static inline void crew_step(struct crew *crew)
{
	atomic_store(&crew->step_ns, clock_ns(CLOCK_MONOTONIC));
}

/* By a worker: nothing more will be done by it. */
void crew_finish(struct crew *crew);

/* Returns whether the caller was the last one, who must free what they shared; the crew itself is
 * then empty. */
bool crew_leave(struct crew *crew);

#endif
