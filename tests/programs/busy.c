/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * busy THREADS: threads that do a bit of everything a snapshot counts, for as long as they live:
 * compute, sleep, fault pages in and copy them, read and write. Prints "ready TID..." when each
 * has done some of it.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES       16
#define THREADS_MAX 64

static int zero, null;
static atomic_int tids[THREADS_MAX];

static void touch_pages(long size)
{
	volatile char *pages = mmap(NULL, (size_t)(PAGES * size), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		err(1, "mmap");
	/* What is read first is the zero page, so writing copies it. */
	for (long i = 0; i < PAGES; i++)
		pages[i * size] += 1;
	munmap((void *)pages, (size_t)(PAGES * size));
}

static void transfer(void)
{
	char bytes[512];

	if (read(zero, bytes, sizeof(bytes)) < 0 || write(null, bytes, sizeof(bytes)) < 0)
		err(1, "transfer");
}

static void *work(void *slot)
{
	const struct timespec nap = { .tv_nsec = 1000 * 1000 };

	for (;;) {
		touch_pages(sysconf(_SC_PAGESIZE));
		transfer();
		for (volatile unsigned i = 0; i < 50000; i++)
			;
		nanosleep(&nap, NULL);
		*(atomic_int *)slot = gettid();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 2 ? atoi(argv[1]) : 0;

	if (threads < 1 || threads > THREADS_MAX)
		errx(2, "usage: busy THREADS");
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	for (int i = 1; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, &tids[i]))
			errx(1, "no thread");
	}
	/* The leader works too, once it has told who they are. */
	touch_pages(sysconf(_SC_PAGESIZE));
	transfer();
	printf("ready %d", (int)getpid());
	for (int i = 1; i < threads; i++) {
		while (!tids[i])
			usleep(1000);
		printf(" %d", tids[i]);
	}
	printf("\n");
	fflush(stdout);
	work(&tids[0]);
}
