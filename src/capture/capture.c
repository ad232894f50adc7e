/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/capture.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "capture/heap.h"
#include "capture/session.h"

const char *const capture_part_names[CAPTURE_PART_COUNT] = {
#define PART(id, name) [CAPTURE_PART_##id] = name,
	CAPTURE_PARTS(PART)
#undef PART
};

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
	array_deinit(&c->leaders);
	leader_files_close(c->early);
	array_deinit(&c->pointers);
	array_deinit(&c->images);
	array_deinit(&c->seen);
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
		s->threads.items[i] = s->threads.items[kept];
		s->threads.items[kept++] = thread;
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

/* Fail if a requested process is missing: it ended before it was read, or does not exist. A capture
 * that timed out cannot tell. Processes and threads are in ascending order. */
static struct error *check_targets(const struct capture *c)
{
	const struct ctprof_snapshot *s = c->snapshot;

	if (c->options->may_be_gone || c->counts.not_reached)
		return NULL;
	if (c->cgroup_top && c->cgroups.dir < 0 && !s->threads.count)
		return error_create("--cgroup %s: no thread is in it, and cgroup version 2 is not "
				    "mounted",
				    c->options->cgroup);
	if (c->cgroup_top && capture_is_of_some(c) && !s->threads.count)
		return error_create("no thread of these processes is in cgroup %s",
				    c->options->cgroup);
	/* Those that a name found may end at any time. */
	if (c->cgroup_top || !c->options->pid_count || c->options->comm)
		return NULL;
	for (size_t p = 0, t = 0; p < c->pids.count; p++) {
		uint32_t pid = c->pids.items[p];

		while (t < s->threads.count && snapshot_thread(s, t)->tgid < pid)
			t++;
		if (t == s->threads.count || snapshot_thread(s, t)->tgid != pid)
			return error_create("process %u ended before it was read, or is hidden",
					    pid);
	}
	return NULL;
}

/* The thread pointer that the iterator recorded. It visits threads in ascending order, and those of
 * a process are mostly one behind the other. */
static uint64_t thread_pointer(void *context, uint32_t tid)
{
	struct capture *c = context;
	const struct thread_pointer *found = NULL;

	if (c->next_pointer < c->pointers.count && c->pointers.items[c->next_pointer].tid == tid)
		found = &c->pointers.items[c->next_pointer];
	else if (c->pointers.count)
		found = bsearch(&tid, c->pointers.items, c->pointers.count,
				sizeof(*c->pointers.items), compare_u32);
	if (!found)
		return 0;
	c->next_pointer = (size_t)(found - c->pointers.items) + 1;
	return found->value;
}

static const struct heap_image *image_of(void *context, uint32_t tgid)
{
	const struct capture *c = context;

	return c->images.count ? bsearch(&tgid, c->images.items, c->images.count,
					 sizeof(*c->images.items), compare_u32)
			       : NULL;
}

/* The counters of jemalloc. A /proc of other threads says nothing about the processes that system
 * calls would read. */
static struct error *take_heap(struct capture *c)
{
	const struct heap_request request = {
		.proc = c->proc,
		.allow_ptrace = c->options->allow_ptrace,
		.snapshot = c->snapshot,
		.thread_pointer = thread_pointer,
		.image = image_of,
		.context = c,
		.deadline_ns = c->deadline_ns,
	};
	struct heap_outcome outcome;
	struct error *err = NULL;

	if (!c->ours || !capture_wants(c, CAPTURE_PART_HEAP))
		return NULL;
	if (capture_is_late(c)) {
		c->counts.not_reached++;
		return NULL;
	}
	if (!c->capturer->heap)
		err = heap_open(&c->capturer->heap);
	if (!err)
		err = heap_take(c->capturer->heap, &request, &outcome);
	if (err)
		return err;
	c->probe = outcome.summary;
	c->counts.not_reached += outcome.not_reached;
	return NULL;
}

/* Wait for capturer_open_beside(). */
static struct error *finish_opening(struct capturer *capturer)
{
	while (capturer->is_opening && sem_wait(&capturer->opened))
		;
	capturer->is_opening = false;
	return take_ptr(capturer->open_error);
}

/* Most processes have fewer. */
#define THREADS_EXPECTED 64

/* Until the program is loaded there is nothing else to do than to make memory for threads:
 * populating its pages is a part of the walk otherwise, for which everything waits. */
static void make_memory(struct capture *c)
{
	struct capturer *capturer = c->capturer;
	struct ctprof_snapshot *s = c->snapshot;
	uint64_t expected;

	if (!capturer->is_opening || capture_is_of_some(c) || c->cgroup_top)
		return;
	expected = capture_threads_of_kernel(c);
	if (expected > c->pids.count * THREADS_EXPECTED)
		expected = c->pids.count * THREADS_EXPECTED;
	while (s->threads.made < expected && sem_trywait(&capturer->opened))
		if (!snapshot_expect_threads(s))
			return;
	/* This took the post that finish_opening() would wait for. */
	if (s->threads.made < expected)
		capturer->is_opening = false;
}

/* Is it known that threads are read from /proc? */
static bool is_by_proc(const struct capture *c)
{
	return !c->capturer->tasks && !c->capturer->is_opening;
}

static struct error *run_capture(struct capture *c)
{
	struct error *err = capture_open_roots(c);

