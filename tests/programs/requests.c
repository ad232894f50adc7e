/* SPDX-License-Identifier: BSD-2-Clause */
/*
 *	requests PERCENT [SECONDS]
 *
 * Serve 200 requests a second, for ever or so long. parse_json, look_up and render take about 40,
 * 25 and 35 percent of the CPU time; parse_json does so many percent more work than with 0.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S    1000000000L
#define INTERVAL_NS (NS_PER_S / 200)
#define WORK        1000000 /* steps of a request: some milliseconds */

static volatile uint32_t result;

static inline __attribute__((always_inline)) void work(uint64_t steps)
{
	uint32_t x = result | 1;

	for (uint64_t i = 0; i < steps; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	result = x;
}

static __attribute__((noinline)) void parse_json(uint64_t percent)
{
	work(WORK * 40 / 100 * (100 + percent) / 100);
}

static __attribute__((noinline)) void look_up(void)
{
	work(WORK * 25 / 100);
}

static __attribute__((noinline)) void render(void)
{
	work(WORK * 35 / 100);
}

static __attribute__((noinline)) void serve_request(uint64_t percent)
{
	parse_json(percent);
	look_up();
	render();
	/* So that the last call has a frame to return to. */
	result++;
}

int main(int argc, char **argv)
{
	const uint64_t percent = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	const uint64_t seconds = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (uint64_t i = 0; !seconds || i < seconds * 200; i++) {
		serve_request(percent);
		next.tv_nsec += INTERVAL_NS;
		if (next.tv_nsec >= NS_PER_S) {
			next.tv_nsec -= NS_PER_S;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return 0;
}
