/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One measurement as one line of text, "NAME SIDE WALL CPU", in seconds: which rows.awk reads.
 *
 *	struct cost cost = cost_now();
 *	work();
 *	sample_print("capture", "ours", cost_since(cost));
 */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/error.h"

struct cost {
	double wall, cpu;
};

static inline double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* The CPU time and elapsed time of this process so far. */
static inline struct cost cost_now(void)
{
	struct timespec now;
	struct rusage usage;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &usage);
	return (struct cost){
		.wall = (double)now.tv_sec + (double)now.tv_nsec / 1e9,
		.cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
	};
}

static inline struct cost cost_since(struct cost start)
{
	struct cost now = cost_now();

	return (struct cost){ now.wall - start.wall, now.cpu - start.cpu };
}

static inline void sample_print(const char *name, const char *side, struct cost cost)
{
	printf("%s %s %.6f %.6f\n", name, side, cost.wall, cost.cpu);
}

/* Print why the bench cannot run, and exit. */
static inline void must(struct error *error)
{
	if (error)
		errx(1, "%s", error->message);
}

static inline unsigned rounds_of(const char *text)
{
	int rounds = atoi(text);

	if (rounds < 1)
		errx(2, "%s: not a number of rounds", text);
	return (unsigned)rounds;
}

#endif
