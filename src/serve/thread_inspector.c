/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/thread_inspector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "os/throttle.h"
#include "profile/profile.h"
#include "report/stream.h"
#include "security/privileges.h"
#include "top/inspect_report.h"

/* Limit of the arena of names, which need less. */
#define NAMES_MOST ((size_t)1 << 20)

/* The time between two readings of quotas if there is no earlier reading. Periods of quotas have
 * 100 ms by default. */
#define QUOTA_GAP_NS ((long)(NS_PER_S / 4))
/* An older reading is not used: the difference to it says little about now. */
#define QUOTA_OLD_NS (10 * NS_PER_S)

/* The quotas of a thread's cgroup, read by an earlier inspection. */
struct earlier_quota {
	uint32_t tid;
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	struct throttle_reading reading;
};

/* While an inspection is in progress, only its thread may access this. */
struct inspector_job {
	struct arena arena;
	struct state_thread thread; /* its names are in the arena */
	struct state_line line;
	unsigned measured;
	uint64_t number, at_unix_ns;
	struct inspection result;
	uint64_t cpu_ns; /* CPU time of the inspection */
	struct earlier_quota earlier[REQUEST_THREADS_MOST];
	unsigned oldest; /* index in `earlier`, modulo its length */
};

struct thread_inspector {
	atomic_int users; /* the collector and the thread; the last one frees the inspector */
	atomic_bool is_done;
	int fd;
	bool is_busy;
	uint64_t due_ns; /* CLOCK_MONOTONIC */
	struct inspector_job job;
};

static void leave(struct thread_inspector *inspector)
{
	if (atomic_fetch_sub(&inspector->users, 1) > 1)
		return;
	arena_deinit(&inspector->job.arena);
	free(inspector->job.result.bytes);
	close(inspector->fd);
	free(inspector);
}

struct error *thread_inspector_create(struct thread_inspector **ret)
{
	struct thread_inspector *inspector = calloc(1, sizeof(*inspector));

	if (!inspector)
		return &error_no_memory;
	inspector->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (inspector->fd < 0) {
		free(inspector);
		return error_system(errno, "cannot make an eventfd");
	}
	atomic_init(&inspector->users, 1);
	*ret = inspector;
	return NULL;
}

/* Closing polls for the end of an inspection in steps of WAIT_STEP_US, at most WAIT_STEPS times. */
#define WAIT_STEP_US 10000
#define WAIT_STEPS   100

void thread_inspector_close(struct thread_inspector *inspector)
{
	if (!inspector)
		return;
	for (int i = 0; i < WAIT_STEPS && inspector->is_busy && !atomic_load(&inspector->is_done);
	     i++)
		usleep(WAIT_STEP_US);
	leave(inspector);
}

int thread_inspector_fd(const struct thread_inspector *inspector)
{
	return inspector->fd;
}

uint64_t thread_inspector_due(const struct thread_inspector *inspector)
{
	return inspector->is_busy ? UINT64_MAX : inspector->due_ns;
}

/* --- the thread in the reading --- */

static const struct name *name_of(struct names *names, const struct tick *tick, uint32_t number)
{
	size_t at = 0;

	for (uint32_t i = 0; i < number; i++)
		at += tick->names[i];
	return names_intern(names, tick->text + at, tick->names[number]);
}

/* Sum the times of a thread by state, as /api/threads does. */
static void sum_times(const struct tick *tick, uint32_t thread, struct state_times *ret)
{
	for (uint64_t i = 0; i < tick->header->samples_count; i++) {
		const struct sample *sample = &tick->samples[i];

		if (sample->thread == thread && profile_classes[sample->class].is_off_cpu)
			ret->ns[sample->state] += sample->ns;
	}
	ret->ns[STATE_EXEC] = tick->threads[thread].on_cpu_ns;
}

