/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/cgroup_tree.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "os/cgroup.h"

static char *unescaped(struct text field)
{
	char *copy = strndup(field.bytes, field.length);

	if (copy)
		copy[mountinfo_unescape(copy, strlen(copy))] = '\0';
	return copy;
}

/* Does its path lead to this very mount? Kernels before 5.8 cannot tell. */
static bool is_on_top(void *context, const struct cgroup_mount *mount)
{
	_cleanup_free_ char *point = unescaped(mount->point);
	struct statx status;

	(void)context;
	if (!point || statx(AT_FDCWD, point, AT_NO_AUTOMOUNT, STATX_MNT_ID, &status))
		return false;
	return !(status.stx_mask & STATX_MNT_ID) || status.stx_mnt_id == mount->id;
}

static struct error *find_top_mount(int proc, const char *controller, struct file_buffer *buffer,
				    struct cgroup_tree *ret)
{
	struct cgroup_mount mount;
	struct text bytes;

	if (file_read(proc, "self/mountinfo", buffer, &bytes) ||
	    !cgroup_mount_parse(bytes, controller, is_on_top, NULL, &mount))
		return NULL;
	ret->point = unescaped(mount.point);
	ret->root = unescaped(mount.root);
	if (!ret->point || !ret->root)
		return &error_no_memory;
	ret->dir = open(ret->point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return NULL;
}

struct error *cgroup_tree_open_v1(int proc, const char *controller, struct cgroup_tree *ret)
{
	struct cgroup_tree tree = { .dir = -1 };
	struct file_buffer buffer = { 0 };
	struct error *err = find_top_mount(proc, controller, &buffer, &tree);

	file_buffer_deinit(&buffer);
	if (err)
		cgroup_tree_close(&tree);
	else
		*ret = tree;
	return err;
}

struct error *cgroup_tree_open(int proc, struct cgroup_tree *ret)
{
	return cgroup_tree_open_v1(proc, NULL, ret);
}

void cgroup_tree_close(struct cgroup_tree *tree)
{
	if (tree->dir >= 0)
		close(tree->dir);
	free(tree->root);
	free(tree->point);
	*tree = (struct cgroup_tree){ .dir = -1 };
}
