/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder capture/: fills a snapshot. Threads come from a BPF task iterator (task_iterator.bpf.c
 * with task_record.h; task_walk.c, thread_task.c) or from /proc and taskstats (walk.c, thread.c,
 * thread_files.c); plan.h maps keys of files to rows of metrics. Both sources must give the same
 * values: tests read stopped threads by both. Only BPF can read waits in progress. Files of
 * processes, heap counters, cgroups, and the host with its pressure follow, in worker pools that
 * are abandoned if a read hangs.
 *
 * Records are passed in shared memory, not through the iterator's seq file, where copying would
 * cost as much as making a record. A separate thread does ptrace and then ends, so that the kernel
 * releases a traced thread that could not be stopped. A metric's BPF field is an attribute of its
 * row (TASK), so the reasons for unmeasured values are those of the files.
 */

/*
 * Captures every thread of this host, with its processes, cgroups and the host, in a snapshot.
 *
 *	struct capture_options options = { 0 };
 *	struct ctprof_snapshot *snapshot;
 *	struct error *err = capture_run(&options, &snapshot);
 *
 * For repeated captures, a capturer keeps open what they need:
 *
 *	struct capturer *capturer;
 *	struct error *err = capturer_open(&options, &capturer);
 *	while (!err && more())
 *		err = capturer_take(capturer, &snapshot);
 *	capturer_close(capturer);
 *
 * What cannot be read is unmeasured, and counted. A capture fails only without memory, or if a
 * target does not exist.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "snapshot/model.h"

/* The source of the values of threads. */
enum capture_source {
	CAPTURE_AUTO, /* BPF where it works, else /proc */
	CAPTURE_BPF,  /* an error where it does not work; what it cannot give is still of /proc */
	CAPTURE_PROC,
};

/* The sources that a capture can skip: PART(id, name). */
#define CAPTURE_PARTS(PART)        \
	PART(SMAPS, "smaps")       \
	PART(EXE, "exe")           \
	PART(CMDLINE, "cmdline")   \
	PART(CGROUPS, "cgroups")   \
	PART(COUNTERS, "counters") \
	PART(HEAP, "heap")

enum capture_part {
#define PART_ENUM(id, name) CAPTURE_PART_##id,
	CAPTURE_PARTS(PART_ENUM)
#undef PART_ENUM
		CAPTURE_PART_COUNT
};
extern const char *const capture_part_names[CAPTURE_PART_COUNT];

struct capture_options {
	enum capture_source source;
	unsigned without; /* a bit for each enum capture_part */
	/* Directories to read instead of /proc, /sys and the cgroup2 mount; NULL: these. Numbers in
	 * a foreign /proc mean nothing to system calls, so with one there are no taskstats. */
	const char *proc_root, *sys_root, *cgroup_root;
	uint32_t skip_pid;    /* a process that is left out; 0: none */
	const uint32_t *pids; /* only these thread groups; a thread stands for its group */
	size_t pid_count;     /* 0: all */
	bool has_children;    /* `pids` and `comm` also select descendants */
	/* Only processes whose name (that of their leader) matches this glob (fnmatch(3)), in
	 * addition to `pids`; NULL: none. They are found at the start of each capture. */
	const char *comm;
	bool may_be_gone;   /* those that are not there leave nothing; else an error */
	const char *cgroup; /* only threads in this cgroup or below it; NULL: all */
	const char *note;   /* kept in the snapshot */
	/* Replace names (of threads, users, devices), cgroups, command lines and host context by
	 * hashes. */
	bool redact;
	unsigned leave_out;  /* a bit for each enum metric_source_id not to be read */
	uint64_t timeout_ns; /* what was not read by then is left out; 0: no limit */
	bool host_only;      /* no threads */
	/* Stop threads for a moment to learn where jemalloc's counters of them are, if nothing else
	 * tells. */
	bool allow_ptrace;
	/* Called with threads whose record is complete, but those that others need: the leaders of
	 * processes, and the first of a cgroup. True: leave it out. May be NULL. */
	bool (*is_idle)(void *context, const struct ctprof_thread *thread);
	void *idle_context;
	/* Called now and then with how many of the threads, or processes, are done; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *progress_context;
};

struct error *capture_run(const struct capture_options *options,
			  struct ctprof_snapshot **ret) MUST_CHECK;

/* `options`, and what they point to, must stay while the capturer is open; what the next capture is
 * to do otherwise may be changed there, but for the source. */
struct capturer;
struct error *capturer_open(const struct capture_options *options,
			    struct capturer **ret) MUST_CHECK;

/*
 * The same, in a thread of its own, with the privileges that the caller has now: it may drop those
 * for loading programs at once, and reads processes while the kernel checks the program. The first
 * capturer_take() waits for that thread, and returns its error.
 */
struct error *capturer_open_beside(const struct capture_options *options,
				   struct capturer **ret) MUST_CHECK;

/* Make a capture of the current state. */
struct error *capturer_take(struct capturer *capturer, struct ctprof_snapshot **ret) MUST_CHECK;

/* Takes NULL. */
void capturer_close(struct capturer *capturer);
DEFINE_CLEANUP(capturer_close, struct capturer *)

/* The privilege that grants access to a source, by its name in capture_info.denied; never NULL. */
const char *capture_grant(struct text source);

#endif