static bool copy_thread(const struct tick *tick, uint32_t number, struct inspector_job *job)
{
	const struct tick_thread *from = &tick->threads[number];
	struct state_thread *to = &job->thread;
	struct names names;

	arena_deinit(&job->arena);
	arena_init(&job->arena, NAMES_MOST);
	names_init(&names, &job->arena);
	*to = (struct state_thread){
		.tid = from->tid,
		.tgid = from->tgid,
		.id = from->tid,
		.uid = from->uid,
		.cpu = UINT32_MAX,
		.is_kernel = from->is_kernel,
		.name = name_of(&names, tick, from->name),
		.process = name_of(&names, tick, from->process),
		.state = STATE_COUNT,
		.syscall = -1,
	};
	if (from->cgroup != TICK_NONE)
		to->cgroup = name_of(&names, tick, from->cgroup);
	names_deinit(&names);
	sum_times(tick, number, &to->times);
	job->line = (struct state_line){
		.id = to->id,
		.thread = to,
		.label = to->name,
		.threads = 1,
		.window_ns = tick->header->ns,
		.whole_ns = tick->header->ns,
		.interval_ns = tick->header->ns,
		.times = to->times,
	};
	return to->name && to->process && (to->cgroup || from->cgroup == TICK_NONE);
}

/* Find the last entry with this thread ID, which an earlier thread may have had before. */
static bool find_thread(const struct tick *tick, uint32_t tid, uint32_t *ret)
{
	for (uint64_t i = tick->header->threads_count; i; i--)
		if (tick->threads[i - 1].tid == tid) {
			*ret = (uint32_t)i - 1;
			return true;
		}
	return false;
}

/* --- in the inspection's thread --- */

/* Checked before and after the inspection: another thread may get the ID of one that has ended. */
static bool is_gone(const struct state_thread *thread)
{
	return syscall(SYS_tgkill, thread->tgid, thread->tid, 0) && errno == ESRCH;
}

static struct earlier_quota *earlier_quota_of(struct inspector_job *job, uint64_t now)
{
	struct earlier_quota *place;

	for (size_t i = 0; i < array_length(job->earlier); i++) {
		place = &job->earlier[i];
		if (place->tid == job->thread.tid && now - place->at_ns < QUOTA_OLD_NS)
			return place;
	}
	place = &job->earlier[job->oldest++ % array_length(job->earlier)];
	*place = (struct earlier_quota){ .tid = job->thread.tid };
	return place;
}

/* Read the current quotas into `ret`. If one of them keeps the thread from a CPU, return a remark
 * for the sentence, to be released with free(); else NULL. */
static char *quota_remark(struct inspector_job *job, struct throttle_reading *ret)
{
	const uint32_t tid = job->thread.tid;
	const char *cgroup = job->thread.cgroup ? job->thread.cgroup->bytes : NULL;
	struct earlier_quota *earlier = earlier_quota_of(job, clock_ns(CLOCK_MONOTONIC));
	const bool asks = state_line_share(&job->line, STATE_RUNNABLE) >= WAIT_RUNNABLE_LEAST;
	char *remark;

	throttle_read(tid, cgroup, ret);
	if (asks && ret->count && !earlier->at_ns) {
		earlier->reading = *ret;
		nanosleep(&(struct timespec){ .tv_nsec = QUOTA_GAP_NS }, NULL);
		throttle_read(tid, cgroup, ret);
	}
	remark = asks ? throttle_say(&earlier->reading, ret) : NULL;
	earlier->reading = *ret;
	earlier->at_ns = clock_ns(CLOCK_MONOTONIC);
	return remark;
}

static struct error *write_report(const struct inspect_report *report, struct inspection *ret)
{
	_cleanup_(json_writer_deinit) struct json_writer w = { 0 };
	FILE *out = open_memstream(&ret->bytes, &ret->length);
	struct error *err = out ? json_writer_init(&w, stream_to_file, out) : &error_no_memory;

	if (!err) {
		inspect_report_put(&w, report);
		json_document_end(&w);
		err = json_writer_finish(&w);
	}
	if (out && !file_close_memory(out, &ret->bytes) && !err)
		err = &error_no_memory;
	if (!err && ret->length > REPLY_THREAD_MAX - sizeof(struct reply_header))
		err = error_create("the inspection is too long");
	return err;
}

