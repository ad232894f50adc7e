/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for a CPU because a cgroup had used up its CPU time: from cpu.max and cpu.stat of the
 * cgroup of a thread and of those above it (cgroup-v2.rst, tg_set_cfs_bandwidth() in
 * kernel/sched/core.c), or, where version 1 has the controller, cpu.cfs_quota_us, cpu.cfs_period_us
 * and cpu.stat (Documentation/scheduler/sched-bwc.rst).
 */
#ifndef OS_THROTTLE_H
#define OS_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/cgroup_tree.h"

#define THROTTLE_LEVELS 16
#define THROTTLE_PATH   256

/* The counters of a cgroup that has a quota. */
struct throttle_level {
	size_t length;                /* of the path, of which the reading has the whole */
	uint64_t quota_us, period_us; /* of cpu.max */
	uint64_t periods, throttled;  /* that passed, and in which it had to wait */
	uint64_t wait_us;             /* the sum over CPUs */
};

/* Begins as {0}. */
struct throttle_reading {
	char path[THROTTLE_PATH]; /* of the thread's cgroup */
	bool is_v1;
	struct throttle_level levels[THROTTLE_LEVELS];
	size_t count;
};

/* Read the counters of one cgroup. `directory` is relative to the mount point. False: the cgroup
 * has no quota. */
bool throttle_read_level(const struct cgroup_tree *tree, bool is_v1, const char *directory,
			 struct throttle_level *ret);

/* Open the hierarchy with the cpu controller: of version 1 if that is mounted, else of version
 * 2. */
struct error *throttle_tree_open(int proc, struct cgroup_tree *ret, bool *ret_is_v1) MUST_CHECK;

/* The path of a thread's cgroup in the cpu hierarchy of version 1. False: the thread has ended. */
bool throttle_path_v1(int proc, uint32_t tid, char ret[THROTTLE_PATH]);

/* Read the cgroup of a thread and those above it. `path` is its cgroup of version 2, as in
 * /proc/PID/cgroup; NULL: unknown. */
void throttle_read(uint32_t tid, const char *path, struct throttle_reading *ret);

/* The same of a path in a tree that the caller has open. */
void throttle_read_tree(const struct cgroup_tree *tree, bool is_v1, const char *path,
			struct throttle_reading *ret);

/* Did the cgroup that waited longest between two readings run out in half of its periods? */
bool throttle_is_usual(const struct throttle_reading *before, const struct throttle_reading *now);

/* "cgroup /a ran out of its quota (cpu.max: 0.20 CPUs) in 9 of 10 periods, for 812ms in all on its
 * CPUs", of the one that waited longest between two readings of one cgroup; allocated. NULL: none
 * did. */
char *throttle_say(const struct throttle_reading *before, const struct throttle_reading *now);

#endif
