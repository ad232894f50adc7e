/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd THREADS [FILE LOW HIGH]: threads that sleep for 20 ms at a time, until it is killed. They
 * sleep longer where they are woken late, so that they leave most of a slow CPU to others. It
 * allocates nothing once it has printed "ready".
 *
 * With FILE, one more thread writes LOW and HIGH to it in turn. With
 * /proc/sys/vm/watermark_scale_factor that moves the low watermark below and above the free memory:
 * each time it moves above, the next page allocation wakes kswapd, whoever makes it
 * (wake_all_kswapds() in mm/page_alloc.c). The intervals are short, so that kswapd can rarely
 * finish a run and give up.
 */
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000L
#define NAP_NS   20000000L
#define LEAST_NS 200000L /* between two writes, or four times what a write takes */

static char **words; /* the file, and what is written to it */

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Returns how much longer it took. */
static long sleep_for(long ns)
{
	const struct timespec time = { ns / NS_PER_S, ns % NS_PER_S };
	const long begun = now();

	nanosleep(&time, NULL);
	return now() - begun - ns;
}

static void *sleep_always(void *unused)
{
	for (long late = 0;;)
		late = sleep_for(NAP_NS + 8 * late);
	return unused;
}

static void *write_always(void *unused)
{
	const struct sched_param first = { .sched_priority = 1 };
	int fd = open(words[0], O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", words[0]);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first))
		errx(1, "no real-time priority");
	for (int i = 1;; i = 3 - i) {
		ssize_t length = (ssize_t)strlen(words[i]);
		long begun = now(), took;

		if (pwrite(fd, words[i], (size_t)length, 0) != length)
			err(1, "%s", words[0]);
		took = now() - begun;
		sleep_for(4 * took < LEAST_NS ? LEAST_NS : 4 * took);
	}
	return unused;
}

static void start(void *(*function)(void *))
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attributes, function, NULL))
		errx(1, "no thread");
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;

	if (threads < 1 || (argc != 2 && argc != 5))
		errx(2, "usage: crowd THREADS [FILE LOW HIGH]");
	words = argv + 2;
	for (int i = 0; i < threads; i++)
		start(sleep_always);
	if (argc == 5)
		start(write_always);
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	printf("ready\n");
	fflush(stdout);
	pause();
}
