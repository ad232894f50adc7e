/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hex.h"
#include "base/outfile.h"
#include "base/own_dir.h"
#include "unwind/table_file.h"

#define WRITABLE_BY_OTHER 022
#define SUFFIX            ".unwind"

struct unwind_cache {
	int dir;
	uid_t owner;
	char *path; /* of the directory, for messages */
	pthread_mutex_t lock;
	uint64_t bytes; /* of all files, as far as this process knows */
	bool is_counted;
};

/* --- the directory --- */

static struct error *create_cache(int dir, const char *path, struct unwind_cache **ret)
{
	struct unwind_cache *cache = calloc(1, sizeof(*cache));
	char *copy = strdup(path);

	if (!cache || !copy || pthread_mutex_init(&cache->lock, NULL)) {
		free(cache);
		free(copy);
		close(dir);
		return &error_no_memory;
	}
	cache->dir = dir;
	cache->path = copy;
	cache->owner = geteuid();
	*ret = cache;
	return NULL;
}

static struct error *open_in_base(const char *base, struct unwind_cache **ret)
{
	_cleanup_close_ int in_base = -1, in_ours = -1;
	_cleanup_free_ char *path = NULL;
	struct error *err;
	int dir;

	if (asprintf(&path, "%s/ctprof/unwind", base) < 0) {
		path = NULL;
		return &error_no_memory;
	}
	err = own_base_open(base, OWN_LINKS, &in_base);
	if (!err)
		err = own_dir_open(in_base, "ctprof", base, &in_ours);
	if (!err)
		err = own_dir_open(in_ours, "unwind", base, &dir);
	return err ? err : create_cache(dir, path, ret);
}

/* XDG Base Directory Specification 0.8: a path that is not absolute is as if it were not there. */
static struct error *open_in_home(struct unwind_cache **ret)
{
	const char *caches = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	_cleanup_free_ char *usual = NULL;

	if (caches && *caches == '/')
		return open_in_base(caches, ret);
	if (!home || *home != '/')
		return error_create("neither HOME nor XDG_CACHE_HOME is set");
	if (asprintf(&usual, "%s/.cache", home) < 0) {
		usual = NULL;
		return &error_no_memory;
	}
	return open_in_base(usual, ret);
}

struct error *unwind_cache_open(struct unwind_cache **ret)
{
	struct error *err = open_in_home(ret);

	if (!err || geteuid() != 0)
		return err;
	error_destroy(err);
	return open_in_base("/var/cache", ret);
}

struct error *unwind_cache_open_at(const char *path, struct unwind_cache **ret)
{
	_cleanup_free_ char *for_parent = strdup(path), *for_name = strdup(path);
	_cleanup_close_ int parent = -1;
	struct error *err;
	int dir;

	if (!for_parent || !for_name)
		return &error_no_memory;
	err = file_open_dir(dirname(for_parent), &parent);
	if (!err)
		err = own_dir_open(parent, basename(for_name), path, &dir);
	return err ? err : create_cache(dir, path, ret);
}

