/* SPDX-License-Identifier: BSD-2-Clause */
#include "kstats/bpf_pins.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "kstats/bpf_program.h"

#include <kstats.skel.h>

#ifndef BPF_FS_MAGIC
#define BPF_FS_MAGIC 0xcafe4a11
#endif

static struct error *pin_error(int failed, const char *path)
{
	if (failed == EACCES || failed == EPERM)
		return error_coded(failed, "%s: permission denied: metrics belong to root", path);
	return error_system(failed, "%s", path);
}

static bool is_mounted(void)
{
	struct statfs fs;

	return !statfs(KSTATS_BPFFS, &fs) && (unsigned)fs.f_type == BPF_FS_MAGIC;
}

static struct error *make_pins(void)
{
	if (!is_mounted() &&
	    mount("bpf", KSTATS_BPFFS, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"))
		return geteuid() ? pin_error(errno, KSTATS_BPFFS)
				 : error_system(errno, "cannot mount the BPF file system at %s",
						KSTATS_BPFFS);
	if (mkdir(KSTATS_PINS, 0700) && errno != EEXIST)
		return pin_error(errno, KSTATS_PINS);
	return NULL;
}

/* --- one directory --- */

static bool is_own(const char *entry)
{
	return entry[0] != '.';
}

/* Returns an errno. */
static int remove_pins(int pins, const char *directory)
{
	int fd = openat(pins, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), failed = 0;
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!entries) {
		failed = errno;
		if (fd >= 0)
			close(fd);
		/* A file that ctprof did not create; remove it. */
		if (failed == ENOTDIR)
			failed = unlinkat(pins, directory, 0) ? errno : 0;
		return failed;
	}
	/* The file system forgets where we are when something goes. */
	while (!failed) {
		errno = 0;
		entry = readdir(entries);
		if (!entry)
			break;
		if (!is_own(entry->d_name))
			continue;
		if (unlinkat(fd, entry->d_name, 0))
			failed = errno;
		rewinddir(entries);
	}
	closedir(entries);
	if (!failed && unlinkat(pins, directory, AT_REMOVEDIR))
		failed = errno;
	return failed;
}

/* "+NAME" */
static bool half_name(const char *name, char ret[KSTATS_NAME_MAX + 2])
{
	return snprintf(ret, KSTATS_NAME_MAX + 2, "+%s", name) < KSTATS_NAME_MAX + 2;
}

/* --- all of them --- */

static int pin_by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct error *read_names(int pins, struct kstats_names *ret)
{
	int fd = openat(pins, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool has_room = true;

	if (!entries) {
		struct error *err = pin_error(errno, KSTATS_PINS);

		if (fd >= 0)
			close(fd);
		return err;
	}
	while (has_room && (entry = readdir(entries))) {
		char *name;

		if (!is_own(entry->d_name))
			continue;
		name = strdup(entry->d_name);
		has_room = name && array_push(ret, name);
		if (!has_room)
			free(name);
	}
	closedir(entries);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), pin_by_name);
	return has_room ? NULL : &error_no_memory;
}

struct error *kstats_pins_list(int pins, struct kstats_names *ret)
{
	struct error *err = read_names(pins, ret);
	size_t kept = 0;

	for (size_t i = 0; i < ret->count; i++) {
		if (ret->items[i][0] == '+')
			free(ret->items[i]);
		else
			ret->items[kept++] = ret->items[i];
	}
	ret->count = kept;
	return err;
}

/* A pin that cannot be removed blocks only its own name. */
static struct error *clean(int pins)
{
	struct kstats_names names = { 0 };
	struct error *err = read_names(pins, &names);

	for (size_t i = 0; !err && i < names.count; i++)
		if (names.items[i][0] == '+')
			remove_pins(pins, names.items[i]);
	kstats_names_clear(&names);
	return err;
}

/* By default the kernel mounts the file system of BPF with mode 1777 (bpf_get_tree() in
 * kernel/bpf/inode.c): any user may have created this directory, and could rename metrics in it and
 * hold its lock. */
static struct error *check_pins(int pins)
{
	struct stat st;

	if (fstat(pins, &st))
		return pin_error(errno, KSTATS_PINS);
	if (file_is_trusted(st.st_uid, 0) && !(st.st_mode & 077))
		return NULL;
	return error_coded(EPERM,
			   "%s: owned by user %u with mode %o, so others could change or lock "
			   "metrics; remove it",
			   KSTATS_PINS, st.st_uid, st.st_mode & 07777);
}

