/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/handover.h"

#define LINKS_MAX    40 /* as the kernel follows (MAXSYMLINKS in linux/namei.h) */
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

/* --- what stands at the name --- */

static bool is_on(int fd, uint32_t magic)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == magic;
}

/* The directory of `path`, which is relative to that of the name before, if there is one. */
static struct error *split(struct outfile *file, const char *path)
{
	_cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);
	char *base = for_base ? strdup(basename(for_base)) : NULL;
	const char *name;
	int dir;

	if (!for_dir || !base) {
		free(base);
		return &error_no_memory;
	}
	name = dirname(for_dir);
	dir = openat(file->dir >= 0 ? file->dir : AT_FDCWD, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0) {
		free(base);
		return error_system(errno, "%s", name);
	}
	if (file->dir >= 0)
		close(file->dir);
	free(file->base);
	file->dir = dir;
	file->base = base;
	return NULL;
}

/* Links of /proc/PID/fd lead to what has no name, too: an anonymous pipe, a removed file. Such a
 * thing replaces `found`. */
static bool follow_magic_link(const struct outfile *file, int *found, struct stat *st)
{
	int behind;

	if (!is_on(file->dir, PROC_SUPER_MAGIC))
		return false;
	behind = openat(file->dir, file->base, O_PATH | O_CLOEXEC);
	if (behind < 0)
		return false;
	if (fstat(behind, st) || (S_ISREG(st->st_mode) && st->st_nlink)) {
		close(behind);
		return false;
	}
	close(*found);
	*found = behind;
	return true;
}

/* Was the file removed after it was found by its name? It may be a file that another user holds
 * open. (A removed file that the caller passed is reached by follow_magic_link().) */
static bool is_gone(const struct stat *st)
{
	return S_ISREG(st->st_mode) && !st->st_nlink;
}

/*
 * Follow links up to the last component, which file->dir and file->base then name. *ret_found is an
 * O_PATH descriptor of it with its status, or -1 if nothing exists there. realpath(3) would not do:
 * the kernel protects against links in /tmp (fs.protected_symlinks), but not programs that read
 * each link themselves.
 */
static struct error *find_target(struct outfile *file, int *ret_found, struct stat *st)
{
	_cleanup_close_ int found = -1;
	char target[PATH_MAX];
	struct error *err = split(file, file->path);

	for (unsigned links = 0; !err; links++) {
		ssize_t length;

		if (found >= 0)
			close(take_fd(found));
		found = openat(file->dir, file->base, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (found < 0 && errno == ENOENT)
			break;
		if (found < 0 || fstat(found, st))
			return error_system(errno, "%s", file->path);
		if (is_gone(st)) {
			if (links < LINKS_MAX)
				continue;
			close(take_fd(found));
			break;
		}
		if (!S_ISLNK(st->st_mode))
			break;
		/* Another user may have created it, to make us replace another file of this user.
		 */
		if (!file_is_trusted(st->st_uid, 0))
			return error_create("%s: symbolic link of user %u, which is not followed",
					    file->path, st->st_uid);
		if (follow_magic_link(file, &found, st))
			break;
		length = readlinkat(found, "", target, sizeof(target) - 1);
		if (length < 0 || links == LINKS_MAX)
			return error_system(length < 0 ? errno : ELOOP, "%s", file->path);
		target[length] = 0;
		err = split(file, target);
	}
	if (!err)
		*ret_found = take_fd(found);
	return err;
}

/* Devices, pipes and removed files cannot be replaced by a rename, and are written in place. So are
 * directories, which opening for writing refuses. */
static bool is_in_place(const struct stat *st)
{
	return !S_ISREG(st->st_mode) || !st->st_nlink;
}

/* Devices are made by root alone. An anonymous pipe is reached only by a link of /proc that we were
 * given: with sudo it is the user's, as in "sudo ctprof capture -o /dev/stdout | less". */
static struct error *check_fifo(const struct outfile *file, int found, const struct stat *st)
{
	if (!S_ISFIFO(st->st_mode) || file_is_trusted(st->st_uid, 0) || is_on(found, PIPEFS_MAGIC))
		return NULL;
	return error_create("%s: FIFO of user %u, which is not written to", file->path, st->st_uid);
}

static struct error *open_in_place(struct outfile *file, int found, const struct stat *st)
{
	struct error *err = check_fifo(file, found, st);
	char again[FD_PATH_SIZE];

