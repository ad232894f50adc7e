/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks in nanoseconds.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "base/units.h"

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The time of day was set if it and the time since boot differ in what has passed by more than
 * this. The latter is known to a tick. */
#define CLOCK_STEP_NS (NS_PER_S / 20)

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				  .tv_nsec = (long)(ns % NS_PER_S) };
}

/*
 * The most that may pass by one clock in a time that is known by another: one is not disciplined by
 * NTP, which changes the rate of the other by up to 500 parts in a million, and a machine that was
 * calibrated badly is off by more; both may be read to a tick.
 */
static inline uint64_t clock_most(uint64_t ns)
{
	const uint64_t slack = ns / 500 + 3 * NS_PER_TICK;

	return ns > UINT64_MAX - slack ? UINT64_MAX : ns + slack;
}

#endif
