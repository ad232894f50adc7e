/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that record with libkstats.
 *
 * A metric is a memfd that a process has mapped: a mapping is the process's own doing, while a file
 * could be among its open ones because somebody sent it there. It is opened by that mapping, which
 * needs CAP_CHECKPOINT_RESTORE, or by the descriptor that libkstats keeps of it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/text.h"
#include "kstats/user_region.h"
#include "proc/cpulist.h"
#include "proc/maps.h"
#include "proc/tasks.h"

/* --- mappings of metrics --- */

/* A metric that a process has mapped, by the kernel's word. */
struct found {
	uint32_t pid;
	uint64_t start, end, inode;
	dev_t device;
	char name[KSTATS_SHARED_NAME_MAX + 1];
};

/* As it stands in maps and behind descriptors. */
#define PATH_BEFORE "/memfd:" KSTATS_SHARED_PREFIX
#define PATH_BEHIND " (deleted)"

/* The metric's name out of such a path; empty when it is none. */
static struct text name_of(struct text path)
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

static bool take_line(const char *line, uint32_t pid, struct found *ret)
{
	struct text rest = text_of(line), name;
	struct mapping mapping;

	/* Most mappings are other files, and lines are looked at by the thousand. */
	if (!strstr(line, PATH_BEFORE) || !maps_next(&rest, &mapping) || mapping.offset)
		return false;
	name = name_of(mapping.path);
	if (!name.length)
		return false;
	*ret = (struct found){ .pid = pid,
			       .start = mapping.start,
			       .end = mapping.end,
			       .inode = mapping.inode,
			       .device = makedev(mapping.major, mapping.minor) };
	memcpy(ret->name, name.bytes, name.length);
	return true;
}

/* `visit` ends the search by false. */
typedef bool found_visit(void *context, const struct found *found);

/* Each metric that a process has mapped. Returns 0 or the errno of its maps. */
static int visit_metrics(uint32_t pid, found_visit *visit, void *context)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	char path[64];
	struct found found;
	FILE *maps;
	int failed;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno;
	errno = 0;
	while (getline(&line, &room, maps) > 0)
		if (take_line(line, pid, &found) && !visit(context, &found))
			break;
	failed = ferror(maps) ? errno : 0;
	fclose(maps);
	return failed;
}

/* --- opening one --- */

/* The kernel says what it is before anything is opened that could act: a FIFO, a device. */
static bool is_the_file(int fd, const struct found *found)
{
	struct stat status;
	struct statfs system;

	return fstat(fd, &status) == 0 && fstatfs(fd, &system) == 0 && S_ISREG(status.st_mode) &&
	       system.f_type == TMPFS_MAGIC && status.st_ino == found->inode &&
	       status.st_dev == found->device;
}

/* Only as a place: nothing is opened by it. -1 and errno. */
static int open_place(const struct found *found, const char *directory, const char *name)
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

/* Among the process's open files. */
static int open_descriptor(const struct found *found)
{
	char path[64], target[sizeof(PATH_BEFORE PATH_BEHIND) + KSTATS_SHARED_NAME_MAX + 1];
	struct dirent *entry;
	int fd = -1, failed;
	DIR *stream;

	snprintf(path, sizeof(path), "/proc/%u/fd", found->pid);
	stream = opendir(path);
	if (!stream)
		return -1;
	while (fd < 0 && (entry = readdir(stream))) {
		ssize_t length = readlinkat(dirfd(stream), entry->d_name, target, sizeof(target));

		if (length > 0 && text_equal(name_of((struct text){ target, (size_t)length }),
					     text_of(found->name)))
			fd = open_place(found, "fd", entry->d_name);
	}
	failed = fd < 0 ? ENOENT : 0;
	closedir(stream);
	errno = failed;
	return fd;
}

static int open_mapping(const struct found *found)
{
	char range[40];

	snprintf(range, sizeof(range), "%llx-%llx", (unsigned long long)found->start,
		 (unsigned long long)found->end);
	return open_place(found, "map_files", range);
}

static struct error *cannot_open(const struct found *found, int failed)
{
	if (failed == EACCES || failed == EPERM)
		return error_coded(failed,
				   "metric %u:%s: only root and the user of the process may",
				   found->pid, found->name);
	if (failed == ENOENT)
		return error_coded(failed,
				   "metric %u:%s: the process has closed its file, so that only "
				   "root may open it",
				   found->pid, found->name);
	return error_system(failed, "metric %u:%s", found->pid, found->name);
}

static struct error *open_found(const struct found *found, bool writable, struct kstats_region *ret)
{
	char path[40];
	int place = open_mapping(found), fd, failed;
	struct error *err;

	if (place < 0)
		place = open_descriptor(found);
	if (place < 0)
		return cannot_open(found, errno);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	failed = errno;
	close(place);
	if (fd < 0)
		return cannot_open(found, failed);
	err = kstats_region_map(fd, writable, ret);
	if (!err && strcmp(ret->header.name, found->name) != 0) {
		kstats_region_unmap(ret);
		err = error_coded(EPROTO, "its memory has the name of another");
	}
	return err ? error_prefix(err, "metric %u:%s", found->pid, found->name) : NULL;
}

