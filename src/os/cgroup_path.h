/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path of a cgroup of version 2 by its number, and back.
 *
 * The number is what kernfs has for its directory, so a file handle can be made of it
 * (FILEID_KERNFS in include/linux/exportfs.h), as cgroup_get_from_id() does in the kernel.
 */
#ifndef OS_CGROUP_PATH_H
#define OS_CGROUP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `tree` is the directory where cgroups are mounted. The path begins with '/', which is the one
 * that is mounted. False: there is no such cgroup any more, or no permission (CAP_DAC_READ_SEARCH).
 */
bool cgroup_path(int tree, uint64_t id, char *ret, size_t room);

/* The number of the cgroup with that path below `tree`. False: there is none. */
bool cgroup_id(int tree, const char *path, uint64_t *ret);

#endif
