/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/crew.h"

#include "base/clock.h"
#include "base/thread.h"

/* When nobody gets on for so long, they hang. */
#define PATIENCE_NS (10ull * NS_PER_S)

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
	if (thread_start_parser(work, argument))
		return true;
	pthread_mutex_lock(&crew->lock);
	crew->users--;
	crew->workers--;
	pthread_mutex_unlock(&crew->lock);
	return false;
}

bool crew_wait(struct crew *crew, uint64_t deadline_ns)
{
	uint64_t patience = clock_ns(CLOCK_MONOTONIC) + crew->patience_ns;
	size_t before = atomic_load(&crew->steps);
	bool done;

	pthread_mutex_lock(&crew->lock);
	while (crew->workers) {
		uint64_t until = deadline_ns && deadline_ns < patience ? deadline_ns : patience;
		struct timespec at = clock_moment(until);
		size_t steps;

		if (!pthread_cond_timedwait(&crew->finished, &crew->lock, &at) ||
		    clock_ns(CLOCK_MONOTONIC) < until)
			continue;
		steps = atomic_load(&crew->steps);
		if (until == deadline_ns || steps == before)
			break;
		before = steps;
		patience = clock_ns(CLOCK_MONOTONIC) + crew->patience_ns;
	}
	done = !crew->workers;
	atomic_store(&crew->stop, !done);
	pthread_mutex_unlock(&crew->lock);
	return done;
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
