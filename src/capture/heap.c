/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "base/time_share.h"
#include "base/worker_pool.h"
#include "capture/heap_walk.h"
#include "os/process_user.h"

/* Without progress for so long a reader is left behind; sooner when there is less time. */
#define PATIENCE_NS     (5 * NS_PER_S)
#define PATIENCE_MIN_NS (NS_PER_S / 10)

/* A process that takes longer is charged to its user. */
#define SLOW_NS (NS_PER_S / 20)

/* A user may take a tenth of the time, with half a minute in advance. */
#define PART        10
#define ADVANCE_NS  (PART * 30 * NS_PER_S)

#define HANGING_MAX 32

struct slow {
	uint32_t tgid;
	uint64_t cost_ns;
};

/* The data of one reading. Its thread uses nothing else, and keeps this if it hangs. */
struct heap_job {
	struct {
		ARRAY(struct heap_thread);
	} threads; /* those of a process stand together */
	/* Under the lock of the workers: the first so many threads, and what came of their
	 * processes. */
	size_t done;
	struct heap_tally tally;
	struct error *failed;
	struct {
		ARRAY(struct slow);
	} slow; /* processes that are not charged yet */
};

/* Shared by the caller and the thread that reads; only that thread touches `walk` meanwhile. */
struct heap_reader {
	struct worker_pool workers;
	struct heap_walk walk;
	struct heap_job job;
};

struct hanging {
	struct heap_reader *reader;
	uint64_t subject; /* of the process that it hangs in (os/process_user.h) */
};

struct heap {
	struct heap_reader *reader; /* NULL: not yet, or the last one hangs */
	struct {
		ARRAY(struct hanging);
	} hanging;
	struct time_shares shares;
};

static void end_job(struct heap_reader *reader)
{
	if (reader->walk.proc >= 0)
		close(reader->walk.proc);
	reader->walk.proc = -1;
	array_deinit(&reader->job.threads);
	array_deinit(&reader->job.slow);
	error_destroy(reader->job.failed);
	reader->job = (struct heap_job){ 0 };
}

static void leave_heap(struct heap_reader *reader)
{
	if (!worker_pool_leave(&reader->workers))
		return;
	end_job(reader);
	heap_walk_deinit(&reader->walk);
	free(reader);
}

static struct heap_reader *create_reader(void)
{
	struct heap_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	worker_pool_init(&reader->workers);
	reader->walk.proc = -1;
	return reader;
}

struct error *heap_open(struct heap **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return &error_no_memory;
	(*ret)->shares.advance_ns = ADVANCE_NS;
	return NULL;
}

void heap_close(struct heap *heap)
{
	if (!heap)
		return;
	if (heap->reader)
		leave_heap(heap->reader);
	for (size_t i = 0; i < heap->hanging.count; i++)
		leave_heap(heap->hanging.items[i].reader);
	array_deinit(&heap->hanging);
	time_shares_deinit(&heap->shares);
	free(heap);
}

/* --- in the thread that reads --- */

/* The number of threads from `first` on that belong to its process. */
static size_t process_length(const struct heap_job *job, size_t first)
{
	size_t i = first;

	while (i < job->threads.count &&
	       job->threads.items[i].tgid == job->threads.items[first].tgid)
		i++;
	return i - first;
}

static void *read_heaps(void *context)
{
	struct heap_reader *reader = context;
	struct heap_job *job = &reader->job;
	struct heap_tally tally = { 0 };
	struct error *err = NULL;

	heap_walk_begin(&reader->walk);
	for (size_t i = 0; i < job->threads.count && !err && !atomic_load(&reader->workers.stop);) {
		const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
		size_t count = process_length(job, i);
		struct slow slow = { .tgid = job->threads.items[i].tgid };

		err = heap_walk_process(&reader->walk, &job->threads.items[i], count, &tally);
		i += count;
		slow.cost_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
		pthread_mutex_lock(&reader->workers.lock);
		/* Without memory it is not charged. */
		if (slow.cost_ns > SLOW_NS && !array_push(&job->slow, slow))
			job->slow.count = 0;
		job->done = i;
		job->tally = tally;
		job->failed = err;
		pthread_mutex_unlock(&reader->workers.lock);
		worker_pool_step(&reader->workers);
	}
	worker_pool_finish(&reader->workers);
	leave_heap(reader);
	return NULL;
}

/* --- what it is to read --- */

/* Is a reader hung in a process of this user, or is the user's time used up? */
static bool is_left_alone(const struct heap *heap, uint32_t tgid)
{
	uint64_t subject;

	if (!heap->hanging.count && time_shares_empty(&heap->shares))
		return false;
	subject = process_user_subject(tgid);
	for (size_t i = 0; i < heap->hanging.count; i++)
		if (heap->hanging.items[i].subject == subject)
			return true;
	return time_shares_used_up(&heap->shares, subject);
}

