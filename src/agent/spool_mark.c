/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/spool_internal.h"

int spool_write_bytes(int fd, struct text bytes)
{
	while (bytes.length) {
		const ssize_t written = write(fd, bytes.bytes, bytes.length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? errno : ENOSPC;
		bytes.bytes += written;
		bytes.length -= (size_t)written;
	}
	return 0;
}

/* --- files of an earlier version --- */

/* Copy the rest of a file, from `at`, with the buffer of the spool. Returns 0 or an errno. */
static int copy_rest(struct spool *spool, int from, off_t at, int to)
{
	int failed = 0;

	while (!failed) {
		const ssize_t got = pread(from, spool->start, sizeof(spool->start), at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? errno : 0;
		failed = spool_write_bytes(to, (struct text){ spool->start, (size_t)got });
		at += got;
	}
	return failed;
}

/* Write the request that is open in `from`, whose body begins at `at`, with another header, to
 * SPOOL_MARKED_NAME, and wait for the disk. Returns 0 or an errno. */
static int write_marked(struct spool *spool, const struct spool_folder *folder, struct text header,
			int from, off_t at)
{
	int failed, fd;

	fd = spool_create_file(folder, SPOOL_MARKED_NAME);
	if (fd < 0)
		return errno;
	failed = spool_write_bytes(fd, header);
	if (!failed)
		failed = copy_rest(spool, from, at, fd);
	if (!failed && fsync(fd))
		failed = errno;
	if (close(fd) && !failed)
		failed = errno;
	return failed;
}

/* The file has no place for the mark: have another one, with a mark, take its place. False: it
 * stays as it is, as on a disk that is full. */
static bool replace_by_marked(struct spool *spool, struct spool_folder *folder,
			      struct spool_entry *entry, int fd)
{
	struct request_header header;
	struct text marked = { NULL, 0 };
	char name[SPOOL_NAME_SIZE];
	struct error *err;
	uint64_t bytes;
	int failed;

	if (!request_header_read(fd, spool->start, &header))
		return false;
	err = request_header_write_marked(&header, &marked);
	if (err) {
		error_destroy(err);
		return false;
	}
	bytes = spool_blocks_of(marked.length + header.body_length);
	spool_name_of(entry->id, name);
	failed = write_marked(spool, folder, marked, fd, (off_t)header.length);
	if (!failed && renameat(folder->dir, SPOOL_MARKED_NAME, folder->dir, name))
		failed = errno;
	free((void *)(uintptr_t)marked.bytes);
	if (failed) {
		unlinkat(folder->dir, SPOOL_MARKED_NAME, 0);
		return false;
	}
	spool->bytes += bytes - entry->bytes;
	entry->bytes = bytes;
	return true;
}

/* --- the mark --- */

bool spool_mark(struct spool *spool, size_t sink, size_t index)
{
	struct spool_folder *folder = &spool->folders[sink];
	struct spool_entry *entry;
	char name[SPOOL_NAME_SIZE];
	struct stat st;
	bool is_marked;
	int fd;

	if (index >= folder->entries.count)
		return false;
	entry = &folder->entries.items[index];
	spool_name_of(entry->id, name);
	fd = spool_open_file(folder, name, O_RDWR, &st);
	is_marked = fd >= 0 && request_file_mark(fd);
	if (fd >= 0 && !is_marked && !errno)
		is_marked = replace_by_marked(spool, folder, entry, fd);
	if (fd >= 0)
		close(fd);
	return is_marked;
}