	if (err)
		return err;
	close(take_fd(file->dir));
	print_fd_path(again, found);
	file->fd = open(again, O_WRONLY | O_CLOEXEC | O_NOCTTY |
				       (S_ISREG(st->st_mode) ? O_TRUNC | O_NONBLOCK : 0));
	return file->fd < 0 ? error_system(errno, "%s", file->path) : NULL;
}

/*
 * The permissions of the file that is replaced, if this user owns it: otherwise its owner would
 * choose who may read the new file. Without the set-user-ID bit, which would let a user who may
 * write to the file act as its owner (writing through a shared mapping keeps that bit). A file with
 * several names may be another user's hard link to a file of this user whose content is not secret.
 */
static mode_t mode_after(const struct stat *st, uid_t owner)
{
	return st->st_uid == owner && st->st_nlink == 1 ? st->st_mode & 0777 : OUTFILE_MODE;
}

/* Output that is kept in memory is handed over when it is written to a file. */
static void hand_over(const struct outfile *file)
{
	if (file->is_due && !file->in_memory)
		handover_file(file->dir, file->fd);
}

struct error *outfile_open(struct outfile *file, const char *path)
{
	_cleanup_close_ int found = -1;
	struct error *err;
	struct stat st;

	*file = (struct outfile){ .fd = -1, .dir = -1 };
	file->path = strdup(path);
	if (!file->path)
		return &error_no_memory;
	if (strcmp(path, "-") == 0) {
		file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
		return file->fd < 0 ? error_system(errno, "standard output") : NULL;
	}
	err = find_target(file, &found, &st);
	if (!err && found >= 0 && is_in_place(&st))
		return open_in_place(file, found, &st);
	if (!err)
		err = open_nameless(file);
	if (err)
		return err;
	file->is_due = handover_is_due(file->dir, found >= 0 ? &st : NULL);
	/* An umask does not take from what an existing file has. */
	if (found >= 0 && fchmod(file->fd, mode_after(&st, file->is_due ? st.st_uid : geteuid())))
		return error_system(errno, "%s", path);
	hand_over(file);
	return NULL;
}

static struct error *check_in_place(const struct outfile *file, int found, const struct stat *st)
{
	struct error *err = check_fifo(file, found, st);
	char again[FD_PATH_SIZE];

	if (err)
		return err;
	print_fd_path(again, found);
	if (S_ISDIR(st->st_mode) || faccessat(AT_FDCWD, again, W_OK, AT_EACCESS))
		return error_system(S_ISDIR(st->st_mode) ? EISDIR : errno, "%s", file->path);
	return NULL;
}

struct error *outfile_check(const char *path)
{
	struct outfile file = { .fd = -1, .dir = -1, .path = strdup(path) };
	_cleanup_close_ int found = -1;
	struct error *err = NULL;
	struct stat st;

	if (!file.path)
		return &error_no_memory;
	if (strcmp(path, "-") != 0) {
		err = find_target(&file, &found, &st);
		if (!err && found >= 0 && is_in_place(&st))
			err = check_in_place(&file, found, &st);
		else if (!err && faccessat(file.dir, ".", W_OK | X_OK, AT_EACCESS))
			err = error_system(errno, "%s", path);
	}
	outfile_close(&file);
	return err;
}

struct error *outfile_open_at(struct outfile *file, int dir, const char *name, const char *path)
{
	struct error *err;
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
	err = st.st_nlink ? open_nameless(file) : error_system(ENOENT, "%s", path);
	if (err)
		return err;
	file->is_due =
		handover_is_due(dir, fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ? NULL : &st);
	hand_over(file);
	return NULL;
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
	if (file->is_due)
		handover_file(file->dir, file->fd);
	while (done < st.st_size)
		if (sendfile(file->fd, in, &done, (size_t)(st.st_size - done)) < 0 &&
		    errno != EINTR)
			return error_system(errno, "%s", file->path);
	return close(take_fd(file->fd)) ? error_system(errno, "%s", file->path) : NULL;
}

/* A random name beside the final one, so that other users cannot create it first. Clean-up
 * recognizes temporary files by the suffix ".tmp". */
static char *temporary_name(const char *base)
{
	uint64_t number;
	char *name;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number) ||
	    asprintf(&name, ".%.200s.%016" PRIx64 ".tmp", base, number) < 0)
		return NULL;
	return name;
}

/* Give the file this name, or create one for what waits in memory. Never replace a file that
 * exists: it is not ours. Returns -1 with errno, or in *ret_out the created file. */
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
