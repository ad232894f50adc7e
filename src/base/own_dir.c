/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/own_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define DIRECTORY_MODE    0700
#define WRITABLE_BY_OTHER 022

static int open_directory(const char *path, enum own_links links)
{
	const struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_SYMLINKS };

	if (links == OWN_LINKS)
		return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* Not in a home directory of another user. */
static struct error *make_base(const char *path, enum own_links links)
{
	_cleanup_free_ char *for_parent = strdup(path), *for_name = strdup(path);
	_cleanup_close_ int parent = -1;
	struct stat st;

	if (!for_parent || !for_name)
		return &error_no_memory;
	parent = open_directory(dirname(for_parent), links);
	if (parent < 0 || fstat(parent, &st) || st.st_uid != geteuid())
		return NULL;
	if (mkdirat(parent, basename(for_name), DIRECTORY_MODE) && errno != EEXIST)
		return error_system(errno, "%s", path);
	return NULL;
}

struct error *own_base_open(const char *path, enum own_links links, int *ret)
{
	struct error *err = NULL;
	struct stat st;
	int fd = open_directory(path, links);

	if (fd < 0 && errno == ENOENT) {
		err = make_base(path, links);
		fd = err ? -1 : open_directory(path, links);
	}
	if (err)
		return err;
	if (fd < 0)
		return error_system(errno, "%s", path);
	if (fstat(fd, &st) || st.st_uid != geteuid()) {
		close(fd);
		return error_create("%s: owned by another user", path);
	}
	*ret = fd;
	return NULL;
}

struct error *own_dir_open(int parent, const char *name, const char *path, int *ret)
{
	struct stat st;
	int fd;

	if (mkdirat(parent, name, DIRECTORY_MODE) && errno != EEXIST)
		return error_system(errno, "%s: %s", path, name);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_system(errno, "%s: %s", path, name);
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & WRITABLE_BY_OTHER) {
		close(fd);
		return error_create("%s: %s: owned by another user, or writable by others", path,
				    name);
	}
	*ret = fd;
	return NULL;
}
