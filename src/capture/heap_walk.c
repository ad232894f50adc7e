/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap_walk.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/heap_ptrace.h"
#include "os/stat.h"

void heap_walk_deinit(struct heap_walk *walk)
{
	heap_files_deinit(&walk->files);
	file_buffer_deinit(&walk->buffer);
	word_map_deinit(&walk->without);
	map_deinit(&walk->alike_without);
	array_deinit(&walk->counters);
	array_deinit(&walk->tids);
}

void heap_walk_begin(struct heap_walk *walk)
{
	walk->files.round++;
	map_deinit(&walk->alike_without);
}

/* --- one process --- */

struct heap_group {
	struct heap_thread *threads;
	size_t count;
	uint32_t tgid;
	struct stat program;
	int dir; /* of the process in /proc */
};

/* A thread that has ended has no storage any more. */
static bool has_thread_ended(const struct heap_thread *thread)
{
	return thread->state == 'Z' || thread->state == 'X';
}

/* The kernel gives numbers again: is it still the process that was captured? */
static bool is_captured_one(struct heap_walk *walk, const struct heap_group *group)
{
	const struct heap_thread *first = &group->threads[0];
	struct stat_line line;
	struct text bytes;
	uint64_t start;

	if (first->tid != group->tgid || !first->start_time.measured)
		return true;
	return file_read_record(group->dir, "stat", &walk->buffer, &bytes) == 0 &&
	       stat_parse(bytes, &line) && text_u64(line.columns[STAT_START_TIME], &start) &&
	       start == first->start_time.value;
}

/* The threads as far as they are known; those that have ended get a failure. */
static struct error *list_threads(struct heap_walk *walk, const struct heap_group *group)
{
	walk->counters.count = walk->tids.count = 0;
	if (!array_reserve(&walk->counters, group->count) ||
	    !array_reserve(&walk->tids, group->count))
		return &error_no_memory;
	for (size_t i = 0; i < group->count; i++) {
		const struct heap_thread *thread = &group->threads[i];
		struct heap_counters counters = thread->counters;

		if (has_thread_ended(thread))
			counters.failure = PROBE_NOT_FOUND;
		walk->counters.items[walk->counters.count++] = counters;
		walk->tids.items[walk->tids.count++] = thread->tid;
	}
	return NULL;
}

static void find_pointers(struct heap_walk *walk, uint32_t tgid)
{
	const struct heap_trace trace = { walk->proc, tgid, walk->tids.items, walk->counters.items,
					  walk->counters.count };
	size_t unknown = 0;

	for (size_t i = 0; i < trace.count; i++) {
		struct heap_counters *thread = &trace.threads[i];

		if (thread->failure || thread->thread_pointer)
			continue;
		unknown++;
		if (!walk->allow_ptrace)
			thread->failure = PROBE_NO_THREAD_POINTER;
	}
	if (unknown && walk->allow_ptrace)
		heap_trace(&trace);
}

/* All threads of the process get what was read, or none does. */
static void take_counters(const struct heap_walk *walk, const struct heap_group *group,
			  struct heap_tally *tally)
{
	for (size_t i = 0; i < group->count; i++) {
		struct heap_thread *thread = &group->threads[i];

		thread->counters = walk->counters.items[i];
		thread->measured = !thread->counters.failure;
		if (thread->measured)
			tally->ok++;
		else
			tally->failures[thread->counters.failure]++;
	}
}

/* Does the process still run the analysed program? Otherwise its memory has another layout. */
static bool is_same_program(const struct heap_group *group)
{
	struct stat stat;

	return fstatat(group->dir, "exe", &stat, 0) == 0 && stat.st_dev == group->program.st_dev &&
	       stat.st_ino == group->program.st_ino;
}

/* --- processes without jemalloc --- */

/* A process by its number, its start and its program: numbers are given again. The kernel's device
 * numbers have 32 bits. */
static struct words group_key(const struct heap_group *group)
{
	return (struct words){ { (uint64_t)group->tgid << 32 | (uint32_t)group->program.st_dev,
				 group->threads[0].start_time.value, group->program.st_ino } };
}

/* Above this number, all are forgotten and checked again. */
#define WITHOUT_MAX 100000

/* A process may be seen while its libraries are still being mapped; after so many checks without
 * jemalloc, it has none. */
#define WITHOUT_SURE 2

static bool is_without(const struct heap_walk *walk, const struct heap_group *group)
{
	uint32_t times = word_map_find(&walk->without, group_key(group));

	return times != WORD_MAP_NEW && times >= WITHOUT_SURE;
}

/*
 * A process that runs without jemalloc will not get it: its block is in static thread-local
 * storage, where the dynamic linker keeps no room for that much of a library that is loaded later
 * (dlopen(3) fails: "cannot allocate memory in static TLS block").
 */
static struct error *remember_without(struct heap_walk *walk, const struct heap_group *group)
{
	uint32_t *times;

