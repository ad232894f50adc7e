/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/leader_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "os/process_user.h"

/* A user may take a tenth of the time, with half a minute in advance. */
#define USER_PART  10
#define ADVANCE_NS (USER_PART * 30 * NS_PER_S)

static const struct guard_options options = {
	.subject_of = process_user_subject,
	.patience_ns = 3 * NS_PER_S,
	.part = USER_PART,
	.advance_ns = ADVANCE_NS,
	.kind = THREAD_PARSER,
};

/* Belongs to the thread that reads once it is given up. */
struct leader_job {
	struct file_buffer buffer;
	int dir;
	uint32_t tgid;
	const char *name; /* a literal */
	int failed;
	struct text bytes;
};

struct leader_guard {
	struct guard *guard;
	struct leader_job *job; /* NULL: there is none yet */
};

static void release_read(void *argument)
{
	struct leader_job *job = argument;

	if (!job)
		return;
	if (job->dir >= 0)
		close(job->dir);
	file_buffer_deinit(&job->buffer);
	free(job);
}

static void read_guarded(void *argument)
{
	struct leader_job *job = argument;

	guard_about(job->tgid);
	if (!guard_enter()) {
		job->failed = ETIMEDOUT;
		return;
	}
	job->failed = file_read_record(job->dir, job->name, &job->buffer, &job->bytes);
	guard_leave();
}

struct leader_guard *leader_guard_create(void)
{
	struct leader_guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return NULL;
	guard->guard = guard_create(&options);
	if (guard->guard)
		return guard;
	free(guard);
	return NULL;
}

void leader_guard_destroy(struct leader_guard *guard)
{
	if (!guard)
		return;
	guard_destroy(guard->guard);
	release_read(guard->job);
	free(guard);
}

static struct leader_job *create_job(void)
{
	struct leader_job *job = calloc(1, sizeof(*job));

	if (job)
		job->dir = -1;
	return job;
}

int leader_guard_read(struct leader_guard *guard, int dir, uint32_t tgid, const char *name,
		      struct text *ret)
{
	struct leader_job *job = guard->job ? guard->job : create_job();
	size_t without_thread;

	if (!job)
		return ENOMEM;
	guard->job = job;
	job->tgid = tgid;
	job->name = name;
	/* A descriptor of its own: the job may read after the caller has closed its own. */
	job->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (job->dir < 0)
		return errno;
	without_thread = guard_without_thread(guard->guard);
	if (!guard_run(guard->guard, read_guarded, job, release_read)) {
		guard->job = NULL;
		return guard_without_thread(guard->guard) == without_thread ? ETIMEDOUT : EAGAIN;
	}
	close(job->dir);
	job->dir = -1;
	*ret = job->bytes;
	return job->failed;
}
