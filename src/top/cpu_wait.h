/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a thread waits for a CPU although the host has idle ones, or for longer than its rivals: the
 * CPUs that it may use, and its priority.
 *
 *	cpu_loads_read(proc, &before);
 *	...
 *	cpu_loads_read(proc, &now);
 *	if (cpu_wait_pinned(proc, tids, count, &before, &now, &pinned))
 *		...
 *
 * `proc` is a descriptor of /proc (wait_host() of wait_chain.h).
 */
#ifndef TOP_CPU_WAIT_H
#define TOP_CPU_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "os/cpulist.h"

/* Times of CPUs since boot, in steps of 1/USER_HZ. */
struct cpu_load {
	uint32_t cpu;
	uint64_t idle, all; /* idle: also while it waited for storage */
};

/* Those that are online, ascending. Begins as {0}. */
struct cpu_loads {
	ARRAY(struct cpu_load);
};

/* Read /proc/stat; what it held is replaced. Empty if that cannot be read. */
void cpu_loads_read(int proc, struct cpu_loads *ret);
static inline void cpu_loads_deinit(struct cpu_loads *loads)
{
	array_deinit(loads);
}

/* The CPUs that a thread may use, and what the others did. */
struct cpu_pinning {
	char cpus[64];   /* as the kernel prints them: "1", "0-3,8" */
	bool is_one;     /* CPU */
	uint32_t others; /* CPUs that are online */
	double idle;     /* the part of the time between two readings in which these were idle */
};

/* Threads of a group whose CPUs are read. */
#define CPU_WAIT_THREADS 64

/* Are there CPUs that were idle at least a tenth of the time, and that none of these threads may
 * use, by sched_setaffinity(2) or by a cpuset? All must be limited to the same CPUs. */
bool cpu_wait_pinned(int proc, const uint32_t *tids, size_t count, const struct cpu_loads *before,
		     const struct cpu_loads *now, struct cpu_pinning *ret);

/* The same of CPUs that are known. */
bool cpu_wait_is_pinned(const struct cpus *allowed, const struct cpu_loads *before,
			const struct cpu_loads *now, struct cpu_pinning *ret);

/*
 * "its nice value is 10, that of burn 0": why the scheduler prefers the thread `rival`, of this
 * name, to `tid`; allocated. NULL: not by priority, or it is not known. Nice values are compared
 * within one cgroup, and within one session where the kernel groups threads by session
 * (kernel.sched_autogroup_enabled).
 */
char *cpu_wait_priority(int proc, uint32_t tid, uint32_t rival, const char *name);

#endif