	if (!err && !c->options->host_only && (is_by_proc(c) || capture_is_of_some(c)))
		err = capture_find_targets(c);
	if (!err && !c->options->host_only)
		err = capture_start_leaders(c);
	if (!err)
		err = capture_host(c);
	if (!err) {
		make_memory(c);
		err = finish_opening(c->capturer);
	}
	/* BPF does not work here. */
	if (!err && !c->options->host_only && is_by_proc(c) && !c->pids.count &&
	    !capture_is_of_some(c))
		err = capture_find_targets(c);
	if (err)
		return err;
	capture_find_accounting(c);
	capture_timestamp(c);
	if (capture_wants(c, CAPTURE_PART_COUNTERS))
		err = capture_counters(c);
	if (err || c->options->host_only)
		return err;
	if (c->capturer->tasks) {
		err = capture_tasks(c);
	} else {
		c->sources = ~c->options->leave_out;
		capture_open_delays(c);
		err = capture_walk(c);
		if (!err)
			err = capture_leaders(c);
	}
	if (err)
		return err;
	capture_flush_delays(c);
	drop_lost(c->snapshot);
	drop_empty_processes(c->snapshot);
	err = check_targets(c);
	if (!err)
		err = take_heap(c);
	if (!err)
		err = capture_users(c);
	if (!err && capture_wants(c, CAPTURE_PART_CGROUPS))
		err = capture_cgroups(c);
	if (!err)
		err = capture_sched_ext(c);
	capture_pressure(c);
	/* Without descriptors or memory what follows would look unmeasured. */
	if (!err && c->shortage)
		err = error_system(c->shortage, "capture");
	return err;
}

void capturer_close(struct capturer *capturer)
{
	if (!capturer)
		return;
	error_destroy(finish_opening(capturer));
	task_iterator_close(capturer->tasks);
	cgroup_ids_deinit(&capturer->cgroup_ids);
	leader_hangs_deinit(&capturer->hangs);
	leader_guard_destroy(capturer->guard);
	heap_close(capturer->heap);
	free(capturer->why_not_bpf);
	free(capturer->gaps);
	free(capturer);
}
bool capture_is_late(const struct capture *c)
{
	return c->deadline_ns && clock_ns(CLOCK_MONOTONIC) >= c->deadline_ns;
}

/* The iterator sees our PID namespace, and nothing but the running kernel. */
static struct error *open_tasks(struct capturer *capturer)
{
	const struct capture_options *o = capturer->options;
	_cleanup_close_ int proc = -1;

	if (o->proc_root)
		return error_create("BPF cannot read the threads of --proc-root");
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0 || !tasks_are_ours(proc))
		return error_create("/proc belongs to another PID namespace");
	return task_iterator_open(&capturer->tasks);
}

/* Another tree excludes BPF; this needs no remark unless the user asks for both. */
static struct error *open_source(struct capturer *capturer)
{
	const struct capture_options *o = capturer->options;
	struct error *err;

	if (o->source != CAPTURE_BPF && (o->source != CAPTURE_AUTO || o->host_only || o->proc_root))
		return NULL;
	err = open_tasks(capturer);
	if (err && o->source == CAPTURE_BPF)
		return error_prefix(err, "--source bpf");
	if (err)
		capturer->why_not_bpf = strdup(err->message);
	error_destroy(err);
	return NULL;
}

struct error *capturer_open(const struct capture_options *options, struct capturer **ret)
{
	_cleanup_(capturer_close) struct capturer *capturer = calloc(1, sizeof(*capturer));
	struct error *err;

	if (!capturer)
		return &error_no_memory;
	capturer->options = options;
	err = open_source(capturer);
	if (!err)
		*ret = take_ptr(capturer);
	return err;
}

static void *open_beside(void *argument)
{
	struct capturer *capturer = argument;

	capturer->open_error = open_source(capturer);
	sem_post(&capturer->opened);
	return NULL;
}

struct error *capturer_open_beside(const struct capture_options *options, struct capturer **ret)
{
	struct capturer *capturer = calloc(1, sizeof(*capturer));

	if (!capturer)
		return &error_no_memory;
	capturer->options = options;
	sem_init(&capturer->opened, 0, 0);
	capturer->is_opening = thread_start(open_beside, capturer);
	if (!capturer->is_opening)
		capturer->open_error = open_source(capturer);
	*ret = capturer;
	return NULL;
}

struct error *capturer_take(struct capturer *capturer, struct ctprof_snapshot **ret)
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
		.capturer = capturer,
		.options = capturer->options,
		.snapshot = snapshot,
		.proc = -1,
		.sys = -1,
		.cgroups.dir = -1,
		.deadline_ns =
			capturer->options->timeout_ns ? wall + capturer->options->timeout_ns : 0,
	};
	capturer->taken++;
	snapshot_trust(snapshot);
	plan_init(&c->plan);
	c->taker = (struct taker){ .plan = &c->plan, .snapshot = snapshot };
	err = run_capture(c);
	if (!err)
		err = capture_summaries(c);
	session_deinit(c);
	if (!err && c->options->redact)
		err = capture_redact(snapshot);
	if (err)
		return err;
	snapshot_sort(snapshot);
	snapshot->capture->duration_ns = reading_of(clock_ns(CLOCK_MONOTONIC) - wall);
	snapshot->capture->cpu_ns = reading_of(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	*ret = take_ptr(snapshot);
	return NULL;
}

struct error *capture_run(const struct capture_options *options, struct ctprof_snapshot **ret)
{
	_cleanup_(capturer_close) struct capturer *capturer = NULL;
	struct error *err = capturer_open(options, &capturer);

	return err ? err : capturer_take(capturer, ret);
}
