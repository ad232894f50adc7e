/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sections of a report: what `--sections` chooses from. Every row of a report belongs to one.
 */
#ifndef METRIC_SECTION_H
#define METRIC_SECTION_H

#include <stdbool.h>

/* The subject of a section's rows. */
enum section_subject {
	SUBJECT_GROUP,   /* groups of threads, by the axis */
	SUBJECT_CGROUP,  /* cgroups: there when threads are grouped by cgroup */
	SUBJECT_PROCESS, /* processes, each in the group of its leader */
	SUBJECT_HOST,    /* the host as a whole */
	SUBJECT_DEVICE,  /* its CPUs, disks and network interfaces */
};

/* SECTION(id, name, heading, subject, only changes, prose), in the order they are printed in. */
#define SECTIONS(SECTION)                                                                         \
	SECTION(PRIMARY, "primary", "Primary metrics", GROUP, false, "counters of the threads")   \
	SECTION(TASKSTATS_DELAY, "taskstats-delay", "Primary metrics", GROUP, false,              \
		"delay accounting and memory watermarks, raw and derived")                        \
	SECTION(DERIVED, "derived", "Derived metrics", GROUP, false,                              \
		"quotients and shares of the primary metrics")                                    \
	SECTION(THREAD_STATES, "thread-states", "Thread states", GROUP, false,                    \
		"what threads did with their time, in recordings of ctprof top")                  \
	SECTION(CGROUP_STATS, "cgroup-stats", "Cgroup statistics", CGROUP, false,                 \
		"CPU time, throttling, memory, swap, processes and I/O of each cgroup")           \
	SECTION(CGROUP_LIMITS, "cgroup-limits", "Cgroup limits", CGROUP, false,                   \
		"cpu.max, weights, limits of memory and swap, protection, pids.max")              \
	SECTION(MEMORY_STAT, "memory-stat", "memory.stat", CGROUP, true,                          \
		"memory.stat of each cgroup")                                                     \
	SECTION(MEMORY_EVENTS, "memory-events", "memory.events", CGROUP, true,                    \
		"memory.events of each cgroup")                                                   \
	SECTION(PRESSURE, "pressure", "Pressure", CGROUP, false,                                  \
		"pressure stall information of each cgroup")                                      \
	SECTION(HOST_PRESSURE, "host-pressure", "Host pressure", HOST, false,                     \
		"pressure stall information of the host")                                         \
	SECTION(SMAPS_ROLLUP, "smaps-rollup", "smaps_rollup", PROCESS, true,                      \
		"memory of the processes, by kind")                                               \
	SECTION(SCHED_EXT, "sched-ext", "sched_ext", HOST, true, "the state of sched_ext")        \
	SECTION(HOST, "host", "Host", HOST, true, "kernel, CPUs, memory, tunables: what differs") \
	SECTION(HOST_COUNTERS, "host-counters", "Host counters", DEVICE, false,                   \
		"CPUs, run queue, vmstat, disks and network interfaces")

enum section {
#define SECTION_ENUM(id, ...) SECTION_##id,
	SECTIONS(SECTION_ENUM)
#undef SECTION_ENUM
		SECTION_COUNT
};

#define SECTIONS_ALL ((1u << SECTION_COUNT) - 1)

struct section_info {
	const char *name, *heading;
	enum section_subject subject;
	bool only_changes; /* what is the same on both sides is left out of a comparison */
	const char *prose;
};
extern const struct section_info section_infos[SECTION_COUNT];

#endif
