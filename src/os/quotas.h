/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All cgroups of a host that have a quota of CPU time, and how much each was throttled between two
 * readings (os/throttle.h).
 */
#ifndef OS_QUOTAS_H
#define OS_QUOTAS_H

#include "base/array.h"
#include "os/throttle.h"

/* Bounds of a reading: cgroups visited, in the order of readdir(3), and levels below the root. */
#define QUOTAS_CGROUPS 8192
#define QUOTAS_DEPTH   32

struct quota {
	char path[THROTTLE_PATH];
	struct throttle_level level;
};

/* Empty if all zero. */
struct quotas {
	bool is_v1;
	ARRAY(struct quota);
};

/* Read the quotas of the host. Cgroups that cannot be read are left out, as are those for which
 * there is no memory. */
void quotas_read(struct quotas *ret);
/* Like quotas_read(), for a tree that the caller has open. */
void quotas_read_tree(const struct cgroup_tree *tree, bool is_v1, struct quotas *ret);
void quotas_deinit(struct quotas *quotas);

/* By how much the counters of a cgroup grew since the reading `before`. A cgroup that is not in
 * `before`, or was created again under the same path since, began at 0. */
struct throttle_level quotas_growth(const struct quotas *before, const struct quota *now);

#endif
