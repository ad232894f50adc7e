/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "elf/elf.h"
#include "elf/library_cache.h"
#include "elf/rooted.h"
#include "probe/search.h"
#include "process/maps.h"

struct sought {
	struct text wanted;
	uint32_t pid;
	char *path; /* once it is found */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool take_mapped(void *context, const struct mapping *mapping, struct text build_id)
{
	struct sought *sought = context;
	_cleanup_free_ char *path = strndup(mapping->path.bytes, mapping->path.length);

	(void)build_id;
	if (path && path[0] == '/' && library_is(base_name(path), sought->wanted) &&
	    asprintf(&sought->path, "/proc/%u/root%s", sought->pid, path) < 0)
		sought->path = NULL;
	return !sought->path;
}

/* Visit the mappings of a process; one that has ended has none. */
static void each_mapped(uint32_t pid, process_maps_visit *visit, void *context)
{
	_cleanup_(process_maps_destroy) struct process_maps *maps = NULL;
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct error *err = proc < 0 ? &error_no_memory : process_maps_create(proc, &maps);

	if (!err)
		process_maps_read(maps, pid, visit, context);
	error_destroy(err);
}

int probe_open_file(const char *path)
{
	_cleanup_close_ int root = -1;
	char in[32];
	unsigned pid;
	int length = 0;

	if (sscanf(path, "/proc/%u/root%n", &pid, &length) != 1 || !length || path[length] != '/')
		return rooted_open_link(AT_FDCWD, path);
	snprintf(in, sizeof(in), "/proc/%u/root", pid);
	root = open(in, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return rooted_open(root, path + length);
}

/* Is it for this machine? The cache has those of others too. */
static bool is_runnable(const char *path)
{
	_cleanup_close_ int fd = probe_open_file(path);
	_cleanup_close_ int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint16_t machines[2][10];

	return fd >= 0 && self >= 0 &&
	       pread(fd, machines[0], sizeof(machines[0]), 0) == sizeof(machines[0]) &&
	       pread(self, machines[1], sizeof(machines[1]), 0) == sizeof(machines[1]) &&
	       /* e_ident with class and byte order, and e_machine. */
	       memcmp(machines[0], machines[1], 6) == 0 && machines[0][9] == machines[1][9];
}

static bool take_library(void *context, const char *name, const char *path)
{
	struct sought *sought = context;

	if (library_is(name, sought->wanted) && is_runnable(path))
		sought->path = strdup(path);
	return !sought->path;
}

static void seek_library(const char *cache, struct sought *sought)
{
	struct file_buffer buffer = { 0 };
	struct text bytes;

	if (!file_read(AT_FDCWD, cache ? cache : "/etc/ld.so.cache", &buffer, &bytes))
		library_cache_each(bytes, take_library, sought);
	file_buffer_deinit(&buffer);
}

/* A program, as a shell finds it. */
static void seek_program(struct sought *sought)
{
	const char *path = getenv("PATH");
	struct text rest = text_of(path ? path : "/usr/bin:/bin"), dir;

	while (!sought->path && text_cut(&rest, ':', &dir)) {
		_cleanup_free_ char *name = NULL;

		if (asprintf(&name, "%.*s/%.*s", (int)dir.length, dir.bytes,
			     (int)sought->wanted.length, sought->wanted.bytes) < 0)
			name = NULL;
		if (name && name[0] == '/' && is_runnable(name))
			sought->path = take_ptr(name);
	}
}

/* An absolute path is resolved in the root directory of the process, a relative one in the current
 * directory of ctprof. */
static struct error *path_in(const struct probe_host *host, struct text path, char **ret)
{
	const int length = (int)path.length;
	char here[PATH_MAX];
	int failed;

	if (path.bytes[0] != '/') {
		_cleanup_free_ char *name = strndup(path.bytes, path.length);

		if (!name)
			return &error_no_memory;
		if (!realpath(name, here))
			return error_system(errno, "%s", name);
		*ret = strdup(here);
		return *ret ? NULL : &error_no_memory;
	}
	failed = host->pid ? asprintf(ret, "/proc/%u/root%.*s", host->pid, length, path.bytes)
			   : asprintf(ret, "%.*s", length, path.bytes);

	return failed < 0 ? &error_no_memory : NULL;
}

struct error *probe_find_file(const struct probe_host *host, struct text file, char **ret)
{
	struct sought sought = { .wanted = file, .pid = host->pid };

	if (memchr(file.bytes, '/', file.length))
		return path_in(host, file, ret);
	if (host->pid)
		each_mapped(host->pid, take_mapped, &sought);
	if (!sought.path)
		seek_library(host->libraries, &sought);
	if (!sought.path)
		seek_program(&sought);
	if (!sought.path)
		return error_create("no library or program '%.*s'; give its path", (int)file.length,
				    file.bytes);
	*ret = sought.path;
	return NULL;
}

/* --- files of a target --- */

/* More libraries than this are not searched. */
#define TARGETS_MAX 512

struct targets {
	const struct probe_host *host;
	struct probe_paths *paths;
	bool is_full; /* or there is no memory */
};

void probe_paths_deinit(struct probe_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	array_deinit(paths);
}

/* Takes the path. */
static bool add_target(struct targets *targets, char *path)
{
	struct probe_paths *paths = targets->paths;

	for (size_t i = 0; path && i < paths->count; i++)
		if (strcmp(paths->items[i], path) == 0) {
			free(path);
			return true;
		}
	targets->is_full |= !path || paths->count == TARGETS_MAX || !array_push(paths, path);
	if (targets->is_full)
		free(path);
	return !targets->is_full;
}

static bool take_needed(void *context, const char *name)
{
	struct targets *targets = context;
	struct sought sought = { .wanted = text_of(name) };

	seek_library(targets->host->libraries, &sought);
	return !sought.path || add_target(targets, sought.path);
}

/* Add the libraries that the dynamic linker loads, in its order: those that the program needs, then
 * those that these need. Only the cache says where they are. */
static void add_needed(struct targets *targets)
{
	for (size_t i = 0; i < targets->paths->count && !targets->is_full; i++) {
		_cleanup_close_ int fd = probe_open_file(targets->paths->items[i]);
		struct image image;
		struct elf elf;

		if (fd < 0 || image_open(fd, &image))
			continue;
		if (elf_open(&image, &elf)) {
			elf_each_needed(&elf, take_needed, targets);
			elf_close(&elf);
		}
		image_close(&image);
	}
}

static bool take_target(void *context, const struct mapping *mapping, struct text build_id)
{
	struct targets *targets = context;
	const struct text path = mapping->path;

	(void)build_id;
	return !path.length || path.bytes[0] != '/' ||
	       add_target(targets, text_print("/proc/%u/root%.*s", targets->host->pid,
					      (int)path.length, path.bytes));
}

/* The kernel maps from high addresses to low ones, so what was loaded first comes last. */
static void add_mapped(struct targets *targets)
{
	struct probe_paths *paths = targets->paths;
	const size_t first = paths->count;

	each_mapped(targets->host->pid, take_target, targets);
	for (size_t low = first, high = paths->count; low + 1 < high; low++) {
		char *other = paths->items[--high];

		paths->items[high] = paths->items[low];
		paths->items[low] = other;
	}
}

struct error *probe_find_targets(const struct probe_host *host, struct probe_paths *ret)
{
	const struct probe_host ours = { .libraries = host->libraries };
	struct targets targets = { .host = host, .paths = ret };
	struct error *err = NULL;
	char *path = NULL;

	if (host->program)
		err = probe_find_file(&ours, text_of(host->program), &path);
	else if (host->pid)
		path = text_print("/proc/%u/exe", host->pid);
	else
		err = probe_find_file(&ours, TEXT("libc"), &path);
	if (err)
		return err;
	add_target(&targets, path);
	if (host->program)
		add_needed(&targets);
	else if (host->pid)
		add_mapped(&targets);
	return ret->count ? NULL : &error_no_memory;
}
