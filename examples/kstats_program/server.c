/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server SECONDS REQUESTS: threads that answer requests, and say how long that took and how large
 * the answers were. Then it waits, so that both can be looked at.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <kstats.h>

#define THREADS 4

static struct kstats *times, *sizes;
static long requests;
static double seconds;

/* Most are quick; one in a hundred has to wait for somebody else. */
static uint64_t answer(long request)
{
	const struct timespec wait = {
		.tv_nsec = (long)(seconds * 1e9 / (double)requests * THREADS * 50),
	};
	volatile uint64_t bytes = 100;

	for (long i = 0; i < request % 1000; i++)
		bytes += 1 + bytes / 500;
	if (request % 100 == 0)
		nanosleep(&wait, NULL);
	return bytes;
}

static void *serve(void *context)
{
	for (long request = (long)(intptr_t)context; request < requests; request += THREADS) {
		struct kstats_span span = kstats_span_start(times);

		kstats_record(sizes, answer(request));
		kstats_span_stop(span);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
	requests = argc > 2 ? strtol(argv[2], NULL, 10) : 100000;
	times = kstats_new_time("request_times", 3);
	sizes = kstats_new("answer_bytes", 3);
	/* Without them it does its work all the same. */
	if (!times || !sizes)
		perror("no metrics");
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, serve, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("answered %ld requests\n", requests);
	printf("ctprof kstats show %d:request_times\n", (int)getpid());
	fflush(stdout);
	pause();
	kstats_delete(times);
	kstats_delete(sizes);
	return 0;
}
