/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/crew.h"

#include "base/clock.h"
#include "base/thread.h"

/* When nobody gets on for so long, they hang. */
#define PATIENCE_NS (10ull * NS_PER_S)
#define LOOK_NS     NS_PER_S

void crew_init(struct crew *crew)
{
	pthread_condattr_t clock;

	*crew = (struct crew){ .users = 1, .patience_ns = PATIENCE_NS };
	pthread_mutex_init(&crew->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->finished, &clock);
	pthread_condattr_destroy(&clock);
}

bool crew_start(struct crew *crew, void *(*work)(void *), void *argument)
{
	pthread_mutex_lock(&crew->lock);
	if (!crew->workers)
		atomic_store(&crew->stop, false);
	crew->users++;
	crew->workers++;
	pthread_mutex_unlock(&crew->lock);
	if (thread_start_confined(THREAD_PARSER, work, argument))
		return true;
	pthread_mutex_lock(&crew->lock);
	crew->users--;
	crew->workers--;
	pthread_mutex_unlock(&crew->lock);
	return false;
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* Have all finished by then? */
static bool wait_until(struct crew *crew, uint64_t until_ns)
{
	const struct timespec at = clock_moment(until_ns);
	bool done;

	pthread_mutex_lock(&crew->lock);
	while (crew->workers && clock_ns(CLOCK_MONOTONIC) < until_ns)
		pthread_cond_timedwait(&crew->finished, &crew->lock, &at);
	done = !crew->workers;
	pthread_mutex_unlock(&crew->lock);
	return done;
}

static bool stop_unless_done(struct crew *crew)
{
	bool done;

	pthread_mutex_lock(&crew->lock);
	done = !crew->workers;
	atomic_store(&crew->stop, !done);
	pthread_mutex_unlock(&crew->lock);
	return done;
}

bool crew_wait(struct crew *crew, uint64_t deadline_ns)
{
	const uint64_t deadline = deadline_ns ? deadline_ns : UINT64_MAX;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	atomic_store(&crew->step_ns, now);
	for (;;) {
		uint64_t patience = atomic_load(&crew->step_ns) + crew->patience_ns;
		uint64_t until = earlier(deadline, patience);

		if (now >= until ||
		    wait_until(crew, crew->look ? earlier(until, now + LOOK_NS) : until))
			break;
		now = clock_ns(CLOCK_MONOTONIC);
		if (crew->look)
			crew->look(crew->look_context);
	}
	return stop_unless_done(crew);
}

unsigned crew_workers(struct crew *crew)
{
	unsigned workers;

	pthread_mutex_lock(&crew->lock);
	workers = crew->workers;
	pthread_mutex_unlock(&crew->lock);
	return workers;
}

void crew_join(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->users++;
	pthread_mutex_unlock(&crew->lock);
}

void crew_finish(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	if (--crew->workers == 0)
		pthread_cond_signal(&crew->finished);
	pthread_mutex_unlock(&crew->lock);
}

bool crew_leave(struct crew *crew)
{
	bool last;

	pthread_mutex_lock(&crew->lock);
	last = --crew->users == 0;
	pthread_mutex_unlock(&crew->lock);
	if (!last)
		return false;
	pthread_cond_destroy(&crew->finished);
	pthread_mutex_destroy(&crew->lock);
	return true;
}
