/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

static struct {
	bool has_begun;
	uid_t uid;
	gid_t gid;
} to;

void handover_begin(uid_t uid, gid_t gid)
{
	to.uid = uid;
	to.gid = gid;
	to.has_begun = true;
}

bool handover_has_begun(void)
{
	return to.has_begun;
}

/* The kernel's check of permissions, for a single group. */
static bool may_write(const struct stat *dir)
{
	if (dir->st_uid == to.uid)
		return dir->st_mode & S_IWUSR;
	if (dir->st_gid == to.gid)
		return dir->st_mode & S_IWGRP;
	return dir->st_mode & S_IWOTH;
}

bool handover_is_due(int dir, const struct stat *there)
{
	struct stat st;

	return to.has_begun && (!there || there->st_uid == to.uid) && !fstat(dir, &st) &&
	       may_write(&st);
}

void handover_file(int dir, int fd)
{
	struct stat st;
	/* A directory may say which group its files have. */
	const bool has_group = !fstat(dir, &st) && st.st_mode & S_ISGID;

	if (fchownat(fd, "", to.uid, has_group ? (gid_t)-1 : to.gid, AT_EMPTY_PATH))
		return;
}

/*
 * A user with write permission for the directory above can replace the new one before it is opened.
 * So its owner must be this process's user and, if the file system stores the time of birth, it
 * must not be older than the call that created it.
 */
static bool is_made_by_us(int fd, const struct timespec *before)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) &&
	       st.stx_mask & STATX_BTIME && st.stx_uid == geteuid() &&
	       (st.stx_btime.tv_sec > before->tv_sec ||
		(st.stx_btime.tv_sec == before->tv_sec && st.stx_btime.tv_nsec >= before->tv_nsec));
}

/* Makes a file named `base` in the directory `above`. Returns 0, or -1 with errno. */
typedef int make_file(int above, const char *base, const void *context);

/* Make a file, find it with these flags of open(2), and hand it over. */
static int make_in(const char *path, make_file *make, const void *context, int flags)
{
	_cleanup_free_ char *for_dir = strdup(path), *for_base = strdup(path);
	_cleanup_close_ int above = -1, made = -1;
	struct timespec before;
	const char *base;

	if (!for_dir || !for_base) {
		errno = ENOMEM;
		return -1;
	}
	base = basename(for_base);
	above = open(dirname(for_dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (above < 0)
		return -1;
	/* The clock of the file system, which is behind. */
	clock_gettime(CLOCK_REALTIME_COARSE, &before);
	if (make(above, base, context))
		return -1;
	made = openat(above, base, flags | O_NOFOLLOW | O_CLOEXEC);
	if (made >= 0 && handover_is_due(above, NULL) && is_made_by_us(made, &before))
		handover_file(above, made);
	return 0;
}

static int make_dir(int above, const char *base, const void *mode)
{
	return mkdirat(above, base, *(const mode_t *)mode);
}

int handover_mkdir(const char *path, mode_t mode)
{
	return to.has_begun ? make_in(path, make_dir, &mode, O_RDONLY | O_DIRECTORY)
			    : mkdir(path, mode);
}

struct socket_binding {
	int socket;
	const struct sockaddr_un *address;
};

/* bind(2) knows no directory. */
static int bind_socket(int above, const char *base, const void *context)
{
	const struct socket_binding *binding = context;

	(void)above;
	(void)base;
	return bind(binding->socket, (const struct sockaddr *)binding->address,
		    sizeof(*binding->address));
}

int handover_bind(int socket, const struct sockaddr_un *address)
{
	const struct socket_binding binding = { socket, address };

	return to.has_begun ? make_in(address->sun_path, bind_socket, &binding, O_PATH)
			    : bind_socket(-1, NULL, &binding);
}
