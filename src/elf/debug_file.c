/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/debug_file.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hex.h"

#define DEBUG_ROOT "/usr/lib/debug"

struct wanted_debug_file {
	const struct elf *elf;
	struct text build_id, link;
	uint32_t crc;
	open_file *open;
	void *context;
};

/* The checksum of .gnu_debuglink: CRC-32 as in zlib, by the table of what each byte does. */
struct checksum {
	uint32_t table[256];
	uint32_t crc;
};

static void checksum_init(struct checksum *checksum)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
		checksum->table[byte] = crc;
	}
	checksum->crc = UINT32_MAX;
}

static bool add_to_crc(void *context, struct text window, uint64_t offset)
{
	struct checksum *checksum = context;
	uint32_t crc = checksum->crc;

	(void)offset;
	for (size_t i = 0; i < window.length; i++)
		crc = crc >> 8 ^ checksum->table[(uint8_t)(crc ^ (uint8_t)window.bytes[i])];
	checksum->crc = crc;
	return true;
}

static bool has_crc(struct image *image, uint32_t wanted)
{
	struct checksum checksum;

	checksum_init(&checksum);
	return image_scan(image, 0, image->size, 0, add_to_crc, &checksum) &&
	       ~checksum.crc == wanted;
}

static bool is_too_large(int fd)
{
	struct stat stat;

	return file_stat(fd, &stat) == 0 && (uint64_t)stat.st_size > DEBUG_FILE_SIZE_MAX;
}

static bool is_it(const struct wanted_debug_file *wanted, int fd)
{
	struct image image;
	struct elf elf;
	bool same;

	if (image_open(fd, &image))
		return false;
	same = elf_open(&image, &elf) && elf.machine == wanted->elf->machine;
	if (same && wanted->build_id.length)
		same = text_equal(elf_build_id(&elf), wanted->build_id);
	else if (same)
		same = wanted->link.length && has_crc(&image, wanted->crc);
	elf_close(&elf);
	image_close(&image);
	return same;
}

static int try_path(const struct wanted_debug_file *wanted, const char *path)
{
	_cleanup_close_ int fd = wanted->open(wanted->context, path);

	if (fd < 0)
		return DEBUG_FILE_NONE;
	if (is_too_large(fd))
		return DEBUG_FILE_TOO_LARGE;
	return is_it(wanted, fd) ? take_fd(fd) : DEBUG_FILE_NONE;
}

static int try_build_id(const struct wanted_debug_file *wanted)
{
	char path[sizeof(DEBUG_ROOT "/.build-id//.debug") + 2 * 64];
	char *end = stpcpy(path, DEBUG_ROOT "/.build-id/");

	if (wanted->build_id.length < 2)
		return DEBUG_FILE_NONE;
	end = hex_write(end, wanted->build_id.bytes, 1);
	*end++ = '/';
	end = hex_write(end, wanted->build_id.bytes + 1, wanted->build_id.length - 1);
	strcpy(end, ".debug");
	return try_path(wanted, path);
}

/* The name is of a file, and not a way to another directory. */
static bool is_plain_file_name(struct text name)
{
	return name.length && !memchr(name.bytes, '/', name.length) &&
	       !text_equal(name, TEXT(".")) && !text_equal(name, TEXT(".."));
}

/* The better result of two places; a file that is too large is reported only if no other is found.
 */
static int better(int before, int now)
{
	return now == DEBUG_FILE_NONE ? before : now;
}

static int try_link(const struct wanted_debug_file *wanted, const char *path)
{
	static const char *const roots[] = { "", "", DEBUG_ROOT }, *const below[] = { "", ".debug/",
										      "" };
	const char *slash = path ? strrchr(path, '/') : NULL;
	char candidate[PATH_MAX];
	int fd = DEBUG_FILE_NONE;

	if (!slash || !is_plain_file_name(wanted->link))
		return DEBUG_FILE_NONE;
	for (size_t i = 0; i < array_length(roots) && fd < 0; i++) {
		int length = snprintf(candidate, sizeof(candidate), "%s%.*s%s%.*s", roots[i],
				      (int)(slash + 1 - path), path, below[i],
				      (int)wanted->link.length, wanted->link.bytes);

		if (length > 0 && (size_t)length < sizeof(candidate))
			fd = better(fd, try_path(wanted, candidate));
	}
	return fd;
}

int debug_file_open(const struct elf *elf, const char *path, open_file *open, void *context)
{
	struct wanted_debug_file wanted = { elf, elf_build_id(elf), { 0 }, 0, open, context };
	int fd;

	if (!elf_debuglink(elf, &wanted.link, &wanted.crc))
		wanted.link = (struct text){ 0 };
	fd = try_build_id(&wanted);
	return fd >= 0 ? fd : better(fd, try_link(&wanted, path));
}

int debug_file_check(int fd, int program)
{
	struct stat file, its_program;

	if (fd < 0)
		return -1;
	if (!file_stat(fd, &file) && !file_stat(program, &its_program) &&
	    (file_is_trusted(file.st_uid, file.st_mode) ||
	     (!file_is_trusted(its_program.st_uid, its_program.st_mode) &&
	      file.st_uid == its_program.st_uid)))
		return fd;
	close(fd);
	return -1;
}
