/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duty LOW HIGH: takes LOW ms of CPU time every 20 ms, and HIGH ms from its first SIGUSR1 on, for
 * as long as it lives. Prints "ready" when it has begun. What it is late with on a busy host it
 * makes up for.
 */
#include <err.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD_NS UINT64_C(20000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

static volatile sig_atomic_t high;

static void rise(int number)
{
	(void)number;
	high = 1;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t start = now_ns(CLOCK_PROCESS_CPUTIME_ID);

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) - start < ns)
		;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	/* A signal may come; then this period is a little short. */
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static uint64_t milliseconds(const char *text)
{
	int ms = atoi(text);

	if (ms < 0 || (uint64_t)ms * NS_PER_MS > PERIOD_NS)
		errx(2, "%s: not from 0 to 20 ms", text);
	return (uint64_t)ms * NS_PER_MS;
}

int main(int argc, char **argv)
{
	uint64_t loads[2], next;

	if (argc != 3)
		errx(2, "usage: duty LOW HIGH");
	loads[0] = milliseconds(argv[1]);
	loads[1] = milliseconds(argv[2]);
	signal(SIGUSR1, rise);
	printf("ready\n");
	fflush(stdout);
	for (next = now_ns(CLOCK_MONOTONIC);; next += PERIOD_NS) {
		burn(loads[high]);
		sleep_until(next + PERIOD_NS);
	}
}
