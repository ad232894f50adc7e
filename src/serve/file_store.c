/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/file_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/hex.h"
#include "serve/http_guard.h"

void file_store_drop(struct file_store *store, struct uploaded_file *file)
{
	struct uploaded_file **at = &store->newest;

	while (*at != file)
		at = &(*at)->next;
	*at = file->next;
	store->count--;
	store->bytes -= file->bytes;
	if (file->fd >= 0)
		close(file->fd);
	free(file);
}

void file_store_deinit(struct file_store *store)
{
	while (store->newest)
		file_store_drop(store, store->newest);
}

/* The oldest file that is not in use; NULL: all are. */
static struct uploaded_file *oldest_of(const struct file_store *store)
{
	struct uploaded_file *oldest = NULL;

	for (struct uploaded_file *i = store->newest; i; i = i->next)
		if (i->is_whole && !i->users)
			oldest = i;
	return oldest;
}

static struct error *make_room(struct file_store *store, uint64_t bytes)
{
	while (store->count >= FILE_STORE_FILES || bytes > FILE_STORE_BYTES - store->bytes) {
		struct uploaded_file *oldest = oldest_of(store);

		if (!oldest)
			return error_coded(EBUSY, "no room left: all files are in use");
		file_store_drop(store, oldest);
	}
	return NULL;
}

static void set_name(struct uploaded_file *file, const char *name)
{
	snprintf(file->name, sizeof(file->name), "%s", *name ? name : "file");
	text_make_safe(file->name);
}

/* Add a file without a descriptor, which the caller sets. */
static struct error *add(struct file_store *store, enum file_kind kind, const char *name,
			 uint64_t bytes, struct uploaded_file **ret)
{
	unsigned char id[FILE_ID_BYTES];
	struct uploaded_file *file;
	struct error *err = make_room(store, bytes);

	if (err)
		return err;
	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		return error_system(errno, "cannot make an id");
	file = malloc(sizeof(*file));
	if (!file)
		return &error_no_memory;
	*file = (struct uploaded_file){
		.next = store->newest, .kind = kind, .fd = -1, .bytes = bytes
	};
	hex_write(file->id, id, sizeof(id));
	set_name(file, name);
	store->newest = file;
	store->count++;
	store->bytes += bytes;
	*ret = file;
	return NULL;
}

struct error *file_store_begin(struct file_store *store, const char *name, uint64_t bytes,
			       struct uploaded_file **ret)
{
	struct uploaded_file *file;
	struct error *err = add(store, FILE_SENT, name, bytes, &file);

	if (err)
		return err;
	file->fd = memfd_create("upload", MFD_CLOEXEC);
	if (file->fd < 0) {
		err = error_system(errno, "cannot make a file in memory");
		file_store_drop(store, file);
		return err;
	}
	*ret = file;
	return NULL;
}

struct error *kept_file_write(struct uploaded_file *file, struct text piece)
{
	if (piece.length > file->bytes - file->written)
		return error_create("more bytes than announced");
	while (piece.length) {
		const ssize_t written = write(file->fd, piece.bytes, piece.length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return error_system(errno, "cannot keep a file in memory");
		file->written += (uint64_t)written;
		piece.bytes += written;
		piece.length -= (size_t)written;
	}
	return NULL;
}

bool kept_file_is_whole(struct uploaded_file *file)
{
	file->is_whole = file->written == file->bytes;
	return file->is_whole;
}

struct error *file_store_add_page(struct file_store *store, int fd, struct uploaded_file **ret)
{
	const off_t length = lseek(fd, 0, SEEK_END);
	struct error *err = length < 0 ? error_system(errno, "cannot read a page")
				       : add(store, FILE_PAGE, "", (uint64_t)length, ret);

	if (err) {
		close(fd);
		return err;
	}
	(*ret)->fd = fd;
	(*ret)->written = (*ret)->bytes;
	(*ret)->is_whole = true;
	return NULL;
}

struct uploaded_file *file_store_find(const struct file_store *store, struct text id,
				      enum file_kind kind)
{
	char wanted[FILE_ID_SIZE];

	if (id.length != FILE_ID_SIZE - 1)
		return NULL;
	memcpy(wanted, id.bytes, id.length);
	wanted[id.length] = '\0';
	for (struct uploaded_file *i = store->newest; i; i = i->next)
		if (i->is_whole && i->kind == kind && http_token_equals(wanted, i->id))
			return i;
	return NULL;
}
