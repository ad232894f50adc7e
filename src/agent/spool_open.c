/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/spool_internal.h"
#include "base/file.h"
#include "base/own_dir.h"

#define WRITABLE_BY_OTHER 022
/* Names in a folder that are looked at. */
#define NAMES_MOST (4 * SPOOL_FILES_MOST)

static bool id_of(const char *name, uint64_t *ret)
{
	const struct text text = text_of(name);

	return text.length == SPOOL_NAME_SIZE - 1 && text_ends(text, TEXT(SPOOL_SUFFIX)) &&
	       text_u64((struct text){ name, SPOOL_ID_DIGITS }, ret) && *ret && *ret < UINT64_MAX;
}

static int compare_entries(const void *a, const void *b)
{
	const struct spool_entry *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* A request that was being written when the agent was killed. */
static void drop_new(struct spool *spool, struct spool_folder *folder)
{
	struct stat st;
	int fd;

	if (spool_is_left(spool, folder, SPOOL_NEW_ID))
		return;
	fd = spool_open_file(folder, SPOOL_NEW_NAME, O_RDONLY, &st);
	if (fd >= 0) {
		spool_count_file(spool, folder, fd, "damaged", SPOOL_ALL);
		spool_write_losses_before(spool, folder, SPOOL_NEW_ID);
		close(fd);
	}
	if (!spool_unlink(folder, SPOOL_NEW_ID))
		spool_keep_left(spool, folder, SPOOL_NEW_ID,
				fd >= 0 ? spool_blocks_of((uint64_t)st.st_size) : 0);
	/* The next file of that name must not be taken for this one. */
	spool->is_dirty |= fd >= 0;
}

static bool add_name(struct spool *spool, struct spool_folder *folder, const char *name)
{
	struct spool_entry entry;
	struct stat st;

	if (!id_of(name, &entry.id) || fstatat(folder->dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return true;
	entry.bytes = spool_blocks_of((uint64_t)st.st_size);
	if (!array_push(&folder->entries, entry))
		return false;
	spool->bytes += entry.bytes;
	spool->files++;
	if (entry.id >= spool->next_id)
		spool->next_id = entry.id + 1;
	return true;
}

/* A list of the names in a directory, which is opened again. NULL: none, or an error. */
static DIR *list(int dir)
{
	const int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *names = again >= 0 ? fdopendir(again) : NULL;

	if (!names && again >= 0)
		close(again);
	return names;
}

/* Files that are left are no requests: they were counted. */
static void take_out_left(struct spool *spool, struct spool_folder *folder)
{
	size_t kept = 0;

	for (size_t i = 0; spool->left.count && i < folder->entries.count; i++) {
		const struct spool_entry entry = folder->entries.items[i];

		if (!spool_is_left(spool, folder, entry.id)) {
			folder->entries.items[kept++] = entry;
			continue;
		}
		spool->bytes -= entry.bytes;
		spool->files--;
	}
	if (spool->left.count)
		folder->entries.count = kept;
}

static struct error *read_folder(struct spool *spool, struct spool_folder *folder)
{
	struct error *err = NULL;
	const struct dirent *each;
	size_t seen = 0;
	DIR *names;

	drop_new(spool, folder);
	unlinkat(folder->dir, SPOOL_MARKED_NAME, 0);
	names = list(folder->dir);
	if (!names)
		return error_system(errno, "%s: %s", spool->path, folder->name);
	while (!err && seen++ < NAMES_MOST && (each = readdir(names)))
		if (!add_name(spool, folder, each->d_name))
			err = &error_no_memory;
	closedir(names);
	if (folder->entries.count)
		qsort(folder->entries.items, folder->entries.count, sizeof(struct spool_entry),
		      compare_entries);
	take_out_left(spool, folder);
	return err;
}

static struct spool_folder *find_folder(struct spool *spool, const char *name)
{
	for (size_t i = 0; i < spool->folder_count; i++)
		if (strings_equal(spool->folders[i].name, name))
			return &spool->folders[i];
	return NULL;
}

/* Remove a file that an earlier agent counted or delivered, and did not remove. */
static void finish_removal(struct spool *spool, const struct spool_folder *folder, uint64_t id)
{
	char name[SPOOL_NAME_SIZE];
	struct stat st;

	if (spool_unlink(folder, id))
		return;
	spool_name_of(id, name);
	/* Directories and links that have its name are left alone. */
	if (!fstatat(folder->dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	    !spool_is_left(spool, folder, id))
		spool_keep_left(spool, folder, id, spool_blocks_of((uint64_t)st.st_size));
}

/* What was counted before a kill, and not removed. New requests get other numbers, for the file of
 * losses may name these for long. */
static void finish_removals(struct spool *spool)
{
	for (size_t i = 0; i < spool->losses.removals.count; i++) {
		const struct losses_removal *removal = &spool->losses.removals.items[i];
		const struct spool_folder *folder = find_folder(spool, removal->sink);

		if (folder)
			finish_removal(spool, folder, removal->id);
		if (removal->id >= spool->next_id && removal->id < UINT64_MAX)
			spool->next_id = removal->id + 1;
	}
	losses_forget_removals(&spool->losses);
}

/* Does another folder have requests? */
static bool is_strange(struct spool *spool, const char *name)
{
	struct spool_folder folder = { .name = name };
	const struct dirent *each;
	bool has_requests = false;
	uint64_t id;
	DIR *names;

	if (name[0] == '.' || find_folder(spool, name))
		return false;
	folder.dir = openat(spool->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	names = folder.dir >= 0 ? fdopendir(folder.dir) : NULL;
	if (!names) {
		if (folder.dir >= 0)
			close(folder.dir);
		return false;
	}
	for (size_t seen = 0; !has_requests && seen < NAMES_MOST && (each = readdir(names)); seen++)
		has_requests = id_of(each->d_name, &id);
	closedir(names);
	return has_requests;
}

static void count_strange_folders(struct spool *spool)
{
	DIR *names = list(spool->dir);
	const struct dirent *each;

	for (size_t seen = 0; names && seen < NAMES_MOST && (each = readdir(names)); seen++)
		spool->strange_folders += is_strange(spool, each->d_name);
	if (names)
		closedir(names);
}

/* Make the directory that the spool will be in, as /var/lib/ctprof, if its own is there. */
static struct error *make_parent(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int made = -1;
	const char *parent;

	if (!copy)
		return &error_no_memory;
	parent = dirname(copy);
	return access(parent, F_OK) && errno == ENOENT ? own_base_open(parent, OWN_LINKS, &made)
						       : NULL;
}

static struct error *open_dir(struct spool *spool)
{
	struct error *err = make_parent(spool->path);
	struct stat st;

	if (!err)
		err = own_base_open(spool->path, OWN_LINKS, &spool->dir);
	if (err)
		return err;
	if (fstat(spool->dir, &st) || st.st_mode & WRITABLE_BY_OTHER)
		return error_create("%s: other users may write to it", spool->path);
	if (flock(spool->dir, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK
			       ? error_coded(errno, "%s: another agent uses this spool",
					     spool->path)
			       : error_system(errno, "%s", spool->path);
	return NULL;
}

static struct error *read_spool(struct spool *spool)
{
	struct error *err = open_dir(spool), *damaged;

	if (err)
		return err;
	damaged = losses_read(&spool->losses, spool->dir);
	if (damaged) {
		error_destroy(damaged);
		if (losses_add(&spool->losses, "", TEXT("files of losses"), "damaged", 1))
			spool->is_dirty = true;
	}
	for (size_t i = 0; !err && i < spool->folder_count; i++)
		err = own_dir_open(spool->dir, spool->folders[i].name, spool->path,
				   &spool->folders[i].dir);
	if (err)
		return err;
	finish_removals(spool);
	for (size_t i = 0; !err && i < spool->folder_count; i++)
		err = read_folder(spool, &spool->folders[i]);
	if (err)
		return err;
	count_strange_folders(spool);
	spool_make_room(spool, 0);
	spool_write_losses(spool);
	return NULL;
}

struct error *spool_open(const struct spool_options *options, struct spool **ret)
{
	struct spool *spool =
		calloc(1, sizeof(*spool) + options->sink_count * sizeof(spool->folders[0]));
	struct error *err;

	if (!spool)
		return &error_no_memory;
	spool->dir = -1;
	spool->most = options->most;
	spool->next_id = 1;
	spool->folder_count = options->sink_count;
	for (size_t i = 0; i < options->sink_count; i++)
		spool->folders[i] = (struct spool_folder){ .name = options->sinks[i].folder,
							   .sink = options->sinks[i].name,
							   .dir = -1 };
	spool->path = strdup(options->path);
	err = spool->path ? read_spool(spool) : &error_no_memory;
	if (err)
		spool_close(spool);
	else
		*ret = spool;
	return err;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	for (size_t i = 0; i < spool->folder_count; i++) {
		array_deinit(&spool->folders[i].entries);
		if (spool->folders[i].dir >= 0)
			close(spool->folders[i].dir);
	}
	array_deinit(&spool->left);
	losses_deinit(&spool->losses);
	/* The lock goes with it. */
	if (spool->dir >= 0)
		close(spool->dir);
	free(spool->path);
	free(spool);
}
