/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command and prints its cost: `timed NAME SIDE COMMAND...` prints "NAME SIDE WALL CPU
 * PEAK", seconds and the most KiB that were resident at once. What the command prints is dropped.
 */
#include <fcntl.h>
#include <sys/wait.h>

#include "sample.h"

/* A child's peak starts from its parent's, which is small here. */
static void run(char **command)
{
	int null = open("/dev/null", O_WRONLY);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		err(1, "/dev/null");
	execvp(command[0], command);
	err(127, "%s", command[0]);
}

int main(int argc, char **argv)
{
	struct cost cost, start = cost_now();
	struct rusage usage;
	int status;
	pid_t child;

	if (argc < 4)
		errx(2, "usage: timed NAME SIDE COMMAND...");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child)
		run(argv + 3);
	if (wait4(child, &status, 0, &usage) < 0)
		err(1, "wait");
	cost = cost_since(start);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed", argv[3]);
	printf("%s %s %.6f %.6f %ld\n", argv[1], argv[2], cost.wall,
	       seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), usage.ru_maxrss);
	return 0;
}
