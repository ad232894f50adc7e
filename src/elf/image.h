/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a file, copied into memory piece by piece on access.
 *
 *	struct image image;
 *	int failed = image_open(fd, &image);
 *	struct text header = image_bytes(&image, 0, 64);
 *	image_close(&image);
 *
 * The owner of the file may change or truncate it while it is read. Reading a mapping of it would
 * then raise SIGBUS; a copy does not change after it was checked. Only accessed pieces are read,
 * since a program may have a gigabyte of debug information.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <time.h>

#include "base/text.h"

/* Larger files are refused. */
#define IMAGE_SIZE_MAX ((size_t)4 << 30)

/*
 * Limits on one call of image_bytes, and on all bytes copied of a file. A header may claim any
 * size, and a sparse file can have it without using disk space. Real files are far below: .eh_frame
 * of libLLVM has 5 MB; the symbols of a program of 2 GB have some 100 MB.
 */
#define IMAGE_STRETCH_MAX ((size_t)128 << 20)
#define IMAGE_COPY_MAX    ((size_t)512 << 20)

struct image {
	char *bytes;
	size_t size;
	int fd;         /* where pieces come from; not owned; -1: all is there */
	uint8_t *there; /* a byte for each piece: has it been copied? NULL: all of them */
	/* Bytes that may still be copied; callers may lower it. Holes are not copied, for memory is
	 * zero without that. */
	size_t room;
	struct timespec modified, changed; /* when it was opened */
};

/* The regular file behind `fd`, which stays the caller's and must stay open. Returns 0 or an errno:
 * EFBIG above IMAGE_SIZE_MAX, EINVAL when it is no regular file. */
int image_open(int fd, struct image *ret);

/* An image of bytes in memory that outlive the image. */
struct image image_of(struct text bytes);

void image_close(struct image *image);

/* These bytes, valid until image_close; without bytes (NULL) when they are not all in the file,
 * could not be read, or are more than the bounds above. */
struct text image_bytes(struct image *image, uint64_t offset, uint64_t size);

/* Forget what was copied, which is read again on access: bytes that were returned are no more. The
 * file may have changed then, so what was checked before must be checked again. */
void image_forget(struct image *image);
/* The same, but what was copied so far goes on counting for the bounds. False: nothing was. */
bool image_release(struct image *image);

/* Is the file as it was when the image was opened? Bytes in memory are. */
bool image_is_current(const struct image *image);

/* The number of bytes of the file copied so far, unless a caller has lowered `room`. */
size_t image_copied(const struct image *image);

/* The string that starts there and ends with a NUL before `limit` bytes; NULL when there is none.
 */
const char *image_string(struct image *image, uint64_t offset, size_t limit);

/* Copy these bytes to `ret`, and keep none of them. False: they are not all in the file, or could
 * not be read. */
bool image_read(const struct image *image, uint64_t offset, uint64_t size, char *ret);

/*
 * Show a long stretch of the file in windows, each of which has the last `overlap` bytes of the one
 * before in front: what is at most so long is whole in one of them. Nothing of it stays in memory.
 * `visit` is given where in the file the window starts, and may end it by false. Returns whether
 * all was shown.
 */
typedef bool image_visit(void *context, struct text window, uint64_t offset);
bool image_scan(struct image *image, uint64_t offset, uint64_t size, size_t overlap,
		image_visit *visit, void *context);

#endif