	if (walk->without.count >= WITHOUT_MAX) {
		word_map_deinit(&walk->without);
		walk->without = (struct word_map){ 0 };
	}
	times = word_map_at(&walk->without, group_key(group));
	if (!times)
		return &error_no_memory;
	*times = *times == WORD_MAP_NEW ? 1 : *times + 1;
	return NULL;
}

/* --- processes that are alike --- */

static struct alike alike_of(const struct heap_group *group)
{
	const struct heap_image *image = &group->threads[0].image;

	return (struct alike){
		.program = image->program,
		.executable_pages = image->executable_pages,
		.cgroup = image->cgroup,
		.euid = image->euid,
	};
}

static bool is_alike_without(const struct heap_walk *walk, const struct heap_group *group)
{
	return group->threads[0].image.executable_pages &&
	       map_find(&walk->alike_without, alike_of(group));
}

/*
 * Is the program that was read the one that the iterator has seen? The child of a server may have
 * run its own program since, by execve(2), without the server's libraries.
 *
 * On some file systems (overlayfs, btrfs) stat(2) gives another device than the superblock has, but
 * both have major number 0; the number of the inode is the same.
 */
static bool is_program_of_image(const struct heap_group *group)
{
	const struct heap_image *image = &group->threads[0].image;
	const dev_t device =
		makedev(image->program_device >> 20, image->program_device & ((1u << 20) - 1));

	return image->program_inode == group->program.st_ino &&
	       (device == group->program.st_dev ||
		(!major(device) && !major(group->program.st_dev))) &&
	       is_same_program(group);
}

/* If a file could not be read, nothing is remembered: it may use jemalloc, so the other processes
 * are searched, too. */
static struct error *remember_alike(struct heap_walk *walk, const struct heap_group *group,
				    uint64_t refused_before)
{
	if (!group->threads[0].image.executable_pages || walk->files.refused != refused_before ||
	    !is_program_of_image(group))
		return NULL;
	return map_add(&walk->alike_without, alike_of(group), NULL) ? NULL : &error_no_memory;
}

static struct error *read_heap(struct heap_walk *walk, const struct heap_group *group,
			       struct heap_tally *tally)
{
	const struct heap_process process = { (pid_t)group->tgid, group->dir, &group->program };
	const uint64_t refused = walk->files.refused;
	enum probe_failure failure;
	struct heap_location location;
	struct error *err;

	walk->files.buffer = &walk->buffer;
	err = heap_locate(&walk->files, &process, &failure, &location);
	if (err)
		return err;
	if (failure) {
		tally->failures[failure]++;
		err = failure == PROBE_NOT_FOUND ? remember_without(walk, group) : NULL;
		if (!err && failure == PROBE_NOT_FOUND)
			err = remember_alike(walk, group, refused);
		return err;
	}
	tally->detected++;
	err = list_threads(walk, group);
	if (err)
		return err;
	find_pointers(walk, group->tgid);
	heap_read((pid_t)group->tgid, &location, walk->counters.items, group->count);
	if (!is_same_program(group) || !is_captured_one(walk, group))
		tally->failures[PROBE_PID_MISSING]++;
	else if (!heap_adds_up(&location, walk->counters.items, group->count))
		tally->failures[PROBE_CROSS_CHECK]++;
	else
		take_counters(walk, group, tally);
	return NULL;
}

/* Kernel threads have no program, nor has a process that is ending: one call and no more, if that
 * is not known already. */
struct error *heap_walk_process(struct heap_walk *walk, struct heap_thread *threads, size_t count,
				struct heap_tally *tally)
{
	struct heap_group group = { .threads = threads, .count = count, .tgid = threads[0].tgid };
	_cleanup_close_ int dir = -1;
	char path[32];

	tally->walked++;
	if (!threads[0].image.has_memory) {
		tally->failures[PROBE_NOT_FOUND]++;
		return NULL;
	}
	if (is_alike_without(walk, &group)) {
		tally->failures[PROBE_NOT_FOUND]++;
		return NULL;
	}
	snprintf(path, sizeof(path), "%" PRIu32 "/exe", group.tgid);
	if (fstatat(walk->proc, path, &group.program, 0)) {
		tally->failures[errno == ENOENT || errno == ESRCH ? PROBE_NOT_FOUND
								  : PROBE_READLINK]++;
		return NULL;
	}
	if (is_without(walk, &group)) {
		tally->failures[PROBE_NOT_FOUND]++;
		return NULL;
	}
	*strchr(path, '/') = 0;
	dir = openat(walk->proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 && file_is_shortage(errno))
		return error_system(errno, "process %" PRIu32, group.tgid);
	if (dir < 0) {
		tally->failures[PROBE_PID_MISSING]++;
		return NULL;
	}
	group.dir = dir;
	return read_heap(walk, &group, tally);
}
