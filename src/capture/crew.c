/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/crew.h"

#include <signal.h>

#include "base/clock.h"

/* When nobody gets on for so long, they hang. */
#define PATIENCE_NS (10ull * NS_PER_S)

/* For the paths and buffers on the way down, of which libdw has some. */
#define STACK_SIZE ((size_t)1 << 20)

void crew_init(struct crew *crew)
{
	pthread_condattr_t clock;

	*crew = (struct crew){ .users = 1 };
	pthread_mutex_init(&crew->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->finished, &clock);
	pthread_condattr_destroy(&clock);
}

/* Signals to us are for the thread that has always been there. */
static bool start_thread(void *(*work)(void *), void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int failed;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, &attributes, work, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return !failed;
}

bool crew_start(struct crew *crew, void *(*work)(void *), void *argument)
{
	pthread_mutex_lock(&crew->lock);
	if (!crew->workers)
		atomic_store(&crew->stop, false);
	crew->users++;
	crew->workers++;
	pthread_mutex_unlock(&crew->lock);
	if (start_thread(work, argument))
		return true;
	pthread_mutex_lock(&crew->lock);
	crew->users--;
	crew->workers--;
	pthread_mutex_unlock(&crew->lock);
	return false;
}

bool crew_wait(struct crew *crew, uint64_t deadline_ns)
{
	uint64_t patience = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
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
		patience = clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
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
