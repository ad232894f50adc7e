/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that clients have sent, and pages that were made of them: in memory alone, for some time.
 *
 *	err = file_store_begin(&store, "before.ctprof.zst", bytes, &file);
 *	err = kept_file_write(file, piece);		until all is there
 *	kept_file_is_whole(file);
 *	...
 *	file = file_store_find(&store, id, FILE_SENT);
 *
 * The number of files and their bytes are limited: the oldest makes room for a new one. Those that
 * are being sent or used are kept meanwhile. An id has 128 random bits: who knows it may use the
 * file.
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
#define FILE_BYTES_MOST  ((uint64_t)64 << 20) /* of one that is sent */

#define FILE_ID_BYTES    16
#define FILE_ID_SIZE     (2 * FILE_ID_BYTES + 1)
#define FILE_NAME_SIZE   128

enum file_kind { FILE_SENT, FILE_PAGE };

struct uploaded_file {
	struct uploaded_file *next; /* older */
	enum file_kind kind;
	char id[FILE_ID_SIZE];
	char name[FILE_NAME_SIZE];
	int fd;           /* of memory */
	uint64_t bytes;   /* that there is room for; all are there when it is whole */
	uint64_t written; /* so far */
	bool is_whole;
	unsigned users;
};

/* All zero is empty. */
struct file_store {
	struct uploaded_file *newest;
	unsigned count;
	uint64_t bytes;
};

void file_store_deinit(struct file_store *store);

/* A new file that is to be sent. Control characters in the name become "?", and a long one is cut.
 * EBUSY: there is no room beside the files in use. */
struct error *file_store_begin(struct file_store *store, const char *name, uint64_t bytes,
			       struct uploaded_file **ret) MUST_CHECK;
/* An error if it has more bytes than there is room for. */
struct error *kept_file_write(struct uploaded_file *file, struct text piece) MUST_CHECK;
/* False: bytes are missing. */
bool kept_file_is_whole(struct uploaded_file *file);

/* Keep a page; the descriptor then is the store's, also after an error. */
struct error *file_store_add_page(struct file_store *store, int fd,
				  struct uploaded_file **ret) MUST_CHECK;

/* A whole file; NULL: there is none, or no more. */
struct uploaded_file *file_store_find(const struct file_store *store, struct text id,
				      enum file_kind kind);

void file_store_drop(struct file_store *store, struct uploaded_file *file);

#endif
