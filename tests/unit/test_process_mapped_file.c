/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of the tables of outlined files.
 */
#include "process/mapped_file.h"

#include <fcntl.h>
#include <string.h>

#include "unit/unit.h"

/* Files of Debian that have an outline and a build-id. */
static const char *const files[] = { "/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/git",
				     "/usr/bin/python3.11" };

struct outlined {
	int fd;
	struct image image;
	struct elf elf;
	struct unwind_table outline;
	struct profile_mapping mapping;
};

static void open_outlined(struct outlined *ret)
{
	struct text id;

	*ret = (struct outlined){ .fd = -1 };
	for (size_t i = 0; i < array_length(files) && ret->fd < 0; i++)
		ret->fd = open(files[i], O_RDONLY | O_CLOEXEC);
	if (ret->fd < 0)
		skip();
	assert_int_equal(image_open(ret->fd, &ret->image), 0);
	assert_true(elf_open(&ret->image, &ret->elf));
	expect_ok(unwind_build_outline(&ret->elf, &ret->outline));
	assert_true(ret->outline.blocks.count > 0);
	id = elf_build_id(&ret->elf);
	assert_int_equal(id.length, BUILD_ID_MAX);
	memcpy(ret->mapping.build_id, id.bytes, id.length);
	ret->mapping.build_id_length = (uint32_t)id.length;
}

static void close_outlined(struct outlined *file)
{
	unwind_table_deinit(&file->outline);
	elf_close(&file->elf);
	image_close(&file->image);
	close(file->fd);
}

static enum table_outcome make_part(const struct outlined *file, const struct words *identity,
				    struct memory_limit *limit)
{
	struct table_part part = { .count = 1 };
	const enum table_outcome outcome =
		mapped_file_make_parts(file->fd, identity, file->outline.base, limit, 2, &part, 1);

	assert_int_equal(part.is_made, outcome == TABLE_MADE);
	unwind_table_deinit(&part.table);
	return outcome;
}

static bool has_part(const struct outlined *file, const struct words *identity)
{
	return make_part(file, identity, NULL) == TABLE_MADE;
}

TEST(parts_of_a_file_with_another_build_id)
{
	struct outlined file;
	struct words identity;

	open_outlined(&file);
	assert_true(mapped_file_by_build_id(&file.mapping, &identity));
	assert_true(has_part(&file, &identity));
	identity.w[2] ^= 1;
	assert_false(has_part(&file, &identity));
	/* The user of a claimed one has the place of these bytes. */
	identity.w[2] = (identity.w[2] & UINT32_MAX) | (uint64_t)4 << 40;
	assert_true(has_part(&file, &identity));
	identity.w[0] ^= 1;
	assert_false(has_part(&file, &identity));
	close_outlined(&file);
}

TEST(parts_without_room_for_them)
{
	struct memory_limit limit = { .bytes = 64 << 20, .beside = 64 << 20 };
	struct outlined file;
	struct words identity;

	open_outlined(&file);
	assert_true(mapped_file_by_build_id(&file.mapping, &identity));
	assert_int_equal(make_part(&file, &identity, &limit), TABLE_NO_ROOM);
	assert_int_equal(limit.refused, 1);
	limit = (struct memory_limit){ .bytes = (uint64_t)1 << 40 };
	assert_int_equal(make_part(&file, &identity, &limit), TABLE_MADE);
	close_outlined(&file);
}

UNIT_TESTS(cmocka_unit_test(parts_of_a_file_with_another_build_id),
	   cmocka_unit_test(parts_without_room_for_them))
