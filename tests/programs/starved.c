/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * starved FILE: a thread that writes the time (CLOCK_REALTIME, ns, as eight bytes) to the start of
 * FILE whenever it runs, and another of real-time priority that keeps it from its CPU most of the
 * time, 300 ms at a stretch. Prints "ready TID", of the first.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t *last;

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *starve(void *unused)
{
	(void)unused;
	printf("ready %d\n", (int)gettid());
	fflush(stdout);
	for (;;)
		*last = now(CLOCK_REALTIME);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sched_param urgent = { .sched_priority = 10 };
	const struct timespec pause = { .tv_nsec = 30 * 1000 * 1000 };
	int file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;
	cpu_set_t cpu;

	if (argc != 2)
		errx(2, "usage: starved FILE");
	if (file < 0 || ftruncate(file, sizeof(*last)))
		err(1, "%s", argv[1]);
	last = mmap(NULL, sizeof(*last), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	CPU_ZERO(&cpu);
	CPU_SET((size_t)cpus - 1, &cpu);
	if (last == MAP_FAILED || sched_setaffinity(0, sizeof(cpu), &cpu))
		err(1, "CPU %ld", cpus - 1);
	if (pthread_create(&thread, NULL, starve, NULL))
		errx(1, "no thread");
	if (sched_setscheduler(0, SCHED_FIFO, &urgent))
		err(1, "SCHED_FIFO");
	for (;;) {
		uint64_t end = now(CLOCK_MONOTONIC) + 300 * 1000 * 1000u;

		nanosleep(&pause, NULL);
		while (now(CLOCK_MONOTONIC) < end + 30 * 1000 * 1000u)
			;
	}
}
