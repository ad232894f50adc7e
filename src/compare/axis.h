/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The axes by which threads are grouped, and the key of each thread on an axis.
 *
 *	struct keys keys;
 *	err = keys_init(&keys, axis, &rules, snapshots, 2);
 *	if (!err)
 *		err = keys_assign(&keys, 0, &baseline_keys);	// the key number of each thread
 *	...
 *	keys_finish(&keys);
 *	puts(keys.items[baseline_keys[0]].label->bytes);
 *
 * All snapshots share key numbers: threads with the same number are in one group.
 */
#ifndef COMPARE_AXIS_H
#define COMPARE_AXIS_H

#include "base/word_map.h"
#include "compare/cgroup_names.h"
#include "state/view.h"

/* The parts of keys. Patterns are those of pattern.h. */
enum key_part {
	KEY_NOTHING,
	KEY_CGROUP, /* as cgroup_names.h names it */
	KEY_PROCESS_NAME,
	KEY_PROCESS_PATTERN,
	KEY_THREAD_NAME,
	KEY_THREAD_PATTERN,
	KEY_EXE,
	KEY_CMDLINE,
	KEY_USER,
	KEY_UNIT,
	KEY_CONTAINER,
	KEY_THREAD, /* tid and start time */
};

#define KEY_PARTS 3

/* AXIS(id, name, heading, prose, parts...) */
#define AXES(AXIS)                                                                                \
	AXIS(PCOMM, "pcomm", "process", "the process's name", KEY_PROCESS_NAME)                   \
	AXIS(CGROUP, "cgroup", "cgroup", "the cgroup", KEY_CGROUP)                                \
	AXIS(COMM, "comm", "thread pool",                                                         \
	     "the thread's name without its numbers: worker-1 and worker-2 are worker-{N}",       \
	     KEY_THREAD_PATTERN)                                                                  \
	AXIS(COMM_EXACT, "comm-exact", "thread name", "the thread's name", KEY_THREAD_NAME)       \
	AXIS(PCOMM_COMM, "pcomm-comm", "process > thread", "both names", KEY_PROCESS_NAME,        \
	     KEY_THREAD_NAME)                                                                     \
	AXIS(ALL, "all", "cgroup > process > thread",                                             \
	     "cgroup, process and thread name together, without their numbers; renamed cgroups "  \
	     "are found by what runs in them",                                                    \
	     KEY_CGROUP, KEY_PROCESS_PATTERN, KEY_THREAD_PATTERN)                                 \
	AXIS(EXE, "exe", "executable", "the executable's path", KEY_EXE)                          \
	AXIS(CMDLINE, "cmdline", "command line", "the command line", KEY_CMDLINE)                 \
	AXIS(USER, "user", "user", "the effective user", KEY_USER)                                \
	AXIS(UNIT, "unit", "unit", "the systemd unit", KEY_UNIT)                                  \
	AXIS(CONTAINER, "container", "container", "the container: the first 12 digits of its id", \
	     KEY_CONTAINER)                                                                       \
	AXIS(THREAD, "thread", "thread", "every thread by itself, by number and start time",      \
	     KEY_THREAD)

enum axis_id {
#define AXIS_ENUM(id, ...) AXIS_##id,
	AXES(AXIS_ENUM)
#undef AXIS_ENUM
		GROUP_AXIS_COUNT
};

struct group_axis {
	const char *name;    /* on the command line */
	const char *heading; /* over the column */
	const char *prose;
	enum key_part parts[KEY_PARTS];
};
extern const struct group_axis group_axes[GROUP_AXIS_COUNT];

struct key_rules {
	struct state_filter filter; /* threads that do not match have no key */
	struct cgroup_rules cgroups;
	bool literal_threads; /* no patterns of names */
	bool kworkers;        /* those that rename themselves are one group */
};

struct key {
	const struct name *label;   /* for people */
	const struct name *literal; /* name of its first thread */
	size_t threads;             /* in all snapshots */
};

struct keys {
	const struct group_axis *axis;
	const struct key_rules *rules;
	const struct ctprof_snapshot *const *snapshots;
	size_t snapshot_count;
	struct cgroup_names cgroups;
	struct arena arena;
	struct names names;
	struct word_map numbers;  /* of keys, by what makes them */
	struct word_map patterns; /* of names, by name */
	struct word_map users;    /* of names of users, by snapshot and uid */
	struct {
		ARRAY(const struct name *);
	} pattern_names;
	struct {
		ARRAY(char);
	} text; /* of the label being made */
	ARRAY(struct key);
};

/* Is it a thread of the kernel, as far as the snapshot tells? */
bool is_kernel_thread(const struct ctprof_snapshot *s, const struct ctprof_thread *thread);

/* The snapshots and rules stay the caller's and must outlive the keys. */
struct error *keys_init(struct keys *keys, const struct group_axis *axis,
			const struct key_rules *rules,
			const struct ctprof_snapshot *const *snapshots, size_t count) MUST_CHECK;

/* The key number of each thread of snapshot number `i`, or NO_KEY (group.h); allocated: free()
 * releases it. */
struct error *keys_assign(struct keys *keys, size_t i, uint32_t **ret) MUST_CHECK;

/* When all are assigned: on the axis comm, a thread that is alone under its pattern keeps its name.
 */
void keys_finish(struct keys *keys);

/* The pattern of a name, or the name itself where patterns are not wanted. NULL without memory. */
const struct name *keys_pattern(struct keys *keys, const struct name *name);

void keys_deinit(struct keys *keys);

#endif
