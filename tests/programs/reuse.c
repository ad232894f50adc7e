/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reuse: two processes of one number, after each other. "first" is killed while it is blocked, for
 * some 300 ms; "second" gets its number and sleeps for 100 ms. Prints "PID FIRST SECOND": how long
 * they lived at least, in nanoseconds. Ends with 77 where the number cannot be had again.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void nap(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

static pid_t fork_blocked(const int *pipe)
{
	char byte;
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_NAME, "first");
	_exit(read(pipe[0], &byte, 1) == 1);
}

/* The number after this one. */
static void set_last(pid_t pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);

	if (fd < 0 || dprintf(fd, "%d", (int)pid - 1) < 0) {
		warn("ns_last_pid");
		_exit(77);
	}
	close(fd);
}

int main(void)
{
	int pipes[2];
	pid_t first, second;
	uint64_t begun, lived;

	if (pipe(pipes))
		err(1, "pipe");
	begun = now();
	first = fork_blocked(pipes);
	nap(300);
	lived = now() - begun;
	kill(first, SIGKILL);
	waitpid(first, NULL, 0);
	for (int i = 0; i < 100; i++) {
		set_last(first);
		begun = now();
		second = fork();
		if (second == 0) {
			if (getpid() != first)
				_exit(0);
			prctl(PR_SET_NAME, "second");
			nap(100);
			_exit(0);
		}
		waitpid(second, NULL, 0);
		if (second == first) {
			printf("%d %" PRIu64 " %" PRIu64 "\n", (int)first, lived, now() - begun);
			return 0;
		}
	}
	return 77;
}
