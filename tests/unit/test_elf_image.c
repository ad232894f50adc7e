/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/unit.h"

#define LARGE ((size_t)600 << 10)

static struct text letters(void)
{
	char *bytes = malloc(LARGE);

	for (size_t i = 0; i < LARGE; i++)
		bytes[i] = (char)('a' + i % 23);
	return (struct text){ bytes, LARGE };
}

static int open_in(const struct scratch *scratch, const char *name)
{
	return open(scratch_path(scratch, name), O_RDWR | O_CLOEXEC);
}

TEST(pieces_come_as_they_are_in_the_file)
{
	static const struct {
		size_t at, size;
	} rows[] = { { 0, 0 },         { 0, 1 },     { 65535, 2 }, { 100000, 300000 },
		     { LARGE - 1, 1 }, { LARGE, 0 }, { 0, LARGE } };
	struct text bytes = letters();
	struct scratch scratch;
	struct image image;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", bytes);
	fd = open_in(&scratch, "file");
	assert_int_equal(image_open(fd, &image), 0);
	for (size_t i = 0; i < array_length(rows); i++) {
		struct text piece = image_bytes(&image, rows[i].at, rows[i].size);

		assert_non_null(piece.bytes);
		assert_int_equal(piece.length, rows[i].size);
		assert_memory_equal(piece.bytes, bytes.bytes + rows[i].at, rows[i].size);
	}
	assert_null(image_bytes(&image, LARGE, 1).bytes);
	assert_null(image_bytes(&image, 1, LARGE).bytes);
	assert_null(image_bytes(&image, UINT64_MAX, 2).bytes);
	assert_null(image_bytes(&image, 2, UINT64_MAX).bytes);
	image_close(&image);
	close(fd);
	free((char *)(uintptr_t)bytes.bytes);
	scratch_deinit(&scratch);
}

/* Through a mapping this would be SIGBUS. */
TEST(a_file_may_be_cut_and_changed)
{
	struct text bytes = letters();
	struct scratch scratch;
	struct image image;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", bytes);
	fd = open_in(&scratch, "file");
	assert_int_equal(image_open(fd, &image), 0);
	assert_int_equal(image_bytes(&image, 10, 1).bytes[0], 'k');
	assert_int_equal(pwrite(fd, "XXXX", 4, 8), 4);
	assert_int_equal(ftruncate(fd, 70000), 0);
	assert_int_equal(image_bytes(&image, 10, 1).bytes[0], 'k');
	assert_null(image_bytes(&image, 66000, 10).bytes);
	assert_null(image_bytes(&image, 300000, 10).bytes);
	image_close(&image);
	close(fd);
	free((char *)(uintptr_t)bytes.bytes);
	scratch_deinit(&scratch);
}

TEST(only_regular_files_are_images)
{
	struct scratch scratch;
	struct image image;
	int fd;

	scratch_init(&scratch);
	assert_int_equal(image_open(scratch.dir, &image), EINVAL);
	assert_int_equal(mkfifo(scratch_path(&scratch, "pipe"), 0600), 0);
	fd = open_in(&scratch, "pipe");
	assert_int_equal(image_open(fd, &image), EINVAL);
	close(fd);
	scratch_write(&scratch, "large", TEXT(""));
	fd = open_in(&scratch, "large");
	assert_int_equal(ftruncate(fd, (off_t)IMAGE_SIZE_MAX + 1), 0);
	assert_int_equal(image_open(fd, &image), EFBIG);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(image_open(fd, &image), 0);
	assert_null(image_bytes(&image, 0, 1).bytes);
	image_close(&image);
	close(fd);
	scratch_deinit(&scratch);
}

/* --- what is claimed and not there --- */

TEST(released_bytes_count_for_the_bounds)
{
	struct text bytes = letters();
	struct scratch scratch;
	struct image image;
	size_t copied;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "file", bytes);
	fd = open_in(&scratch, "file");
	assert_int_equal(image_open(fd, &image), 0);
	assert_non_null(image_bytes(&image, 0, LARGE).bytes);
	copied = image_copied(&image);
	assert_true(image_release(&image));
	assert_int_equal(image_copied(&image), copied);
	assert_memory_equal(image_bytes(&image, 100, LARGE - 100).bytes, bytes.bytes + 100,
			    LARGE - 100);
	assert_int_equal(image_copied(&image), 2 * copied);
	image_forget(&image);
	assert_int_equal(image_copied(&image), 0);
	image_close(&image);
	close(fd);
	free((char *)(uintptr_t)bytes.bytes);
	scratch_deinit(&scratch);
}

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t size = 0, resident = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu %zu", &size, &resident), 2);
	fclose(file);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

#define HOLE ((off_t)100 << 20)

/* A sparse file claims any size, and its reader is not to pay for it. */
TEST(holes_take_no_memory)
{
	struct scratch scratch;
	struct image image;
	struct text bytes;
	size_t before;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "sparse", TEXT("front"));
	fd = open_in(&scratch, "sparse");
	assert_int_equal(pwrite(fd, "middle", 6, HOLE / 2), 6);
	assert_int_equal(ftruncate(fd, HOLE), 0);
	assert_int_equal(image_open(fd, &image), 0);
	before = resident_bytes();
	bytes = image_bytes(&image, 0, (uint64_t)HOLE);
	assert_non_null(bytes.bytes);
	assert_true(resident_bytes() < before + HOLE / 4);
	assert_memory_equal(bytes.bytes, "front", 6);
	assert_memory_equal(bytes.bytes + HOLE / 2 - 1, "\0middle", 8);
	assert_int_equal(bytes.bytes[HOLE - 1], 0);
	/* What was shown stays as it was. */
	assert_int_equal(pwrite(fd, "later", 5, HOLE / 4), 5);
	assert_int_equal(image_bytes(&image, (uint64_t)HOLE / 4, 5).bytes[0], 0);
	image_close(&image);
	close(fd);
	scratch_deinit(&scratch);
}

