/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads for work that may hang, in which case they are left behind.
 *
 * A process can make every call block that looks at it: at its memory (userfaultfd), its files
 * (NFS, FUSE), or the lock of its memory map. The kernel has no time limit for such calls. The
 * threads of a pool make them, and the caller waits only as long as one of them makes progress.
 *
 *	struct work { struct worker_pool workers; ... };
 *	worker_pool_init(&work->workers);
 *	worker_pool_start(&work->workers, work_on, work)
 *		each thread ends by worker_pool_finish() and release
 *	worker_pool_wait(&work->workers, deadline)
 *	look at what is done
 *	release: if (worker_pool_leave(&work->workers)) free all of it
 *
 * The caller and the threads share ownership of the work. The last one to leave frees it, which
 * may be a thread that hung. What is not done when the wait is over may still be written to.
 */
#ifndef BASE_WORKER_POOL_H
#define BASE_WORKER_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

struct worker_pool {
	pthread_mutex_t lock; /* also for what the threads publish */
	pthread_cond_t finished;
	unsigned users, workers;  /* workers: threads that have not finished */
	_Atomic uint64_t step_ns; /* time of the last progress (CLOCK_MONOTONIC) */
	_Atomic bool stop;        /* the wait is over: threads end at the next opportunity */
	uint64_t patience_ns;     /* a wait ends after so long without a step; 10 s unless set */
	/* Called about once a second while waiting, e.g. to start more workers. May be NULL. */
	void (*look)(void *context);
	void *look_context;
};

/* The caller is its first user. */
void worker_pool_init(struct worker_pool *pool);

/* Start a thread that runs `work`, and gets no signals. False: none can be started. */
bool worker_pool_start(struct worker_pool *pool, void *(*work)(void *), void *argument);

/* Wait until all threads have finished, until `deadline_ns` (CLOCK_MONOTONIC; 0: none), or until
 * none has done a step for `patience_ns`. Returns whether all have finished; else `stop` is set. */
bool worker_pool_wait(struct worker_pool *pool, uint64_t deadline_ns);

/* The number of threads that have not finished. */
unsigned worker_pool_workers(struct worker_pool *pool);

/* Add a user, which leaves too. */
void worker_pool_join(struct worker_pool *pool);

/* Note progress. */
static inline void worker_pool_step(struct worker_pool *pool)
{
	atomic_store(&pool->step_ns, clock_ns(CLOCK_MONOTONIC));
}

/* The calling thread does nothing more for the pool. */
void worker_pool_finish(struct worker_pool *pool);

/* Returns whether the caller was the last user and must free what was shared; the pool itself is
 * empty then. */
bool worker_pool_leave(struct worker_pool *pool);

#endif