void unwind_cache_close(struct unwind_cache *cache)
{
	if (!cache)
		return;
	close(cache->dir);
	free(cache->path);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

/* --- files --- */

struct file_name {
	char bytes[2 * UNWIND_BUILD_ID_BYTES_MAX + sizeof(SUFFIX)];
};

static bool name_of_build_id(struct text build_id, struct file_name *ret)
{
	if (!build_id.length || build_id.length > UNWIND_BUILD_ID_BYTES_MAX)
		return false;
	strcpy(hex_write(ret->bytes, build_id.bytes, build_id.length), SUFFIX);
	return true;
}

/* All bytes of a file that was found safe. It may grow or shrink meanwhile: what is read then is
 * not whole. */
static bool read_whole(int fd, size_t length, char *bytes)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = read(fd, bytes + done, length - done);

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static bool is_safe_file(const struct unwind_cache *cache, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == cache->owner &&
	       !(st->st_mode & WRITABLE_BY_OTHER) && st->st_size > 0 &&
	       (uint64_t)st->st_size <= UNWIND_TABLE_FILE_MAX;
}

bool unwind_cache_read(struct unwind_cache *cache, struct text build_id, struct unwind_table *ret)
{
	_cleanup_free_ char *bytes = NULL;
	_cleanup_close_ int fd = -1;
	struct file_name name;
	struct stat st;

	if (!cache || !name_of_build_id(build_id, &name))
		return false;
	fd = openat(cache->dir, name.bytes, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !is_safe_file(cache, &st))
		return false;
	bytes = malloc((size_t)st.st_size);
	if (!bytes || !read_whole(fd, (size_t)st.st_size, bytes) ||
	    !unwind_table_parse((struct text){ bytes, (size_t)st.st_size }, build_id, ret))
		return false;
	/* A file that is used must not be removed as old. */
	(void)!futimens(fd, NULL);
	return true;
}

/* --- no more than fits --- */

struct old_file {
	char name[sizeof(struct file_name) + 32];
	struct timespec when;
	uint64_t bytes;
};

struct old_files {
	ARRAY(struct old_file);
	uint64_t bytes;
};

/* A file of the cache, or a temporary file of a process that was killed while it wrote one. */
static bool is_our_name(struct text name)
{
	return text_ends(name, TEXT(SUFFIX)) ||
	       (text_starts(name, TEXT(".")) && text_ends(name, TEXT(".tmp")));
}

static bool add_file(int dir, const char *name, struct old_files *files)
{
	struct old_file file = { .bytes = 0 };
	struct stat st;

	if (!is_our_name(text_of(name)) || strlen(name) >= sizeof(file.name) ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return true;
	strcpy(file.name, name);
	file.when = st.st_mtim;
	file.bytes = (uint64_t)st.st_size;
	files->bytes += file.bytes;
	return array_push(files, file);
}

static bool list_files(int dir, struct old_files *ret)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	bool all = true;

	if (!entries) {
		if (copy >= 0)
			close(copy);
		return false;
	}
	while (all && (entry = readdir(entries)))
		all = add_file(dir, entry->d_name, ret);
	closedir(entries);
	return all;
}

static int by_age(const void *a, const void *b)
{
	const struct old_file *x = a, *y = b;

	if (x->when.tv_sec != y->when.tv_sec)
		return x->when.tv_sec < y->when.tv_sec ? -1 : 1;
	if (x->when.tv_nsec != y->when.tv_nsec)
		return x->when.tv_nsec < y->when.tv_nsec ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Count what is there, and remove the oldest of it: an eighth more than must go, so that not each
 * table that comes looks through all others. */
static void prune_cache(struct unwind_cache *cache)
{
	struct old_files files = { .bytes = 0 };

	if (list_files(cache->dir, &files)) {
		cache->is_counted = true;
		if (files.bytes > UNWIND_CACHE_BYTES) {
			qsort(files.items, files.count, sizeof(*files.items), by_age);
			for (size_t i = 0;
			     i < files.count && files.bytes > UNWIND_CACHE_BYTES / 8 * 7; i++)
				if (!unlinkat(cache->dir, files.items[i].name, 0))
					files.bytes -= files.items[i].bytes;
		}
		cache->bytes = files.bytes;
	}
	array_deinit(&files);
}

static struct error *write_table(struct unwind_cache *cache, struct text build_id,
				 const struct unwind_table *table, struct outfile *file)
{
	struct error *err = unwind_table_write(table, build_id, outfile_write, file);

	/* The name that it has in between is the same for all threads of a process. */
	pthread_mutex_lock(&cache->lock);
	if (!err)
		err = outfile_commit(file);
	if (!err) {
		cache->bytes += table->words.count * sizeof(*table->words.items);
		if (!cache->is_counted || cache->bytes > UNWIND_CACHE_BYTES)
			prune_cache(cache);
	}
	pthread_mutex_unlock(&cache->lock);
	return err;
}

void unwind_cache_write(struct unwind_cache *cache, struct text build_id,
			const struct unwind_table *table)
{
	_cleanup_error_ struct error *err = NULL;
	struct outfile file;
	struct file_name name;

	if (!cache || !name_of_build_id(build_id, &name) ||
	    table->words.count > UNWIND_TABLE_FILE_MAX / 2 / sizeof(*table->words.items))
		return;
	err = outfile_open_at(&file, cache->dir, name.bytes, cache->path);
	if (!err)
		err = write_table(cache, build_id, table, &file);
	outfile_close(&file);
}
