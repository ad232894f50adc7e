/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capture: every thread of this host, and what surrounds them, into a snapshot.
 *
 *	struct capture_options options = { 0 };
 *	struct ctprof_snapshot *snapshot;
 *	struct error *err = capture_run(&options, &snapshot);
 *
 * A capture does its best: what cannot be read is unmeasured and counted, and only a target that
 * is not there, or no memory, make it fail.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "snapshot/model.h"

struct capture_options {
	/* Directories to read instead of /proc, /sys and the cgroup2 mount; NULL: these. Numbers in
	 * a foreign /proc mean nothing to system calls, so with one there are no taskstats. */
	const char *proc_root, *sys_root, *cgroup_root;
	const uint32_t *pids; /* only these thread groups; a thread stands for its group */
	size_t pid_count;     /* 0: all */
	bool may_be_gone;     /* those that are not there leave nothing; else an error */
	const char *cgroup;   /* only threads in this cgroup or below it; NULL: all */
	const char *note;     /* kept in the snapshot */
	/* Replace names (of threads, users, devices), cgroups, command lines and host context by
	 * hashes. */
	bool redact;
	unsigned leave_out; /* a bit for each enum metric_source_id not to be read */
	bool host_only;     /* no threads */
	/* Called now and then with how many of the processes are done; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *progress_context;
};

struct error *capture_run(const struct capture_options *options,
			  struct ctprof_snapshot **ret) MUST_CHECK;

/* What one needs to be allowed to read a source, by the name it has in capture_info.denied; never
 * NULL. */
const char *capture_grant(struct text source);

#endif
