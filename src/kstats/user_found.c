/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/user_found.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "base/clock.h"
#include "base/text.h"
#include "os/maps.h"

/* --- mappings of metrics --- */

/* The prefix of its path in maps and in links of descriptors. */
#define PATH_BEFORE "/memfd:" KSTATS_SHARED_PREFIX
#define PATH_BEHIND " (deleted)"

/* The name of the metric in such a path; empty if it is not one. */
static struct text metric_name(struct text path)
{
	const struct text before = TEXT(PATH_BEFORE), behind = TEXT(PATH_BEHIND);
	struct text name;

	if (path.length < before.length + behind.length || !text_starts(path, before) ||
	    !text_ends(path, behind))
		return TEXT("");
	name = (struct text){ path.bytes + before.length,
			      path.length - before.length - behind.length };
	return kstats_shared_is_name(name.bytes, name.length) ? name : TEXT("");
}

static bool parse_maps_line(const char *line, uint32_t pid, struct user_found *ret)
{
	struct text rest = text_of(line), name;
	struct mapping mapping;

	/* A fast check: most of the thousands of lines are other files. */
	if (!strstr(line, PATH_BEFORE) || !maps_next(&rest, &mapping) || mapping.offset)
		return false;
	name = metric_name(mapping.path);
	if (!name.length)
		return false;
	*ret = (struct user_found){ .pid = pid,
				    .start = mapping.start,
				    .end = mapping.end,
				    .inode = mapping.inode,
				    .device = makedev(mapping.major, mapping.minor) };
	memcpy(ret->name, name.bytes, name.length);
	return true;
}

/* A metric's line is shorter: addresses, permissions, an inode, and its name behind "/memfd:". A
 * path has any length, and is passed over. */
#define LINE_ROOM 512
/* Read the clock only once per so many lines. */
#define LINES_A_LOOK 256

int user_found_read(FILE *maps, uint32_t pid, uint64_t time_ns, user_found_visit *visit,
		    void *context)
{
	const uint64_t end_ns = time_ns ? clock_ns(CLOCK_THREAD_CPUTIME_ID) + time_ns : UINT64_MAX;
	bool is_start = true;
	struct user_found found;
	char line[LINE_ROOM];
	int failed = 0;

	errno = 0;
	for (size_t i = 1; !failed && fgets(line, sizeof(line), maps); i++) {
		const bool is_whole = strchr(line, '\n') != NULL;

		/* Skip the rest of a long line, which an attacker may make look like a line. */
		if (is_start && is_whole && parse_maps_line(line, pid, &found) &&
		    !visit(context, &found))
			break;
		is_start = is_whole;
		if (time_ns && i % LINES_A_LOOK == 0 && clock_ns(CLOCK_THREAD_CPUTIME_ID) >= end_ns)
			failed = ETIME;
	}
	return !failed && ferror(maps) ? errno : failed;
}

int user_found_each(uint32_t pid, uint64_t time_ns, user_found_visit *visit, void *context)
{
	char path[64];
	FILE *maps;
	int failed;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno;
	failed = user_found_read(maps, pid, time_ns, visit, context);
	fclose(maps);
	return failed;
}

/* --- opening one --- */

/* The kernel says what it is before anything is opened that could act: a FIFO, a device. */
static bool is_the_file(int fd, const struct user_found *found)
{
	struct stat status;
	struct statfs system;

	return fstat(fd, &status) == 0 && fstatfs(fd, &system) == 0 && S_ISREG(status.st_mode) &&
	       system.f_type == TMPFS_MAGIC && status.st_ino == found->inode &&
	       status.st_dev == found->device;
}

/* Only as a place: nothing is opened by it. -1 and errno. */
static int open_place(const struct user_found *found, const char *directory, const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s/%.64s", found->pid, directory, name);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 || is_the_file(fd, found))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

/* A process may have a million descriptors, and its metric behind the last. */
#define DESCRIPTORS_MAX 65536

/* Among the process's open files. */
static int open_descriptor(const struct user_found *found)
{
	char path[64], target[sizeof(PATH_BEFORE PATH_BEHIND) + KSTATS_SHARED_NAME_MAX + 1];
	struct dirent *entry;
	int fd = -1, failed;
	DIR *stream;

	snprintf(path, sizeof(path), "/proc/%u/fd", found->pid);
	stream = opendir(path);
	if (!stream)
		return -1;
	for (size_t i = 0; fd < 0 && i < DESCRIPTORS_MAX && (entry = readdir(stream)); i++) {
		ssize_t length = readlinkat(dirfd(stream), entry->d_name, target, sizeof(target));

		if (length > 0 && text_equal(metric_name((struct text){ target, (size_t)length }),
					     text_of(found->name)))
			fd = open_place(found, "fd", entry->d_name);
	}
	failed = fd < 0 ? ENOENT : 0;
	closedir(stream);
	errno = failed;
	return fd;
}

static int open_mapping(const struct user_found *found)
{
	char range[40];

	snprintf(range, sizeof(range), "%llx-%llx", (unsigned long long)found->start,
		 (unsigned long long)found->end);
	return open_place(found, "map_files", range);
}

struct error *user_found_refused(const struct user_found *found, int failed)
{
	if (failed == EACCES || failed == EPERM)
		return error_coded(failed,
				   "metric %u:%s: permission denied: only root and the process's "
				   "user may open it",
				   found->pid, found->name);
	if (failed == ENOENT)
		return error_coded(failed,
				   "metric %u:%s: only root may open it: the process has closed "
				   "its file",
				   found->pid, found->name);
	if (failed == EWOULDBLOCK)
		return error_coded(EBUSY, "metric %u:%s: its program holds a lease on it",
				   found->pid, found->name);
	return error_system(failed, "metric %u:%s", found->pid, found->name);
}

struct error *user_found_open(const struct user_found *found, bool writable,
			      struct kstats_region *ret)
{
	char path[40];
	int place = open_mapping(found), fd, failed;
	struct error *err;

	/* Without the privilege to open mappings, use the descriptor. With it, a failure means that
	 * the metric is gone. */
	if (place < 0 && (errno == EPERM || errno == EACCES))
		place = open_descriptor(found);
	if (place < 0)
		return user_found_refused(found, errno);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	/* Without O_NONBLOCK it would wait for a lease that the program holds (fcntl(2)). */
	fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
	failed = errno;
	close(place);
	if (fd < 0)
		return user_found_refused(found, failed);
	err = kstats_region_map(fd, writable, ret);
	if (!err && strcmp(ret->header.name, found->name) != 0) {
		kstats_region_unmap(ret);
		err = error_coded(EPROTO, "the name in its memory does not match");
	}
	return err ? error_prefix(err, "metric %u:%s", found->pid, found->name) : NULL;
}
