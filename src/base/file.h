/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whole files under a root descriptor.
 *
 * Readers of /proc, /sys and cgroupfs take the descriptor of a directory and a path relative to
 * it, so a test points them at a tree of its own.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

/* Bytes that grow to fit and are used again for the next file. All zero is empty. */
struct file_buffer {
	char *bytes;
	size_t room;
};

/* Is this errno a shortage of our own (memory, descriptors), which says nothing about the file? */
static inline bool file_is_shortage(int failed)
{
	return failed == ENOMEM || failed == EMFILE || failed == ENFILE;
}

/* More than any file of /proc that is read whole here. */
#define FILE_READ_MAX ((size_t)4 << 20)

/*
 * Read the file `path` below `dir`, at most FILE_READ_MAX bytes.
 *
 * Returns 0 and the text, which lives in `buffer` until its next use, or the errno of the open or
 * read that failed; EFBIG when the file is larger. A plain number, because a capture sees
 * thousands of threads vanish and must not pay for a message each time.
 */
int file_read(int dir, const char *path, struct file_buffer *buffer, struct text *ret);

/*
 * The same for a file that the kernel prints as one record (single_open() in its fs/proc, as
 * /proc/PID/stat is and /proc/cpuinfo is not): such a file comes whole in one read, and the second
 * read that would only say "end" is saved.
 */
int file_read_record(int dir, const char *path, struct file_buffer *buffer, struct text *ret);

/* The first `most` bytes of a file that may be much longer. */
int file_read_head(int dir, const char *path, size_t most, struct file_buffer *buffer,
		   struct text *ret);

/* The target of a symbolic link, with the same results; ENAMETOOLONG above 4096 bytes. */
int file_readlink(int dir, const char *path, struct file_buffer *buffer, struct text *ret);

/*
 * System calls on files of other users, who may also serve the file system: they are made as calls
 * that may hang (base/guard.h).
 */
int file_stat(int fd, struct stat *ret);
int file_find(int dir, const char *path); /* openat(2) with O_PATH */

/* Open for reading a file that was found with O_PATH, if it is a regular file (opening another may
 * have effects). `found` stays open. Returns -1 if it is not, or cannot be opened; EWOULDBLOCK: its
 * owner holds a lease on it. */
int file_open_regular(int found);

/* A file that is open for reading, and what messages call it. */
struct named_file {
	int fd;
	const char *name;
};

/* Open for reading a file that the user named. A FIFO waits for its writer; a lease is not waited
 * for. */
struct error *file_open_input(const char *path, int *ret) MUST_CHECK;

/* The same for `name` in a directory whose files we choose ourselves: regular files alone. `path`
 * is what messages call it. */
struct error *file_open_input_at(int dir, const char *name, const char *path, int *ret) MUST_CHECK;

/* The next bytes of what is open, fewer than there is room for where fewer are there; 0 at the end.
 */
struct error *file_read_some(int fd, char *bytes, size_t room, size_t *ret) MUST_CHECK;

/* Open a directory named by a user. */
struct error *file_open_dir(const char *path, int *ret) MUST_CHECK;

void file_buffer_deinit(struct file_buffer *buffer);

/* Close a stream of open_memstream(3). False without memory: *text is NULL. glibc's fclose(3)
 * succeeds then, too, and leaves the text NULL and its length as it was. */
bool file_close_memory(FILE *stream, char **text);

/* Does a file with this owner and mode (stat(2)) belong to root or to the effective user, without
 * write permission for group and others? Only they can have written it. Symbolic links and FIFOs
 * are judged by their owner alone: mode 0. */
bool file_is_trusted(uint32_t owner, uint32_t mode);

#endif
