/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/process_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "os/pairs.h"
#include "os/process_user.h"
#include "os/tasks.h"
#include "process/maps.h"
#include "process/perf_events.h"
#include "profile/kept.h"
#include "profile/origin.h"

#define MEMORY_DEFAULT ((size_t)256 << 20)
#define RING_DEFAULT   ((size_t)256 << 10)

/* Processes that are read between two settlements. */
#define READ_AT_ONCE 64

struct process_watch {
	struct process_table *table;
	struct perf_events events;
	struct tids pids; /* to watch; none: all */
	struct process_scan {
		struct tids pids;
		size_t next, count_read; /* of `pids` */
		uint64_t since_ns;       /* when they began at the latest */
		bool is_change;          /* for the table */
	} scan;
	struct guard *guard; /* not owned; NULL: none */
	struct kept *kept;
	struct tids coders; /* processes that make code, to be kept */
	int proc;           /* /proc; -1: not open yet */
	uint64_t page;      /* bytes */
	struct file_buffer buffer;
};

static struct error *open_watch(struct process_watch *watch,
				const struct process_watch_options *options)
{
	struct error *err;

	for (size_t i = 0; i < options->pid_count; i++)
		if (!array_push(&watch->pids, options->pids[i]))
			return &error_no_memory;
	err = process_table_create(options->pid_count != 0,
				   options->max_memory ? options->max_memory : MEMORY_DEFAULT,
				   &watch->table);
	if (err)
		return err;
	process_table_limit_users(watch->table, process_user_limited);
	/* Events before they are read are applied, too. */
	for (size_t i = 0; i < watch->pids.count; i++)
		process_table_begin(watch->table, watch->pids.items[i], 0, TEXT(""));
	return perf_events_open(&watch->events,
				options->ring_bytes ? options->ring_bytes : RING_DEFAULT,
				options->wake_bytes);
}

struct error *process_watch_open(const struct process_watch_options *options,
				 struct process_watch **ret)
{
	_cleanup_(process_watch_close) struct process_watch *watch = calloc(1, sizeof(*watch));
	struct error *err;

	if (!watch)
		return &error_no_memory;
	watch->events = PERF_EVENTS_NONE;
	watch->proc = -1;
	watch->guard = options->guard;
	watch->kept = kept_share(options->kept);
	watch->page = (uint64_t)sysconf(_SC_PAGESIZE);
	err = open_watch(watch, options);
	if (!err)
		*ret = take_ptr(watch);
	return err;
}

void process_watch_close(struct process_watch *watch)
{
	if (!watch)
		return;
	perf_events_close(&watch->events);
	array_deinit(&watch->pids);
	array_deinit(&watch->scan.pids);
	array_deinit(&watch->coders);
	process_table_destroy(watch->table);
	kept_release(watch->kept);
	file_buffer_deinit(&watch->buffer);
	if (watch->proc >= 0)
		close(watch->proc);
	free(watch);
}

struct process_table *process_watch_table(struct process_watch *watch)
{
	return watch->table;
}

int process_watch_fd(const struct process_watch *watch)
{
	return watch->events.epoll;
}

bool process_watch_add_fd(const struct process_watch *watch, int fd)
{
	return !epoll_ctl(watch->events.epoll, EPOLL_CTL_ADD, fd,
			  &(struct epoll_event){ .events = EPOLLIN });
}

