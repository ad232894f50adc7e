/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "capture/cgroup_files.h"
#include "capture/session.h"
#include "os/cgroup.h"

static void read_cgroup(struct capture *c, int dir, struct cgroup_counters *cgroup)
{
	const char *name;

	for (size_t i = 0; (name = cgroup_file_name(i)); i++) {
		struct text bytes;
		int failed = file_read(dir, name, &c->buffer, &bytes);

		if (failed && !capture_is_absent(failed))
			capture_count(c, FILE_CGROUP, failed);
		if (!failed && !cgroup_take_file(c->snapshot, i, bytes, cgroup))
			c->counts.failed[FILE_CGROUP]++;
	}
	capture_psi(c, dir, "", ".pressure", &cgroup->psi);
}

/* The directory of a cgroup below the mount, or -1. */
static int open_cgroup(struct capture *c, const struct name *path)
{
	struct text root = c->cgroups.root ? text_of(c->cgroups.root) : TEXT("/"), below;
	_cleanup_free_ char *relative = NULL;

	if (c->cgroups.dir < 0 || !cgroup_below_mount(root, name_text(path), &below))
		return -1;
	relative = below.length ? strndup(below.bytes, below.length) : strdup(".");
	return relative ? openat(c->cgroups.dir, relative, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
}

static int cgroup_by_name(const void *a, const void *b)
{
	return name_compare(*(const struct name *const *)a, *(const struct name *const *)b);
}

struct captured_paths {
	ARRAY(const struct name *);
};

/* The distinct cgroups of the kept threads. Threads of a process are adjacent, so comparing with
 * the previous one suffices for most. */
static bool list_paths(struct capture *c, struct captured_paths *ret)
{
	const struct ctprof_snapshot *s = c->snapshot;
	const struct name *last = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < s->threads.count; i++) {
		const struct name *path = snapshot_thread(s, i)->cgroup;

		if (path == last || !path->length)
			continue;
		if (!array_push(ret, path))
			return false;
		last = path;
	}
	if (!ret->count)
		return true;
	qsort(ret->items, ret->count, sizeof(*ret->items), cgroup_by_name);
	for (size_t i = 1; i < ret->count; i++)
		if (ret->items[i] != ret->items[kept])
			ret->items[++kept] = ret->items[i];
	ret->count = kept + 1;
	return true;
}

struct error *capture_cgroups(struct capture *c)
{
	struct captured_paths paths = { 0 };
	struct error *err = list_paths(c, &paths) ? NULL : &error_no_memory;

	for (size_t i = 0; i < paths.count && !err; i++) {
		struct cgroup_counters cgroup = { .path = paths.items[i] };
		_cleanup_close_ int dir = -1;

		if (capture_is_late(c)) {
			c->counts.not_reached += paths.count - i;
			break;
		}
		dir = open_cgroup(c, cgroup.path);
		/* In a file it could not be told from others that differ in such bytes only. */
		if (!utf8_is_valid(name_text(cgroup.path))) {
			c->counts.failed[FILE_CGROUP]++;
			continue;
		}
		if (dir >= 0)
			read_cgroup(c, dir, &cgroup);
		if (!array_push(&c->snapshot->cgroups, cgroup))
			err = &error_no_memory;
	}
	array_deinit(&paths);
	return err;
}
