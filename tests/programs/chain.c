/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chain sleep COUNT MS: sleeps COUNT times for MS milliseconds (0.05 as well), called by known
 * functions: main, chain_outer, chain_middle (with chain_inlined inlined into it), chain_inner,
 * chain_sleep.
 *
 * chain burn MS: takes CPU time, called by main, burn_outer, burn_inner.
 *
 * chain ask COUNT: asks for the time so often in thousands, which the vDSO answers.
 *
 * chain storm COUNT MS: COUNT children at once, each named storm-N, that sleep for MS milliseconds
 * each, called by main, storm_child, chain_sleep. Prints "PID NAME" of each. They begin after a
 * second, when a profiler that gets little of the CPUs knows the program, too.
 *
 * Frame pointers are kept here (rules.mk), and not in the C library: the system call is made here.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOT_INLINED __attribute__((noinline))

/* So that a call is not the last thing that a function does, and keeps its frame. */
static volatile unsigned long calls;

NOT_INLINED void chain_woken(void);
NOT_INLINED void chain_sleep(const struct timespec *time);
NOT_INLINED void chain_inner(const struct timespec *time);
NOT_INLINED void chain_middle(const struct timespec *time);
NOT_INLINED void chain_outer(const struct timespec *time);
NOT_INLINED void storm_child(const struct timespec *time);
NOT_INLINED void burn_inner(uint64_t ns);
NOT_INLINED void burn_outer(uint64_t ns);
NOT_INLINED void ask_for_time(unsigned long thousands);

/* The compiler gives no frame to a function that calls nobody. */
void chain_woken(void)
{
	calls++;
}

void chain_sleep(const struct timespec *time)
{
#ifdef __x86_64__
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(SYS_nanosleep), "D"(time), "S"(NULL)
			 : "rcx", "r11", "memory");
#else
	nanosleep(time, NULL);
#endif
	chain_woken();
}

void chain_inner(const struct timespec *time)
{
	chain_sleep(time);
	calls++;
}

static inline __attribute__((always_inline)) void chain_inlined(const struct timespec *time)
{
	chain_inner(time);
	calls++;
}

void chain_middle(const struct timespec *time)
{
	chain_inlined(time);
	calls++;
}

void chain_outer(const struct timespec *time)
{
	chain_middle(time);
	calls++;
}

void storm_child(const struct timespec *time)
{
	chain_sleep(time);
	calls++;
}

static uint64_t cpu_ns(void)
{
	return (uint64_t)clock() * (1000000000u / CLOCKS_PER_SEC);
}

/* Where it is nearly always is this function itself. */
void burn_inner(uint64_t ns)
{
	const uint64_t end = cpu_ns() + ns;

	while (cpu_ns() < end)
		for (unsigned i = 0; i < 3000000; i++)
			calls++;
}

void burn_outer(uint64_t ns)
{
	burn_inner(ns);
	calls++;
}

void ask_for_time(unsigned long thousands)
{
	struct timespec now;

	for (unsigned long i = 0; i < thousands * 1000; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

static int storm(unsigned long count, const struct timespec *time)
{
	nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL);
	for (unsigned long i = 0; i < count; i++) {
		char name[32];
		pid_t child = fork();

		if (child < 0)
			err(1, "fork");
		snprintf(name, sizeof(name), "storm-%lu", i);
		if (child == 0) {
			prctl(PR_SET_NAME, name);
			storm_child(time);
			_exit(0);
		}
		printf("%d %s\n", (int)child, name);
		fflush(stdout);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	const long ns = argc > 2 ? (long)(strtod(argv[argc - 1], NULL) * 1e6) : 0;
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };
	unsigned long count;

	if (argc == 3 && strcmp(argv[1], "burn") == 0) {
		burn_outer((uint64_t)ns);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "ask") == 0) {
		ask_for_time(strtoul(argv[2], NULL, 10));
		return 0;
	}
	if (argc != 4)
		errx(2, "usage: chain sleep|storm COUNT MS, chain burn MS, chain ask COUNT");
	count = strtoul(argv[2], NULL, 10);
	if (strcmp(argv[1], "storm") == 0)
		return storm(count, &time);
	for (unsigned long i = 0; i < count; i++)
		chain_outer(&time);
	return 0;
}
