/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define NAMES_MAX    100
#define FD_PATH_SIZE 32

static void print_fd_path(char path[FD_PATH_SIZE], int fd)
{
	snprintf(path, FD_PATH_SIZE, "/proc/self/fd/%d", fd);
}

static struct error *open_nameless(struct outfile *file)
{
	file->fd = openat(file->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, OUTFILE_MODE);
	if (file->fd >= 0)
		return NULL;
	/* A directory that may not be written to is no reason to collect a file in memory. */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return error_system(errno, "%s", file->path);
	if (faccessat(file->dir, ".", W_OK, AT_EACCESS))
		return error_system(errno, "%s", file->path);
	file->in_memory = true;
	file->fd = memfd_create("ctprof", MFD_CLOEXEC);
	if (file->fd < 0 || fchmod(file->fd, OUTFILE_MODE))
		return error_system(errno, "%s", file->path);
	return NULL;
}

static struct error *split(struct outfile *file, const char *path)
{
	_cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);

	file->base = for_base ? strdup(basename(for_base)) : NULL;
	if (!for_dir || !file->base)
		return &error_no_memory;
	return file_open_dir(dirname(for_dir), &file->dir);
}

struct error *outfile_open(struct outfile *file, const char *path)
{
	_cleanup_free_ char *real = NULL;
	struct stat st;
	bool exists;
	struct error *err;

	*file = (struct outfile){ .fd = -1, .dir = -1 };
	file->path = strdup(path);
	if (!file->path)
		return &error_no_memory;
	if (strcmp(path, "-") == 0) {
		file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return file->fd < 0 ? error_system(errno, "standard output") : NULL;
	}
	exists = stat(path, &st) == 0;
	if (exists && !S_ISREG(st.st_mode)) {
		file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return file->fd < 0 ? error_system(errno, "%s", path) : NULL;
	}
	/* A link is followed, so that it is the file behind it which is replaced. */
	if (exists)
		real = realpath(path, NULL);
	err = split(file, real ? real : path);
	if (!err)
		err = open_nameless(file);
	/* An umask does not take from what an existing file has. */
	if (!err && exists && fchmod(file->fd, st.st_mode & 07777))
		err = error_system(errno, "%s", path);
	return err;
}

struct error *outfile_open_at(struct outfile *file, int dir, const char *name, const char *path)
{
	struct stat st;

	*file = (struct outfile){ .fd = -1, .dir = -1 };
	file->path = strdup(path);
	file->base = strdup(name);
	if (!file->path || !file->base)
		return &error_no_memory;
	file->dir = fcntl(dir, F_DUPFD_CLOEXEC, 0);
	if (file->dir < 0 || fstat(file->dir, &st))
		return error_system(errno, "%s", path);
	/* File systems differ in what they say of a directory that was removed. */
	return st.st_nlink ? open_nameless(file) : error_system(ENOENT, "%s", path);
}

struct error *outfile_write(void *context, const void *bytes, size_t length)
{
	struct outfile *file = context;
	const char *next = bytes;

	while (length) {
		ssize_t wrote = write(file->fd, next, length);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return error_system(errno, "%s", file->path);
		next += wrote;
		length -= (size_t)wrote;
	}
	return NULL;
}

struct error *outfile_sync(struct outfile *file)
{
	if (!fdatasync(file->fd) || errno == EINVAL || errno == EROFS)
		return NULL;
	return error_system(errno, "%s", file->path);
}

/* Copy what waited in memory to the file that has the temporary name. */
static struct error *write_out(struct outfile *file, int out)
{
	_cleanup_close_ int in = take_fd(file->fd);
	struct stat st;
	off_t done = 0;

	file->fd = out;
	if (fstat(in, &st) || fchmod(file->fd, st.st_mode & 0777))
		return error_system(errno, "%s", file->path);
	while (done < st.st_size)
		if (sendfile(file->fd, in, &done, (size_t)(st.st_size - done)) < 0 &&
		    errno != EINTR)
			return error_system(errno, "%s", file->path);
	return close(take_fd(file->fd)) ? error_system(errno, "%s", file->path) : NULL;
}

/* A name beside the final one, which nobody can guess and take beforehand; those who clean up know
 * it by its end. */
static char *temporary_name(const char *base)
{
	uint64_t number;
	char *name;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) ||
	    asprintf(&name, ".%.200s.%016" PRIx64 ".tmp", base, number) < 0)
		return NULL;
	return name;
}

/* Give the file this name, or create one for what waits in memory. Never one that exists: what
 * stands there is not ours. Returns -1 with errno, or in *ret_out the created file. */
static int make_name(const struct outfile *file, const char *name, int *ret_out)
{
	char self[FD_PATH_SIZE];

	if (file->in_memory) {
		*ret_out = openat(file->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				  OUTFILE_MODE);
		return *ret_out < 0 ? -1 : 0;
	}
	print_fd_path(self, file->fd);
	return linkat(AT_FDCWD, self, file->dir, name, AT_SYMLINK_FOLLOW);
}

/* A name beside the final one, since a link cannot replace a file. */
static struct error *name_it(struct outfile *file)
{
	int out = -1;

	for (unsigned tries = 0; !file->temporary; tries++) {
		_cleanup_free_ char *name = temporary_name(file->base);

		if (!name)
			return &error_no_memory;
		if (make_name(file, name, &out) == 0)
			file->temporary = take_ptr(name);
		else if (errno != EEXIST || tries == NAMES_MAX)
			return error_system(errno, "%s", file->path);
	}
	return file->in_memory ? write_out(file, out) : NULL;
}

static struct error *put_in_place(struct outfile *file)
{
	struct error *err = name_it(file);

	if (err)
		return err;
	if (renameat(file->dir, file->temporary, file->dir, file->base))
		return error_system(errno, "%s", file->path);
	free(take_ptr(file->temporary));
	return NULL;
}

struct error *outfile_commit(struct outfile *file)
{
	sigset_t all, before;
	struct error *err;
	int copy = dup(file->fd);

	/* Some file systems report a full disk only at a close; the old file is still there. */
	if (copy < 0 || close(copy))
		return error_system(errno, "%s", file->path);
	if (file->dir < 0)
		return NULL;
	/* A signal now would leave a second name behind. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	err = put_in_place(file);
	if (err && file->temporary)
		unlinkat(file->dir, file->temporary, 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

void outfile_close(struct outfile *file)
{
	if (file->temporary && file->dir >= 0)
		unlinkat(file->dir, file->temporary, 0);
	if (file->fd >= 0)
		close(file->fd);
	if (file->dir >= 0)
		close(file->dir);
	free(file->temporary);
	free(file->base);
	free(file->path);
	*file = (struct outfile){ .fd = -1, .dir = -1 };
}
