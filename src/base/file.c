/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/guard.h"

#define FIRST_ROOM ((size_t)8192)

static int grow(struct file_buffer *buffer, size_t room)
{
	char *moved;

	if (room <= buffer->room)
		return 0;
	moved = realloc(buffer->bytes, room);
	if (!moved)
		return ENOMEM;
	buffer->bytes = moved;
	buffer->room = room;
	return 0;
}

static int read_to_end(int fd, bool record, size_t most, struct file_buffer *buffer,
		       struct text *ret)
{
	size_t used = 0;
	int failed = grow(buffer, FIRST_ROOM);

	while (!failed) {
		ssize_t got = read(fd, buffer->bytes + used, buffer->room - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		used += (size_t)got;
		if (got == 0 || used >= most || (record && used < buffer->room)) {
			*ret = (struct text){ buffer->bytes, used < most ? used : most };
			return 0;
		}
		if (used > FILE_READ_MAX)
			return EFBIG;
		if (used == buffer->room)
			failed = grow(buffer, buffer->room * 2);
	}
	return failed;
}

static int open_and_read(int dir, const char *path, bool record, size_t most,
			 struct file_buffer *buffer, struct text *ret)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int failed;

	if (fd < 0)
		return errno;
	failed = read_to_end(fd, record, most, buffer, ret);
	close(fd);
	return failed;
}

int file_read(int dir, const char *path, struct file_buffer *buffer, struct text *ret)
{
	return open_and_read(dir, path, false, SIZE_MAX, buffer, ret);
}

int file_read_record(int dir, const char *path, struct file_buffer *buffer, struct text *ret)
{
	return open_and_read(dir, path, true, SIZE_MAX, buffer, ret);
}

int file_read_head(int dir, const char *path, size_t most, struct file_buffer *buffer,
		   struct text *ret)
{
	return open_and_read(dir, path, false, most, buffer, ret);
}

int file_readlink(int dir, const char *path, struct file_buffer *buffer, struct text *ret)
{
	int failed = grow(buffer, FIRST_ROOM);
	ssize_t length;

	if (failed)
		return failed;
	length = readlinkat(dir, path, buffer->bytes, buffer->room);
	if (length < 0)
		return errno;
	if (length > 4096)
		return ENAMETOOLONG;
	*ret = (struct text){ buffer->bytes, (size_t)length };
	return 0;
}

struct error *file_read_some(int fd, char *bytes, size_t room, size_t *ret)
{
	ssize_t got;

	do
		got = read(fd, bytes, room);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_system(errno, "read");
	*ret = (size_t)got;
	return NULL;
}

/* The owner of a regular file may hold a write lease on it (F_SETLEASE in fcntl(2)), and a blocking
 * open then waits for /proc/sys/fs/lease-break-time, 45 s. */
static int open_again(int found, bool is_regular)
{
	char again[32];

	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	return open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | (is_regular ? O_NONBLOCK : 0));
}

int file_stat(int fd, struct stat *ret)
{
	int failed;

	if (!guard_enter())
		return -1;
	failed = fstat(fd, ret);
	guard_leave();
	return failed;
}

int file_find(int dir, const char *path)
{
	int found;

	if (!guard_enter())
		return -1;
	found = openat(dir, path, O_PATH | O_CLOEXEC);
	guard_leave();
	return found;
}

int file_open_regular(int found)
{
	struct stat stat;
	int fd;

	if (found < 0 || file_stat(found, &stat) || !S_ISREG(stat.st_mode) || !guard_enter())
		return -1;
	fd = open_again(found, true);
	guard_leave();
	return fd;
}

static struct error *open_input(int dir, const char *name, const char *path, bool may_wait,
				int *ret)
{
	_cleanup_close_ int found = openat(dir, name, O_PATH | O_CLOEXEC);
	struct stat stat;
	int fd;

	if (found < 0 || fstat(found, &stat))
		return error_system(errno, "%s", path);
	if (!S_ISREG(stat.st_mode) && !may_wait)
		return error_create("%s: not a regular file", path);
	fd = open_again(found, S_ISREG(stat.st_mode));
	if (fd < 0 && errno == EWOULDBLOCK)
		return error_coded(errno, "%s: a process holds a lease on it (fcntl(2))", path);
	if (fd < 0)
		return error_system(errno, "%s", path);
	*ret = fd;
	return NULL;
}

struct error *file_open_input(const char *path, int *ret)
{
	return open_input(AT_FDCWD, path, path, true, ret);
}

struct error *file_open_input_at(int dir, const char *name, const char *path, int *ret)
{
	return open_input(dir, name, path, false, ret);
}

struct error *file_open_dir(const char *path, int *ret)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return error_system(errno, "%s", path);
	*ret = fd;
	return NULL;
}

void file_buffer_deinit(struct file_buffer *buffer)
{
	free(buffer->bytes);
	buffer->bytes = NULL;
	buffer->room = 0;
}

bool file_close_memory(FILE *stream, char **text)
{
	if (fclose(stream) == 0 && *text)
		return true;
	free(take_ptr(*text));
	return false;
}

bool file_is_trusted(uint32_t owner, uint32_t mode)
{
	return (owner == 0 || owner == geteuid()) && !(mode & (S_IWGRP | S_IWOTH));
}
