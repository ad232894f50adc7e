/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cgroup_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define FILEID_KERNFS 0xfe

struct kernfs_handle {
	struct file_handle head;
	uint64_t id;
};

/* The path of a descriptor. */
static bool descriptor_path(int fd, char *ret, size_t room)
{
	char link[40];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, ret, room - 1);
	if (length <= 0 || (size_t)length >= room - 1)
		return false;
	ret[length] = '\0';
	return true;
}

bool cgroup_path(int tree, uint64_t id, char *ret, size_t room)
{
	struct kernfs_handle handle = {
		.head = { .handle_bytes = sizeof(handle.id), .handle_type = FILEID_KERNFS },
	};
	char mount[PATH_MAX], path[PATH_MAX];
	_cleanup_close_ int fd = -1;
	size_t length;

	if (tree < 0)
		return false;
	memcpy(handle.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(tree, &handle.head, O_PATH | O_CLOEXEC);
	if (fd < 0 || !descriptor_path(fd, path, sizeof(path)) ||
	    !descriptor_path(tree, mount, sizeof(mount)))
		return false;
	length = strlen(mount);
	if (strncmp(path, mount, length) != 0 || (path[length] && path[length] != '/'))
		return false;
	return snprintf(ret, room, "%s", path[length] ? path + length : "/") < (int)room;
}

bool cgroup_id(int tree, const char *path, uint64_t *ret)
{
	struct stat status;

	while (*path == '/')
		path++;
	if (tree < 0 || fstatat(tree, *path ? path : ".", &status, 0) || !S_ISDIR(status.st_mode))
		return false;
	*ret = status.st_ino;
	return true;
}