TEST(stretches_and_files_are_bounded)
{
	const uint64_t piece = (uint64_t)16 << 10, count = 8;
	const size_t size = 2 * IMAGE_COPY_MAX;
	struct scratch scratch;
	struct image image;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "large", TEXT("x"));
	fd = open_in(&scratch, "large");
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(image_open(fd, &image), 0);
	assert_non_null(image_bytes(&image, 0, IMAGE_STRETCH_MAX).bytes);
	assert_null(image_bytes(&image, 0, IMAGE_STRETCH_MAX + 1).bytes);
	/* As if nearly all had been copied. */
	image.room = count * piece;
	for (uint64_t i = 0; i < count; i++)
		assert_non_null(image_bytes(&image, size / 2 + i * piece, 1).bytes);
	assert_null(image_bytes(&image, size / 2 + count * piece, 1).bytes);
	assert_non_null(image_bytes(&image, size / 2, 1).bytes);
	image_close(&image);
	close(fd);
	scratch_deinit(&scratch);
}

TEST(strings_end_in_the_file)
{
	struct text bytes = guarded("ab\0cd", 5);
	struct image image = image_of(bytes);

	assert_string_equal(image_string(&image, 0, 100), "ab");
	assert_string_equal(image_string(&image, 2, 1), "");
	assert_null(image_string(&image, 0, 2));
	assert_null(image_string(&image, 3, 100));
	assert_null(image_string(&image, 5, 100));
	assert_null(image_string(&image, UINT64_MAX, 100));
	unguard(bytes);
}

/* Where "needle" is, and whether each byte was shown at its place. */
struct sight {
	const char *bytes;
	uint64_t needle, end;
	unsigned windows, stop_after;
};

static bool see(void *context, struct text window, uint64_t offset)
{
	struct sight *sight = context;
	const char *found = memmem(window.bytes, window.length, "needle", 6);

	assert_memory_equal(window.bytes, sight->bytes + offset, window.length);
	assert_true(offset <= sight->end);
	sight->end = offset + window.length;
	if (found)
		sight->needle = offset + (uint64_t)(found - window.bytes);
	return ++sight->windows != sight->stop_after;
}

TEST(windows_overlap)
{
	/* around where windows of 256 KiB meet */
	for (size_t at = (256 << 10) - 8; at <= (256 << 10) + 2; at++) {
		struct text bytes = letters();
		struct sight sight = { .bytes = bytes.bytes, .end = 100 };
		struct scratch scratch;
		struct image image;
		int fd;

		memcpy((char *)(uintptr_t)bytes.bytes + 100 + at, "needle", 6);
		scratch_init(&scratch);
		scratch_write(&scratch, "file", bytes);
		fd = open_in(&scratch, "file");
		assert_int_equal(image_open(fd, &image), 0);
		assert_true(image_scan(&image, 100, LARGE - 200, 5, see, &sight));
		assert_int_equal(sight.needle, 100 + at);
		assert_int_equal(sight.end, LARGE - 100);
		assert_int_equal(sight.windows, 3);
		sight = (struct sight){ .bytes = bytes.bytes, .stop_after = 2 };
		assert_false(image_scan(&image, 0, LARGE, 5, see, &sight));
		assert_int_equal(sight.windows, 2);
		assert_false(image_scan(&image, 1, LARGE, 5, see, &sight));
		image_close(&image);
		close(fd);
		free((char *)(uintptr_t)bytes.bytes);
		scratch_deinit(&scratch);
	}
}

TEST(no_more_is_copied_than_there_is_room_for)
{
	struct scratch scratch;
	struct image image;
	int fd;

	scratch_init(&scratch);
	scratch_write(&scratch, "sparse", TEXT(""));
	fd = open_in(&scratch, "sparse");
	assert_int_equal(ftruncate(fd, IMAGE_SIZE_MAX), 0);
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(image.room == IMAGE_COPY_MAX);
	image.room = 3 << 14;
	/* Three pieces, the first of them twice. */
	assert_non_null(image_bytes(&image, 0, 2 << 14).bytes);
	assert_non_null(image_bytes(&image, 5, 100).bytes);
	assert_non_null(image_bytes(&image, IMAGE_SIZE_MAX - 1, 1).bytes);
	assert_null(image_bytes(&image, 2 << 14, 1).bytes);
	assert_null(image_bytes(&image, 0, IMAGE_SIZE_MAX).bytes);
	/* What is there stays. */
	assert_non_null(image_bytes(&image, 1 << 14, 1).bytes);
	image_close(&image);
	close(fd);
	scratch_deinit(&scratch);
}

UNIT_TESTS(cmocka_unit_test(pieces_come_as_they_are_in_the_file),
	   cmocka_unit_test(a_file_may_be_cut_and_changed),
	   cmocka_unit_test(only_regular_files_are_images), cmocka_unit_test(holes_take_no_memory),
	   cmocka_unit_test(stretches_and_files_are_bounded),
	   cmocka_unit_test(strings_end_in_the_file), cmocka_unit_test(windows_overlap),
	   cmocka_unit_test(no_more_is_copied_than_there_is_room_for),
	   cmocka_unit_test(released_bytes_count_for_the_bounds))
