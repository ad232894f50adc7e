/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command and prints its cost: `timed NAME SIDE COMMAND...` prints "NAME SIDE WALL CPU
 * PEAK", seconds and the most KiB that were resident at once. What the command prints is dropped.
 * `timed -f NAME SIDE COMMAND...` is the same, with the wall time until it prints something.
 *
 * A command that has used a minute of CPU time is ended: the status is 3 then, and nothing printed.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

#define CPU_SECONDS_MAX 60
#define STATUS_ENDED    3

/* The peak of a child includes that of its parent at the fork, which is small here. */
static void run(char **command, int output)
{
	const struct rlimit most = { CPU_SECONDS_MAX, RLIM_INFINITY };

	if (setrlimit(RLIMIT_CPU, &most))
		err(1, "a limit of CPU time");
	if (output < 0 || dup2(output, STDOUT_FILENO) < 0)
		err(1, "output");
	execvp(command[0], command);
	err(127, "%s", command[0]);
}

static void wait_for_byte(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		errx(1, "the command printed nothing");
}

int main(int argc, char **argv)
{
	bool first = argc > 1 && strcmp(argv[1], "-f") == 0;
	struct cost cost, start;
	struct rusage usage;
	int status, ends[2];
	pid_t child;

	argc -= first;
	argv += first;
	if (argc < 4)
		errx(2, "usage: timed [-f] NAME SIDE COMMAND...");
	if (pipe2(ends, O_CLOEXEC))
		err(1, "pipe");
	start = cost_now();
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		run(argv + 3, first ? ends[1] : open("/dev/null", O_WRONLY));
	close(ends[1]);
	if (first) {
		wait_for_byte(ends[0]);
		cost = cost_since(start);
	}
	if (wait4(child, &status, 0, &usage) < 0)
		err(1, "wait");
	if (!first)
		cost = cost_since(start);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return STATUS_ENDED;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed", argv[3]);
	printf("%s %s %.6f %.6f %ld\n", argv[1], argv[2], cost.wall,
	       seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss);
	return 0;
}
