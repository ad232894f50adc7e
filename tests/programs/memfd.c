/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memfd PROGRAM ARGUMENTS...: executes a copy of the program that is in memory alone.
 */
#include <err.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	int from = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int to = memfd_create("copy", MFD_CLOEXEC);
	struct stat stat;
	off_t at = 0;

	if (from < 0 || to < 0 || fstat(from, &stat))
		err(1, "%s", argc > 1 ? argv[1] : "no program");
	while (at < stat.st_size)
		if (sendfile(to, from, &at, (size_t)(stat.st_size - at)) <= 0)
			err(1, "sendfile");
	fexecve(to, argv + 1, environ);
	err(1, "fexecve");
}