bool process_watch_is_readable(const struct process_watch *watch)
{
	struct pollfd fd = { .fd = watch->events.epoll, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

bool process_watch_has_waiting(const struct process_watch *watch)
{
	return perf_events_has_waiting(&watch->events);
}

uint64_t process_watch_missed(const struct process_watch *watch)
{
	return watch->events.lost;
}

uint64_t process_watch_lost(const struct process_watch *watch)
{
	return watch->events.lost + process_table_lost(watch->table);
}

/* --- processes that make code --- */

/* Executable memory without a file, or of a file without a path, has code that the process made. */
static void note_made_code(struct process_watch *watch, uint32_t pid, struct text path)
{
	const bool is_made = !path.length || text_starts(path, TEXT("[anon")) ||
			     text_starts(path, TEXT("/memfd:")) ||
			     text_starts(path, TEXT("/dev/zero")) ||
			     text_starts(path, TEXT("/SYSV"));

	if (is_made && watch->kept && array_reserve(&watch->coders, 1) &&
	    process_table_note_code(watch->table, pid))
		watch->coders.items[watch->coders.count++] = pid;
}

struct coder_job {
	struct kept *kept;
	uint32_t pid;
};

static void keep_coder(void *job)
{
	const struct coder_job *coder = job;

	guard_about(coder->pid);
	origin_keep_process(coder->kept, coder->pid);
}

static void release_coder(void *job)
{
	struct coder_job *coder = job;

	kept_release(coder->kept);
	free(coder);
}

/* The files that name what they made are looked for when they have ended, too. */
static void keep_coders(struct process_watch *watch)
{
	while (watch->coders.count) {
		struct coder_job *coder = calloc(1, sizeof(*coder));

		if (!coder)
			return;
		coder->kept = kept_share(watch->kept);
		coder->pid = watch->coders.items[--watch->coders.count];
		if (guard_run(watch->guard, keep_coder, coder, release_coder))
			release_coder(coder);
	}
}

/* --- events --- */

static void apply_record(void *context, struct text bytes)
{
	struct process_watch *watch = context;
	struct perf_record record;

	if (!perf_record_parse(bytes, &record))
		return;
	process_table_apply(watch->table, &record);
	if (record.kind == PERF_RECORD_OF_MAPPING)
		note_made_code(watch, record.pid, record.path);
}

void process_watch_poll(struct process_watch *watch)
{
	perf_events_poll(&watch->events, apply_record, watch);
	keep_coders(watch);
}

void process_watch_settle(struct process_watch *watch)
{
	process_watch_poll(watch);
	perf_events_drain(&watch->events, apply_record, watch);
}

/* --- processes that exist --- */

struct process_reading {
	struct process_watch *watch;
	uint32_t pid;
	uint64_t exec_pages;
};

/* is_exec_mapping() in mm/internal.h of Linux. The page of vsyscalls is no mapping. */
static bool is_counted(const struct mapping *mapping)
{
	return !mapping->writable && !text_equal(mapping->path, TEXT("[stack]")) &&
	       !text_equal(mapping->path, TEXT("[vsyscall]"));
}

static bool add_read_mapping(void *context, const struct mapping *mapping, struct text build_id)
{
	struct process_reading *reading = context;
	const struct perf_record record = {
		.kind = PERF_RECORD_OF_MAPPING,
		.pid = reading->pid,
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->offset,
		.inode = mapping->inode,
		.major = mapping->major,
		.minor = mapping->minor,
		.path = mapping->path,
		.build_id = build_id,
	};

	if (is_counted(mapping))
		reading->exec_pages += (mapping->end - mapping->start) / reading->watch->page;
	process_table_read_mapping(reading->watch->table, &record);
	note_made_code(reading->watch, reading->pid, mapping->path);
	return true;
}

static uint64_t bytes_in(struct text status, struct text key)
{
	struct text value, word;
	uint64_t kib = 0;

	if (pairs_find(status, ':', key, &value) && text_word(&value, &word))
		text_u64(word, &kib);
	return kib << 10;
}

/* The kernel's own number, which these two add up to (task_mem() in fs/proc/task_mmu.c). */
static bool is_confirmed(struct process_watch *watch, uint32_t pid, uint64_t exec_pages)
{
	struct text status;
	char path[32];

	snprintf(path, sizeof(path), "%u/status", pid);
	return !file_read_record(watch->proc, path, &watch->buffer, &status) &&
	       bytes_in(status, TEXT("VmExe")) + bytes_in(status, TEXT("VmLib")) ==
		       exec_pages * watch->page;
}

/* The link waits for a process that is in execve(2). */
static bool read_exe(int proc, uint32_t pid, char exe[PATH_MAX], size_t *ret_length)
{
	ssize_t length;
	char path[32];

	snprintf(path, sizeof(path), "%u/exe", pid);
	if (!guard_enter())
		return false;
	length = readlinkat(proc, path, exe, PATH_MAX);
	guard_leave();
	*ret_length = length < 0 ? 0 : (size_t)length;
	return length >= 0;
}

/* False: it is gone, may not be read, or is a thread of the kernel, which has no program. */
static bool read_running(struct process_watch *watch, struct process_maps *maps, uint32_t pid)
{
	struct process_reading reading = { .watch = watch, .pid = pid };
	char exe[PATH_MAX];
	size_t length;

	if (!read_exe(watch->proc, pid, exe, &length) || !process_table_read_begin(watch->table))
		return false;
	process_table_begin(watch->table, pid, watch->scan.since_ns, (struct text){ exe, length });
	if (process_maps_read(maps, pid, add_read_mapping, &reading))
		return false;
	process_table_read_end(watch->table, pid,
			       is_confirmed(watch, pid, reading.exec_pages) ? reading.exec_pages
									    : 0);
	return true;
}

/* Reads processes of the scan, from the next one on, by maps of its own, for a call may hang. */
struct scan_job {
	struct process_watch *watch;
	struct process_maps *maps;
};

static void release_scan(void *context)
{
	struct scan_job *job = context;

	process_maps_destroy(job->maps);
	free(job);
}

static void scan_processes(void *context)
{
	const struct scan_job *job = context;
	struct process_watch *watch = job->watch;
	struct process_scan *scan = &watch->scan;

	while (scan->next < scan->pids.count) {
		const uint32_t pid = scan->pids.items[scan->next];

		/* Earlier events must be applied before the mappings that /proc shows. */
		if (scan->next++ % READ_AT_ONCE == 0)
			process_watch_settle(watch);
		guard_about(pid);
		if (!read_running(watch, job->maps, pid))
			continue;
		scan->count_read++;
		if (scan->is_change)
			process_table_set_changed(watch->table, pid);
	}
}

static struct error *open_proc(struct process_watch *watch)
{
	return watch->proc >= 0 ? NULL : file_open_dir("/proc", &watch->proc);
}

/* Read all processes in scan.pids, except those that hang. */
static struct error *scan(struct process_watch *watch, uint64_t since_ns, bool is_change)
{
	const size_t without_thread = guard_without_thread(watch->guard);
	struct error *err = open_proc(watch);

	watch->scan.next = watch->scan.count_read = 0;
	watch->scan.since_ns = since_ns;
	watch->scan.is_change = is_change;
	while (!err && watch->scan.next < watch->scan.pids.count) {
		struct scan_job *job = calloc(1, sizeof(*job));

		if (!job)
			return &error_no_memory;
		job->watch = watch;
		/* New ones for each scan: they assume that a file does not change. */
		err = process_maps_create(watch->proc, &job->maps);
		if (err)
			free(job);
		else if (guard_run(watch->guard, scan_processes, job, release_scan))
			release_scan(job);
		else if (guard_without_thread(watch->guard) != without_thread)
			err = thread_missing("read the mappings of processes");
	}
	return err;
}

bool process_watch_read_again(struct process_watch *watch, uint32_t pid)
{
	_cleanup_error_ struct error *err = NULL;

	watch->scan.pids.count = 0;
	if (!array_push(&watch->scan.pids, pid))
		return false;
	err = scan(watch, clock_ns(CLOCK_MONOTONIC), false);
	return watch->scan.count_read;
}

struct error *process_watch_start(struct process_watch *watch)
{
	struct error *err = open_proc(watch);
	int failed;

	if (err)
		return err;
	watch->scan.pids.count = 0;
	for (size_t i = 0; i < watch->pids.count; i++)
		if (!array_push(&watch->scan.pids, watch->pids.items[i]))
			return &error_no_memory;
	failed = watch->pids.count ? 0 : tasks_list(watch->proc, &watch->scan.pids);
	return failed ? error_system(failed, "/proc") : scan(watch, 0, true);
}
