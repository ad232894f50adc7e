/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bad_peak FILE COMMAND...: run a command, write the most memory it had resident, in KiB, and the
 * CPU time it took, in milliseconds, to FILE. Its exit status is the command's.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long milliseconds(struct timeval time)
{
	return time.tv_sec * 1000 + time.tv_usec / 1000;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;
	pid_t child;
	FILE *out;

	if (argc < 3)
		return 125;
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child)
		return 125;
	out = fopen(argv[1], "w");
	if (!out)
		return 125;
	fprintf(out, "%ld %ld\n", usage.ru_maxrss,
		milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime));
	if (fclose(out))
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
