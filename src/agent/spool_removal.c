/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spool_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BLOCK UINT64_C(4096)
/* Files that could not be removed are tried again, so many at each removal. */
#define TRIES_MOST 8

/* --- names --- */

void spool_name_of(uint64_t id, char ret[SPOOL_NAME_SIZE])
{
	if (id == SPOOL_NEW_ID)
		strcpy(ret, SPOOL_NEW_NAME);
	else
		snprintf(ret, SPOOL_NAME_SIZE, "%0*" PRIu64 SPOOL_SUFFIX, SPOOL_ID_DIGITS, id);
}

uint64_t spool_blocks_of(uint64_t length)
{
	return (length + BLOCK - 1) / BLOCK * BLOCK;
}

int spool_open_file(const struct spool_folder *folder, const char *name, int access,
		    struct stat *ret)
{
	const int fd =
		openat(folder->dir, name, access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!fstat(fd, ret) && S_ISREG(ret->st_mode) && ret->st_uid == geteuid())
		return fd;
	close(fd);
	errno = EBADMSG;
	return -1;
}

/* --- losses --- */

void spool_count_loss(struct spool *spool, const struct spool_folder *folder, struct text what,
		      const char *why, uint64_t count)
{
	/* Without memory the number is lost. */
	if (count && losses_add(&spool->losses, folder->sink, what, why, count))
		spool->is_dirty = true;
}

void spool_count_file(struct spool *spool, const struct spool_folder *folder, int fd,
		      const char *why, uint64_t most)
{
	struct request_header header;

	if (fd >= 0 && request_header_read(fd, spool->start, &header))
		spool_count_loss(spool, folder, header.what, why,
				 header.count < most ? header.count : most);
	else
		spool_count_loss(spool, folder, TEXT("requests"), "damaged", 1);
}

void spool_write_losses_before(struct spool *spool, const struct spool_folder *folder, uint64_t id)
{
	struct error *err;

	if (folder)
		spool->is_dirty |= losses_add_removal(&spool->losses, folder->name, id);
	for (size_t i = 0; spool->is_dirty && i < spool->left.count; i++)
		if (!losses_add_removal(&spool->losses, spool->left.items[i].folder->name,
					spool->left.items[i].id))
			break;
	err = spool->is_dirty ? losses_write(&spool->losses, spool->dir) : NULL;
	losses_forget_removals(&spool->losses);
	if (!err)
		spool->is_dirty = false;
	error_destroy(err);
}

void spool_write_losses(struct spool *spool)
{
	spool_write_losses_before(spool, NULL, 0);
}

/* --- removing --- */

bool spool_unlink(const struct spool_folder *folder, uint64_t id)
{
	char name[SPOOL_NAME_SIZE];

	spool_name_of(id, name);
	return !unlinkat(folder->dir, name, 0) || errno == ENOENT;
}

void spool_keep_left(struct spool *spool, const struct spool_folder *folder, uint64_t id,
		     uint64_t bytes)
{
	const int errnum = errno;

	/* Without memory it is forgotten, and read again at the next start. */
	if (!array_push(&spool->left, ((struct spool_left_file){ folder, id, bytes })))
		return;
	spool->left_errnum = errnum;
	spool->bytes += bytes;
	spool->files++;
	spool->is_dirty = true;
}

/* Try again to remove the file with this index among those that are left. */
static bool try_left(struct spool *spool, size_t index)
{
	struct spool_left_file *left = &spool->left.items[index];

	if (!spool_unlink(left->folder, left->id)) {
		spool->left_errnum = errno;
		return false;
	}
	spool->bytes -= left->bytes;
	spool->files--;
	spool->is_dirty = true;
	*left = spool->left.items[--spool->left.count];
	return true;
}

/* Try some of the files that are left. */
static void remove_left(struct spool *spool)
{
	size_t tries = spool->left.count < TRIES_MOST ? spool->left.count : TRIES_MOST;

	for (; tries; tries--) {
		if (spool->next_left >= spool->left.count)
			spool->next_left = 0;
		if (!try_left(spool, spool->next_left))
			spool->next_left++;
	}
}

