/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap_process.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include "base/file.h"
#include "base/user_space.h"
#include "os/map_query.h"

/* --- where --- */

/* The load bias of a library, computed from its first executable mapping. May be negative. */
static bool bias_of(const struct heap_file *file, const struct mapping *mapping, __int128 *ret)
{
	if (mapping->offset != file->text_offset)
		return false;
	*ret = (__int128)mapping->start - file->text_address;
	return true;
}

/* The address is computed from a file and a mapping, so it may lie outside of user space. */
static bool read_word(pid_t pid, __int128 address, uint64_t *ret)
{
	struct iovec here = { ret, sizeof(*ret) };
	struct iovec there = { (void *)(uintptr_t)address, sizeof(*ret) };

	if (address < 0 || address > (__int128)(USER_SPACE_LIMIT - sizeof(*ret)))
		return false;
	return process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(*ret);
}

/* Storage of a thread is below 2 GiB, and the words of it that have not been filled are 0. */
static bool is_distance(int64_t block)
{
	return block && block > INT32_MIN && block < INT32_MAX;
}

static enum probe_failure take_place(pid_t pid, const struct heap_file *file, __int128 bias,
				     struct heap_location *ret)
{
	const struct jemalloc_layout *layout = &file->layout;
	int64_t block = layout->block;

	if (layout->by_slot) {
		uint64_t word;

		if (!read_word(pid, bias + layout->slot, &word))
			return PROBE_PROCESS_VM_READV;
		block = (int64_t)word;
	}
	if (!is_distance(block))
		return PROBE_TLS_ARITHMETIC;
	*ret = (struct heap_location){ block, layout->allocated, layout->deallocated };
	return PROBE_DONE;
}

/* Files that were mapped, one after the other. */
struct heap_process_walk {
	struct heap_files *files;
	const struct heap_process *process;
	uint64_t major, minor, inode; /* of the file of the mapping before */
	char program[PATH_MAX];       /* how the kernel calls the program; "": unknown */
	struct heap_file dso;         /* the one with jemalloc */
	__int128 bias;
	unsigned found;
};

static bool is_again(const struct heap_process_walk *walk, const struct mapping *mapping)
{
	return mapping->inode == walk->inode && mapping->major == walk->major &&
	       mapping->minor == walk->minor;
}

/*
 * Is the mapping that of the program, which is analysed as such? Two file systems may each have a
 * file with that inode number; and on some (overlayfs, btrfs) the device of a mapping differs from
 * that of stat(2), but the path is the same.
 */
static bool is_program(const struct heap_process_walk *walk, const struct mapping *mapping)
{
	const struct stat *program = walk->process->program;

	return (mapping->inode == program->st_ino &&
		makedev(mapping->major, mapping->minor) == program->st_dev) ||
	       (mapping->path.length && text_equal(mapping->path, text_of(walk->program)));
}

static struct error *see_mapping(struct heap_process_walk *walk, const struct mapping *mapping)
{
	struct heap_file file;
	struct error *err;

	if (!mapping->executable || !mapping->inode || is_again(walk, mapping) ||
	    is_program(walk, mapping))
		return NULL;
	walk->inode = mapping->inode;
	walk->major = mapping->major;
	walk->minor = mapping->minor;
	err = heap_files_library(walk->files, walk->process->dir, mapping, &file);
	if (err || file.failure == PROBE_NOT_FOUND)
		return err;
	if (file.failure == PROBE_DONE && !bias_of(&file, mapping, &walk->bias))
		file.failure = PROBE_MAPS_READ;
	walk->dso = file;
	walk->found++;
	return NULL;
}

static struct error *query_mappings(struct heap_process_walk *walk, int maps, int *ret)
{
	struct map_query query = { .fd = maps };
	struct mapping mapping;
	struct error *err = NULL;
	int failed = 0;

	while (!err && !failed) {
		failed = map_query_next(&query, &mapping);
		if (!failed)
			err = see_mapping(walk, &mapping);
	}
	*ret = failed;
	return err;
}

static struct error *read_mappings(struct heap_process_walk *walk, int *ret)
{
	struct mapping mapping;
	struct error *err = NULL;
	struct text rest;

	*ret = file_read(walk->process->dir, "maps", walk->files->buffer, &rest);
	/* The buffer is used for links of programs only, and this one's was read. */
	while (!*ret && !err && maps_next(&rest, &mapping))
		err = see_mapping(walk, &mapping);
	return err;
}

/* The library with jemalloc, and what to add to its addresses; two of them are ambiguous. */
static struct error *find_library(struct heap_process_walk *walk)
{
	_cleanup_close_ int maps = openat(walk->process->dir, "maps", O_RDONLY | O_CLOEXEC);
	int failed = maps < 0 ? errno : 0;
	struct error *err = NULL;
	struct text link;

