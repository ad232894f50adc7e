/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The directory tree of cgroups of version 2, or of a controller of version 1, wherever it is
 * mounted.
 */
#ifndef OS_CGROUP_TREE_H
#define OS_CGROUP_TREE_H

#include "base/error.h"

struct cgroup_tree {
	int dir;     /* -1: there is none that can be entered */
	char *root;  /* the cgroup shown at its top; NULL: "/" */
	char *point; /* where it is mounted; NULL: not found */
};

/*
 * Find it in the mountinfo of this process below `proc`, its own /proc: the whole tree if it is
 * mounted, else a part. A mount that another one covers is passed over: the same path would lead to
 * other cgroups.
 */
struct error *cgroup_tree_open(int proc, struct cgroup_tree *ret) MUST_CHECK;

/* The same of version 1: the tree of a controller, such as "cpu". */
struct error *cgroup_tree_open_v1(int proc, const char *controller,
				  struct cgroup_tree *ret) MUST_CHECK;

void cgroup_tree_close(struct cgroup_tree *tree);

#endif