bool spool_is_left(const struct spool *spool, const struct spool_folder *folder, uint64_t id)
{
	for (size_t i = 0; i < spool->left.count; i++)
		if (spool->left.items[i].folder == folder && spool->left.items[i].id == id)
			return true;
	return false;
}

void spool_remove_left_new(struct spool *spool, const struct spool_folder *folder)
{
	for (size_t i = 0; i < spool->left.count; i++)
		if (spool->left.items[i].folder == folder &&
		    spool->left.items[i].id == SPOOL_NEW_ID) {
			if (try_left(spool, i))
				spool_write_losses(spool);
			return;
		}
}

void spool_forget_entry(struct spool *spool, struct spool_folder *folder, size_t index)
{
	spool->bytes -= folder->entries.items[index].bytes;
	spool->files--;
	folder->entries.count--;
	memmove(&folder->entries.items[index], &folder->entries.items[index + 1],
		(folder->entries.count - index) * sizeof(struct spool_entry));
	folder->held -= index < folder->held;
}

void spool_append_entry(struct spool *spool, struct spool_folder *folder, struct spool_entry entry)
{
	folder->entries.items[folder->entries.count++] = entry;
	spool->bytes += entry.bytes;
	spool->files++;
}

bool spool_remove_entry(struct spool *spool, struct spool_folder *folder, size_t index)
{
	const struct spool_entry entry = folder->entries.items[index];
	bool is_removed;

	remove_left(spool);
	spool_forget_entry(spool, folder, index);
	is_removed = spool_unlink(folder, entry.id);
	if (!is_removed)
		spool_keep_left(spool, folder, entry.id, entry.bytes);
	return is_removed;
}

bool spool_drop_entry(struct spool *spool, struct spool_folder *folder, size_t index,
		      const char *why, uint64_t most)
{
	const uint64_t id = folder->entries.items[index].id;
	char name[SPOOL_NAME_SIZE];
	struct stat st;
	int fd;

	spool_name_of(id, name);
	fd = spool_open_file(folder, name, O_RDONLY, &st);
	spool_count_file(spool, folder, fd, why, most);
	if (fd >= 0)
		close(fd);
	spool_write_losses_before(spool, folder, id);
	return spool_remove_entry(spool, folder, index);
}

static bool is_writable(const struct spool_folder *folder)
{
	return !faccessat(folder->dir, ".", W_OK | X_OK, AT_EACCESS);
}

/* The folder with the oldest request that may be dropped, and whose files can be removed; NULL:
 * there is none. */
static struct spool_folder *find_oldest(struct spool *spool)
{
	struct spool_folder *oldest = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < spool->folder_count; i++) {
		struct spool_folder *folder = &spool->folders[i];

		if (folder->entries.count <= folder->held ||
		    folder->entries.items[folder->held].id >= least || !is_writable(folder))
			continue;
		least = folder->entries.items[folder->held].id;
		oldest = folder;
	}
	return oldest;
}

static bool drop_oldest(struct spool *spool, const char *why)
{
	struct spool_folder *folder = find_oldest(spool);

	/* One that cannot be removed makes no room: others are not dropped in vain. */
	return folder && spool_drop_entry(spool, folder, folder->held, why, SPOOL_ALL);
}

bool spool_make_room(struct spool *spool, uint64_t bytes)
{
	remove_left(spool);
	if (bytes > spool->most)
		return false;
	while (spool->bytes > spool->most - bytes || spool->files >= SPOOL_FILES_MOST)
		if (!drop_oldest(spool, "spool full"))
			return false;
	return true;
}

bool spool_make_room_on_disk(struct spool *spool, uint64_t bytes)
{
	uint64_t freed = 0;

	while (freed < bytes) {
		const uint64_t before = spool->bytes;

		if (!drop_oldest(spool, "disk full"))
			return freed > 0;
		freed += before - spool->bytes;
	}
	return true;
}
