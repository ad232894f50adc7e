/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/quotas.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cgroup_walk {
	const struct cgroup_tree *tree;
	bool is_v1;
	size_t visited;
	char path[THROTTLE_PATH]; /* below the top of the tree, without a leading slash */
	struct quotas *quotas;
};

/* Fill in the path of the current cgroup. A mount may show a part of the hierarchy, but paths are
 * from its root. False: too long. */
static bool is_named(const struct cgroup_walk *walk, struct quota *ret)
{
	const char *root = walk->tree->root && walk->tree->root[1] ? walk->tree->root : "";
	const int length = snprintf(ret->path, sizeof(ret->path), "%s/%s", root, walk->path);

	ret->level.length = (size_t)length;
	return length > 0 && (size_t)length < sizeof(ret->path);
}

static void visit(struct cgroup_walk *walk, size_t length, unsigned depth);

static void visit_child(struct cgroup_walk *walk, size_t length, const char *name, unsigned depth)
{
	const size_t room = sizeof(walk->path) - length;
	const int added = snprintf(walk->path + length, room, "%s%s", length ? "/" : "", name);

	if (added > 0 && (size_t)added < room)
		visit(walk, length + (size_t)added, depth + 1);
	walk->path[length] = '\0';
}

static void visit_children(struct cgroup_walk *walk, size_t length, unsigned depth)
{
	const int fd = openat(walk->tree->dir, length ? walk->path : ".",
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!stream && fd >= 0)
		close(fd);
	while (stream && walk->visited < QUOTAS_CGROUPS && (entry = readdir(stream)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			visit_child(walk, length, entry->d_name, depth);
	if (stream)
		closedir(stream);
}

/* Read the quota of the cgroup at walk->path, and those of its descendants. */
static void visit(struct cgroup_walk *walk, size_t length, unsigned depth)
{
	struct quota quota = { .path = "" };

	walk->visited++;
	/* The root cgroup has no quota. */
	if (length && throttle_read_level(walk->tree, walk->is_v1, walk->path, &quota.level) &&
	    is_named(walk, &quota) && !array_push(walk->quotas, quota))
		return;
	if (depth < QUOTAS_DEPTH)
		visit_children(walk, length, depth);
}

void quotas_read_tree(const struct cgroup_tree *tree, bool is_v1, struct quotas *ret)
{
	struct cgroup_walk walk = { .tree = tree, .is_v1 = is_v1, .quotas = ret };

	*ret = (struct quotas){ .is_v1 = is_v1 };
	if (tree->dir >= 0)
		visit(&walk, 0, 0);
}

void quotas_read(struct quotas *ret)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_tree tree = { .dir = -1 };
	bool is_v1 = false;

	if (proc >= 0)
		error_destroy(throttle_tree_open(proc, &tree, &is_v1));
	quotas_read_tree(&tree, is_v1, ret);
	cgroup_tree_close(&tree);
}

void quotas_deinit(struct quotas *quotas)
{
	array_deinit(quotas);
}

/* --- differences --- */

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

struct throttle_level quotas_growth(const struct quotas *before, const struct quota *now)
{
	struct throttle_level level = now->level;

	for (size_t i = 0; i < before->count; i++) {
		const struct quota *earlier = &before->items[i];

		/* Counters that fell are those of a new cgroup with the same path. */
		if (strcmp(earlier->path, now->path) != 0 || earlier->level.periods > level.periods)
			continue;
		level.periods -= earlier->level.periods;
		level.throttled = grown(earlier->level.throttled, level.throttled);
		level.wait_us = grown(earlier->level.wait_us, level.wait_us);
		break;
	}
	return level;
}
