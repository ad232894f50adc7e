/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the cgroup of a thread, and the mount point of cgroup v2 (cgroups(7),
 * proc_pid_mountinfo(5)).
 *
 * Hybrid hosts mount version 1 at /sys/fs/cgroup and version 2 somewhere below it; hosts with only
 * version 1 have no cgroups in this sense.
 */
#ifndef OS_CGROUP_H
#define OS_CGROUP_H

#include "base/error.h"
#include "base/text.h"

/*
 * The version 2 path in the bytes of /proc/<tid>/cgroup: the rest of the first line that starts
 * "0::". A deleted cgroup's path ends in " (deleted)", as the kernel prints it. False when there
 * is none.
 */
bool cgroup_path_parse(struct text bytes, struct text *ret);

/* The same of version 1: of the line "4:cpu,cpuacct:/a" that lists the controller. */
bool cgroup_path_parse_v1(struct text bytes, const char *controller, struct text *ret);

/* The most specific path: that of version 2, or if that is the root, the first path below the root
 * among the version 1 controllers that container tools and systemd use. False: the bytes have no
 * path. */
bool cgroup_path_parse_any(struct text bytes, struct text *ret);

/* Is there a hierarchy of version 1 in these bytes? */
bool cgroup_path_has_v1(struct text bytes);

struct cgroup_mount {
	uint64_t id;
	struct text root;  /* the cgroup shown at the mount point, "/" unless bind-mounted */
	struct text point; /* where it is mounted; octal escapes are not undone */
};

/*
 * The cgroup2 mount in the bytes of a mountinfo file, or the one of version 1 with this controller
 * (NULL: of version 2): one with root "/" first, that `is_usable` says yes to (NULL: any). False:
 * none.
 */
bool cgroup_mount_parse(struct text bytes, const char *controller,
			bool (*is_usable)(void *context, const struct cgroup_mount *mount),
			void *context, struct cgroup_mount *ret);

/* Undo the octal escapes (\040) of a mountinfo field in place; returns the new length. */
size_t mountinfo_unescape(char *bytes, size_t length);

/*
 * The path below the mount point of the cgroup `path`, without leading slashes ("" is the root
 * itself). False when the mount does not show it: it lies outside `root`, was deleted, or the
 * path climbs with "..", as those outside a cgroup namespace do.
 */
bool cgroup_below_mount(struct text root, struct text path, struct text *ret);

/* Is `path` the cgroup `top` or one below it? */
bool cgroup_is_within(struct text path, struct text top);

/* The path of a cgroup that users may also give as its directory below `point`, where the tree is
 * mounted (NULL: nowhere): without slashes at its end; "/" is the topmost one. */
struct text cgroup_of_directory(struct text path, const char *point);

#endif