static struct heap_thread copy_thread(const struct heap_request *request, size_t index)
{
	const struct ctprof_thread *thread = snapshot_thread(request->snapshot, index);
	const struct heap_image *image = request->image && thread->tid == thread->tgid
						 ? request->image(request->context, thread->tgid)
						 : NULL;

	return (struct heap_thread){
		.tid = thread->tid,
		.tgid = thread->tgid,
		.index = index,
		.start_time = thread->start_time_clock_ticks,
		.state = thread->record.values.state.v,
		.image = image ? *image : (struct heap_image){ .has_memory = true },
		.counters.thread_pointer =
			request->thread_pointer
				? request->thread_pointer(request->context, thread->tid)
				: 0,
	};
}

/* Threads of the snapshot from `first` on. */
static struct error *copy_threads(const struct heap *heap, const struct heap_request *request,
				  size_t first, struct heap_job *job)
{
	const struct ctprof_snapshot *snapshot = request->snapshot;
	const uint32_t self = (uint32_t)getpid();
	uint32_t before = self;
	bool is_wanted = false;

	if (!array_reserve(&job->threads, snapshot->threads.count - first))
		return &error_no_memory;
	for (size_t i = first; i < snapshot->threads.count; i++) {
		const uint32_t tgid = snapshot_thread(snapshot, i)->tgid;

		if (tgid != before)
			is_wanted = tgid != self && !is_left_alone(heap, tgid);
		before = tgid;
		if (is_wanted)
			job->threads.items[job->threads.count++] = copy_thread(request, i);
	}
	return NULL;
}

static struct error *start_job(struct heap *heap, const struct heap_request *request, size_t first)
{
	struct heap_reader *reader = heap->reader;
	struct error *err;

	end_job(reader);
	err = copy_threads(heap, request, first, &reader->job);
	if (err)
		return err;
	reader->walk.allow_ptrace = request->allow_ptrace;
	/* A descriptor of its own, since the thread may outlive the caller's. */
	reader->walk.proc = fcntl(request->proc, F_DUPFD_CLOEXEC, 0);
	if (reader->walk.proc < 0)
		return error_system(errno, "/proc");
	if (!worker_pool_start(&reader->workers, read_heaps, reader))
		return thread_missing("read heap counters");
	return NULL;
}

/* --- what came of it --- */

static void give(const struct heap_job *job, struct ctprof_snapshot *snapshot)
{
	for (size_t i = 0; i < job->done; i++) {
		const struct heap_thread *read = &job->threads.items[i];
		struct ctprof_thread *thread = snapshot_thread(snapshot, read->index);

		if (!read->measured)
			continue;
		thread->record.values.allocated_bytes.v = read->counters.allocated;
		thread->record.values.deallocated_bytes.v = read->counters.deallocated;
		metric_set_add(&thread->record.measured, METRIC_allocated_bytes);
		metric_set_add(&thread->record.measured, METRIC_deallocated_bytes);
	}
}

static uint64_t count_processes(const struct ctprof_snapshot *snapshot)
{
	const uint32_t self = (uint32_t)getpid();
	uint64_t count = 0;
	uint32_t before = self;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const uint32_t tgid = snapshot_thread(snapshot, i)->tgid;

		count += tgid != before && tgid != self;
		before = tgid;
	}
	return count;
}

