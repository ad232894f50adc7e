/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/origin.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/hex.h"
#include "base/units.h"
#include "elf/debug_file.h"
#include "elf/rooted.h"
#include "os/pairs.h"
#include "profile/kept.h"

#define DELETED TEXT(" (deleted)")

struct text origin_path(const struct profile_mapping *mapping)
{
	struct text path = { 0 };

	if (mapping->path)
		path = name_text(mapping->path);
	if (text_ends(path, DELETED))
		path.length -= DELETED.length;
	return path;
}

/* A name of memfd_create(2) is not a path. */
static bool is_pathless(struct text path)
{
	return text_starts(path, TEXT("/memfd:"));
}

/* Memory that is shared, or of the kernel, has a path that leads nowhere. */
bool origin_is_file(const struct profile_mapping *mapping)
{
	struct text path = origin_path(mapping);

	return text_starts(path, TEXT("/")) && !text_starts(path, TEXT("//")) &&
	       (!is_pathless(path) || mapping->build_id_length) &&
	       !text_starts(path, TEXT("/dev/zero")) && !text_starts(path, TEXT("/SYSV"));
}

/* --- is it this file? --- */

bool origin_has_build_id(const struct profile_mapping *mapping, struct text id)
{
	size_t length = mapping->build_id_length;

	if (length > BUILD_ID_MAX || !id.length)
		return false;
	if (id.length >= length)
		return memcmp(id.bytes, mapping->build_id, length) == 0 &&
		       (id.length == length || length == BUILD_ID_MAX);
	for (size_t i = id.length; i < length; i++)
		if (mapping->build_id[i])
			return false;
	return memcmp(id.bytes, mapping->build_id, id.length) == 0;
}

bool origin_is_trusted_file(int fd)
{
	struct stat stat;

	return file_stat(fd, &stat) == 0 && file_is_trusted(stat.st_uid, stat.st_mode);
}

static struct origin_identity identify_file(const char *path)
{
	struct statx file;
	int failed;

	if (!guard_enter())
		return (struct origin_identity){ 0 };
	failed = statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_UID | STATX_MODE,
		       &file);
	guard_leave();
	if (failed)
		return (struct origin_identity){ 0 };
	return (struct origin_identity){
		.is_trusted = file_is_trusted(file.stx_uid, file.stx_mode),
		.inode = file.stx_ino,
		.device = makedev(file.stx_dev_major, file.stx_dev_minor),
	};
}

struct origin_identity origin_ask(uint32_t pid, const struct profile_mapping *mapping)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
		 mapping->start, mapping->end);
	return identify_file(path);
}

struct origin_identity origin_ask_kept(struct kept *kept, uint32_t pid,
				       const struct profile_mapping *mapping)
{
	_cleanup_close_ int fd = kept_open_file(kept, pid, mapping);
	struct stat stat;

	if (fd < 0 || file_stat(fd, &stat))
		return (struct origin_identity){ 0 };
	return (struct origin_identity){
		.is_trusted = file_is_trusted(stat.st_uid, stat.st_mode),
		.inode = stat.st_ino,
		.device = stat.st_dev,
	};
}

struct origin_identity origin_ask_here(const struct profile_mapping *mapping)
{
	const struct text path = origin_path(mapping);
	char name[PATH_MAX];

	if (!origin_is_file(mapping) || is_pathless(path) || path.length >= sizeof(name))
		return (struct origin_identity){ 0 };
	memcpy(name, path.bytes, path.length);
	name[path.length] = 0;
	return identify_file(name);
}

bool origin_may_name(const struct origin_identity *identity, int fd)
{
	struct stat stat;

	if (file_stat(fd, &stat))
		return false;
	if (identity->is_trusted || file_is_trusted(stat.st_uid, stat.st_mode))
		return file_is_trusted(stat.st_uid, stat.st_mode);
	return !identity->inode ||
	       (stat.st_ino == identity->inode && stat.st_dev == identity->device);
}

static bool has_build_id(int fd, const struct profile_mapping *mapping)
{
	struct image image;
	struct elf elf;
	bool same;

	if (image_open(fd, &image))
		return false;
	same = elf_open(&image, &elf) && origin_has_build_id(mapping, elf_build_id(&elf));
	elf_close(&elf);
	image_close(&image);
	return same;
}

static bool has_inode(int fd, const struct profile_mapping *mapping)
{
	struct stat stat;

	return mapping->inode && file_stat(fd, &stat) == 0 && stat.st_ino == mapping->inode &&
	       major(stat.st_dev) == mapping->major && minor(stat.st_dev) == mapping->minor;
}

/* How far a location is trusted without a build-id. */
enum trust {
	BY_INODE,
	BY_PLACE, /* it is what was asked for */
};

