/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/worker_pool.h"

#include "base/clock.h"
#include "base/thread.h"

/* Without progress for so long, threads count as hanging. */
#define PATIENCE_NS (10ull * NS_PER_S)
#define LOOK_NS     NS_PER_S

void worker_pool_init(struct worker_pool *pool)
{
	pthread_condattr_t clock;

	*pool = (struct worker_pool){ .users = 1, .patience_ns = PATIENCE_NS };
	pthread_mutex_init(&pool->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&pool->finished, &clock);
	pthread_condattr_destroy(&clock);
}

bool worker_pool_start(struct worker_pool *pool, void *(*work)(void *), void *argument)
{
	pthread_mutex_lock(&pool->lock);
	if (!pool->workers)
		atomic_store(&pool->stop, false);
	pool->users++;
	pool->workers++;
	pthread_mutex_unlock(&pool->lock);
	if (thread_start_confined(THREAD_PARSER, work, argument))
		return true;
	pthread_mutex_lock(&pool->lock);
	pool->users--;
	pool->workers--;
	pthread_mutex_unlock(&pool->lock);
	return false;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* Returns whether all have finished by then. */
static bool wait_for_workers(struct worker_pool *pool, uint64_t until_ns)
{
	const struct timespec at = clock_timespec(until_ns);
	bool done;

	pthread_mutex_lock(&pool->lock);
	while (pool->workers && clock_ns(CLOCK_MONOTONIC) < until_ns)
		pthread_cond_timedwait(&pool->finished, &pool->lock, &at);
	done = !pool->workers;
	pthread_mutex_unlock(&pool->lock);
	return done;
}

static bool stop_unless_done(struct worker_pool *pool)
{
	bool done;

	pthread_mutex_lock(&pool->lock);
	done = !pool->workers;
	atomic_store(&pool->stop, !done);
	pthread_mutex_unlock(&pool->lock);
	return done;
}

bool worker_pool_wait(struct worker_pool *pool, uint64_t deadline_ns)
{
	const uint64_t deadline = deadline_ns ? deadline_ns : UINT64_MAX;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	atomic_store(&pool->step_ns, now);
	for (;;) {
		uint64_t patience = atomic_load(&pool->step_ns) + pool->patience_ns;
		uint64_t until = earlier(deadline, patience);

		if (now >= until ||
		    wait_for_workers(pool, pool->look ? earlier(until, now + LOOK_NS) : until))
			break;
		now = clock_ns(CLOCK_MONOTONIC);
		if (pool->look)
			pool->look(pool->look_context);
	}
	return stop_unless_done(pool);
}

unsigned worker_pool_workers(struct worker_pool *pool)
{
	unsigned workers;

	pthread_mutex_lock(&pool->lock);
	workers = pool->workers;
	pthread_mutex_unlock(&pool->lock);
	return workers;
}

void worker_pool_join(struct worker_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->users++;
	pthread_mutex_unlock(&pool->lock);
}

void worker_pool_finish(struct worker_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	if (--pool->workers == 0)
		pthread_cond_signal(&pool->finished);
	pthread_mutex_unlock(&pool->lock);
}

bool worker_pool_leave(struct worker_pool *pool)
{
	bool last;

	pthread_mutex_lock(&pool->lock);
	last = --pool->users == 0;
	pthread_mutex_unlock(&pool->lock);
	if (!last)
		return false;
	pthread_cond_destroy(&pool->finished);
	pthread_mutex_destroy(&pool->lock);
	return true;
}
