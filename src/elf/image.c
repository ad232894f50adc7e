/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/image.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/guard.h"

#define PIECE  ((size_t)16 << 10)
#define WINDOW ((size_t)256 << 10)

/* In longer stretches holes are looked for. */
#define HOLES_FROM ((uint64_t)1 << 20)

int image_open(int fd, struct image *ret)
{
	struct image image = { .fd = fd, .room = IMAGE_COPY_MAX };
	struct stat stat;

	if (file_stat(fd, &stat))
		return errno;
	if (!S_ISREG(stat.st_mode))
		return EINVAL;
	if ((uint64_t)stat.st_size > IMAGE_SIZE_MAX)
		return EFBIG;
	image.size = (size_t)stat.st_size;
	image.modified = stat.st_mtim;
	image.changed = stat.st_ctim;
	if (image.size) {
		image.bytes = mmap(NULL, image.size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (image.bytes == MAP_FAILED)
			return errno;
	}
	image.there = calloc(image.size / PIECE + 1, 1);
	if (!image.there) {
		if (image.size)
			munmap(image.bytes, image.size);
		return ENOMEM;
	}
	*ret = image;
	return 0;
}

struct image image_of(struct text bytes)
{
	return (struct image){ .bytes = (char *)(uintptr_t)bytes.bytes,
			       .size = bytes.length,
			       .fd = -1 };
}

void image_close(struct image *image)
{
	if (!image->there)
		return;
	if (image->size)
		munmap(image->bytes, image->size);
	free(image->there);
	*image = (struct image){ .fd = -1 };
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool image_release(struct image *image)
{
	if (!image->there || !image->size)
		return false;
	/* The mapping stays: it is of private memory, which is zero afterwards. */
	if (madvise(image->bytes, image->size, MADV_DONTNEED))
		return false;
	memset(image->there, 0, image->size / PIECE + 1);
	return true;
}

void image_forget(struct image *image)
{
	if (image_release(image))
		image->room = IMAGE_COPY_MAX;
}

bool image_is_current(const struct image *image)
{
	struct stat stat;

	return !image->there ||
	       (!file_stat(image->fd, &stat) && (uint64_t)stat.st_size == image->size &&
		is_same_time(stat.st_mtim, image->modified) &&
		is_same_time(stat.st_ctim, image->changed));
}

/* All `size` bytes, or false. */
static bool read_at(int fd, char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t got;

		if (!guard_enter())
			return false;
		got = pread(fd, bytes, size, (off_t)offset);
		guard_leave();
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		size -= (size_t)got;
		offset += (uint64_t)got;
	}
	return true;
}

static bool is_inside(const struct image *image, uint64_t offset, uint64_t size)
{
	return offset <= image->size && size <= image->size - offset;
}

/* The offset of the first data from `offset` on; `offset` itself if the file system does not report
 * holes. */
static uint64_t data_from(const struct image *image, uint64_t offset)
{
	struct stat stat;
	off_t at = -1;

	if (!guard_enter())
		return offset;
	if (offset < image->size)
		at = lseek(image->fd, (off_t)offset, SEEK_DATA);
	guard_leave();
	if (at >= 0)
		return (uint64_t)at;
	/* A hole up to the end, unless the file was cut. */
	if (errno == ENXIO && !file_stat(image->fd, &stat) && (uint64_t)stat.st_size >= image->size)
		return image->size;
	return offset;
}

static bool copy_piece(struct image *image, size_t piece)
{
	const size_t start = piece * PIECE, left = image->size - start;
	const size_t length = left < PIECE ? left : PIECE;

	if (length > image->room || !read_at(image->fd, image->bytes + start, length, start))
		return false;
	image->room -= length;
	image->there[piece] = 1;
	return true;
}

static bool copy_pieces(struct image *image, uint64_t offset, uint64_t size)
{
	const bool has_holes = size >= HOLES_FROM;
	uint64_t data = has_holes ? data_from(image, offset) : 0;

	for (size_t piece = offset / PIECE; piece * PIECE < offset + size; piece++) {
		const uint64_t end = (piece + 1) * PIECE;

		if (image->there[piece])
			continue;
		/* Keep zeros that were read: later writes to the file must not change them. */
		if (end <= data) {
			image->there[piece] = 1;
			continue;
		}
		if (!copy_piece(image, piece))
			return false;
		if (has_holes && end < offset + size)
			data = data_from(image, end);
	}
	return true;
}

struct text image_bytes(struct image *image, uint64_t offset, uint64_t size)
{
	if (!is_inside(image, offset, size) || !image->bytes ||
	    (image->there && (size > IMAGE_STRETCH_MAX || !copy_pieces(image, offset, size))))
		return (struct text){ 0 };
	return (struct text){ image->bytes + offset, (size_t)size };
}

size_t image_copied(const struct image *image)
{
	return image->there ? IMAGE_COPY_MAX - image->room : 0;
}

const char *image_string(struct image *image, uint64_t offset, size_t limit)
{
	struct text bytes;

	if (offset >= image->size)
		return NULL;
	if (limit > image->size - offset)
		limit = image->size - (size_t)offset;
	bytes = image_bytes(image, offset, limit);
	return bytes.bytes && memchr(bytes.bytes, 0, limit) ? bytes.bytes : NULL;
}

bool image_read(const struct image *image, uint64_t offset, uint64_t size, char *ret)
{
	if (!is_inside(image, offset, size))
		return false;
	if (!image->there && size)
		memcpy(ret, image->bytes + offset, (size_t)size);
	for (size_t step; image->there && size; size -= step, offset += step, ret += step) {
		step = size < WINDOW ? (size_t)size : WINDOW;
		if (!read_at(image->fd, ret, step, offset))
			return false;
	}
	return true;
}

bool image_scan(struct image *image, uint64_t offset, uint64_t size, size_t overlap,
		image_visit *visit, void *context)
{
	_cleanup_free_ char *room = NULL;

	if (!is_inside(image, offset, size))
		return false;
	if (!image->there)
		return !size ||
		       visit(context, (struct text){ image->bytes + offset, (size_t)size }, offset);
	room = malloc(overlap + WINDOW);
	if (!room)
		return false;
	for (size_t kept = 0; size;) {
		size_t step = size < WINDOW ? (size_t)size : WINDOW, length = kept + step;

		if (!read_at(image->fd, room + kept, step, offset) ||
		    !visit(context, (struct text){ room, length }, offset - kept))
			return false;
		offset += step;
		size -= step;
		kept = length < overlap ? length : overlap;
		memmove(room, room + length - kept, kept);
	}
	return true;
}
