/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/cpu_wait.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "os/counters.h"
#include "os/pairs.h"
#include "os/stat.h"

/* --- what CPUs did --- */

void cpu_loads_read(int proc, struct cpu_loads *ret)
{
	struct file_buffer buffer = { 0 };
	struct counter_row row;
	enum row_found found;
	struct text rest;

	ret->count = 0;
	if (file_read(proc, "stat", &buffer, &rest))
		rest = (struct text){ 0 };
	while ((found = counters_next_cpu(&rest, &row)) != ROW_NONE) {
		struct cpu_load load = { 0 };
		uint64_t busy = 0;

		for (size_t i = 0; found == ROW_GOOD && i < row.count; i++) {
			if (text_equal(row.items[i].key, TEXT("idle_ticks")) ||
			    text_equal(row.items[i].key, TEXT("iowait_ticks")))
				load.idle += row.items[i].value;
			else if (text_equal(row.items[i].key, TEXT("busy_ticks")))
				busy = row.items[i].value;
		}
		load.all = load.idle + busy;
		if (found == ROW_GOOD && counters_cpu_number(row.name, &load.cpu) &&
		    !array_push(ret, load))
			break;
	}
	file_buffer_deinit(&buffer);
}

static const struct cpu_load *load_of(const struct cpu_loads *loads, uint32_t cpu)
{
	for (size_t i = 0; i < loads->count; i++)
		if (loads->items[i].cpu == cpu)
			return &loads->items[i];
	return NULL;
}

/* --- the CPUs that a thread may use --- */

/* A smaller part of the time is no reason to wait. */
#define IDLE_LEAST 0.1

static bool is_among(const struct cpus *cpus, uint32_t cpu)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->items[i] == cpu)
			return true;
	return false;
}

bool cpu_wait_is_pinned(const struct cpus *allowed, const struct cpu_loads *before,
			const struct cpu_loads *now, struct cpu_pinning *ret)
{
	uint64_t idle = 0, all = 0;
	char *list;

	*ret = (struct cpu_pinning){ .is_one = allowed->count == 1 };
	for (size_t i = 0; i < now->count; i++) {
		const struct cpu_load *load = &now->items[i], *was = load_of(before, load->cpu);

		/* The kernel's counters of idle times may go back (proc_stat(5)). */
		if (is_among(allowed, load->cpu) || !was || load->idle < was->idle ||
		    load->all < was->all)
			continue;
		ret->others++;
		idle += load->idle - was->idle;
		all += load->all - was->all;
	}
	ret->idle = all ? (double)idle / (double)all : 0;
	list = cpulist_text(allowed);
	if (list)
		snprintf(ret->cpus, sizeof(ret->cpus), "%s", list);
	/* A longer list limits a thread little. */
	if (list && strlen(list) >= sizeof(ret->cpus))
		ret->idle = 0;
	free(list);
	return allowed->count && *ret->cpus && ret->idle >= IDLE_LEAST;
}

static bool read_allowed(int proc, uint32_t tid, struct file_buffer *buffer, struct cpus *ret)
{
	struct text bytes, value;
	char path[32];

	snprintf(path, sizeof(path), "%" PRIu32 "/status", tid);
	return !file_read(proc, path, buffer, &bytes) &&
	       pairs_find(bytes, ':', TEXT("Cpus_allowed_list"), &value) &&
	       cpulist_parse(value, ret);
}

static bool is_same(const struct cpus *a, const struct cpus *b)
{
	return a->count == b->count &&
	       (!a->count || memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0);
}

/* The CPUs of all threads that are still there. False: none is, or they differ. */
static bool read_common(int proc, const uint32_t *tids, size_t count, struct cpus *ret)
{
	_cleanup_(cpus_deinit) struct cpus other = { 0 };
	struct file_buffer buffer = { 0 };
	bool is_common = true, is_read = false;

	for (size_t i = 0; i < count && i < CPU_WAIT_THREADS && is_common; i++) {
		if (!read_allowed(proc, tids[i], &buffer, is_read ? &other : ret))
			continue;
		is_common = !is_read || is_same(ret, &other);
		is_read = true;
	}
	file_buffer_deinit(&buffer);
	return is_common && is_read;
}

