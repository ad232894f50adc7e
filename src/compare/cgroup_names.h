/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of cgroups that match in several snapshots, so that a workload is compared with itself even
 * if its cgroup gets a new name at each start.
 *
 *	1. A path that a --cgroup-flatten glob matches has the glob's text as its name.
 *	2. Instances of a service are merged: user@1000.service is user@{I}.service.
 *	3. A path that is in every snapshot keeps its name. Others that differ only in numbers and
 *	   addresses (pattern.h) get their pattern as a common name.
 *
 * Step 3 does not apply to long-lived cgroups, which match by their own names.
 */
#ifndef COMPARE_CGROUP_NAMES_H
#define COMPARE_CGROUP_NAMES_H

#include "base/word_map.h"
#include "snapshot/model.h"

struct cgroup_rules {
	struct {
		ARRAY(const char *);
	} flatten;    /* globs, checked; the first that matches counts */
	bool literal; /* leave out steps 2 and 3 */
};

struct cgroup_names {
	struct arena arena;
	struct names names;
	struct word_map numbers; /* of paths, by what stands for them */
	struct {
		ARRAY(const struct name *);
	} labels; /* by number */
};

/* Name all cgroups of the snapshots. The names live as long as this. */
struct error *cgroup_names_init(struct cgroup_names *names, const struct cgroup_rules *rules,
				const struct ctprof_snapshot *const *snapshots,
				size_t count) MUST_CHECK;

/* The name of a path of one of the snapshots. */
const struct name *cgroup_names_of(const struct cgroup_names *names, const struct name *path);

/* Give new names: `find` returns the new name of one that cgroup_names_of returned, or itself. */
void cgroup_names_change(struct cgroup_names *names,
			 const struct name *(*find)(void *context, const struct name *name),
			 void *context);

void cgroup_names_deinit(struct cgroup_names *names);

#endif
