/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the spool: spool.c adds requests and gives them out, spool_removal.c
 * removes them, counts what is lost and keeps in mind the files that are left, spool_mark.c marks
 * those that may have arrived, and spool_open.c reads what an earlier agent has left.
 */
#ifndef AGENT_SPOOL_INTERNAL_H
#define AGENT_SPOOL_INTERNAL_H

#include <sys/stat.h>

#include "agent/spool.h"
#include "base/array.h"

#define SPOOL_NEW_NAME "new" /* of a file that is being written */
#define SPOOL_NEW_ID   0     /* of no request */
/* The name of a copy until it replaces its request. The next start removes one that was left. */
#define SPOOL_MARKED_NAME "marked"
#define SPOOL_SUFFIX      ".request"
#define SPOOL_ID_DIGITS   20
#define SPOOL_NAME_SIZE   (SPOOL_ID_DIGITS + sizeof(SPOOL_SUFFIX))

struct spool_entry {
	uint64_t id, bytes;
};

struct spool_folder {
	const char *name; /* its own, by which files in it are known */
	const char *sink; /* that of its sink, in losses */
	int dir;
	size_t held; /* so many of the first entries are not dropped */
	struct {
		ARRAY(struct spool_entry); /* by id */
	} entries;
};

/* A file that could not be removed: of a request that has arrived or was counted. */
struct spool_left_file {
	const struct spool_folder *folder;
	uint64_t id, bytes;
};

struct spool {
	char *path;
	int dir;
	uint64_t most, bytes, next_id;
	size_t files, strange_folders;
	struct losses losses;
	bool is_dirty; /* the losses have to be written */
	struct {
		ARRAY(struct spool_left_file);
	} left;           /* also named by the file of losses */
	size_t next_left; /* to be tried */
	int left_errnum;  /* why the last one could not be removed; 0: none since it was taken */
	size_t folder_count;
	char start[REQUEST_HEADER_MOST]; /* of a file */
	struct spool_folder folders[];
};
/* The name of the file of a request, or that of SPOOL_NEW_ID. */
void spool_name_of(uint64_t id, char ret[SPOOL_NAME_SIZE]);
/* What a file of so many bytes takes on disk. */
uint64_t spool_blocks_of(uint64_t length);
/* Open a regular file of this user, as only this process makes them, for O_RDONLY or O_RDWR,
 * without effect and without waiting; -1: it cannot be opened, or is another one (errno). */
int spool_open_file(const struct spool_folder *folder, const char *name, int access,
		    struct stat *ret);

/* Create an empty file for writing, in place of one that was left. -1: it cannot be created
 * (errno).
 */
int spool_create_file(const struct spool_folder *folder, const char *name);
/* Write all bytes to a file. Returns 0 or an errno. */
int spool_write_bytes(int fd, struct text bytes);

/* Count what is lost; without memory the number is lost too. */
void spool_count_loss(struct spool *spool, const struct spool_folder *folder, struct text what,
		      const char *why, uint64_t count);
/* Count what the header of an open file (-1: none) says is in it, but at most `most`. */
void spool_count_file(struct spool *spool, const struct spool_folder *folder, int fd,
		      const char *why, uint64_t most);
/* Write the losses and the files that are left. On a disk that is full this fails until something
 * has been removed; then it is done by a later call. */
void spool_write_losses(struct spool *spool);
/* The same with a file that is removed next, which a later agent must not send. */
void spool_write_losses_before(struct spool *spool, const struct spool_folder *folder, uint64_t id);

/* Remove a file. False: it is still there (errno). */
bool spool_unlink(const struct spool_folder *folder, uint64_t id);
/* Keep in mind that a file is left, because of errno. Its bytes go on counting. */
void spool_keep_left(struct spool *spool, const struct spool_folder *folder, uint64_t id,
		     uint64_t bytes);
bool spool_is_left(const struct spool *spool, const struct spool_folder *folder, uint64_t id);
/* A file SPOOL_NEW_NAME that is left must no longer be named by the file of losses when there is
 * another one. */
void spool_remove_left_new(struct spool *spool, const struct spool_folder *folder);

/* The entry alone; its file stays. */
void spool_forget_entry(struct spool *spool, struct spool_folder *folder, size_t index);
/* There is room for it in the array. */
void spool_append_entry(struct spool *spool, struct spool_folder *folder, struct spool_entry entry);
/* Remove an entry and its file. False: the file is left. */
bool spool_remove_entry(struct spool *spool, struct spool_folder *folder, size_t index);
/* Count a request, at most `most` of it, then remove it. False: the file is left. */
bool spool_drop_entry(struct spool *spool, struct spool_folder *folder, size_t index,
		      const char *why, uint64_t most);

/* Drop the oldest requests until so many bytes are free within the limits. */
bool spool_make_room(struct spool *spool, uint64_t bytes);
/* The disk is full: drop the oldest until so many bytes are free on it. False: nothing was freed.
 */
bool spool_make_room_on_disk(struct spool *spool, uint64_t bytes);

#endif
