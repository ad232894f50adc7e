/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/crew.h"
#include "capture/heap_walk.h"

/* One reading: the thread that does it has nothing else, and may have it for good. */
struct job {
	struct {
		ARRAY(struct heap_thread);
	} threads; /* those of a process stand together */
	/* Under the crew's lock: the first so many threads, and what came of their processes. */
	size_t done;
	struct heap_tally tally;
	struct error *failed;
};

/* Shared by the caller and the thread that reads; nobody but that touches `walk` while it does. */
struct heap {
	struct crew crew;
	struct heap_walk walk;
	struct job job;
};

static void end_job(struct heap *heap)
{
	if (heap->walk.proc >= 0)
		close(heap->walk.proc);
	heap->walk.proc = -1;
	array_deinit(&heap->job.threads);
	error_destroy(heap->job.failed);
	heap->job = (struct job){ 0 };
}

static void leave(struct heap *heap)
{
	if (!crew_leave(&heap->crew))
		return;
	end_job(heap);
	heap_walk_deinit(&heap->walk);
	free(heap);
}

struct error *heap_open(struct heap **ret)
{
	struct heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return &error_no_memory;
	crew_init(&heap->crew);
	heap->walk.proc = -1;
	*ret = heap;
	return NULL;
}

void heap_close(struct heap *heap)
{
	if (heap)
		leave(heap);
}

/* --- in the thread that reads --- */

/* How many threads from `first` on are of one process. */
static size_t process_length(const struct job *job, size_t first)
{
	size_t i = first;

	while (i < job->threads.count &&
	       job->threads.items[i].tgid == job->threads.items[first].tgid)
		i++;
	return i - first;
}

static void *read_all(void *context)
{
	struct heap *heap = context;
	struct job *job = &heap->job;
	struct heap_tally tally = { 0 };
	struct error *err = NULL;

	heap->walk.files.round++;
	for (size_t i = 0; i < job->threads.count && !err && !atomic_load(&heap->crew.stop);) {
		size_t count = process_length(job, i);

		err = heap_walk_process(&heap->walk, &job->threads.items[i], count, &tally);
		i += count;
		pthread_mutex_lock(&heap->crew.lock);
		job->done = i;
		job->tally = tally;
		job->failed = err;
		pthread_mutex_unlock(&heap->crew.lock);
		crew_step(&heap->crew);
	}
	crew_finish(&heap->crew);
	leave(heap);
	return NULL;
}

/* --- what it is to read --- */

static struct error *copy_threads(const struct heap_request *request, struct job *job)
{
	const struct ctprof_snapshot *snapshot = request->snapshot;

	if (!array_reserve(&job->threads, snapshot->threads.count))
		return &error_no_memory;
	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const struct ctprof_thread *thread = snapshot_thread(snapshot, i);

		if (thread->tgid == (uint32_t)getpid())
			continue;
		job->threads.items[job->threads.count++] = (struct heap_thread){
			.tid = thread->tid,
			.tgid = thread->tgid,
			.start_time = thread->start_time_clock_ticks,
			.state = thread->record.values.state.v,
			.counters.thread_pointer =
				request->thread_pointer
					? request->thread_pointer(request->context, thread->tid)
					: 0,
		};
	}
	return NULL;
}

static struct error *start_job(struct heap *heap, const struct heap_request *request)
{
	struct error *err;

	end_job(heap);
	err = copy_threads(request, &heap->job);
	if (err)
		return err;
	heap->walk.allow_ptrace = request->allow_ptrace;
	/* Of its own, since the thread may outlive the caller's. */
	heap->walk.proc = fcntl(request->proc, F_DUPFD_CLOEXEC, 0);
	if (heap->walk.proc < 0)
		return error_system(errno, "/proc");
	if (!crew_start(&heap->crew, read_all, heap))
		return error_create("no thread to read heap counters with");
	return NULL;
}

/* --- what came of it --- */

