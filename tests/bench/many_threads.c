/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Holds many sleeping threads: `many_threads PROCESSES THREADS [WAKING]`, THREADS in each process.
 * WAKING of each process wake once a second, spread over it.
 *
 * Says "ready" when all of them sleep. A process that gets SIGUSR1 wakes its threads once. They end
 * with this process, and this one with its parent.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The threads of this process except the first. */
static pthread_t *others;
static unsigned other_count;
static unsigned waking; /* of them, the first ones */

/* Both signals end a pause(). */
static void wake_others(int number)
{
	for (unsigned i = 0; number == SIGUSR1 && i < other_count; i++)
		pthread_kill(others[i], SIGUSR2);
}

static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before prctl(2). */
	if (getppid() != parent)
		_exit(1);
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* The thread with this number sleeps from one second to the next. */
static void *wake_each_second(void *number_of_thread)
{
	const uintptr_t number = (uintptr_t)number_of_thread;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec = (long)(number * 1000000000 / waking);
	for (;; at.tv_sec++)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	return NULL;
}

static void start_threads(unsigned count)
{
	pthread_attr_t small;

	others = calloc(count + 1, sizeof(*others));
	if (!others)
		err(1, "out of memory");
	signal(SIGUSR1, wake_others);
	signal(SIGUSR2, wake_others);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 * 1024);
	for (; other_count < count; other_count++) {
		errno = pthread_create(&others[other_count], &small,
				       other_count < waking ? wake_each_second : sleep_on,
				       (void *)(uintptr_t)other_count);
		if (errno)
			err(1, "pthread_create");
	}
}

static void start_process(unsigned threads, int ready)
{
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		err(1, "fork");
	if (child)
		return;
	die_with(parent);
	start_threads(threads - 1);
	if (write(ready, "", 1) != 1)
		err(1, "pipe");
	close(ready);
	sleep_on(NULL);
}

/* Each process writes a byte when it is ready; end of file means that one has failed. */
static void wait_until_ready(int ready, unsigned processes)
{
	char byte;

	while (processes--)
		if (read(ready, &byte, 1) != 1)
			errx(1, "not all threads could be started");
}

static unsigned number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || !value || value > 100000)
		errx(2, "%s: not a number from 1 to 100000", text);
	return (unsigned)value;
}

int main(int argc, char **argv)
{
	unsigned processes, threads;
	int ready[2];

	if (argc != 3 && argc != 4)
		errx(2, "usage: many_threads PROCESSES THREADS [WAKING]");
	processes = number(argv[1]);
	threads = number(argv[2]);
	waking = argc == 4 ? number(argv[3]) : 0;
	die_with(getppid());
	if (pipe(ready))
		err(1, "pipe");
	for (unsigned i = 0; i < processes; i++)
		start_process(threads, ready[1]);
	close(ready[1]);
	wait_until_ready(ready[0], processes);
	puts("ready");
	fflush(stdout);
	sleep_on(NULL);
}
