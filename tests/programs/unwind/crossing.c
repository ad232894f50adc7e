/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crossing WAY ACT: calls between the program and a library of its own (crossing_library.c).
 *
 *	library  the program, the library, the program again, the library again, and the act
 *	lazy     the act while a name is looked up that is called for the first time
 *	stubs    calls through stubs, one after the other, as long as it is let
 *	open     the library "loaded" (loaded_library.c) beside the program, at SIGUSR1; prints
 *	         "open" when it has it, and does the act there
 */
#include <dlfcn.h>
#include <signal.h>

#include "acts.h"
#include "crossing.h"

/* --- to and fro --- */

static act *at_the_end;

LEVEL(cross_3, 24, library_3(at_the_end))

static void back(void)
{
	cross_3(NULL);
	calls++;
}

LEVEL(cross_2, 40, library_1(back))
LEVEL(cross_1, 8, cross_2(last))

/* --- a name that is looked up --- */

LEVEL(lazy_2, 24, library_chosen())
LEVEL(lazy_1, 8, lazy_2(last))

/* --- stubs --- */

LEVEL(stubs_2, 8, while (goes_on) library_small(library_small(1)))
LEVEL(stubs_1, 8, stubs_2(last))

/* --- a library that comes later --- */

static void (*loaded)(act *last);

LEVEL(open_2, 24, loaded(last))
LEVEL(open_1, 8, open_2(last))

static void *load(void)
{
	char path[4096], *slash;
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);
	void *library;

	if (length < 0)
		err(1, "readlink");
	path[length] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash, "/libloaded.so");
	library = dlopen(path, RTLD_NOW);
	if (!library)
		errx(1, "%s", dlerror());
	return dlsym(library, "loaded_1");
}

static void wait_and_open(act *last, char **argv)
{
	sigset_t wanted;
	int number;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	say_ready(argv);
	sigwait(&wanted, &number);
	loaded = (void (*)(act *))load();
	puts("open");
	fflush(stdout);
	open_1(last);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: crossing WAY ACT");
	at_the_end = act_of(argv[2]);
	if (strcmp(argv[1], "open") == 0) {
		wait_and_open(at_the_end, argv);
		return 0;
	}
	library_set(at_the_end);
	say_ready(argv);
	if (strcmp(argv[1], "library") == 0)
		cross_1(NULL);
	else if (strcmp(argv[1], "lazy") == 0)
		lazy_1(NULL);
	else if (strcmp(argv[1], "stubs") == 0)
		stubs_1(NULL);
	else
		errx(2, "no way '%s'", argv[1]);
	return 0;
}
