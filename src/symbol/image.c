/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/image.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PIECE  ((size_t)64 << 10)
#define WINDOW ((size_t)256 << 10)

int image_open(int fd, struct image *ret)
{
	struct image image = { .fd = fd, .room = IMAGE_COPY_MAX };
	struct stat stat;

	if (fstat(fd, &stat))
		return errno;
	if (!S_ISREG(stat.st_mode))
		return EINVAL;
	if ((uint64_t)stat.st_size > IMAGE_SIZE_MAX)
		return EFBIG;
	image.size = (size_t)stat.st_size;
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
	return (struct image){ (char *)(uintptr_t)bytes.bytes, bytes.length, -1, NULL, 0 };
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

/* All `size` bytes, or false. */
static bool read_at(int fd, char *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t got = pread(fd, bytes, size, (off_t)offset);

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

struct text image_bytes(struct image *image, uint64_t offset, uint64_t size)
{
	if (!is_inside(image, offset, size) || !image->bytes)
		return (struct text){ 0 };
	for (size_t piece = offset / PIECE; image->there && piece * PIECE < offset + size;
	     piece++) {
		size_t start = piece * PIECE, left = image->size - start;

		if (image->there[piece])
			continue;
		if (left > PIECE)
			left = PIECE;
		if (left > image->room || !read_at(image->fd, image->bytes + start, left, start))
			return (struct text){ 0 };
		image->there[piece] = 1;
		image->room -= left;
	}
	return (struct text){ image->bytes + offset, (size_t)size };
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
