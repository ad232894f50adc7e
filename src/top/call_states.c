/* SPDX-License-Identifier: BSD-2-Clause */
#include "top/call_states.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/units.h"
#include "os/process_user.h"
#include "os/task_call.h"
#include "state/call_state.h"

struct call_job {
	int fd; /* that is being read; -1: none */
	size_t count;
	struct call_state_row rows[];
};

static void release_job(void *context)
{
	struct call_job *job = context;

	if (job->fd >= 0)
		close(job->fd);
	free(job);
}

static struct guard *call_guard(void)
{
	static struct guard *guard;

	return process_user_guard(&guard, NS_PER_S / 10);
}

/* --- one thread --- */

static void print_path(char *ret, size_t room, const struct call_state_row *row, const char *file)
{
	snprintf(ret, room, "/proc/%" PRIu32 "/task/%" PRIu32 "/%s", row->tgid, row->tid, file);
}

/* Sockets, pipes and timers have names of their own; others are asked for their kind. */
static enum call_file file_kind(const struct call_state_row *row, uint32_t number)
{
	char file[24], path[80], target[64];
	struct stat status;
	ssize_t got;
	int failed;

	snprintf(file, sizeof(file), "fd/%" PRIu32, number);
	print_path(path, sizeof(path), row, file);
	if (!guard_enter())
		return CALL_FILE_UNKNOWN;
	got = readlink(path, target, sizeof(target) - 1);
	guard_leave();
	if (got <= 0)
		return CALL_FILE_UNKNOWN;
	target[got] = '\0';
	if (strncmp(target, "socket:", 7) == 0)
		return CALL_FILE_SOCKET;
	if (strncmp(target, "pipe:", 5) == 0)
		return CALL_FILE_PIPE;
	if (strcmp(target, "anon_inode:[timerfd]") == 0)
		return CALL_FILE_TIMER;
	if (target[0] != '/')
		return CALL_FILE_OTHER;
	if (!guard_enter())
		return CALL_FILE_UNKNOWN;
	failed = stat(path, &status);
	guard_leave();
	if (failed)
		return CALL_FILE_UNKNOWN;
	return S_ISFIFO(status.st_mode) ? CALL_FILE_PIPE
	       : S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)
		       ? CALL_FILE_STORED
		       : CALL_FILE_OTHER;
}

static void read_row(struct call_job *job, struct call_state_row *row)
{
	char path[64], bytes[256];
	struct task_call call;
	ssize_t got;
	int failed;

	print_path(path, sizeof(path), row, "syscall");
	if (!guard_enter())
		return;
	job->fd = open(path, O_RDONLY | O_CLOEXEC);
	got = job->fd < 0 ? -1 : read(job->fd, bytes, sizeof(bytes));
	failed = errno;
	guard_leave();
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
	row->is_denied = got < 0 && (failed == EPERM || failed == EACCES);
	row->is_read = true;
	if (got < 0)
		return;
	call = task_call_parse((struct text){ bytes, (size_t)got });
	if (call.kind == TASK_CALL_OUTSIDE)
		row->state = STATE_SLEEP_OTHER;
	if (call.kind != TASK_CALL_IN)
		return;
	row->syscall = call.number;
	row->state = call_state(call.number, call.arguments, row->is_deep,
				call_state_needs_file(call.number)
					? file_kind(row, (uint32_t)call.arguments[0])
					: CALL_FILE_UNKNOWN);
}

static void read_rows(void *context)
{
	struct call_job *job = context;

	for (size_t i = 0; i < job->count; i++) {
		guard_about(job->rows[i].tgid);
		read_row(job, &job->rows[i]);
	}
}

void call_states_read(struct call_state_rows *rows)
{
	struct guard *guard = rows->count ? call_guard() : NULL;
	struct call_job *job =
		guard ? malloc(sizeof(*job) + rows->count * sizeof(*rows->items)) : NULL;

	for (size_t i = 0; i < rows->count; i++) {
		rows->items[i].is_read = rows->items[i].is_denied = false;
		rows->items[i].syscall = -1;
		rows->items[i].state = STATE_SLEEP;
	}
	if (!job)
		return;
	job->fd = -1;
	job->count = rows->count;
	memcpy(job->rows, rows->items, rows->count * sizeof(*rows->items));
	if (!guard_run(guard, read_rows, job, release_job))
		return;
	memcpy(rows->items, job->rows, rows->count * sizeof(*rows->items));
	release_job(job);
}
