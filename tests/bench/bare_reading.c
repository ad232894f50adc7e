/* SPDX-License-Identifier: BSD-2-Clause */
#include "bare_reading.h"

#include <ctype.h>
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define ROOM         8192
#define CMDLINE_MOST 4096

static char buffer[ROOM];

/* A file that the kernel gives whole in one read. */
static void read_record(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return;
	while (read(fd, buffer, ROOM) == ROOM)
		;
	close(fd);
}

static void read_to_end(int dir, const char *name, size_t most)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return;
	while (used < most && (got = read(fd, buffer, ROOM)) > 0)
		used += (size_t)got;
	close(fd);
}

static void read_process_files(int proc, const char *tgid)
{
	int dir = openat(proc, tgid, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char link[ROOM];

	if (dir < 0)
		return;
	read_to_end(dir, "smaps_rollup", (size_t)-1);
	if (readlinkat(dir, "exe", link, sizeof(link)) < 0)
		link[0] = '\0'; /* a kernel thread */
	read_to_end(dir, "cmdline", CMDLINE_MOST);
	close(dir);
}

static void read_thread(int tasks, const char *tid)
{
	static const char *const records[] = { "cgroup", "stat",  "schedstat",
					       "status", "sched", "io" };
	int dir = openat(tasks, tid, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return;
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		read_record(dir, records[i]);
	close(dir);
}

static DIR *open_stream(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

static unsigned read_process(int proc, const char *tgid)
{
	char path[64];
	struct dirent *entry;
	unsigned threads = 0;
	DIR *stream;
	int tasks;

	snprintf(path, sizeof(path), "%.32s/task", tgid);
	tasks = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tasks < 0)
		return 0;
	stream = open_stream(tasks);
	while (stream && (entry = readdir(stream))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		read_thread(tasks, entry->d_name);
		threads++;
	}
	if (stream)
		closedir(stream);
	close(tasks);
	read_process_files(proc, tgid);
	return threads;
}

unsigned bare_reading(void)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = proc < 0 ? NULL : open_stream(proc);
	struct dirent *entry;
	unsigned threads = 0;

	if (!stream)
		err(1, "/proc");
	while ((entry = readdir(stream)))
		if (isdigit((unsigned char)entry->d_name[0]))
			threads += read_process(proc, entry->d_name);
	closedir(stream);
	close(proc);
	return threads;
}