/* ENOENT where there is none. */
static struct error *open_pins(int *ret)
{
	_cleanup_close_ int pins =
		open(KSTATS_PINS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error *err;

	if (pins < 0 && errno == ENOENT)
		return error_system(errno, KSTATS_PINS);
	if (pins < 0)
		return pin_error(errno, KSTATS_PINS);
	err = check_pins(pins);
	if (!err)
		*ret = take_fd(pins);
	return err;
}

struct error *kstats_pins_lock(bool is_made, int *ret)
{
	struct error *err = is_made ? make_pins() : NULL;
	_cleanup_close_ int pins = -1;

	if (err)
		return err;
	err = open_pins(&pins);
	if (err && err->errnum == ENOENT) {
		error_destroy(err);
		*ret = -1;
		return NULL;
	}
	if (err)
		return err;
	while (flock(pins, LOCK_EX))
		if (errno != EINTR)
			return pin_error(errno, KSTATS_PINS);
	err = clean(pins);
	if (!err)
		*ret = take_fd(pins);
	return err;
}

struct error *kstats_pins_names(struct kstats_names *ret)
{
	_cleanup_close_ int pins = -1;
	struct error *err = open_pins(&pins);

	if (err && err->errnum == ENOENT) {
		error_destroy(err);
		return NULL;
	}
	return err ? err : kstats_pins_list(pins, ret);
}

/* --- adding and taking away --- */

static struct error *pin(int fd, const char *directory, const char *what)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), KSTATS_PINS "/%s/%s", directory, what);
	if (bpf_obj_pin(fd, path))
		return pin_error(errno, path);
	return NULL;
}

/* The program of a link, which counts what the kernel did not call it for. Readers get it by this
 * pin: BPF_PROG_GET_FD_BY_ID requires CAP_SYS_ADMIN, which they have dropped. Without the pin that
 * count is unknown. */
static void pin_program(int link, const char *directory, size_t number)
{
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);
	_cleanup_close_ int fd = -1;
	char name[32];

	if (!bpf_obj_get_info_by_fd(link, &info, &size))
		fd = bpf_prog_get_fd_by_id(info.prog_id);
	snprintf(name, sizeof(name), "prog%zu", number);
	if (fd >= 0)
		error_destroy(pin(fd, directory, name));
}

static struct error *pin_all(const struct kstats_program *program, const char *directory)
{
	const struct {
		const struct bpf_map *map;
		const char *name;
	} maps[] = {
		{ program->bpf->maps.rodata_config, "config" },
		{ program->bpf->maps.data_control, "control" },
		{ program->bpf->maps.cells, "cells" },
		{ program->bpf->maps.groups, "groups" },
		{ program->bpf->maps.group_numbers, "group_numbers" },
	};
	struct error *err = NULL;

	for (size_t i = 0; !err && i < array_length(maps); i++)
		err = pin(bpf_map__fd(maps[i].map), directory, maps[i].name);
	for (size_t i = 0; !err && i < program->links.count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "link%zu", i);
		err = pin(bpf_link__fd(program->links.items[i]), directory, name);
		if (!err)
			pin_program(bpf_link__fd(program->links.items[i]), directory, i);
	}
	return err;
}

struct error *kstats_pins_add(int pins, const char *name, const struct kstats_program *program)
{
	char half[KSTATS_NAME_MAX + 2];
	struct error *err;

	if (!half_name(name, half))
		return error_coded(ENAMETOOLONG, "%s: the name is too long", name);
	if (mkdirat(pins, half, 0700))
		return pin_error(errno, KSTATS_PINS);
	err = pin_all(program, half);
	if (!err && renameat2(pins, half, pins, name, RENAME_NOREPLACE))
		err = error_system(errno, "the metric %s", name);
	if (err)
		remove_pins(pins, half);
	return err;
}

struct error *kstats_pins_remove(int pins, const char *name)
{
	char half[KSTATS_NAME_MAX + 2];
	int failed;

	if (pins < 0 || !half_name(name, half))
		return error_coded(ENOENT, "no metric %s", name);
	if (renameat2(pins, name, pins, half, RENAME_NOREPLACE))
		return error_system(errno, "the metric %s", name);
	failed = remove_pins(pins, half);
	return failed ? pin_error(failed, name) : NULL;
}

int kstats_pins_open(const char *name, int *ret)
{
	_cleanup_close_ int pins = -1;
	struct error *err = open_pins(&pins);
	int fd, failed;

	if (err) {
		failed = err->errnum;
		error_destroy(err);
		return failed ? failed : ENOMEM;
	}
	fd = openat(pins, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno;
	*ret = fd;
	return 0;
}

int kstats_pins_get(int directory, const char *what, int *ret)
{
	char path[64];
	int fd;

	/* Older kernels than Linux 6.5 take no directory to begin at. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%.24s", directory, what);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return errno;
	*ret = fd;
	return 0;
}
