/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/maps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "os/map_query.h"
#include "unit/unit.h"

static struct mapping only_of(const char *line)
{
	struct text bytes = guarded(line, strlen(line)), rest = bytes;
	struct mapping mapping, other;

	assert_true(maps_next(&rest, &mapping));
	assert_false(maps_next(&rest, &other));
	mapping.path = text_of(line + (mapping.path.bytes - bytes.bytes));
	unguard(bytes);
	return mapping;
}

TEST(a_line_is_a_mapping)
{
	struct mapping mapping = only_of("7f5c1000-7f5c2abc r-xp 0001f000 fd:1a 1234567            "
					 "/usr/lib/x y (deleted)");

	assert_int_equal(mapping.start, 0x7f5c1000);
	assert_int_equal(mapping.end, 0x7f5c2abc);
	assert_int_equal(mapping.offset, 0x1f000);
	assert_int_equal(mapping.major, 0xfd);
	assert_int_equal(mapping.minor, 0x1a);
	assert_int_equal(mapping.inode, 1234567);
	assert_true(mapping.executable);
	assert_string_equal(mapping.path.bytes, "/usr/lib/x y (deleted)");
}

TEST(memory_without_a_file_has_no_inode)
{
	struct mapping mapping = only_of("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
					 "                 [vsyscall]");

	assert_int_equal(mapping.start, 0xffffffffff600000);
	assert_int_equal(mapping.inode, 0);
	assert_true(mapping.executable);
	mapping = only_of("1000-2000 rw-p 00000000 00:00 0 ");
	assert_false(mapping.executable);
	assert_int_equal(mapping.path.length, 0);
	mapping = only_of("1000-2000 rw-p 00000000 00:00 0");
	assert_int_equal(mapping.path.length, 0);
}

TEST(other_lines_are_passed_over)
{
	static const char *const wrong[] = {
		"",
		" ",
		"1000-2000",
		"2000-1000 r-xp 0 0:0 1 /x",
		"1000-1000 r-xp 0 0:0 1 /x",
		"-2000 r-xp 0 0:0 1 /x",
		"1000- r-xp 0 0:0 1 /x",
		"1000-2000 r-x 0 0:0 1 /x",
		"1000-2000 r-xp 0 00 1 /x",
		"1000-2000 r-xp 0 0:0 x /x",
		"1000-2000 r-xp  0:0 1 /x",
		"11111111111111111-2 r-xp 0 0:0 1 /x",
		"1000-2000 r-xp 0 100000000:0 1 /x",
		"1000-2000 r-xp 0 0:0 99999999999999999999 /x",
		"G000-2000 r-xp 0 0:0 1 /x",
	};

	for (size_t i = 0; i < array_length(wrong); i++) {
		char lines[128];
		struct text rest;
		struct mapping mapping = { .inode = 77 };

		snprintf(lines, sizeof(lines), "%s\n1000-2000 r-xp 0 0:0 5 /y\n%s\n", wrong[i],
			 wrong[i]);
		rest = text_of(lines);
		assert_true(maps_next(&rest, &mapping));
		assert_int_equal(mapping.inode, 5);
		assert_false(maps_next(&rest, &mapping));
	}
}

/* What we mapped ourselves is where the kernel says. */
TEST(our_own_mappings_are_in_it)
{
	struct file_buffer buffer = { 0 };
	struct scratch scratch;
	struct mapping mapping;
	struct stat stat;
	struct text rest;
	void *at;
	int fd, found = 0;

	scratch_init(&scratch);
	scratch_write(&scratch, "two words", TEXT("x"));
	fd = open(scratch_path(&scratch, "two words"), O_RDONLY);
	assert_int_equal(fstat(fd, &stat), 0);
	at = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		skip(); /* the directory is mounted noexec */
	assert_int_equal(file_read(AT_FDCWD, "/proc/self/maps", &buffer, &rest), 0);
	while (maps_next(&rest, &mapping)) {
		if (mapping.start != (uintptr_t)at)
			continue;
		found++;
		assert_int_equal(mapping.inode, stat.st_ino);
		assert_true(mapping.executable);
		expect_text(mapping.path, scratch_path(&scratch, "two words"));
	}
	assert_int_equal(found, 1);
	munmap(at, 1);
	file_buffer_deinit(&buffer);
	scratch_deinit(&scratch);
}

/* Both ways say the same of what is executable and of a file. */
TEST(asked_for_or_printed_they_are_the_same)
{
	struct file_buffer buffer = { 0 };
	static struct map_query query;
	struct mapping printed, asked;
	struct text rest;
	int count = 0, failed = 0;

	query.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_read(AT_FDCWD, "/proc/self/maps", &buffer, &rest), 0);
	while (maps_next(&rest, &printed)) {
		if (!printed.executable || !printed.inode)
			continue;
		failed = map_query_next(&query, &asked);
		if (failed == ENOTTY)
			break;
		assert_int_equal(failed, 0);
		assert_int_equal(asked.start, printed.start);
		assert_int_equal(asked.end, printed.end);
		assert_int_equal(asked.offset, printed.offset);
		assert_int_equal(asked.inode, printed.inode);
		assert_int_equal(asked.major, printed.major);
		assert_int_equal(asked.minor, printed.minor);
		assert_true(text_equal(asked.path, printed.path));
		count++;
	}
	if (failed != ENOTTY) {
		assert_true(count > 2);
		assert_int_equal(map_query_next(&query, &asked), ENOENT);
	}
	close(query.fd);
	file_buffer_deinit(&buffer);
	if (failed == ENOTTY)
		skip(); /* the kernel is older than 6.11 */
}

UNIT_TESTS(cmocka_unit_test(a_line_is_a_mapping),
	   cmocka_unit_test(memory_without_a_file_has_no_inode),
	   cmocka_unit_test(other_lines_are_passed_over),
	   cmocka_unit_test(our_own_mappings_are_in_it),
	   cmocka_unit_test(asked_for_or_printed_they_are_the_same))
