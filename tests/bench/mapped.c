/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that has mapped files as code: `mapped FILE...` says "ready" and sleeps. It maps each
 * from its first byte, and calls nothing in it. It ends with its parent.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) ||
	    mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
		    MAP_FAILED)
		err(1, "%s", path);
	close(fd);
}

int main(int argc, char **argv)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < argc; i++)
		map(argv[i]);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
