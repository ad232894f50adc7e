/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/thread_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread.h"
#include "os/cpulist.h"
#include "os/stat.h"

/* struct sched_attr of include/uapi/linux/sched/types.h in its first version. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void read_policy(uint32_t tid, struct thread_limits *limits)
{
	struct attributes attributes = { 0 };

	if (syscall(SYS_sched_getattr, tid, &attributes, sizeof(attributes), 0))
		return;
	limits->has_policy = true;
	limits->policy = attributes.policy;
	limits->priority = attributes.priority;
	limits->nice = attributes.nice;
}

/* The kernel refuses a mask smaller than its own with EINVAL, so the mask grows. */
static void read_cpus(uint32_t tid, struct thread_limits *limits)
{
	unsigned long mask[CPU_MAX / 8 / sizeof(unsigned long)];
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	long filled = -1;

	errno = EINVAL;
	for (size_t bytes = 1024; filled < 0 && errno == EINVAL && bytes <= sizeof(mask);
	     bytes *= 2)
		filled = syscall(SYS_sched_getaffinity, tid, bytes, mask);
	if (filled < 0 || !cpus_from_mask(mask, (size_t)filled, &cpus))
		return;
	limits->cpus = cpulist_text(&cpus);
	limits->cpu_count = cpus.count;
	limits->online = cpus_online();
	limits->has_cpus = limits->cpus != NULL;
}

static void find_quota(const struct throttle_reading *throttle, struct thread_limits *limits)
{
	for (size_t i = 0; throttle && i < throttle->count; i++) {
		const struct throttle_level *level = &throttle->levels[i];
		const double cpus =
			level->period_us ? (double)level->quota_us / (double)level->period_us : 0;

		if (!level->period_us || (*limits->quota.cgroup && cpus >= limits->quota.cpus))
			continue;
		limits->quota.cpus = cpus;
		memcpy(limits->quota.cgroup, throttle->path, level->length);
		limits->quota.cgroup[level->length] = '\0';
	}
}

void thread_limits_read(uint32_t tid, const struct throttle_reading *throttle,
			struct thread_limits *ret)
{
	*ret = (struct thread_limits){ 0 };
	read_policy(tid, ret);
	read_cpus(tid, ret);
	find_quota(throttle, ret);
}

void thread_limits_deinit(struct thread_limits *limits)
{
	free(limits->cpus);
	limits->cpus = NULL;
}

/* --- as JSON --- */

static void put_policy(struct json_writer *w, const struct thread_limits *limits)
{
	char name[POLICY_NAME_MAX];

	json_key(w, "policy");
	json_string(w, limits->has_policy ? policy_name(name, limits->policy) : NULL);
	json_key(w, "priority");
	if (limits->has_policy)
		json_u64(w, limits->priority);
	else
		json_null(w);
	json_key(w, "nice");
	if (limits->has_policy)
		json_i64(w, limits->nice);
	else
		json_null(w);
}

static void put_cpus(struct json_writer *w, const struct thread_limits *limits)
{
	json_key(w, "cpus");
	if (!limits->has_cpus) {
		json_null(w);
		return;
	}
	json_object_begin(w);
	json_key(w, "allowed");
	json_string(w, limits->cpus);
	json_key(w, "count");
	json_u64(w, limits->cpu_count);
	json_key(w, "online");
	json_u64(w, limits->online);
	json_object_end(w);
}

static void put_quota(struct json_writer *w, const struct thread_limits *limits)
{
	json_key(w, "quota");
	if (!*limits->quota.cgroup) {
		json_null(w);
		return;
	}
	json_object_begin(w);
	json_key(w, "cgroup");
	json_string(w, limits->quota.cgroup);
	json_key(w, "cpus");
	json_real(w, limits->quota.cpus);
	json_object_end(w);
}

void thread_limits_put(struct json_writer *w, const struct thread_limits *limits)
{
	if (!limits) {
		json_null(w);
		return;
	}
	json_object_begin(w);
	put_policy(w, limits);
	put_cpus(w, limits);
	put_quota(w, limits);
	json_object_end(w);
}
