/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/units.h"
#include "cli/target.h"
#include "os/pairs.h"
#include "os/process_user.h"
#include "state/wait.h"
#include "top/inspect_source.h"
#include "top/open_files.h"
#include "top/top.h"

/* --- from /proc --- */

/* The system call that a thread is in, from the kernel. Reading either file waits for a process in
 * execve(2). */
struct inspected_call {
	uint32_t tid;
	int fd; /* that is being read; -1: none */
	char wchan[128], syscall[256];
};

static void release_call(void *context)
{
	struct inspected_call *call = context;

	if (call->fd >= 0)
		close(call->fd);
	free(call);
}

/* The line of a small file of the thread; "" when it cannot be read. */
static void read_thread_line(struct inspected_call *call, const char *file, char *ret, size_t room)
{
	char path[64];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", call->tid, file);
	ret[0] = '\0';
	if (!guard_enter())
		return;
	call->fd = open(path, O_RDONLY | O_CLOEXEC);
	got = call->fd < 0 ? -1 : read(call->fd, ret, room - 1);
	guard_leave();
	if (call->fd >= 0)
		close(call->fd);
	call->fd = -1;
	ret[got > 0 ? got : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	text_make_safe(ret);
}

static void read_call(void *context)
{
	struct inspected_call *call = context;

	guard_about(call->tid);
	read_thread_line(call, "wchan", call->wchan, sizeof(call->wchan));
	read_thread_line(call, "syscall", call->syscall, sizeof(call->syscall));
}

static struct guard *call_guard(void)
{
	static struct guard *guard;

	return process_user_guard(&guard, NS_PER_S / 5);
}

/* To be released; NULL: there is no memory, or the kernel does not answer. */
static struct inspected_call *call_of(const struct state_thread *thread)
{
	struct guard *guard = call_guard();
	struct inspected_call *call = guard ? calloc(1, sizeof(*call)) : NULL;

	if (!call)
		return NULL;
	call->tid = thread->tid;
	call->fd = -1;
	return guard_run(guard, read_call, call, release_call) ? call : NULL;
}

static void print_call(FILE *out, const struct state_thread *thread)
{
	struct inspected_call *call = call_of(thread);
	const char *name = wait_syscall_name(thread->syscall);
	const char *numbers = call ? call->syscall : "", *wchan = call ? call->wchan : "";

	fprintf(out, "system call    %s%s%s\n", name ? name : "-", *numbers ? "  " : "", numbers);
	fprintf(out, "wait channel   %s\n", *wchan && strcmp(wchan, "0") != 0 ? wchan : "-");
	if (call)
		release_call(call);
}

/* Print the memory of the whole process as of now; nothing for a kernel thread. */
static void print_memory(FILE *out, const struct state_thread *thread)
{
	static const char *const keys[] = { "VmRSS", "RssAnon", "RssFile", "RssShmem", "VmSwap" };
	struct text status = { 0 }, value;
	struct file_buffer buffer = { 0 };
	char path[64], text[UNITS_TEXT_MAX];
	uint64_t kib;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", thread->tid);
	fputs("memory        ", out);
	if (!file_read_record(AT_FDCWD, path, &buffer, &status))
		for (size_t i = 0; i < array_length(keys); i++)
			if (pairs_find(status, ':', text_of(keys[i]), &value) &&
			    pairs_kib(value, &kib))
				fprintf(out, " %s %s", keys[i],
					units_format(text, UNIT_BYTES, (__int128)kib * 1024));
	fputc('\n', out);
	file_buffer_deinit(&buffer);
}

/* --- taskstats: what the struct itself says of itself --- */

static void print_version(struct top_inspector *inspector, FILE *out, uint32_t tid)
{
	struct taskstats_reply reply = { .failed = ENOSYS };

	if (!inspector->has_looked_for_taskstats)
		error_destroy(taskstats_socket_open(&inspector->taskstats));
	inspector->has_looked_for_taskstats = true;
	if (inspector->taskstats)
		taskstats_ask(inspector->taskstats, &tid, 1, &reply);
	if (reply.failed)
		fprintf(out, "taskstats      - (%s)\n", strerror(reply.failed));
	else
		fprintf(out, "taskstats      ABI version %u\n", reply.stats.version);
}

static struct error *print_facts(struct top *top, const struct state_thread *thread, FILE *out)
{
	/* Its number may be reused already. */
	if (thread->has_ended)
		return NULL;
	print_call(out, thread);
	print_memory(out, thread);
	print_version(&top->inspector, out, thread->tid);
	return NULL;
}

/* --- what is counted --- */

static struct error *capture(struct top_inspector *inspector, uint32_t tid,
			     struct ctprof_snapshot **ret)
{
	struct error *err;

	inspector->tid = tid;
	if (inspector->capturer)
		return capturer_take(inspector->capturer, ret);
	inspector->options = (struct capture_options){
		.without = 1u << CAPTURE_PART_SMAPS | 1u << CAPTURE_PART_EXE |
			   1u << CAPTURE_PART_CMDLINE | 1u << CAPTURE_PART_CGROUPS |
			   1u << CAPTURE_PART_COUNTERS | 1u << CAPTURE_PART_HEAP,
		.pids = &inspector->tid,
		.pid_count = 1,
		.may_be_gone = true,
	};
	err = capturer_open(&inspector->options, &inspector->capturer);
	return err ? err : capturer_take(inspector->capturer, ret);
}

static struct error *count_live(struct top *top, const struct state_thread *thread,
				struct inspect_counters *ret)
{
	struct ctprof_snapshot *snapshot;
	struct error *err;

	if (thread->has_ended)
		return NULL;
	err = capture(&top->inspector, thread->tid, &snapshot);

	if (err)
		return err;
	*ret = (struct inspect_counters){ .owned = snapshot };
	for (size_t i = 0; i < snapshot->threads.count && !ret->now; i++)
		if (snapshot->threads.items[i]->tid == thread->tid)
			ret->now = snapshot->threads.items[i];
	return NULL;
}

/* --- a profile beside --- */

/* A process or a cgroup as a whole, including threads that start later; of a thread pool, or of a
 * filtered group, only the threads that exist now. */
static struct watch_target target_of(const struct top_inspector *inspector,
				     const struct screen_subject *subject)
{
	const struct state_thread *thread = &subject->thread;
	const bool is_filtered = subject->view->filter && subject->view->filter->count;
	struct watch_target target = { .tids = &thread->tid, .tid_count = 1 };
	const char *path = thread->cgroup ? thread->cgroup->bytes : NULL;

	if (subject->grouping == STATE_BY_THREAD)
		return target;
	if (subject->grouping == STATE_BY_PROCESS && !is_filtered)
		return (struct watch_target){ .pid = thread->tgid };
	if (subject->grouping == STATE_BY_CGROUP && !is_filtered && path) {
		struct watch_target whole = { 0 };
		struct error *err = target_find_cgroup(&path, &whole.cgroup);

		if (!err)
			return whole;
		error_destroy(err);
	}
	if (inspector->members.count) {
		target.tids = inspector->members.items;
		target.tid_count = inspector->members.count;
	}
	return target;
}

static void print_stacks(struct top *top, const struct screen_subject *subject, FILE *out)
{
	struct top_inspector *inspector = &top->inspector;
	const bool is_over = subject->thread.has_ended;

	if (inspector->is_watch_early) {
		inspector->is_watch_early = false;
		inspector->id = subject->line;
	}
	if (!inspector->watch || inspector->id != subject->line) {
		const struct watch_target target = target_of(inspector, subject);

		thread_watch_stop(inspector->watch);
		/* A thread that has ended has no more stacks. */
		inspector->watch = is_over ? NULL : thread_watch_start(&target);
		inspector->id = subject->line;
	}
	if (inspector->watch && top->arguments->inspect)
		thread_watch_finish(inspector->watch, top_batch_is_over);
	if (inspector->watch)
		thread_watch_print(inspector->watch, is_over || top_batch_is_over(), out);
	if (!is_over)
		return;
	thread_watch_stop(inspector->watch);
	inspector->watch = NULL;
}

/* --- its files --- */

/* The time for all of them. */
#define FILES_NS (NS_PER_S / 5)

static void print_files(struct top *top, const struct screen_subject *subject,
			const struct inspected_row *row, FILE *out)
{
	struct wait_look look = { .host = wait_host(),
				  .until_ns = clock_ns(CLOCK_MONOTONIC) + FILES_NS };
	const struct state_thread *thread = &subject->thread;
	struct tids tids = { 0 };
	struct open_files files;

	(void)top;
	if (!look.host || thread->has_ended || !array_push(&tids, thread->tid))
		return;
	/* Other processes of a group have files of their own. */
	for (size_t i = 0; i < row->count; i++)
		if (row->members[i].thread->tgid == thread->tgid &&
		    row->members[i].thread->tid != thread->tid &&
		    !row->members[i].thread->has_ended &&
		    !array_push(&tids, row->members[i].thread->tid))
			break;
	if (open_files_read(&look, tids.items, tids.count, &files)) {
		open_files_print(&files, out);
		open_files_deinit(&files);
	}
	array_deinit(&tids);
}

/* There is no earlier reading. */
static struct error *look_back(struct top *top, const struct screen_subject *subject)
{
	(void)top, (void)subject;
	return NULL;
}

const struct inspect_source inspect_live = { look_back,   print_facts, print_stacks,
					     print_files, count_live,  false };