static struct error *inspect(struct inspector_job *job)
{
	const struct state_thread *thread = &job->thread;
	struct throttle_reading throttle;
	struct thread_limits limits;
	struct wait_answer answer;
	_cleanup_free_ char *remark = quota_remark(job, &throttle);
	const struct wait_remarks remarks = { .remark = remark };
	struct error *err = wait_answer_find(wait_host(), &job->line, NULL, 0, job->measured,
					     &remarks, &answer);

	if (err)
		return err;
	job->cpu_ns += answer.cpu_ns;
	thread_limits_read(thread->tid, &throttle, &limits);
	err = write_report(
		&(struct inspect_report){
			.window = job->number,
			.at_unix_ns = job->at_unix_ns,
			.measured = job->measured,
			.grouping = STATE_BY_THREAD,
			.thread = thread,
			.line = &job->line,
			.answer = &answer,
			.limits = &limits,
		},
		&job->result);
	thread_limits_deinit(&limits);
	wait_answer_deinit(&answer);
	return err;
}

/* Make a message the result, instead of the object. */
static void say(struct inspection *inspection, enum reply_status status, const char *message)
{
	free(inspection->bytes);
	inspection->bytes = strdup(message);
	inspection->length = inspection->bytes ? strlen(message) : 0;
	inspection->status = status;
}

static void say_gone(struct inspection *inspection)
{
	_cleanup_free_ char *message =
		text_print("thread %" PRIu32 " has ended, or is not measured", inspection->tid);

	say(inspection, REPLY_GONE, message ? message : "");
}

/* In this order: thread_inspector_end() resets the eventfd once it has seen is_done. */
static void finish(struct thread_inspector *inspector)
{
	const uint64_t one = 1;
	const ssize_t written = write(inspector->fd, &one, sizeof(one));

	(void)written;
	atomic_store(&inspector->is_done, true);
}

static void *work(void *argument)
{
	struct thread_inspector *inspector = argument;
	struct inspector_job *job = &inspector->job;

	if (!is_gone(&job->thread)) {
		PRIVILEGES_RAISED;
		struct error *err = inspect(job);

		if (err)
			say(&job->result, REPLY_FAILED, err->message);
		error_destroy(err);
	}
	job->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (is_gone(&job->thread))
		say_gone(&job->result);
	finish(inspector);
	leave(inspector);
	return NULL;
}

/* --- for the collector --- */

struct error *thread_inspector_begin(struct thread_inspector *inspector, const struct tick *tick,
				     uint64_t number, unsigned measured, uint32_t tid)
{
	struct inspector_job *job = &inspector->job;
	uint32_t thread;

	job->result = (struct inspection){ .tid = tid };
	job->cpu_ns = 0;
	atomic_store(&inspector->is_done, false);
	if (!find_thread(tick, tid, &thread)) {
		inspector->is_busy = true;
		say_gone(&job->result);
		finish(inspector);
		return NULL;
	}
	if (!copy_thread(tick, thread, job))
		return &error_no_memory;
	job->measured = measured;
	job->number = number;
	job->at_unix_ns = tick->header->begun_unix_ns + tick->header->ns;
	atomic_fetch_add(&inspector->users, 1);
	inspector->is_busy = thread_start(work, inspector);
	if (inspector->is_busy)
		return NULL;
	atomic_fetch_sub(&inspector->users, 1);
	return thread_missing("inspect a thread");
}

static uint64_t pause_after(uint64_t cpu_ns)
{
	const uint64_t pause = cpu_ns * INSPECTOR_PAUSE_TIMES;

	return pause < INSPECTOR_PAUSE_NS        ? INSPECTOR_PAUSE_NS
	       : pause > INSPECTOR_PAUSE_MOST_NS ? INSPECTOR_PAUSE_MOST_NS
						 : pause;
}

bool thread_inspector_end(struct thread_inspector *inspector, struct inspection *ret)
{
	uint64_t count;
	ssize_t got;

	if (!inspector->is_busy || !atomic_load(&inspector->is_done))
		return false;
	got = read(inspector->fd, &count, sizeof(count));
	(void)got;
	inspector->due_ns = clock_ns(CLOCK_MONOTONIC) + pause_after(inspector->job.cpu_ns);
	inspector->is_busy = false;
	*ret = inspector->job.result;
	inspector->job.result = (struct inspection){ 0 };
	return true;
}