/* --- by name --- */

static bool is_wanted(void *context, const struct found *found)
{
	struct found *wanted = context;

	if (strcmp(wanted->name, found->name) != 0)
		return true;
	*wanted = *found;
	return false;
}

/* "PID:NAME" */
static struct error *open_named(const char *name, bool writable, struct kstats_region *ret)
{
	struct text rest = text_of(name), pid;
	struct found found = { 0 };
	int failed;

	if (!strchr(name, ':') || !text_cut(&rest, ':', &pid) || !text_u32(pid, &found.pid) ||
	    !kstats_shared_is_name(rest.bytes, rest.length))
		return error_coded(ENOENT, "no metric '%s': those of programs are PID:NAME", name);
	memcpy(found.name, rest.bytes, rest.length);
	failed = visit_metrics(found.pid, is_wanted, &found);
	if (found.inode)
		return open_found(&found, writable, ret);
	if (failed == ENOENT || failed == ESRCH)
		return error_coded(ENOENT, "metric %s: no process %u", name, found.pid);
	if (failed)
		return cannot_open(&found, failed);
	return error_coded(ENOENT, "process %u has no metric '%s'", found.pid, found.name);
}

/* --- all of them --- */

struct listing {
	struct kstats_entries *entries;
	struct error *err;
	struct {
		ARRAY(struct found);
	} seen;
};

/* Processes that forked have the same one: it is listed once, by the lowest number. */
static bool is_seen(const struct listing *listing, const struct found *found)
{
	for (size_t i = 0; i < listing->seen.count; i++)
		if (listing->seen.items[i].inode == found->inode &&
		    listing->seen.items[i].device == found->device)
			return true;
	return false;
}

static struct error *add_entry(struct listing *listing, const struct found *found,
			       const struct kstats_region *region)
{
	struct kstats_entry entry = { .is_active = kstats_region_is_active(region) };
	struct error *err = kstats_region_count(region, &entry.count);

	if (err)
		return err;
	if (asprintf(&entry.name, "%u:%s", found->pid, found->name) < 0)
		return &error_no_memory;
	if (array_push(listing->entries, entry))
		return NULL;
	free(entry.name);
	return &error_no_memory;
}

/* One that cannot be had, is no metric or has gone meanwhile is not listed. */
static bool list_metric(void *context, const struct found *found)
{
	struct listing *listing = context;
	struct kstats_region region;
	struct error *err;

	if (is_seen(listing, found))
		return true;
	err = open_found(found, false, &region);
	if (!err) {
		err = add_entry(listing, found, &region);
		kstats_region_unmap(&region);
		if (!err && !array_push(&listing->seen, *found))
			err = &error_no_memory;
	}
	if (err == &error_no_memory)
		listing->err = err;
	else
		error_destroy(err);
	return !listing->err;
}

static struct error *list_metrics(struct kstats_entries *entries)
{
	_cleanup_close_ int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct listing listing = { .entries = entries };
	struct tids pids = { 0 };
	int failed = proc < 0 ? errno : tasks_list(proc, &pids);

	for (size_t i = 0; !failed && !listing.err && i < pids.count; i++)
		visit_metrics(pids.items[i], list_metric, &listing);
	array_deinit(&pids);
	array_deinit(&listing.seen);
	return failed ? error_system(failed, "/proc") : listing.err;
}

/* --- one table --- */

static struct error *describe(const struct kstats_region *region, struct kstats_table *table)
{
	struct utsname system;

	uname(&system);
	table->host = strdup(system.nodename);
	table->recorder = strdup(kstats_user.name);
	if (!table->host || !table->recorder)
		return &error_no_memory;
	table->by = KSTATS_BY_CPU;
	table->cpus = cpus_possible();
	table->is_active = kstats_region_is_active(region);
	table->taken_ns = clock_ns(CLOCK_REALTIME);
	table->overhead_ns = region->header.overhead_ns;
	/* Whoever calls is counted. */
	table->losses_known = (1u << KSTATS_LOSS_COUNT) - 1;
	return NULL;
}

static struct error *read_metric(const char *name, struct kstats_table **ret)
{
	_cleanup_(kstats_table_destroy) struct kstats_table *table = NULL;
	struct kstats_region region;
	struct error *err = open_named(name, false, &region);

	if (err)
		return err;
	err = kstats_table_create(name, region.header.frac_bits, region.header.is_time ? "ns" : "",
				  &table);
	if (!err)
		err = describe(&region, table);
	if (!err)
		err = kstats_region_read(&region, table);
	kstats_region_unmap(&region);
	if (err)
		return error_prefix(err, "metric %s", name);
	*ret = take_ptr(table);
	return NULL;
}

static struct error *command_metric(const char *name, enum kstats_command command)
{
	struct kstats_region region;
	struct error *err = open_named(name, true, &region);

	if (err)
		return err;
	err = kstats_region_command(&region, command);
	kstats_region_unmap(&region);
	return err ? error_prefix(err, "metric %s", name) : NULL;
}

const struct kstats_recorder kstats_user = {
	.name = "user",
	.list = list_metrics,
	.read = read_metric,
	.command = command_metric,
};