/* A descriptor that is what is wanted, or -1; consumes `fd`. */
static int check_file(int fd, const struct profile_mapping *mapping, enum trust trust)
{
	bool same = false;

	if (fd < 0)
		return -1;
	if (mapping->build_id_length)
		same = has_build_id(fd, mapping);
	else
		same = trust == BY_PLACE || has_inode(fd, mapping);
	if (same)
		return fd;
	close(fd);
	return -1;
}

/* --- looking for it --- */

/* The kernel's own link to the file, which has it when it is deleted too. That it says the same
 * path is as good as the inode: file systems in layers have several. */
static int open_mapped(int process, const struct profile_mapping *mapping)
{
	struct file_buffer buffer = { 0 };
	char link[64];
	struct text target;
	bool same_path;
	int failed;

	if (!guard_enter())
		return -1;
	snprintf(link, sizeof(link), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	failed = file_readlink(process, link, &buffer, &target);
	guard_leave();
	same_path = !failed && text_equal(target, name_text(mapping->path));
	file_buffer_deinit(&buffer);
	return check_file(rooted_open_link(process, link), mapping,
			  same_path ? BY_PLACE : BY_INODE);
}

static int open_process(const struct profile_image *image)
{
	char path[32];

	if (image->is_over || !image->pid)
		return -1;
	snprintf(path, sizeof(path), "/proc/%" PRIu32, image->pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* In the process: its own view. */
static bool open_inside(const struct profile_image *image, const struct profile_mapping *mapping,
			const char *path, struct origin *origin)
{
	_cleanup_close_ int process = open_process(image);

	if (process < 0)
		return false;
	origin->process = openat(process, "root", O_PATH | O_CLOEXEC);
	origin->fd = open_mapped(process, mapping);
	if (origin->fd < 0)
		origin->fd = check_file(rooted_open(origin->process, path), mapping, BY_INODE);
	return origin->fd >= 0;
}

/* The debug file that has the build-id, in the place of its program. */
static int open_by_build_id(const struct origin *origin, const struct profile_mapping *mapping)
{
	char path[64 + 2 * BUILD_ID_MAX] = "/usr/lib/debug/.build-id/";
	char *end = path + strlen(path);
	int fd;

	if (mapping->build_id_length < 2 || mapping->build_id_length > BUILD_ID_MAX)
		return -1;
	end = hex_write(end, mapping->build_id, 1);
	*end++ = '/';
	end = hex_write(end, mapping->build_id + 1, mapping->build_id_length - 1u);
	strcpy(end, ".debug");
	fd = check_file(rooted_open(origin->symfs, path), mapping, BY_INODE);
	return fd >= 0 ? fd : check_file(rooted_open_link(AT_FDCWD, path), mapping, BY_INODE);
}

/* Numbers of inodes are used again, often at once: what changed since may be another file. */
static bool changed_since(int fd, uint64_t unix_ns)
{
	struct stat stat;

	return unix_ns && (file_stat(fd, &stat) || stat.st_ctim.tv_sec < 0 ||
			   (uint64_t)stat.st_ctim.tv_sec > unix_ns / NS_PER_S);
}

/* On this host, which need not be the profile's. */
static int open_here(const char *path, const struct profile_mapping *mapping,
		     uint64_t ended_unix_ns)
{
	int fd = check_file(rooted_open_link(AT_FDCWD, path), mapping, BY_INODE);

	if (fd >= 0 && !mapping->build_id_length && changed_since(fd, ended_unix_ns)) {
		close(fd);
		return -1;
	}
	return fd;
}

bool origin_open(const struct symbolise_options *options, int symfs, uint64_t ended_unix_ns,
		 struct kept *kept, const struct profile_image *image,
		 const struct profile_mapping *mapping, struct origin *ret)
{
	struct origin origin = { .fd = -1, .process = -1, .symfs = symfs };
	struct text path = origin_path(mapping);
	char name[PATH_MAX];

	if (!origin_is_file(mapping) || path.length >= sizeof(name))
		return false;
	memcpy(name, path.bytes, path.length);
	name[path.length] = 0;
	/* A user who names a tree vouches for its files. */
	if (!is_pathless(path))
		origin.fd = check_file(rooted_open(symfs, name), mapping, BY_PLACE);
	if (origin.fd < 0 && !options->is_elsewhere)
		open_inside(image, mapping, name, &origin);
	if (origin.fd < 0 && !options->is_elsewhere)
		origin.fd =
			check_file(kept_open_file(kept, image->pid, mapping), mapping, BY_PLACE);
	if (origin.fd < 0 && !is_pathless(path))
		origin.fd = open_here(name, mapping, ended_unix_ns);
	if (origin.fd < 0)
		origin.fd = open_by_build_id(&origin, mapping);
	if (origin.fd < 0) {
		origin_close(&origin);
		return false;
	}
	*ret = origin;
	return true;
}

void origin_close(struct origin *origin)
{
	if (origin->fd >= 0)
		close(origin->fd);
	if (origin->process >= 0)
		close(origin->process);
	origin->fd = origin->process = -1;
}

int origin_open_debug(void *context, const char *path)
{
	const struct origin *origin = context;
	int fd = debug_file_check(rooted_open(origin->process, path), origin->fd);

	if (fd < 0)
		fd = rooted_open(origin->symfs, path);
	return fd >= 0 ? fd : debug_file_check(rooted_open_link(AT_FDCWD, path), origin->fd);
}

/* --- what processes compiled --- */

/* The user and group IDs of /proc/PID/status (proc_pid_status(5)). */
struct identity {
	uint32_t number; /* that it has for itself: the last of its numbers in all namespaces */
	uint32_t user;   /* the effective one */
};

static bool read_identity(struct text status, struct identity *ret)
{
	struct text numbers, users, word;
	bool found = false;

	if (!pairs_find(status, ':', TEXT("NSpid"), &numbers) ||
	    !pairs_find(status, ':', TEXT("Uid"), &users))
		return false;
	while (text_word(&numbers, &word))
		found = text_u32(word, &ret->number);
	return found && text_word(&users, &word) && text_word(&users, &word) &&
	       text_u32(word, &ret->user);
}

static bool identify(int process, struct identity *ret)
{
	struct file_buffer buffer = { 0 };
	struct text status;
	bool done =
		file_read(process, "status", &buffer, &status) == 0 && read_identity(status, ret);

	file_buffer_deinit(&buffer);
	return done;
}

/*
 * Is it a file that `user` could read itself? Else its lines would tell us, as names of functions,
 * what the process may not know: its owner may have put a hard link there, or in a mount namespace
 * of his own mounted any file over the name.
 */
static bool is_readable_by(int fd, uint32_t user)
{
	struct stat stat;

	if (file_stat(fd, &stat) || stat.st_nlink != 1)
		return false;
	return stat.st_uid == user || (stat.st_uid == 0 && stat.st_mode & S_IROTH);
}

static int open_perf_map_below(int root, const struct identity *identity, char *path)
{
	_cleanup_close_ int fd = -1;

	snprintf(path, 64, "/tmp/perf-%" PRIu32 ".map", identity->number);
	fd = rooted_open_unlinked(root, path);
	return fd >= 0 && is_readable_by(fd, identity->user) ? take_fd(fd) : -1;
}

/* Clocks of file systems go by ticks. */
#define TICKS_NS (NS_PER_S / 10)

/* Was it written after that time? Another process has got the number, or had it. */
static bool is_written_after(int fd, uint64_t monotonic_ns)
{
	const uint64_t ago_ns = clock_ns(CLOCK_MONOTONIC) - monotonic_ns;
	const uint64_t time_ns = clock_ns(CLOCK_REALTIME) - ago_ns + TICKS_NS;
	struct stat stat;

	return file_stat(fd, &stat) || stat.st_mtim.tv_sec < 0 ||
	       (uint64_t)stat.st_mtim.tv_sec * NS_PER_S + (uint64_t)stat.st_mtim.tv_nsec > time_ns;
}

static int open_perf_map_of_ended(const struct profile_image *image, struct kept *kept, char *path)
{
	_cleanup_close_ int root = -1;
	_cleanup_close_ int fd = -1;
	struct kept_process process;
	struct identity identity;

	if (!kept_find_process(kept, image->pid, &process))
		return -1;
	root = process.root;
	identity = (struct identity){ .number = process.number, .user = process.user };
	fd = open_perf_map_below(root, &identity, path);
	return fd >= 0 && !(image->ended_ns && is_written_after(fd, image->ended_ns)) ? take_fd(fd)
										      : -1;
}

int origin_open_perf_map(const struct profile_image *image, struct kept *kept, char *path)
{
	_cleanup_close_ int process = open_process(image);
	_cleanup_close_ int root = -1;
	struct identity identity;

	if (process < 0 || !identify(process, &identity))
		return open_perf_map_of_ended(image, kept, path);
	root = openat(process, "root", O_PATH | O_CLOEXEC);
	return open_perf_map_below(root, &identity, path);
}

void origin_keep_process(struct kept *kept, uint32_t pid)
{
	const struct profile_image image = { .pid = pid };
	_cleanup_close_ int process = open_process(&image);
	_cleanup_close_ int root = -1;
	struct identity identity;

	if (process < 0 || !identify(process, &identity))
		return;
	root = openat(process, "root", O_PATH | O_CLOEXEC);
	if (root >= 0)
		kept_add_process(kept, pid,
				 &(struct kept_process){ .number = identity.number,
							 .user = identity.user,
							 .root = root });
}
