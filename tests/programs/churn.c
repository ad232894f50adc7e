/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * churn THREADS LIFE_MS: keeps this many threads, each of which lives so long and is then replaced
 * by a new one. Prints "ready" when all are there.
 */
#include <err.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static sem_t room;
static struct timespec life;

static void *live(void *unused)
{
	nanosleep(&life, NULL);
	sem_post(&room);
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? atoi(argv[1]) : 0, life_ms = argc == 3 ? atoi(argv[2]) : 0;
	pthread_attr_t attributes;

	if (threads < 1 || life_ms < 1)
		errx(2, "usage: churn THREADS LIFE_MS");
	life = (struct timespec){ life_ms / 1000, life_ms % 1000 * 1000000L };
	sem_init(&room, 0, (unsigned)threads);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int made = 0;; made += made < threads) {
		pthread_t thread;

		while (sem_wait(&room))
			;
		/* Those that have ended may not be gone yet: the kernel says EAGAIN. */
		while (pthread_create(&thread, &attributes, live, NULL))
			usleep(100);
		if (made == threads - 1) {
			printf("ready\n");
			fflush(stdout);
		}
	}
}
