/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that loads a library, drops it some time later, and sleeps then, again and again:
 * closing LIBRARY.
 */
#include <dlfcn.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED __attribute__((noinline, noclone))
#endif

static volatile int calls;

NOT_INLINED void nap_after_close(void);
NOT_INLINED void close_2(const char *library);
NOT_INLINED void close_1(const char *library);

/* A while in which nothing comes or goes. */
void nap_after_close(void)
{
	for (int i = 0; i < 20; i++) {
		const struct timespec pause = { .tv_nsec = 1000000 };

		nanosleep(&pause, NULL);
		calls++;
	}
}

void close_2(const char *library)
{
	const struct timespec quiet = { .tv_sec = 1, .tv_nsec = 300000000 };
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		errx(1, "%s", dlerror());
	/* Quiet for so long that all it has mapped is read. */
	nanosleep(&quiet, NULL);
	dlclose(handle);
	nap_after_close();
	calls++;
}

void close_1(const char *library)
{
	close_2(library);
	calls++;
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(1, "usage: closing LIBRARY");
	puts("ready");
	fflush(stdout);
	for (;;)
		close_1(argv[1]);
}
