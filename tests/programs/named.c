/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named NAME...: a process of each name, any bytes but NUL, asleep. Prints "ready PID..." in the
 * same order. All end with this one.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static pid_t start(const char *name)
{
	int ready[2];
	char byte;
	pid_t parent = getpid(), pid;

	if (pipe(ready))
		err(1, "pipe");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		prctl(PR_SET_NAME, name);
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	/* End of file says that it has its name. */
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 0)
		err(1, "%s", name);
	close(ready[0]);
	return pid;
}

int main(int argc, char **argv)
{
	/* In one piece, for those who wait for it. */
	static char line[BUFSIZ];

	setvbuf(stdout, line, _IOFBF, sizeof(line));
	for (int i = 1; i < argc; i++)
		printf("%s%d", i > 1 ? " " : "ready ", (int)start(argv[i]));
	printf("\n");
	fflush(stdout);
	for (;;)
		pause();
}
