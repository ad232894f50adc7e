/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/mapping_cache.h"

#include "unit/unit.h"

#define PAGE 4096

/* --- how far a file is from its process --- */

/* As the kernel and ld.so map it: whole pages, at a load bias. */
static struct profile_mapping mapped(const struct file_segment *segment, uint64_t bias)
{
	uint64_t before = segment->offset % PAGE;
	uint64_t start = segment->address - before + bias;

	return (struct profile_mapping){
		.start = start,
		.end = start + (before + segment->bytes + PAGE - 1) / PAGE * PAGE,
		.file_offset = segment->offset - before,
	};
}

static void expect_bias(const struct file_segment *segments, size_t count,
			const struct profile_mapping *mapping, uint64_t expected)
{
	uint64_t bias = 0;

	assert_true(file_bias(segments, count, PAGE, mapping, &bias));
	assert_int_equal(bias, expected);
}

#define BIAS 0x7f1234560000

static const struct {
	const char *linker;
	struct file_segment segments[4];
	size_t code;
} layouts[] = {
	/* clang-format off */
	{ "bfd, separate code", { { 0, 0x628, 0, false }, { 0x1000, 0x1c5, 0x1000, true },
				  { 0x2000, 0xf4, 0x2000, false }, { 0x2de0, 0x250, 0x3de0, false } }, 1 },
	{ "bfd, one segment for all", { { 0, 0x7b4, 0, true }, { 0xde0, 0x250, 0x1de0, false } }, 0 },
	{ "bfd, no PIE", { { 0, 0x500, 0x400000, false }, { 0x1000, 0x1a1, 0x401000, true } }, 1 },
	{ "lld", { { 0, 0x5d4, 0, false }, { 0x5e0, 0x190, 0x15e0, true }, { 0x770, 0x1a0, 0x2770, false },
		   { 0x910, 0x38, 0x3910, false } }, 1 },
	{ "mold", { { 0, 0x6b0, 0, false }, { 0x6c0, 0x2145, 0x16c0, true }, { 0x2808, 0x1b8, 0x4808, false } }, 1 },
	{ "gold", { { 0, 0x9a4, 0, true }, { 0xdc8, 0x268, 0x2dc8, false } }, 0 },
	{ "code behind data", { { 0, 0x3000, 0, false }, { 0x3000, 0x100, 0x203000, false },
				{ 0x3100, 0x9000, 0x404100, true } }, 2 },
	{ "prelinked", { { 0, 0x800, 0x3000000000, false }, { 0x1000, 0x9000, 0x3000001000, true } }, 1 },
	/* clang-format on */
};

TEST(each_linker_is_understood)
{
	for (size_t i = 0; i < array_length(layouts); i++) {
		const struct file_segment *segments = layouts[i].segments;
		struct profile_mapping mapping = mapped(&segments[layouts[i].code], BIAS);

		expect_bias(segments, 4, &mapping, BIAS);
		mapping = mapped(&segments[layouts[i].code], 0);
		expect_bias(segments, 4, &mapping, 0);
	}
}

TEST(a_piece_of_a_segment_is_where_the_whole_is)
{
	const struct file_segment segments[] = { { 0, 0x1000, 0, false },
						 { 0x1100, 0x9000, 0x5100, true } };
	struct profile_mapping mapping = mapped(&segments[1], BIAS);

	for (uint64_t at = 0; at < 0xa000; at += PAGE) {
		struct profile_mapping piece = mapping;

		piece.start += at;
		piece.file_offset += at;
		piece.end = piece.start + PAGE;
		expect_bias(segments, 2, &piece, BIAS);
	}
}

/* ld.so maps the room for all of a library as its first segment, and the rest over it. */
TEST(a_mapping_may_be_longer_than_its_segment)
{
	const struct file_segment segments[] = { { 0, 0x3000, 0, true },
						 { 0x3000, 0x800, 0x203000, false } };
	struct profile_mapping mapping = mapped(&segments[0], BIAS);

	mapping.end += 0x200000;
	expect_bias(segments, 2, &mapping, BIAS);
}

/* The page in which one segment of code ends and another begins is mapped twice. */
TEST(a_page_of_two_segments_is_of_the_one_that_begins_there)
{
	const struct file_segment segments[] = { { 0x0, 0x1f00, 0, true },
						 { 0x1f00, 0x80, 0x11f00, true } };
	struct profile_mapping mapping = mapped(&segments[1], BIAS);

	expect_bias(segments, 2, &mapping, BIAS);
	mapping = mapped(&segments[0], BIAS);
	expect_bias(segments, 2, &mapping, BIAS);
}

TEST(data_that_may_be_executed_is_found_too)
{
	const struct file_segment segments[] = { { 0, 0x1000, 0, true },
						 { 0x2000, 0x1000, 0x9000, false } };
	struct profile_mapping mapping = mapped(&segments[1], BIAS);

	expect_bias(segments, 2, &mapping, BIAS);
}

