/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleepers THREADS: so many threads that sleep until it is killed, its first one among them;
 * "ready" when all of them are there. Their stacks are in one mapping, for the kernel limits how
 * many a process may have (vm.max_map_count).
 */
#include <err.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_BYTES 16384

static void *sleep_always(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	const size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	pthread_attr_t attributes;
	pthread_t thread;
	char *stacks;

	if (!count || count > 4u << 20)
		errx(2, "usage: sleepers THREADS");
	stacks = mmap(NULL, count * STACK_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stacks == MAP_FAILED)
		err(1, "mmap");
	pthread_attr_init(&attributes);
	for (size_t i = 1; i < count; i++) {
		int failed =
			pthread_attr_setstack(&attributes, stacks + i * STACK_BYTES, STACK_BYTES);

		if (!failed)
			failed = pthread_create(&thread, &attributes, sleep_always, NULL);
		if (failed)
			errx(1, "thread %zu: %s", i, strerror(failed));
	}
	puts("ready");
	fflush(stdout);
	sleep_always(NULL);
}
