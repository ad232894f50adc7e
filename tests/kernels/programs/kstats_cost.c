/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is called when the cost of being measured is:
 *
 *	kstats_cost getpgid CALLS ROUNDS   system calls
 *	kstats_cost empty CALLS ROUNDS     calls of empty_function()
 *	kstats_cost call CALLS ROUNDS      the same in the kernel, by the test module (../module)
 *	kstats_cost events CALLS ROUNDS    its tracepoints, a pair each
 *
 * It says how many ns a call took in the quickest round. Rounds are short, so that nobody disturbs
 * some of them.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static __attribute__((noinline, used)) long empty_function(long a)
{
	__asm__ volatile("" ::"r"(a));
	return a;
}

static void getpgids(const char *what, long calls)
{
	(void)what;
	for (long i = 0; i < calls; i++)
		syscall(SYS_getpgid, 0);
}

static void empties(const char *what, long calls)
{
	(void)what;
	for (long i = 0; i < calls; i++)
		empty_function(i);
}

/* One word to the module, which does it that often. */
static void module(const char *what, long calls)
{
	static int fd = -1;
	char word[64];
	int length = snprintf(word, sizeof(word), "%s %ld", what, calls);

	if (fd < 0)
		fd = open("/sys/kernel/debug/kstats_test", O_WRONLY);
	if (write(fd, word, (size_t)length) != length) {
		perror("kstats_test");
		exit(1);
	}
}

static const struct {
	const char *name;
	void (*run)(const char *what, long calls);
} works[] = {
	{ "getpgid", getpgids },
	{ "empty", empties },
	{ "call", module },
	{ "events", module },
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t least_of(size_t work, long calls, long rounds)
{
	uint64_t least = UINT64_MAX;

	for (long i = 0; i < rounds; i++) {
		const uint64_t begun = now();
		uint64_t took;

		works[work].run(works[work].name, calls);
		took = now() - begun;
		least = took < least ? took : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	const long calls = argc == 4 ? atol(argv[2]) : 0, rounds = argc == 4 ? atol(argv[3]) : 0;
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	for (size_t i = 0; calls > 0 && rounds > 0 && i < sizeof(works) / sizeof(*works); i++) {
		if (strcmp(works[i].name, argv[1]) != 0)
			continue;
		printf("%.1f\n", (double)least_of(i, calls, rounds) / (double)calls);
		return 0;
	}
	fprintf(stderr, "usage: kstats_cost getpgid|empty|call|events CALLS ROUNDS\n");
	return 2;
}
