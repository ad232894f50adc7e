/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/image_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/word_map.h"
#include "os/cpulist.h"
#include "os/pairs.h"
#include "os/process_user.h"
#include "os/tasks.h"
#include "process/image_table.h"
#include "process/maps.h"
#include "process/perf_ring.h"
#include "process/record_queue.h"
#include "profile/kept.h"
#include "profile/origin.h"

#define MEMORY_DEFAULT ((size_t)256 << 20)
#define RING_DEFAULT   ((size_t)256 << 10)

/* Bytes of records that wait; beyond, they are taken without waiting for older ones. */
#define WAITING_MAX ((size_t)64 << 20)

/* How many noted processes are remembered, so that each is noted once. */
#define NOTED_MAX 16384

/* Before so many processes are read, the rings are emptied. */
#define READ_AT_ONCE 64

struct image_watch {
	struct image_table *table;
	struct {
		ARRAY(struct perf_ring);
	} rings;
	struct {
		ARRAY(uint32_t);
	} pids;
	struct {
		ARRAY(uint32_t);
	} listed;                /* processes to be read */
	size_t next, count_read; /* of these */
	uint64_t since_ns;
	bool tells;          /* that they are read */
	struct guard *guard; /* not owned; NULL: none */
	struct kept *kept;
	struct word_map noted; /* processes that make code, to the number of their image below */
	struct {
		ARRAY(uint64_t);
	} noted_begun; /* when the image began that was noted */
	struct {
		ARRAY(uint32_t);
	} coders; /* that are to be noted */
	struct record_queue queue;
	char *batch;   /* room for one ring */
	uint64_t lost; /* by the rings; the table counts its own */
	int waiting;   /* readable when a ring has something */
	int proc;      /* /proc */
	uint64_t page; /* bytes */
	struct file_buffer buffer;
};

/* --- opening --- */

