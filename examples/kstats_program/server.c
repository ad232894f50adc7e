/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * server SECONDS REQUESTS: answer requests in several threads, and record how long each takes and
 * how large its answer is. Then wait, so that `ctprof kstats show` can read the histograms.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <kstats.h>

#define THREADS    4
#define SLOW_EVERY 100

static struct kstats *times, *sizes;
static long requests;
static double seconds;

/* The duration of a slow request. One in SLOW_EVERY requests of a thread is slow, and these take
 * SECONDS in sum. */
static struct timespec slow_duration(void)
{
	const long waits = (requests / THREADS + SLOW_EVERY - 1) / SLOW_EVERY;
	const double wait = seconds / (double)(waits > 0 ? waits : 1);

	return (struct timespec){ .tv_sec = (time_t)wait,
				  .tv_nsec = (long)((wait - (double)(time_t)wait) * 1e9) };
}

static uint64_t answer(long request)
{
	const struct timespec wait = slow_duration();
	volatile uint64_t bytes = 100;

	for (long i = 0; i < request % 1000; i++)
		bytes += 1 + bytes / 500;
	/* Count the requests of each thread: every hundredth of all would be the same thread's. */
	if (request / THREADS % SLOW_EVERY == 0)
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
	/* The program works without metrics too. */
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
