/* SPDX-License-Identifier: BSD-2-Clause */
#include "files_fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define OPEN_MAX_DIRS 16

static char dir[] = "/dev/shm/ctprof-fuzz-XXXXXX";
static bool is_made;

bool fuzz_cut_part(struct text *rest, struct text *ret)
{
	const struct text between = FUZZ_BETWEEN;
	const char *end;

	if (!rest->length)
		return false;
	end = memmem(rest->bytes, rest->length, between.bytes, between.length);
	*ret = *rest;
	if (!end) {
		rest->bytes += rest->length;
		rest->length = 0;
		return true;
	}
	ret->length = (size_t)(end - rest->bytes);
	rest->bytes = end + between.length;
	rest->length -= ret->length + between.length;
	return true;
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *at)
{
	(void)stat, (void)type;
	return at->level ? remove(path) : 0;
}

void fuzz_clear_dir(void)
{
	must(nftw(fuzz_dir(), remove_one, OPEN_MAX_DIRS, FTW_DEPTH | FTW_PHYS) == 0);
}

static void remove_dir(void)
{
	fuzz_clear_dir();
	rmdir(dir);
}

const char *fuzz_dir(void)
{
	if (!is_made) {
		must(mkdtemp(dir));
		is_made = true;
		atexit(remove_dir);
	}
	return dir;
}

bool fuzz_put_file(const char *path, struct text bytes)
{
	_cleanup_close_ int fd = -1;
	char whole[PATH_MAX];

	must((size_t)snprintf(whole, sizeof(whole), "%s/%s", fuzz_dir(), path) < sizeof(whole));
	for (char *slash = whole + sizeof(dir); (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(whole, 0700) && errno != EEXIST)
			return false;
	}
	fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd < 0 || write(fd, bytes.bytes, bytes.length) == (ssize_t)bytes.length);
	return fd >= 0;
}

int fuzz_open_bytes(struct text bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, bytes.bytes, bytes.length) == (ssize_t)bytes.length);
	must(lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}
