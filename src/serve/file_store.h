/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps uploaded files, and report pages made from them, in memory (memfd_create(2)).
 *
 *	err = file_store_begin(&store, "before.ctprof.zst", bytes, &file);
 *	err = kept_file_write(file, piece);		for each piece
 *	kept_file_is_whole(file);
 *	...
 *	file = file_store_find(&store, id, FILE_SENT);
 *
 * The number of files and the sum of their bytes are limited. A new file evicts the oldest ones,
 * but none that is still being uploaded or is in use. An id has 128 random bits: any client that
 * knows it may use the file.
 */
#ifndef SERVE_FILE_STORE_H
#define SERVE_FILE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define FILE_STORE_FILES 32
#define FILE_STORE_BYTES ((uint64_t)128 << 20)
#define FILE_BYTES_MOST  ((uint64_t)64 << 20) /* of one upload */

#define FILE_ID_BYTES    16
#define FILE_ID_SIZE     (2 * FILE_ID_BYTES + 1)
#define FILE_NAME_SIZE   128

enum file_kind { FILE_SENT, FILE_PAGE };

struct uploaded_file {
	struct uploaded_file *next; /* older */
	enum file_kind kind;
	char id[FILE_ID_SIZE];
	char name[FILE_NAME_SIZE];
	int fd;           /* of memfd_create(2) */
	uint64_t bytes;   /* size of the complete file, reserved in the store */
	uint64_t written; /* bytes received so far */
	bool is_whole;
	unsigned users; /* reports and answers that read it; not evicted unless 0 */
};

/* All zero is empty. */
struct file_store {
	struct uploaded_file *newest;
	unsigned count;
	uint64_t bytes;
};

void file_store_deinit(struct file_store *store);

/* Reserve room for an upload of `bytes`. Control characters in the name become "?", and a long name
 * is truncated. EBUSY: files in use leave too little room. */
struct error *file_store_begin(struct file_store *store, const char *name, uint64_t bytes,
			       struct uploaded_file **ret) MUST_CHECK;
/* Append a piece. Fails if the file would become larger than announced. */
struct error *kept_file_write(struct uploaded_file *file, struct text piece) MUST_CHECK;
/* Mark the file as complete. False: bytes are missing. */
bool kept_file_is_whole(struct uploaded_file *file);

/* Keep a page. The store owns the descriptor, also after an error. */
struct error *file_store_add_page(struct file_store *store, int fd,
				  struct uploaded_file **ret) MUST_CHECK;

/* Find a complete file. NULL: the id is unknown, or the file was evicted. */
struct uploaded_file *file_store_find(const struct file_store *store, struct text id,
				      enum file_kind kind);

void file_store_drop(struct file_store *store, struct uploaded_file *file);

#endif
