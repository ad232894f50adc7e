/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of tables, compared with the whole tables of the same files.
 */
#include <fcntl.h>
#include <string.h>

#include "unit/unwind_scene.h"

#define BLOCK ((uint64_t)1 << UNWIND_BLOCK_BITS)

struct real_file {
	int fd;
	struct image image;
	struct elf elf;
	struct unwind_table whole;
};

static bool open_real(const char *path, struct real_file *ret)
{
	ret->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ret->fd < 0)
		return false;
	assert_int_equal(image_open(ret->fd, &ret->image), 0);
	assert_true(elf_open(&ret->image, &ret->elf));
	expect_ok(unwind_build(&ret->elf, &ret->whole));
	return true;
}

static void close_real(struct real_file *file)
{
	unwind_table_deinit(&file->whole);
	elf_close(&file->elf);
	image_close(&file->image);
	close(file->fd);
}

/* Code that is not described may be known from what is near it, although the whole file said
 * nothing of it. Returns how many bytes have other rules. */
static size_t compare_part(const struct real_file *file, uint64_t start, uint32_t blocks)
{
	struct unwind_table part;
	size_t other = 0;

	expect_ok(unwind_build_part(&file->elf, start, blocks, &part));
	assert_int_equal(part.base, start);
	assert_int_equal(part.blocks.count, blocks);
	scene_check(&part);
	for (uint64_t at = start; at < start + blocks * BLOCK; at++) {
		const struct unwind_rule wanted = scene_rule(&file->whole, at);
		const struct unwind_rule rule = scene_rule(&part, at);

		other += wanted.kind != UNWIND_RULE_NONE &&
			 memcmp(&rule, &wanted, sizeof(rule)) != 0;
	}
	unwind_table_deinit(&part);
	return other;
}

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",      "/bin/bash",           "/usr/bin/git",
	"/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/python3.11",
};

TEST(parts_are_those_of_the_whole)
{
	size_t seen = 0, bytes = 0, other = 0;

	for (size_t i = 0; i < array_length(files); i++) {
		struct real_file file;

		if (!open_real(files[i], &file))
			continue;
		seen++;
		for (size_t at = 0, count; at < file.whole.blocks.count; at += count) {
			count = 1 + at % 3;
			if (count > file.whole.blocks.count - at)
				count = file.whole.blocks.count - at;
			other += compare_part(&file, file.whole.base + at * BLOCK, (uint32_t)count);
			bytes += count * BLOCK;
		}
		close_real(&file);
	}
	if (!seen)
		skip();
	/* Some assembly is understood by code that calls it from far away. */
	assert_true(other * 5000 <= bytes);
}

TEST(only_large_files_have_an_outline)
{
	size_t seen = 0;

	for (size_t i = 0; i < array_length(files); i++) {
		struct real_file file;
		struct unwind_table outline;
		bool is_large;

		if (!open_real(files[i], &file))
			continue;
		seen++;
		is_large = elf_section(&file.elf, ".eh_frame").length >= 256 << 10;
		expect_ok(unwind_build_outline(&file.elf, &outline));
		assert_int_equal(outline.blocks.count != 0, is_large);
		for (size_t b = 0; b < outline.blocks.count; b++)
			assert_int_equal(outline.blocks.items[b], UNWIND_UNMADE_BLOCK);
		if (is_large) {
			assert_true(outline.base <= file.whole.base);
			assert_true(outline.base + outline.blocks.count * BLOCK >=
				    file.whole.base + file.whole.blocks.count * BLOCK);
		}
		unwind_table_deinit(&outline);
		close_real(&file);
	}
	if (!seen)
		skip();
}

TEST(code_outside_of_the_file_has_no_rows)
{
	struct unwind_table part;
	struct real_file file;

	if (!open_real(files[1], &file))
		skip();
	expect_ok(unwind_build_part(&file.elf, (uint64_t)1 << 40, 2, &part));
	assert_int_equal(part.blocks.count, 2);
	assert_int_equal(part.rows, 0);
	assert_int_equal(part.blocks.items[0], UNWIND_NO_BLOCK);
	assert_int_equal(part.blocks.items[1], UNWIND_NO_BLOCK);
	unwind_table_deinit(&part);
	close_real(&file);
}

UNIT_TESTS(cmocka_unit_test(parts_are_those_of_the_whole),
	   cmocka_unit_test(only_large_files_have_an_outline),
	   cmocka_unit_test(code_outside_of_the_file_has_no_rows))
