/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/rooted.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/guard.h"

static int open_below(int root, const char *path, uint64_t resolve)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = resolve };
	_cleanup_close_ int found = -1;

	if (root < 0 || path[0] != '/')
		return -1;
	if (!guard_enter())
		return -1;
	found = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	guard_leave();
	return file_open_regular(found);
}

int rooted_open(int root, const char *path)
{
	return open_below(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int rooted_open_unlinked(int root, const char *path)
{
	return open_below(root, path, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS);
}

int rooted_open_link(int dir, const char *link)
{
	_cleanup_close_ int found = file_find(dir, link);

	return file_open_regular(found);
}
