/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd THREADS [FILE LOW HIGH]: threads that wake each other in a circle, as fast as the CPU
 * allows at the lowest priority, until it is killed. It allocates nothing once it has printed
 * "ready".
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
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 1000
#define LEAST_NS    200000 /* between two writes, or four times what a write takes */
#define NS_PER_S    1000000000L

static sem_t turns[THREADS_MAX];
static uintptr_t threads;
static char **words; /* the file, and what is written to it */

static void *pass_on(void *number)
{
	for (;;) {
		while (sem_wait(&turns[(uintptr_t)number]))
			;
		sem_post(&turns[((uintptr_t)number + 1) % threads]);
	}
	return NULL;
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
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
		struct timespec pause = { 0 };
		long begun = now(), took;

		if (pwrite(fd, words[i], (size_t)length, 0) != length)
			err(1, "%s", words[0]);
		took = 4 * (now() - begun);
		pause.tv_nsec = took < LEAST_NS ? LEAST_NS : took % NS_PER_S;
		nanosleep(&pause, NULL);
	}
	return unused;
}

static void start(void *(*function)(void *), uintptr_t argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	if (pthread_create(&thread, &attributes, function, (void *)argument))
		errx(1, "no thread");
}

int main(int argc, char **argv)
{
	threads = argc > 1 ? (uintptr_t)atoi(argv[1]) : 0;
	if (threads < 1 || threads > THREADS_MAX || (argc != 2 && argc != 5))
		errx(2, "usage: crowd THREADS [FILE LOW HIGH]");
	words = argv + 2;
	if (setpriority(PRIO_PROCESS, 0, 19))
		err(1, "setpriority");
	for (uintptr_t i = 0; i < threads; i++)
		sem_init(&turns[i], 0, i == 0);
	for (uintptr_t i = 0; i < threads; i++)
		start(pass_on, i);
	if (argc == 5)
		start(write_always, 0);
	if (mlockall(MCL_CURRENT))
		err(1, "mlockall");
	printf("ready\n");
	fflush(stdout);
	pause();
}
