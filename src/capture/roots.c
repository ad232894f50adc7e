/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture/session.h"
#include "os/cgroup.h"

/* The directory that the user names holds the root cgroup; a mount of our own that we cannot enter
 * is as good as none. */
static struct error *open_cgroups(struct capture *c)
{
	const char *named = c->options->cgroup_root;
	struct error *err = NULL;

	if (named) {
		err = file_open_dir(named, &c->cgroups.dir);
		return err ? error_prefix(err, "--cgroup-root") : NULL;
	}
	/* Paths in a foreign mountinfo say nothing about our own file system. */
	return c->ours ? cgroup_tree_open(c->proc, &c->cgroups) : NULL;
}

/* The cgroup of --cgroup as /proc names it: users may give the directory too. */
static struct error *find_cgroup_top(struct capture *c)
{
	struct text path = cgroup_of_directory(text_of(c->options->cgroup), c->cgroups.point), rest,
		    below;

	if (path.bytes[0] != '/')
		return error_create("--cgroup %s: a cgroup path must start with '/'",
				    c->options->cgroup);
	rest = path;
	while (text_cut(&rest, '/', &below))
		if (text_equal(below, TEXT("..")))
			return error_create("--cgroup %s: a cgroup path must not contain '..'",
					    c->options->cgroup);
	c->cgroup_top = snapshot_name(c->snapshot, path);
	return c->cgroup_top ? NULL : &error_no_memory;
}

static struct error *check_cgroup_top(struct capture *c)
{
	_cleanup_free_ char *path = NULL;
	struct text root = c->cgroups.root ? text_of(c->cgroups.root) : TEXT("/"), below;

	if (c->cgroups.dir < 0)
		return NULL;
	if (!cgroup_below_mount(root, name_text(c->cgroup_top), &below))
		return error_create("--cgroup %s: not in this cgroup mount", c->options->cgroup);
	path = strndup(below.length ? below.bytes : ".", below.length ? below.length : 1);
	if (!path)
		return &error_no_memory;
	if (faccessat(c->cgroups.dir, path, F_OK, 0))
		return error_system(errno, "--cgroup %s", c->options->cgroup);
	return NULL;
}

struct error *capture_open_roots(struct capture *c)
{
	const struct capture_options *o = c->options;
	struct error *err = file_open_dir(o->proc_root ? o->proc_root : "/proc", &c->proc);

	if (err)
		return o->proc_root ? error_prefix(err, "--proc-root") : err;
	c->ours = tasks_are_ours(c->proc);
	if (o->sys_root)
		err = file_open_dir(o->sys_root, &c->sys);
	else
		c->sys = open("/sys", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (err)
		return error_prefix(err, "--sys-root");
	err = open_cgroups(c);
	if (!err && o->cgroup)
		err = find_cgroup_top(c);
	if (!err && o->cgroup && !o->may_be_gone)
		err = check_cgroup_top(c);
	return err;
}
