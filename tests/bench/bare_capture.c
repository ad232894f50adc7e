/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a capture into a file can cost: `bare_capture FILE TIMES OUTPUT` does what it
 * cannot do without, on two threads, and looks at none of it:
 *
 *	have the kernel walk all tasks, by a program that does nothing
 *	read smaps_rollup, exe and cmdline of every process
 *	compress the first MiB of a snapshot's JSON, which FILE has, TIMES times, and write that
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "empty_walk.h"
#include "sample.h"

#define TEXT_MAX ((size_t)1 << 20)

static struct {
	char *text;
	size_t length;
	long times;
	_Atomic long begun;
	int output;
} work;

/* --- processes --- */

static void read_file(int dir, const char *name)
{
	char bytes[8192];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && read(fd, bytes, sizeof(bytes)) == sizeof(bytes))
		;
	if (fd >= 0)
		close(fd);
}

static void read_processes(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char link[4096];
	ssize_t got = 0;

	if (!proc)
		err(1, "/proc");
	while ((entry = readdir(proc))) {
		int dir;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		dir = openat(dirfd(proc), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			continue;
		read_file(dir, "smaps_rollup");
		read_file(dir, "cmdline");
		got += readlinkat(dir, "exe", link, sizeof(link));
		close(dir);
	}
	closedir(proc);
	/* Kernel threads have no such file. */
	if (!got)
		errx(1, "exe");
}

/* --- the file --- */

/* The size of the file is right; parts may be in any order. */
static void compress_some(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	const size_t room = ZSTD_compressBound(TEXT_MAX);
	char *packed = malloc(room);

	if (!zstd || !packed)
		errx(1, "out of memory");
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	while (atomic_fetch_add(&work.begun, 1) < work.times) {
		size_t made = ZSTD_compress2(zstd, packed, room, work.text, work.length);

		if (ZSTD_isError(made) || write(work.output, packed, made) != (ssize_t)made)
			errx(1, "compressing");
	}
}

/* --- both threads --- */

static void *read_and_compress(void *unused)
{
	read_processes();
	compress_some();
	return unused;
}

static void read_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	work.text = malloc(TEXT_MAX);
	got = fd < 0 || !work.text ? -1 : read(fd, work.text, TEXT_MAX);
	if (got <= 0)
		err(1, "%s", path);
	work.length = (size_t)got;
	close(fd);
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc != 4)
		errx(2, "usage: bare_capture FILE TIMES OUTPUT");
	work.times = atol(argv[2]);
	work.output = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (work.output < 0)
		err(1, "%s", argv[3]);
	read_text(argv[1]);
	if (pthread_create(&other, NULL, read_and_compress, NULL))
		errx(1, "a thread");
	empty_walk_open();
	empty_walk_begin();
	empty_walk_run();
	compress_some();
	pthread_join(other, NULL);
	return 0;
}
