/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/capture.h"

#include <time.h>
#include <unistd.h>

#include "capture/session.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void session_deinit(struct capture *c)
{
	int *dirs[] = { &c->proc, &c->sys };

	for (size_t i = 0; i < array_length(dirs); i++)
		if (*dirs[i] >= 0)
			close(*dirs[i]);
	cgroup_tree_close(&c->cgroups);
	file_buffer_deinit(&c->buffer);
	array_deinit(&c->taker.cpus);
	array_deinit(&c->pids);
	taskstats_socket_close(c->socket);
}

/* Threads found to be gone only when their statistics were asked for. */
static void drop_lost(struct ctprof_snapshot *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->threads.count; i++) {
		struct ctprof_thread *thread = snapshot_thread(s, i);

		if (!thread->tid)
			continue;
		if (kept != i)
			*snapshot_thread(s, kept) = *thread;
		kept++;
	}
	snapshot_truncate_threads(s, kept);
}

/* Processes whose last thread turned out to be gone. Both are ascending by process. */
static void drop_empty_processes(struct ctprof_snapshot *s)
{
	size_t kept = 0, t = 0;

	for (size_t p = 0; p < s->processes.count; p++) {
		uint32_t tgid = s->processes.items[p].tgid;

		while (t < s->threads.count && snapshot_thread(s, t)->tgid < tgid)
			t++;
		if (t < s->threads.count && snapshot_thread(s, t)->tgid == tgid)
			s->processes.items[kept++] = s->processes.items[p];
	}
	s->processes.count = kept;
}

/* A process named by the user that ended before it could be read is as if it were not there.
 * Processes and threads are ascending. */
static struct error *check_targets(const struct capture *c)
{
	const struct ctprof_snapshot *s = c->snapshot;

	if (c->options->may_be_gone)
		return NULL;
	if (c->cgroup_top && c->cgroups.dir < 0 && !s->threads.count)
		return error_create("--cgroup %s: no thread is in it, and cgroup version 2 is not "
				    "mounted",
				    c->options->cgroup);
	if (c->cgroup_top && c->options->pid_count && !s->threads.count)
		return error_create("no thread of these processes is in cgroup %s",
				    c->options->cgroup);
	if (c->cgroup_top || !c->options->pid_count)
		return NULL;
	for (size_t p = 0, t = 0; p < c->pids.count; p++) {
		uint32_t pid = c->pids.items[p];

		while (t < s->threads.count && snapshot_thread(s, t)->tgid < pid)
			t++;
		if (t == s->threads.count || snapshot_thread(s, t)->tgid != pid)
			return error_create(
				"process %u ended, or is hidden, before it could be read", pid);
	}
	return NULL;
}

static struct error *run(struct capture *c)
{
	struct error *err = capture_open_roots(c);

	if (!err)
		err = capture_moment(c);
	if (!err)
		err = capture_counters(c);
	if (!err)
		err = capture_host(c);
	if (err || c->options->host_only)
		return err;
	err = capture_find_targets(c);
	if (err)
		return err;
	capture_open_delays(c);
	err = capture_walk(c);
	if (err)
		return err;
	capture_flush_delays(c);
	drop_lost(c->snapshot);
	drop_empty_processes(c->snapshot);
	err = check_targets(c);
	if (!err)
		err = capture_users(c);
	if (!err)
		err = capture_cgroups(c);
	if (!err)
		err = capture_sched_ext(c);
	capture_pressure(c);
	/* Without descriptors or memory what follows would look unmeasured. */
	if (!err && c->shortage)
		err = error_system(c->shortage, "capture");
	return err;
}

struct error *capture_run(const struct capture_options *options, struct ctprof_snapshot **ret)
{
	_cleanup_(snapshot_destroy) struct ctprof_snapshot *snapshot = NULL;
	uint64_t wall = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct error *err = snapshot_create(&snapshot);
	_cleanup_free_ struct capture *c = calloc(1, sizeof(*c));

	if (err)
		return err;
	if (!c)
		return &error_no_memory;
	*c = (struct capture){
		.options = options, .snapshot = snapshot, .proc = -1, .sys = -1, .cgroups.dir = -1
	};
	snapshot_trust(snapshot);
	plan_init(&c->plan);
	c->taker = (struct taker){ .plan = &c->plan, .snapshot = snapshot };
	err = run(c);
	if (!err)
		err = capture_summaries(c);
	session_deinit(c);
	if (!err && options->redact)
		err = capture_redact(snapshot);
	if (err)
		return err;
	snapshot_sort(snapshot);
	snapshot->capture->duration_ns = reading_of(clock_ns(CLOCK_MONOTONIC) - wall);
	snapshot->capture->cpu_ns = reading_of(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	*ret = take_ptr(snapshot);
	return NULL;
}
