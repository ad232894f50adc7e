/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#define STACK_SIZE ((size_t)1 << 20)

static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };

static void (*confine_parser)(void);

void thread_confine_parsers(void (*confine)(void))
{
	confine_parser = confine;
}

struct parser {
	void *(*work)(void *);
	void *argument;
};

static void *run_parser(void *argument)
{
	const struct parser parser = *(struct parser *)argument;

	free(argument);
	if (confine_parser)
		confine_parser();
	return parser.work(parser.argument);
}

bool thread_start_parser(void *(*work)(void *), void *argument)
{
	struct parser *parser = malloc(sizeof(*parser));

	if (!parser)
		return false;
	*parser = (struct parser){ work, argument };
	if (thread_start(run_parser, parser))
		return true;
	free(parser);
	return false;
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
	/* Blocked, they would end the process past whoever handles them, as a screen does. */
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigdelset(&all, crashes[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&thread, &attributes, work, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return !failed;
}