bool cpu_wait_pinned(int proc, const uint32_t *tids, size_t count, const struct cpu_loads *before,
		     const struct cpu_loads *now, struct cpu_pinning *ret)
{
	_cleanup_(cpus_deinit) struct cpus allowed = { 0 };

	return read_common(proc, tids, count, &allowed) &&
	       cpu_wait_is_pinned(&allowed, before, now, ret);
}

/* --- its priority --- */

struct cpu_priority {
	uint32_t session, rt, policy;
	int64_t nice;
	char cgroups[1024]; /* of all hierarchies, as /proc/PID/cgroup has them */
};

static bool read_priority(int proc, uint32_t tid, struct cpu_priority *ret)
{
	struct file_buffer buffer = { 0 };
	struct stat_line line;
	struct text bytes;
	char path[32];
	bool is_read;

	*ret = (struct cpu_priority){ 0 };
	snprintf(path, sizeof(path), "%" PRIu32 "/stat", tid);
	is_read = !file_read_record(proc, path, &buffer, &bytes) && stat_parse(bytes, &line) &&
		  text_u32(line.columns[STAT_SESSION], &ret->session) &&
		  text_i64(line.columns[STAT_NICE], &ret->nice) &&
		  text_u32(line.columns[STAT_RT_PRIORITY], &ret->rt) &&
		  text_u32(line.columns[STAT_POLICY], &ret->policy);
	snprintf(path, sizeof(path), "%" PRIu32 "/cgroup", tid);
	if (is_read && !file_read(proc, path, &buffer, &bytes) &&
	    bytes.length < sizeof(ret->cgroups))
		memcpy(ret->cgroups, bytes.bytes, bytes.length);
	file_buffer_deinit(&buffer);
	return is_read;
}

static bool is_grouped_by_session(int proc)
{
	struct file_buffer buffer = { 0 };
	struct text bytes;
	const bool is_on =
		!file_read(proc, "sys/kernel/sched_autogroup_enabled", &buffer, &bytes) &&
		text_equal(text_trim(bytes), TEXT("1"));

	file_buffer_deinit(&buffer);
	return is_on;
}

/* Do their weights compete with each other? */
static bool is_same_group(int proc, const struct cpu_priority *a, const struct cpu_priority *b)
{
	return *a->cgroups && strcmp(a->cgroups, b->cgroups) == 0 &&
	       (a->session == b->session || !is_grouped_by_session(proc));
}

/* In the order in which the kernel looks for a thread to run: deadlines, real time, the others. */
static int class_of(const struct cpu_priority *priority)
{
	return priority->policy == SCHED_DEADLINE                               ? 2
	       : priority->policy == SCHED_FIFO || priority->policy == SCHED_RR ? 1
										: 0;
}

char *cpu_wait_priority(int proc, uint32_t tid, uint32_t rival, const char *name)
{
	struct cpu_priority own, other;
	char policy[POLICY_NAME_MAX];

	if (!read_priority(proc, tid, &own) || !read_priority(proc, rival, &other) ||
	    class_of(&own) > class_of(&other))
		return NULL;
	if (class_of(&own) < class_of(&other))
		return text_print("the policy of %s is %s, its own %s", name,
				  policy_name(policy, other.policy),
				  policy_name((char[POLICY_NAME_MAX]){ 0 }, own.policy));
	if (class_of(&own) == 1)
		return own.rt < other.rt ? text_print("its real-time priority is %" PRIu32
						      ", that of %s %" PRIu32,
						      own.rt, name, other.rt)
					 : NULL;
	if (class_of(&own) == 2 || !is_same_group(proc, &own, &other))
		return NULL;
	if (own.policy == SCHED_IDLE && other.policy != SCHED_IDLE)
		return text_print("its policy is %s", policy_name(policy, own.policy));
	if (own.policy != SCHED_IDLE && other.policy != SCHED_IDLE && own.nice > other.nice)
		return text_print("its nice value is %" PRId64 ", that of %s %" PRId64, own.nice,
				  name, other.nice);
	return NULL;
}
