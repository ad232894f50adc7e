/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

#define STACK_SIZE ((size_t)1 << 20)

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };

static void (*confine)(enum thread_kind kind);

void thread_confine(void (*by)(enum thread_kind kind))
{
	confine = by;
}

struct confined {
	enum thread_kind kind;
	void *(*work)(void *);
	void *argument;
};

static void *run_confined(void *argument)
{
	const struct confined thread = *(struct confined *)argument;

	free(argument);
	if (confine)
		confine(thread.kind);
	return thread.work(thread.argument);
}

bool thread_start_confined(enum thread_kind kind, void *(*work)(void *), void *argument)
{
	struct confined *thread = malloc(sizeof(*thread));

	if (!thread)
		return false;
	*thread = (struct confined){ kind, work, argument };
	if (thread_start(run_confined, thread))
		return true;
	free(thread);
	return false;
}

struct awaited {
	void (*work)(void *);
	void *argument;
	sem_t done;
};

static void *run_awaited(void *argument)
{
	struct awaited *awaited = argument;

	awaited->work(awaited->argument);
	sem_post(&awaited->done);
	return NULL;
}

struct error *thread_missing(const char *purpose)
{
	return error_create("cannot start a thread to %s: no more threads are allowed "
			    "(RLIMIT_NPROC, or pids.max of "
			    "the cgroup), or there is no memory",
			    purpose);
}

struct error *thread_run_confined(enum thread_kind kind, void (*work)(void *), void *argument,
				  const char *purpose)
{
	struct awaited awaited = { .work = work, .argument = argument };
	struct error *err = NULL;

	sem_init(&awaited.done, 0, 0);
	if (!thread_start_confined(kind, run_awaited, &awaited))
		err = thread_missing(purpose);
	while (!err && sem_wait(&awaited.done))
		;
	sem_destroy(&awaited.done);
	return err;
}

bool thread_start(void *(*work)(void *), void *argument)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int failed;

	if (pthread_attr_init(&attributes))
		return false;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	/* Blocked, they would end the process without its handlers, which restore the terminal. */
	for (size_t i = 0; i < array_length(crashes); i++)
		sigdelset(&all, crashes[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, &attributes, work, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return !failed;
}

unsigned cpus_online(void)
{
	const long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
}

/* A mask of the C library is too short for hosts of more than 1024 CPUs, where the call fails. */
unsigned cpus_allowed(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) ? cpus_online()
							 : (unsigned)CPU_COUNT(&cpus);
}
