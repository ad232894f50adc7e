/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/spool_internal.h"
#include "base/file.h"

/* --- adding --- */

int spool_create_file(const struct spool_folder *folder, const char *name)
{
	unlinkat(folder->dir, name, 0);
	return openat(folder->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

/* Returns 0 or an errno. */
static int write_file(const struct spool_folder *folder, const char *name, struct text header,
		      struct text body)
{
	int fd, failed;

	fd = spool_create_file(folder, SPOOL_NEW_NAME);
	if (fd < 0)
		return errno;
	failed = spool_write_bytes(fd, header);
	if (!failed)
		failed = spool_write_bytes(fd, body);
	if (close(fd) && !failed)
		failed = errno;
	if (!failed && renameat(folder->dir, SPOOL_NEW_NAME, folder->dir, name))
		failed = errno;
	if (failed)
		unlinkat(folder->dir, SPOOL_NEW_NAME, 0);
	return failed;
}

static bool is_full(int failed)
{
	return failed == ENOSPC || failed == EDQUOT;
}

/* Write the file and, while the disk is full, make room for it. Returns 0 or an errno. */
static int write_with_room(struct spool *spool, const struct spool_folder *folder, const char *name,
			   struct text header, struct text body)
{
	int failed;

	do
		failed = write_file(folder, name, header, body);
	while (is_full(failed) &&
	       spool_make_room_on_disk(spool, spool_blocks_of(header.length + body.length)));
	return failed;
}

static struct error *add_file(struct spool *spool, struct spool_folder *folder, struct text header,
			      struct text body)
{
	const struct spool_entry entry = { spool->next_id,
					   spool_blocks_of(header.length + body.length) };
	char name[SPOOL_NAME_SIZE];
	int failed;

	if (!array_reserve(&folder->entries, 1))
		return &error_no_memory;
	spool_remove_left_new(spool, folder);
	spool_name_of(entry.id, name);
	failed = write_with_room(spool, folder, name, header, body);
	if (failed)
		return error_system(failed, "%s", spool->path);
	spool->next_id++;
	spool_append_entry(spool, folder, entry);
	return NULL;
}

struct error *spool_add(struct spool *spool, size_t sink, const struct sink_request *request)
{
	struct spool_folder *folder = &spool->folders[sink];
	struct text header = { NULL, 0 };
	struct error *err = request_header_write(request, &header);
	const uint64_t bytes = spool_blocks_of(header.length + request->body.length);
	const char *why = NULL; /* it is lost */
	bool has_room = false;

	if (!err) {
		has_room = spool_make_room(spool, bytes);
		if (has_room)
			err = add_file(spool, folder, header, request->body);
	}
	if (err)
		why = is_full(err->errnum) ? "disk full" : "not written";
	else if (!has_room)
		why = bytes > spool->most ? "spool too small" : "spool full";
	if (why)
		spool_count_loss(spool, folder, text_of(request->what), why, request->count);
	spool_write_losses(spool);
	free((void *)(uintptr_t)header.bytes);
	return err;
}

/* --- requests of a sink --- */

size_t spool_count(const struct spool *spool, size_t sink)
{
	return spool->folders[sink].entries.count;
}

uint64_t spool_bytes(const struct spool *spool)
{
	return spool->bytes;
}

bool spool_open_request(struct spool *spool, size_t sink, size_t index, int *ret_fd,
			bool *ret_is_marked)
{
	struct spool_folder *folder = &spool->folders[sink];

	while (index < folder->entries.count) {
		struct request_header header;
		char name[SPOOL_NAME_SIZE];
		struct stat st;
		int fd;

		spool_name_of(folder->entries.items[index].id, name);
		fd = spool_open_file(folder, name, O_RDONLY, &st);
		if (fd < 0 && file_is_shortage(errno))
			return false;
		if (fd >= 0 && request_header_read(fd, spool->start, &header)) {
			*ret_fd = fd;
			*ret_is_marked = header.interrupted;
			return true;
		}
		if (fd >= 0)
			close(fd);
		spool_drop_entry(spool, folder, index, "damaged", SPOOL_ALL);
	}
	return false;
}

uint64_t spool_id(const struct spool *spool, size_t sink, size_t index)
{
	const struct spool_folder *folder = &spool->folders[sink];

	return index < folder->entries.count ? folder->entries.items[index].id : 0;
}

void spool_hold(struct spool *spool, size_t sink, size_t count)
{
	struct spool_folder *folder = &spool->folders[sink];

	folder->held = count < folder->entries.count ? count : folder->entries.count;
}

void spool_remove(struct spool *spool, size_t sink, size_t index)
{
	struct spool_folder *folder = &spool->folders[sink];

	if (index >= folder->entries.count)
		return;
	spool_remove_entry(spool, folder, index);
	/* A later agent must not send what is left. */
	if (spool->left.count)
		spool_write_losses(spool);
}

bool spool_remove_part(struct spool *spool, size_t sink, size_t index, const char *why,
		       uint64_t lost, uint64_t unsummed)
{
	struct spool_folder *folder = &spool->folders[sink];
	struct request_header header;
	char name[SPOOL_NAME_SIZE];
	bool has_sums;
	struct stat st;
	uint64_t id;
	int fd;

	if (index >= folder->entries.count)
		return false;
	id = folder->entries.items[index].id;
	spool_name_of(id, name);
	fd = spool_open_file(folder, name, O_RDONLY, &st);
	if (lost)
		spool_count_file(spool, folder, fd, why, lost);
	has_sums = unsummed && fd >= 0 && request_header_read(fd, spool->start, &header) &&
		   header.sums.length;
	if (fd >= 0)
		close(fd);
	if (has_sums)
		spool_count_loss(spool, folder, header.sums, "perhaps missing",
				 header.count < unsummed ? header.count : unsummed);
	if (lost || has_sums)
		spool_write_losses_before(spool, folder, id);
	spool_remove(spool, sink, index);
	return has_sums;
}

void spool_drop(struct spool *spool, size_t sink, size_t index, const char *why, uint64_t count)
{
	if (index < spool->folders[sink].entries.count)
		spool_drop_entry(spool, &spool->folders[sink], index, why, count);
}

void spool_move_last(struct spool *spool, size_t sink)
{
	struct spool_folder *folder = &spool->folders[sink];
	char from[SPOOL_NAME_SIZE], to[SPOOL_NAME_SIZE];
	struct spool_entry entry;

	if (folder->entries.count < 2)
		return;
	entry = folder->entries.items[0];
	spool_name_of(entry.id, from);
	spool_name_of(spool->next_id, to);
	if (renameat(folder->dir, from, folder->dir, to))
		return;
	spool_forget_entry(spool, folder, 0);
	entry.id = spool->next_id++;
	spool_append_entry(spool, folder, entry);
}

size_t spool_left(struct spool *spool, int *ret_errnum)
{
	*ret_errnum = spool->left_errnum;
	spool->left_errnum = 0;
	return spool->left.count;
}

const struct losses *spool_losses(const struct spool *spool)
{
	return &spool->losses;
}

void spool_subtract_losses(struct spool *spool, const uint64_t *numbers, size_t count)
{
	if (!count)
		return;
	losses_subtract(&spool->losses, numbers, count);
	spool->is_dirty = true;
	spool_write_losses(spool);
}

size_t spool_strange_folders(const struct spool *spool)
{
	return spool->strange_folders;
}