	if (!file_readlink(walk->process->dir, "exe", walk->files->buffer, &link) &&
	    link.length < sizeof(walk->program))
		memcpy(walk->program, link.bytes, link.length);
	if (!failed)
		err = query_mappings(walk, maps, &failed);
	if (!err && failed == ENOTTY)
		err = read_mappings(walk, &failed);
	if (err)
		return err;
	if (failed == EACCES || failed == EPERM)
		walk->dso.failure = PROBE_READLINK;
	else if (failed && failed != ENOENT && failed != ESRCH)
		walk->dso.failure = PROBE_MAPS_READ;
	if (walk->found > 1)
		walk->dso.failure = PROBE_AMBIGUOUS;
	return NULL;
}

struct error *heap_locate(struct heap_files *files, const struct heap_process *process,
			  enum probe_failure *ret_failure, struct heap_location *ret)
{
	struct heap_process_walk walk = { .files = files, .process = process };
	struct heap_file program;
	enum probe_failure failure;
	struct error *err = heap_files_program(files, process->dir, process->program, &program);

	walk.dso.failure = PROBE_NOT_FOUND;
	if (!err && program.has_libraries)
		err = find_library(&walk);
	if (err)
		return err;
	failure = program.failure;
	if (failure == PROBE_NOT_FOUND)
		failure = walk.dso.failure;
	else if (walk.found)
		failure = PROBE_AMBIGUOUS; /* in each of the two is a part of what was allocated */
	if (!failure)
		failure =
			take_place(process->pid, walk.found ? &walk.dso : &program, walk.bias, ret);
	*ret_failure = failure;
	return NULL;
}

/* --- what --- */

/* The counters and what lies between: the offsets are not further apart (elf/jemalloc.c). */
#define WORDS_MAX 9

#define BATCH     512

/* The largest distance to the next event of a counter (TE_MAX_INTERVAL is 4 MiB), with a margin for
 * later versions. */
#define EVENT_MAX ((uint64_t)1 << 30)

bool heap_is_sound(const uint64_t *words, size_t count)
{
	if (count != 3)
		return true;
	return !words[1] || (words[1] > words[0] && words[1] - words[0] <= EVENT_MAX);
}

bool heap_adds_up(const struct heap_location *location, const struct heap_counters *threads,
		  size_t count)
{
	uint64_t allocated = 0, deallocated = 0;

	for (size_t i = 0; i < count; i++)
		if (threads[i].failure == PROBE_DONE) {
			allocated += threads[i].allocated;
			deallocated += threads[i].deallocated;
		}
	return location->deallocated - location->allocated == 16 || deallocated <= allocated;
}

struct heap_batch {
	size_t index[BATCH]; /* of the threads */
	struct iovec there[BATCH];
	uint64_t words[BATCH * WORDS_MAX];
	size_t count, words_each;
};

static void add_counters(const struct heap_batch *batch, size_t i, struct heap_counters *threads)
{
	const uint64_t *words = &batch->words[i * batch->words_each];
	struct heap_counters *thread = &threads[batch->index[i]];

	thread->allocated = words[0];
	thread->deallocated = words[batch->words_each - 1];
	thread->failure = heap_is_sound(words, batch->words_each) ? PROBE_DONE : PROBE_CROSS_CHECK;
}

/* The call ends at the first place that cannot be read: what follows is asked for again. */
static void read_batch(pid_t pid, struct heap_batch *batch, struct heap_counters *threads)
{
	size_t each = batch->words_each * sizeof(batch->words[0]);

	for (size_t done = 0; done < batch->count;) {
		struct iovec here = { &batch->words[done * batch->words_each],
				      (batch->count - done) * each };
		ssize_t got = process_vm_readv(pid, &here, 1, &batch->there[done],
					       batch->count - done, 0);
		size_t whole = got > 0 ? (size_t)got / each : 0;

		for (size_t i = 0; i < whole; i++)
			add_counters(batch, done + i, threads);
		done += whole;
		if (done < batch->count)
			threads[batch->index[done++]].failure = PROBE_PROCESS_VM_READV;
	}
	batch->count = 0;
}

/* A thread may be just between counting and setting the next event: once more, and once more. */
#define TRIES 3

void heap_read(pid_t pid, const struct heap_location *location, struct heap_counters *threads,
	       size_t count)
{
	struct heap_batch batch;
	uint64_t start = (uint64_t)location->block + location->allocated;

	batch.count = 0;
	batch.words_each = (location->deallocated - location->allocated) / 8 + 1;
	for (unsigned attempt = 0; attempt < TRIES; attempt++) {
		for (size_t i = 0; i < count; i++) {
			enum probe_failure wanted = attempt ? PROBE_CROSS_CHECK : PROBE_DONE;

			if (threads[i].failure != wanted)
				continue;
			batch.index[batch.count] = i;
			batch.there[batch.count++] = (struct iovec){
				(void *)(uintptr_t)(threads[i].thread_pointer + start),
				batch.words_each * sizeof(batch.words[0])
			};
			if (batch.count == BATCH)
				read_batch(pid, &batch, threads);
		}
		if (batch.count)
			read_batch(pid, &batch, threads);
	}
}