static void add_tally(struct heap_tally *sum, const struct heap_tally *tally)
{
	sum->walked += tally->walked;
	sum->detected += tally->detected;
	sum->ok += tally->ok;
	for (enum probe_failure i = PROBE_DONE; i < PROBE_FAILURE_COUNT; i++)
		sum->failures[i] += tally->failures[i];
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

/* Take the results that exist when the wait ends, for `count` threads. A thread that hangs
 * continues in the background. */
static struct error *take_results(struct heap_reader *reader, struct ctprof_snapshot *snapshot,
				  struct heap_tally *tally, size_t *ret_done)
{
	struct heap_job *job = &reader->job;
	struct error *err;

	pthread_mutex_lock(&reader->workers.lock);
	err = take_ptr(job->failed);
	if (!err) {
		give(job, snapshot);
		add_tally(tally, &job->tally);
	}
	*ret_done = job->done;
	pthread_mutex_unlock(&reader->workers.lock);
	return err;
}

/* --- readers that hang --- */

static void forget_returned(struct heap *heap)
{
	size_t kept = 0;

	for (size_t i = 0; i < heap->hanging.count; i++) {
		struct hanging hanging = heap->hanging.items[i];

		if (worker_pool_workers(&hanging.reader->workers))
			heap->hanging.items[kept++] = hanging;
		else
			leave_heap(hanging.reader);
	}
	heap->hanging.count = kept;
}

/* The reader that hangs in the process of the thread behind `done`. Returns where in the snapshot
 * that process ends. */
static size_t leave_behind(struct heap *heap, const struct heap_request *request, size_t done)
{
	struct heap_reader *reader = take_ptr(heap->reader);
	struct hanging hanging = { .reader = reader };

	/* The worker has finished meanwhile. */
	if (done == reader->job.threads.count) {
		leave_heap(reader);
		return request->snapshot->threads.count;
	}
	hanging.subject = process_user_subject(reader->job.threads.items[done].tgid);
	done += process_length(&reader->job, done) - 1;
	done = reader->job.threads.items[done].index + 1;
	time_shares_charge(&heap->shares, hanging.subject, reader->workers.patience_ns, PART);
	if (!array_push(&heap->hanging, hanging))
		leave_heap(reader);
	return done;
}

/* Charge what was slow. When a user's share is used up, the reader is to begin again without it. */
static void look_at_reader(void *context)
{
	struct heap *heap = context;
	struct heap_reader *reader = heap->reader;

	pthread_mutex_lock(&reader->workers.lock);
	for (size_t i = 0; i < reader->job.slow.count; i++) {
		const struct slow slow = reader->job.slow.items[i];
		const uint64_t subject = process_user_subject(slow.tgid);

		time_shares_charge(&heap->shares, subject, slow.cost_ns, PART);
		if (time_shares_used_up(&heap->shares, subject))
			atomic_store(&reader->workers.stop, true);
	}
	reader->job.slow.count = 0;
	pthread_mutex_unlock(&reader->workers.lock);
}

static uint64_t patience_for(const struct heap_request *request, uint64_t now_ns)
{
	uint64_t patience_ns = PATIENCE_NS;

	if (request->deadline_ns > now_ns && (request->deadline_ns - now_ns) / 4 < patience_ns)
		patience_ns = (request->deadline_ns - now_ns) / 4;
	return patience_ns > PATIENCE_MIN_NS ? patience_ns : PATIENCE_MIN_NS;
}

/* Index at which a stopped reader resumes, or the number of threads. */
static size_t next_place(const struct heap_reader *reader, const struct ctprof_snapshot *snapshot)
{
	const struct heap_job *job = &reader->job;

	return job->done < job->threads.count ? job->threads.items[job->done].index
					      : snapshot->threads.count;
}

/* From a thread of the snapshot on, until all is read or the reader hangs. Returns in `ret` where
 * to go on. */
static struct error *read_from(struct heap *heap, const struct heap_request *request, size_t first,
			       struct heap_tally *tally, size_t *ret)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	struct error *err;
	size_t known;
	bool done;

	if (!heap->reader)
		heap->reader = create_reader();
	if (!heap->reader)
		return &error_no_memory;
	err = start_job(heap, request, first);
	if (err)
		return err;
	heap->reader->workers.patience_ns = patience_for(request, begun_ns);
	heap->reader->workers.look = look_at_reader;
	heap->reader->workers.look_context = heap;
	done = worker_pool_wait(&heap->reader->workers, request->deadline_ns);
	look_at_reader(heap);
	if (done)
		atomic_store(&heap->reader->workers.stop, false);
	err = take_results(heap->reader, request->snapshot, tally, &known);
	*ret = done ? next_place(heap->reader, request->snapshot)
		    : leave_behind(heap, request, known);
	return err;
}

static bool is_past_deadline(uint64_t deadline_ns)
{
	return deadline_ns && clock_ns(CLOCK_MONOTONIC) >= deadline_ns;
}

struct error *heap_take(struct heap *heap, const struct heap_request *request,
			struct heap_outcome *ret)
{
	const size_t all = request->snapshot->threads.count;
	struct heap_outcome outcome = { 0 };
	struct heap_tally tally = { 0 };
	struct error *err = NULL;
	size_t next = 0;

	forget_returned(heap);
	while (!err && next < all && heap->hanging.count < HANGING_MAX &&
	       (!next || !is_past_deadline(request->deadline_ns)))
		err = read_from(heap, request, next, &tally, &next);
	if (err)
		return err;
	outcome.not_reached = count_processes(request->snapshot) - tally.walked;
	tally.failures[PROBE_TIMED_OUT] += outcome.not_reached;
	err = summarise(&tally, request->snapshot, &outcome.summary);
	if (!err)
		*ret = outcome;
	return err;
}
