/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/rooted.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"

/* What was found without opening it is looked at first. */
static int open_regular(int found)
{
	struct stat stat;
	char again[32];

	if (found < 0 || fstat(found, &stat) || !S_ISREG(stat.st_mode))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	return open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

int rooted_open(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int found = -1;

	if (root < 0 || path[0] != '/')
		return -1;
	found = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return open_regular(found);
}

int rooted_open_link(int dir, const char *link)
{
	_cleanup_close_ int found = openat(dir, link, O_PATH | O_CLOEXEC);

	return open_regular(found);
}