static struct perf_event_attr attributes(size_t ring_bytes, size_t wake_bytes)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.build_id = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(wake_bytes ? wake_bytes : ring_bytes / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

/* Does this kernel know of build-ids (Linux 5.12)? It refuses bits that it does not know. */
static int open_ring(struct perf_event_attr *attr, int cpu, size_t bytes, struct perf_ring *ret)
{
	int failed = perf_ring_open(attr, cpu, bytes, ret);

	if (failed != EINVAL || !attr->build_id)
		return failed;
	attr->build_id = 0;
	return perf_ring_open(attr, cpu, bytes, ret);
}

static struct error *keep_ring(struct image_watch *watch, struct perf_ring *ring)
{
	struct epoll_event event = { .events = EPOLLIN };
	char *batch;

	if (!array_push(&watch->rings, *ring)) {
		perf_ring_close(ring);
		return &error_no_memory;
	}
	if (epoll_ctl(watch->waiting, EPOLL_CTL_ADD, ring->fd, &event))
		return error_system(errno, "cannot wait for perf events");
	/* All are as large as the first, or smaller. */
	if (!watch->batch) {
		batch = malloc(ring->bytes);
		if (!batch)
			return &error_no_memory;
		watch->batch = batch;
	}
	return NULL;
}

static struct error *open_rings(struct image_watch *watch, size_t bytes, size_t wake_bytes)
{
	struct perf_event_attr attr = attributes(bytes, wake_bytes);
	_cleanup_(cpus_deinit) struct cpus cpus = { 0 };
	struct error *err = cpus_list_possible(&cpus);

	for (size_t i = 0; !err && i < cpus.count; i++) {
		const uint32_t cpu = cpus.items[i];
		struct perf_ring ring;
		int failed = open_ring(&attr, (int)cpu, bytes, &ring);

		/* It is offline. */
		if (failed == ENODEV)
			continue;
		if (failed)
			return error_system(failed,
					    "cannot watch mappings on CPU %u by perf events%s", cpu,
					    failed == EACCES ? " (CAP_SYS_ADMIN is required while "
							       "kernel.perf_event_paranoid is 3)"
							     : "");
		bytes = ring.bytes;
		err = keep_ring(watch, &ring);
	}
	if (err)
		return err;
	return watch->rings.count ? NULL : error_create("there is no CPU to watch");
}

static struct error *open_watch(struct image_watch *watch,
				const struct image_watch_options *options)
{
	size_t memory = options->max_memory ? options->max_memory : MEMORY_DEFAULT;
	struct error *err;

	for (size_t i = 0; i < options->pid_count; i++)
		if (!array_push(&watch->pids, options->pids[i]))
			return &error_no_memory;
	err = image_table_create(options->pid_count != 0, memory, &watch->table);
	if (err)
		return err;
	image_table_limit_users(watch->table, process_user_limited);
	/* What happens to them until they are read is not passed over. */
	for (size_t i = 0; i < watch->pids.count; i++)
		image_table_begin(watch->table, watch->pids.items[i], 0, TEXT(""));
	watch->waiting = epoll_create1(EPOLL_CLOEXEC);
	if (watch->waiting < 0)
		return error_system(errno, "cannot wait for perf events");
	return open_rings(watch, options->ring_bytes ? options->ring_bytes : RING_DEFAULT,
			  options->wake_bytes);
}

struct error *image_watch_open(const struct image_watch_options *options, struct image_watch **ret)
{
	struct image_watch *watch = calloc(1, sizeof(*watch));
	struct error *err;

	if (!watch)
		return &error_no_memory;
	watch->waiting = watch->proc = -1;
	watch->guard = options->guard;
	watch->kept = kept_share(options->kept);
	watch->page = (uint64_t)sysconf(_SC_PAGESIZE);
	err = open_watch(watch, options);
	if (err) {
		image_watch_close(watch);
		return err;
	}
	*ret = watch;
	return NULL;
}

void image_watch_close(struct image_watch *watch)
{
	if (!watch)
		return;
	for (size_t i = 0; i < watch->rings.count; i++)
		perf_ring_close(&watch->rings.items[i]);
	array_deinit(&watch->rings);
	array_deinit(&watch->pids);
	array_deinit(&watch->listed);
	record_queue_deinit(&watch->queue);
	image_table_destroy(watch->table);
	kept_release(watch->kept);
	word_map_deinit(&watch->noted);
	array_deinit(&watch->noted_begun);
	array_deinit(&watch->coders);
	file_buffer_deinit(&watch->buffer);
	if (watch->waiting >= 0)
		close(watch->waiting);
	if (watch->proc >= 0)
		close(watch->proc);
	free(watch->batch);
	free(watch);
}

/* --- records --- */

static void keep_record(struct image_watch *watch, struct text bytes)
{
	struct perf_record record;

	if (!perf_record_parse(bytes, &record)) {
		watch->lost++;
		return;
	}
	switch (record.kind) {
	case PERF_RECORD_OF_OTHERS:
		break;
	case PERF_RECORD_OF_LOSS:
		watch->lost += record.lost;
		break;
	default:
		watch->lost += !record_queue_add(&watch->queue, record.time_ns, bytes);
	}
}

static void empty_ring(struct image_watch *watch, struct perf_ring *ring)
{
	struct text rest = { watch->batch, perf_ring_take(ring, watch->batch) }, record;

	while (perf_record_cut(&rest, &record))
		keep_record(watch, record);
	watch->lost += rest.length != 0;
}

/* Memory that may be executed and is of no file, or of one without a path, has code that the
 * process made. */
static bool has_made_code(struct text path)
{
	return !path.length || text_starts(path, TEXT("[anon")) ||
	       text_starts(path, TEXT("/memfd:")) || text_starts(path, TEXT("/dev/zero")) ||
	       text_starts(path, TEXT("/SYSV"));
}

/* Once for each image. */
static void note_later(struct image_watch *watch, uint32_t pid)
{
	const struct words key = { { pid } };
	uint32_t number = watch->kept ? word_map_find(&watch->noted, key) : WORD_MAP_NEW;
	struct image_now now;
	uint32_t *place;

	if (!watch->kept || !image_table_now(watch->table, pid, &now) || now.is_over)
		return;
	if (number != WORD_MAP_NEW && watch->noted_begun.items[number] == now.begun_ns)
		return;
	/* Forget them all: a process that is noted again is still kept once. */
	if (watch->noted_begun.count >= NOTED_MAX) {
		word_map_deinit(&watch->noted);
		array_deinit(&watch->noted_begun);
	}
	if (!array_reserve(&watch->noted_begun, 1) || !array_reserve(&watch->coders, 1))
		return;
	place = word_map_at(&watch->noted, key);
	if (!place)
		return;
	if (*place == WORD_MAP_NEW)
		*place = (uint32_t)watch->noted_begun.count++;
	watch->noted_begun.items[*place] = now.begun_ns;
	watch->coders.items[watch->coders.count++] = pid;
}

static void take_record(void *context, struct text bytes)
{
	struct image_watch *watch = context;
	struct perf_record record;

	if (!perf_record_parse(bytes, &record))
		return;
	image_table_take(watch->table, &record);
	if (record.kind == PERF_RECORD_OF_MAPPING && has_made_code(record.path))
		note_later(watch, record.pid);
}

struct note {
	struct kept *kept;
	uint32_t pid;
};

static void note(void *job)
{
	const struct note *n = job;

	guard_about(n->pid);
	origin_keep_process(n->kept, n->pid);
}

static void release_note(void *job)
{
	struct note *n = job;

	kept_release(n->kept);
	free(n);
}

/* Where they say what they made is looked for when they have ended, too. */
static void note_coders(struct image_watch *watch)
{
	while (watch->coders.count) {
		struct note *n = calloc(1, sizeof(*n));

		if (!n)
			return;
		n->kept = kept_share(watch->kept);
		n->pid = watch->coders.items[--watch->coders.count];
		if (guard_run(watch->guard, note, n, release_note))
			release_note(n);
	}
}

static void take_until(struct image_watch *watch, uint64_t time_ns)
{
	watch->lost += record_queue_take(&watch->queue, time_ns, take_record, watch);
}

void image_watch_poll(struct image_watch *watch)
{
	uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < watch->rings.count; i++)
		empty_ring(watch, &watch->rings.items[i]);
	/*
	 * What is from before the look is in order: whatever led to a record was written into a
	 * ring before that record got its time, so this look has found it. Of what came while we
	 * looked, that may be in a ring that we had seen already.
	 */
	take_until(watch, record_queue_bytes(&watch->queue) > WAITING_MAX ? UINT64_MAX : begun_ns);
	note_coders(watch);
}

