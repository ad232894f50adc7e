/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The path of a cgroup by its number, as in /proc/<tid>/cgroup.
 *
 * The kernel never reuses the number of a cgroup, and a cgroup of version 2 is never renamed, so a
 * path once found stays valid. It is read from a thread in the cgroup and then verified, since the
 * thread may have been moved meanwhile.
 */
#ifndef CAPTURE_CGROUP_IDS_H
#define CAPTURE_CGROUP_IDS_H

#include "base/array.h"
#include "base/names.h"
#include "base/word_map.h"

struct capture;

struct cgroup_ids {
	struct word_map numbers; /* from the id to a place in `known` */
	struct {
		ARRAY(struct known_cgroup {
			char *path;
			const struct name *name; /* in the snapshot ... */
			/* ... of this capture: by number, since a snapshot may get the address
			 * of the one before. */
			uint64_t taken;
		});
	} known;
	size_t last; /* in `known`: most threads are in the cgroup of the one before */
	uint64_t last_id;
};

/* Before a capture: forget unverified paths, which may be of a thread that was being moved. */
void cgroup_ids_begin(struct capture *c);

/* The path of cgroup `id` of thread `tid`; "" if the thread is gone and the path was not known
 * before. NULL without memory. */
const struct name *cgroup_ids_path(struct capture *c, uint64_t id, uint32_t tid);

void cgroup_ids_deinit(struct cgroup_ids *ids);

#endif
