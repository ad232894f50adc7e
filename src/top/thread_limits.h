/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far a thread may use CPUs, now: its scheduling policy and nice (sched_getattr(2)), the CPUs
 * it is bound to (sched_getaffinity(2)), and the tightest quota of the cgroups it is in. None of
 * these waits for the thread or its process.
 */
#ifndef TOP_THREAD_LIMITS_H
#define TOP_THREAD_LIMITS_H

#include "base/json_writer.h"
#include "os/throttle.h"

struct thread_limits {
	bool has_policy, has_cpus;
	uint32_t policy, priority; /* SCHED_*, and the priority of real-time ones */
	int32_t nice;
	char *cpus;       /* it may run on, "0-3,8"; owned */
	size_t cpu_count; /* of them */
	unsigned online;
	struct {
		char cgroup[THROTTLE_PATH]; /* "": no cgroup has one */
		double cpus;
	} quota;
};

/* `throttle`: of its cgroup; NULL: not known. A thread that has ended has no limits. */
void thread_limits_read(uint32_t tid, const struct throttle_reading *throttle,
			struct thread_limits *ret);
void thread_limits_deinit(struct thread_limits *limits);

/* As an object; what is not known is null. NULL: null. */
void thread_limits_put(struct json_writer *w, const struct thread_limits *limits);

#endif
