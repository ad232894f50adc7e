/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cgroups of a host that have a quota of CPU time, and which of them ran out of it between two
 * readings (os/throttle.h).
 */
#ifndef OS_QUOTAS_H
#define OS_QUOTAS_H

#include "base/array.h"
#include "os/throttle.h"

/* Cgroups that are looked at, of a tree with more the first, and how deep below its top. */
#define QUOTAS_CGROUPS 8192
#define QUOTAS_DEPTH   32

struct quota {
	char path[THROTTLE_PATH];
	struct throttle_level level;
};

/* All zero has none. */
struct quotas {
	bool is_v1;
	ARRAY(struct quota);
};

/* Read those of the host. Cgroups that cannot be read are left out, as when there is no memory. */
void quotas_read(struct quotas *ret);
/* The same of a tree that is open. */
void quotas_read_tree(const struct cgroup_tree *tree, bool is_v1, struct quotas *ret);
void quotas_deinit(struct quotas *quotas);

/* What the counters of a cgroup gained since another reading, in which it may be missing, and may
 * have been another one of that name. */
struct throttle_level quotas_growth(const struct quotas *before, const struct quota *now);

#endif
