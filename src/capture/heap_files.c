/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/heap_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"

/* Above this number, all entries are dropped: a host watched for months keeps bringing new files.
 */
#define FILES_MAX 16384

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

static enum probe_failure failure_of(enum jemalloc_refusal refusal)
{
	static const enum probe_failure failures[] = {
		[JEMALLOC_FOUND] = PROBE_DONE,
		[JEMALLOC_NOT_FOUND] = PROBE_NOT_FOUND,
		[JEMALLOC_IN_DSO] = PROBE_IN_DSO,
		[JEMALLOC_ARCH_MISMATCH] = PROBE_ARCH_MISMATCH,
		[JEMALLOC_NO_OFFSETS] = PROBE_NO_OFFSETS,
		[JEMALLOC_NO_BLOCK] = PROBE_NO_BLOCK,
		[JEMALLOC_TWO_ANSWERS] = PROBE_AMBIGUOUS,
		[JEMALLOC_TLS_ARITHMETIC] = PROBE_TLS_ARITHMETIC,
		[JEMALLOC_DEBUG_REFUSED] = PROBE_DEBUG_REFUSED,
	};

	return failures[refusal];
}

void heap_files_deinit(struct heap_files *files)
{
	array_deinit(&files->files);
	word_map_deinit(&files->programs);
	word_map_deinit(&files->libraries);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* --- looking into a file --- */

/* A path as the process sees it, below its root, wherever links in it lead. */
static int find_as_seen(int dir, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	_cleanup_close_ int root = openat(dir, "root", O_PATH | O_CLOEXEC);

	return root < 0 ? -1 : (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* The program whose debug file is searched. */
struct program {
	int dir; /* of its process */
	int fd;
};

static int open_as_seen(void *context, const char *path)
{
	const struct program *program = context;
	_cleanup_close_ int found = find_as_seen(program->dir, path);

	return debug_file_check(file_open_regular(found), program->fd);
}

static void take_text(const struct elf *elf, struct heap_file *file)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		file->text_offset = segment->p_offset & -page;
		file->text_address = segment->p_vaddr & -page;
		return;
	}
}

/* A file that is not a 64-bit ELF file counts as one without jemalloc. */
static void look_into(int dir, int fd, const char *path, bool is_program, struct heap_file *file)
{
	struct image image;
	struct elf elf;

	file->failure = PROBE_NOT_FOUND;
	if (image_open(fd, &image))
		return;
	if (elf_open(&image, &elf)) {
		struct program program = { dir, fd };
		const struct jemalloc_file jemalloc = { &elf, is_program, path, open_as_seen,
							&program };

		file->has_libraries = elf_segment(&elf, PT_DYNAMIC);
		take_text(&elf, file);
		file->failure = failure_of(jemalloc_find(&jemalloc, &file->layout));
		if (file->failure == PROBE_DONE && elf.machine != OUR_MACHINE)
			file->failure = PROBE_ARCH_MISMATCH;
	}
	elf_close(&elf);
	image_close(&image);
}

/* --- remembering --- */

static struct heap_file *known(struct heap_files *files, struct word_map *map, struct words key)
{
	uint32_t number = word_map_find(map, key);

	return number == WORD_MAP_NEW ? NULL : &files->files.items[number];
}

static struct error *remember_file(struct heap_files *files, struct word_map *map, struct words key,
				   const struct heap_file *file)
{
	uint32_t *number;

	if (files->files.count >= FILES_MAX) {
		word_map_deinit(&files->programs);
		word_map_deinit(&files->libraries);
		files->files.count = 0;
	}
	number = word_map_at(map, key);
	if (!number)
		return &error_no_memory;
	if (*number != WORD_MAP_NEW) {
		files->files.items[*number] = *file;
		return NULL;
	}
	*number = (uint32_t)files->files.count;
	if (array_push(&files->files, *file))
		return NULL;
	heap_files_deinit(files);
	return &error_no_memory;
}

/* --- programs --- */

/* The path of the executable of a process; that of a deleted file cannot be opened. */
static const char *program_path(struct heap_files *files, int dir, char path[PATH_MAX])
{
	struct text link;

	if (file_readlink(dir, "exe", files->buffer, &link) || link.length >= PATH_MAX)
		return NULL;
	memcpy(path, link.bytes, link.length);
	path[link.length] = 0;
	return path;
}

struct error *heap_files_program(struct heap_files *files, int dir, const struct stat *identity,
				 struct heap_file *ret)
{
	struct words key = { { identity->st_dev, identity->st_ino } };
	const struct heap_file *before = known(files, &files->programs, key);
	struct heap_file file = { .failure = PROBE_NOT_FOUND, .has_libraries = true };
	_cleanup_close_ int fd = -1;
	struct error *err;
	char path[PATH_MAX];

	if (before && is_same_file(&before->identity, identity)) {
		*ret = *before;
		return NULL;
	}
	/* An executable without read permission can still use a library that is readable. */
	fd = openat(dir, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &file.identity) == 0)
		look_into(dir, fd, program_path(files, dir, path), true, &file);
	else
		file.identity = *identity;
	err = remember_file(files, &files->programs, key, &file);
	if (!err)
		*ret = file;
	return err;
}

/* --- libraries --- */

/* The very file of a mapping; by its path, where asking for that is denied (it needs
 * CAP_CHECKPOINT_RESTORE), if there is still the same file. It is not opened for reading yet. */
static int find_mapped(int dir, const struct mapping *mapping, char path[PATH_MAX])
{
	_cleanup_close_ int found = -1;
	struct stat stat;
	char name[64];

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	found = openat(dir, name, O_PATH | O_CLOEXEC);
	if (found >= 0)
		return take_fd(found);
	found = find_as_seen(dir, path);
	if (found >= 0 && fstat(found, &stat) == 0 && stat.st_ino == mapping->inode)
		return take_fd(found);
	return -1;
}

/* Could a file that cannot be read be it? By its name. */
static bool sounds_like_it(struct text path)
{
	return memmem(path.bytes, path.length, "jemalloc", 8);
}

struct error *heap_files_library(struct heap_files *files, int dir, const struct mapping *mapping,
				 struct heap_file *ret)
{
	struct words key = { { makedev(mapping->major, mapping->minor), mapping->inode,
			       text_hash(mapping->path, 0) } };
	struct heap_file *before = known(files, &files->libraries, key);
	struct heap_file file = { .failure = PROBE_NOT_FOUND, .looked_at = files->round };
	_cleanup_close_ int found = -1, fd = -1;
	struct error *err;
	char path[PATH_MAX];

	if (before && before->looked_at == files->round) {
		*ret = *before;
		return NULL;
	}
	if (mapping->path.length < PATH_MAX) {
		memcpy(path, mapping->path.bytes, mapping->path.length);
		path[mapping->path.length] = 0;
		found = find_mapped(dir, mapping, path);
	}
	/* An inode number may be reused by another file, and a file may be overwritten. */
	if (before && found >= 0 && fstat(found, &file.identity) == 0 &&
	    is_same_file(&before->identity, &file.identity)) {
		before->looked_at = files->round;
		*ret = *before;
		return NULL;
	}
	fd = file_open_regular(found);
	if (fd < 0 || fstat(fd, &file.identity)) {
		files->refused++;
		/* Do not cache the refusal: another process with the same file may be accessible.
		 */
		if (sounds_like_it(mapping->path))
			file.failure = PROBE_FILE_READ;
		*ret = file;
		return NULL;
	}
	look_into(dir, fd, path, false, &file);
	err = remember_file(files, &files->libraries, key, &file);
	if (!err)
		*ret = file;
	return err;
}