/* Threads of the snapshot and of the job are in the same order. */
static void give(const struct job *job, struct ctprof_snapshot *snapshot)
{
	for (size_t i = 0, s = 0; i < job->done; i++) {
		const struct heap_thread *read = &job->threads.items[i];
		struct ctprof_thread *thread;

		while ((thread = snapshot_thread(snapshot, s++))->tgid == (uint32_t)getpid())
			;
		if (!read->measured)
			continue;
		thread->record.values.allocated_bytes.v = read->counters.allocated;
		thread->record.values.deallocated_bytes.v = read->counters.deallocated;
		metric_set_add(&thread->record.measured, METRIC_allocated_bytes);
		metric_set_add(&thread->record.measured, METRIC_deallocated_bytes);
	}
}

/* How many processes of the snapshot there was no time for, when the first `done` threads without
 * our own were. */
static uint64_t count_left(const struct ctprof_snapshot *snapshot, size_t done)
{
	const uint32_t self = (uint32_t)getpid();
	uint64_t left = 0;
	uint32_t before = self;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		uint32_t tgid = snapshot_thread(snapshot, i)->tgid;

		if (tgid == self)
			continue;
		if (done)
			done--;
		else
			left += tgid != before;
		before = tgid;
	}
	return left;
}

/* The first in the alphabet of those that happened most. */
static enum probe_failure dominant(const struct heap_tally *tally)
{
	enum probe_failure most = PROBE_DONE;

	for (enum probe_failure i = PROBE_DONE + 1; i < PROBE_FAILURE_COUNT; i++) {
		if (!probe_failures[i].counts || !tally->failures[i])
			continue;
		if (!most || tally->failures[i] > tally->failures[most] ||
		    (tally->failures[i] == tally->failures[most] &&
		     strcmp(probe_failures[i].tag, probe_failures[most].tag) < 0))
			most = i;
	}
	return most;
}

static struct error *summarise(const struct heap_tally *tally, struct ctprof_snapshot *snapshot,
			       struct probe_summary *ret)
{
	enum probe_failure most = dominant(tally);
	const struct name *tag = NULL;
	uint64_t failed = 0, privilege;

	for (enum probe_failure i = PROBE_DONE + 1; i < PROBE_FAILURE_COUNT; i++)
		if (probe_failures[i].counts)
			failed += tally->failures[i];
	if (most) {
		tag = snapshot_name(snapshot, text_of(probe_failures[most].tag));
		if (!tag)
			return &error_no_memory;
	}
	privilege = tally->failures[PROBE_PTRACE_SEIZE] + tally->failures[PROBE_PTRACE_INTERRUPT] +
		    tally->failures[PROBE_PROCESS_VM_READV];
	*ret = (struct probe_summary){
		.tgids_walked = reading_of(tally->walked),
		.jemalloc_detected = reading_of(tally->detected),
		.probed_ok = reading_of(tally->ok),
		.failed = reading_of(failed),
		.dominant_failure = tag,
		.privilege_dominant = failed && privilege * 2 >= failed,
	};
	return NULL;
}

/* What is known when the wait is over. A thread that hangs goes on with what is behind `done`. */
static struct error *take_results(struct heap *heap, struct ctprof_snapshot *snapshot, size_t *ret,
				  struct heap_tally *ret_tally)
{
	struct job *job = &heap->job;
	struct error *err;

	pthread_mutex_lock(&heap->crew.lock);
	err = take_ptr(job->failed);
	if (!err) {
		give(job, snapshot);
		*ret = job->done;
		*ret_tally = job->tally;
	}
	pthread_mutex_unlock(&heap->crew.lock);
	return err;
}

struct error *heap_take(struct heap *heap, const struct heap_request *request,
			struct heap_outcome *ret)
{
	struct heap_outcome outcome = { 0 };
	struct heap_tally tally = { 0 };
	size_t done = 0;
	struct error *err = NULL;

	/* One that hangs is enough: it has what it reads, and what it knows of files. */
	if (!crew_workers(&heap->crew)) {
		err = start_job(heap, request);
		if (err)
			return err;
		crew_wait(&heap->crew, request->deadline_ns);
		err = take_results(heap, request->snapshot, &done, &tally);
	}
	if (err)
		return err;
	outcome.not_reached = count_left(request->snapshot, done);
	tally.failures[PROBE_TIMED_OUT] += outcome.not_reached;
	err = summarise(&tally, request->snapshot, &outcome.summary);
	if (!err)
		*ret = outcome;
	return err;
}
