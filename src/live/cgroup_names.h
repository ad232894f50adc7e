/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Paths of cgroups by their numbers, each looked up once.
 */
#ifndef LIVE_CGROUP_NAMES_H
#define LIVE_CGROUP_NAMES_H

#include "base/array.h"
#include "base/names.h"
#include "base/word_map.h"

struct cgroup_names {
	struct names *names;
	int tree; /* the directory where cgroups are mounted, or -1 */
	struct word_map places;
	struct {
		ARRAY(const struct name *);
	} known;
};

/* Without a mount of cgroup2 no cgroup has a name. `names` must outlive this. */
void cgroup_names_init(struct cgroup_names *cgroups, struct names *names);

/* NULL: it is gone, or may not be looked at. */
const struct name *cgroup_names_of(struct cgroup_names *cgroups, uint64_t id);

void cgroup_names_deinit(struct cgroup_names *cgroups);

#endif