TEST(a_mapping_of_no_segment_has_no_bias)
{
	const struct file_segment segments[] = { { 0x1000, 0x1000, 0, true },
						 { UINT64_MAX - 10, UINT64_MAX, 0, true } };
	struct profile_mapping mapping = { .start = BIAS,
					   .end = BIAS + PAGE,
					   .file_offset = 0x5000 };
	uint64_t bias = 7;

	assert_false(file_bias(segments, 2, PAGE, &mapping, &bias));
	assert_false(file_bias(NULL, 0, PAGE, &mapping, &bias));
	assert_int_equal(bias, 7);
}

/* --- mappings --- */

static struct unwind_mapping of_kind(uint64_t start, uint64_t end, uint32_t kind, uint32_t table)
{
	return (struct unwind_mapping){
		.start = start, .end = end, .kind = kind, .table = table, .delta = table * 16
	};
}

static void add(struct walk_mappings *space, uint64_t start, uint64_t end, uint32_t kind,
		uint32_t table)
{
	struct unwind_mapping mapping = of_kind(start, end, kind, table);

	assert_true(walk_mappings_add(space, &mapping));
}

TEST(equal_neighbours_are_merged)
{
	struct walk_mappings space = { 0 };

	add(&space, 10, 20, UNWIND_MAPPING_TABLE, 8);
	add(&space, 20, 30, UNWIND_MAPPING_TABLE, 8);
	add(&space, 30, 40, UNWIND_MAPPING_TABLE, 16);
	add(&space, 40, 50, UNWIND_MAPPING_POINTER, 0);
	add(&space, 50, 60, UNWIND_MAPPING_POINTER, 0);
	add(&space, 61, 70, UNWIND_MAPPING_POINTER, 0);
	add(&space, 70, 80, UNWIND_MAPPING_PENDING, 0);
	assert_int_equal(space.count, 5);
	assert_int_equal(space.items[0].end, 30);
	assert_int_equal(space.items[2].end, 60);
	assert_int_equal(space.items[3].start, 61);
	array_deinit(&space);
}

TEST(a_space_that_fits_is_unchanged)
{
	struct walk_mappings space = { 0 };

	assert_int_equal(walk_mappings_fit(&space, 1), 0);
	for (uint64_t i = 0; i < 10; i++)
		add(&space, i * 2, i * 2 + 1, UNWIND_MAPPING_POINTER, 0);
	assert_int_equal(walk_mappings_fit(&space, 10), 0);
	assert_int_equal(space.count, 10);
	array_deinit(&space);
}

TEST(gaps_in_code_that_was_made_close_before_anything_is_dropped)
{
	struct walk_mappings space = { 0 };

	for (uint64_t i = 0; i < 100000; i++)
		add(&space, i * 2, i * 2 + 1,
		    i % 1000 ? UNWIND_MAPPING_POINTER : UNWIND_MAPPING_TABLE, i % 1000 ? 0 : 8);
	assert_int_equal(walk_mappings_fit(&space, UNWIND_MAPPINGS_MAX), 0);
	assert_int_equal(space.count, 200);
	for (size_t i = 1; i < space.count; i++)
		assert_true(space.items[i - 1].end <= space.items[i].start);
	array_deinit(&space);
}

TEST(mappings_beyond_the_limit_are_dropped_and_counted)
{
	struct walk_mappings space = { 0 };

	for (uint64_t i = 0; i < 100000; i++)
		add(&space, i * 2, i * 2 + 1, UNWIND_MAPPING_TABLE, 8);
	assert_int_equal(walk_mappings_fit(&space, UNWIND_MAPPINGS_MAX),
			 100000 - UNWIND_MAPPINGS_MAX);
	assert_int_equal(space.count, UNWIND_MAPPINGS_MAX);
	assert_int_equal(space.items[space.count - 1].start, (UNWIND_MAPPINGS_MAX - 1) * 2);
	array_deinit(&space);
}

UNIT_TESTS(cmocka_unit_test(each_linker_is_understood),
	   cmocka_unit_test(a_piece_of_a_segment_is_where_the_whole_is),
	   cmocka_unit_test(a_mapping_may_be_longer_than_its_segment),
	   cmocka_unit_test(a_page_of_two_segments_is_of_the_one_that_begins_there),
	   cmocka_unit_test(data_that_may_be_executed_is_found_too),
	   cmocka_unit_test(a_mapping_of_no_segment_has_no_bias),
	   cmocka_unit_test(equal_neighbours_are_merged),
	   cmocka_unit_test(a_space_that_fits_is_unchanged),
	   cmocka_unit_test(gaps_in_code_that_was_made_close_before_anything_is_dropped),
	   cmocka_unit_test(mappings_beyond_the_limit_are_dropped_and_counted))
