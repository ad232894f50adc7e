/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cgroups that were renamed between two sides, found by what runs in them.
 *
 * Two cgroups, each on one side only, are the same when the kinds of thread in them are: kinds are
 * pairs of the patterns of process and thread name, and of all kinds in either, at least 90 % must
 * be in both (Jaccard's index), and at least 10. Where the paths of the two part, the cgroup was
 * renamed: all that lies below there, and has the same path from there, is renamed with it,
 * whatever runs in it.
 */
#ifndef COMPARE_RENAMED_H
#define COMPARE_RENAMED_H

#include "compare/axis.h"

#define RENAMED_KINDS_LEAST 10
#define RENAMED_INDEX_LEAST 0.90

/* The largest number of cgroups on a side that are compared: those with the most kinds. */
#define RENAMED_CGROUPS_MOST 1024

struct renamed_pair {
	const struct name *baseline, *candidate; /* as cgroup_names.h names them */
	size_t common, all;                      /* kinds; 0 of 0: renamed with what it is below */
};

struct renamed {
	ARRAY(struct renamed_pair);
	size_t not_looked_at; /* cgroups beyond RENAMED_CGROUPS_MOST */
};

/*
 * Find them, and give both the common name "BASELINE [renamed: LAST SEGMENT OF THE CANDIDATE]" in
 * keys->cgroups. The first `baselines` snapshots of the keys are one side. To be called before keys
 * are assigned.
 */
struct error *renamed_find(struct renamed *renamed, struct keys *keys, size_t baselines) MUST_CHECK;

void renamed_deinit(struct renamed *renamed);

#endif