int image_watch_fd(const struct image_watch *watch)
{
	return watch->waiting;
}

bool image_watch_has_waiting(const struct image_watch *watch)
{
	return record_queue_bytes(&watch->queue);
}

/* What happened before something is read must not come after it. */
static void take_all(struct image_watch *watch)
{
	image_watch_poll(watch);
	take_until(watch, UINT64_MAX);
}

uint64_t image_watch_lost(const struct image_watch *watch)
{
	return watch->lost + image_table_lost(watch->table);
}

uint64_t image_watch_missed(const struct image_watch *watch)
{
	return watch->lost;
}

/* --- processes that are there --- */

struct reading {
	struct image_watch *watch;
	uint32_t pid;
	uint64_t exec_pages;
};

/* is_exec_mapping() in mm/internal.h of Linux. The page of vsyscalls is no mapping. */
static bool is_counted(const struct mapping *mapping)
{
	return !mapping->writable && !text_equal(mapping->path, TEXT("[stack]")) &&
	       !text_equal(mapping->path, TEXT("[vsyscall]"));
}

static bool take_mapping(void *context, const struct mapping *mapping, struct text build_id)
{
	struct reading *reading = context;
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
	image_table_read_mapping(reading->watch->table, &record);
	if (has_made_code(mapping->path))
		note_later(reading->watch, reading->pid);
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
static bool is_confirmed(struct image_watch *watch, uint32_t pid, uint64_t exec_pages)
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

/* False: it is gone, or none that we may read. */
static bool read_process(struct image_watch *watch, struct process_maps *maps, uint32_t pid,
			 uint64_t since_ns)
{
	struct reading reading = { .watch = watch, .pid = pid };
	char exe[PATH_MAX];
	size_t length;

	/* A thread of the kernel has none, and no mappings either. */
	if (!read_exe(watch->proc, pid, exe, &length) || !image_table_read_begin(watch->table))
		return false;
	image_table_begin(watch->table, pid, since_ns, (struct text){ exe, length });
	if (process_maps_read(maps, pid, take_mapping, &reading))
		return false;
	image_table_read_end(watch->table, pid,
			     is_confirmed(watch, pid, reading.exec_pages) ? reading.exec_pages : 0);
	return true;
}

static struct error *open_proc(struct image_watch *watch)
{
	return watch->proc >= 0 ? NULL : file_open_dir("/proc", &watch->proc);
}

/* Reads processes of the watch, from its next one on, by maps that are its own. */
struct look {
	struct image_watch *watch;
	struct process_maps *maps;
};

static void release_look(void *job)
{
	struct look *look = job;

	process_maps_destroy(look->maps);
	free(look);
}

static struct error *create_look(struct image_watch *watch, struct look **ret)
{
	struct error *err = open_proc(watch);
	struct look *look = err ? NULL : calloc(1, sizeof(*look));

	if (!look)
		return err ? err : &error_no_memory;
	look->watch = watch;
	/* New ones each time: they believe that a file which they have seen does not change. */
	err = process_maps_create(watch->proc, &look->maps);
	if (err)
		free(look);
	else
		*ret = look;
	return err;
}

static void look_at_processes(void *job)
{
	const struct look *look = job;
	struct image_watch *watch = look->watch;

	while (watch->next < watch->listed.count) {
		const uint32_t pid = watch->listed.items[watch->next];

		if (watch->next++ % READ_AT_ONCE == 0)
			take_all(watch);
		guard_about(pid);
		if (!read_process(watch, look->maps, pid, watch->since_ns))
			continue;
		watch->count_read++;
		if (watch->tells)
			image_table_tell(watch->table, pid);
	}
}

/* All that are listed. One that hangs is passed over. */
static struct error *look_at_listed(struct image_watch *watch, uint64_t since_ns, bool tells)
{
	const size_t without_thread = guard_without_thread(watch->guard);
	struct error *err = NULL;

	watch->next = watch->count_read = 0;
	watch->since_ns = since_ns;
	watch->tells = tells;
	while (!err && watch->next < watch->listed.count) {
		struct look *look;

		err = create_look(watch, &look);
		if (err)
			break;
		if (guard_run(watch->guard, look_at_processes, look, release_look))
			release_look(look);
		else if (guard_without_thread(watch->guard) != without_thread)
			err = thread_missing("read the mappings of processes");
	}
	return err;
}

static bool list_again(struct image_watch *watch, const uint32_t *pids, size_t count)
{
	watch->listed.count = 0;
	for (size_t i = 0; i < count; i++)
		if (!array_push(&watch->listed, pids[i]))
			return false;
	return true;
}

bool image_watch_read_again(struct image_watch *watch, uint32_t pid)
{
	_cleanup_error_ struct error *err = NULL;

	if (!list_again(watch, &pid, 1))
		return false;
	err = look_at_listed(watch, clock_ns(CLOCK_MONOTONIC), false);
	return watch->count_read;
}

struct error *image_watch_start(struct image_watch *watch)
{
	struct error *err = open_proc(watch);
	struct tids all = { 0 };
	int failed = 0;
	bool is_listed;

	if (err)
		return err;
	if (!watch->pids.count)
		failed = tasks_list(watch->proc, &all);
	is_listed = watch->pids.count ? list_again(watch, watch->pids.items, watch->pids.count)
				      : list_again(watch, all.items, all.count);
	array_deinit(&all);
	if (failed || !is_listed)
		return failed ? error_system(failed, "/proc") : &error_no_memory;
	return look_at_listed(watch, 0, true);
}

/* --- what is there now --- */

bool image_watch_changed(struct image_watch *watch, uint32_t *ret_pid)
{
	return image_table_changed(watch->table, ret_pid);
}

bool image_watch_now(const struct image_watch *watch, uint32_t pid, struct image_now *ret)
{
	return image_table_now(watch->table, pid, ret);
}

void image_watch_mark(struct image_watch *watch, uint32_t pid)
{
	image_table_mark(watch->table, pid);
}

/* --- what was found --- */

uint32_t image_watch_find(struct image_watch *watch, uint32_t tgid, uint64_t since_monotonic_ns)
{
	take_until(watch, UINT64_MAX);
	return image_table_find(watch->table, tgid, since_monotonic_ns);
}

struct error *image_watch_finish(struct image_watch *watch, struct profile *profile)
{
	take_until(watch, UINT64_MAX);
	return image_table_put(watch->table, profile);
}

void image_watch_forget(struct image_watch *watch, uint64_t before_monotonic_ns)
{
	image_table_forget(watch->table, before_monotonic_ns);
}
