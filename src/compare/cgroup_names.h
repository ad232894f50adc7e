/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Under which name each cgroup of some snapshots is looked at, so that the same workload meets
 * itself though its cgroup is named anew with every start.
 *
 *	1. A path that a --cgroup-flatten glob matches has the glob's text as its name.
 *	2. Instances of a service are one: user@1000.service is user@{I}.service.
 *	3. A path that every snapshot has keeps its name. Of the others, those that are the same but
 *	   for numbers and addresses (pattern.h) have their pattern as their common name.
 *
 * Step 3 leaves long-lived cgroups apart, which join by their own names; only what is on one side
 * alone is brought together.
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
