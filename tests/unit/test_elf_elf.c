/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/elf.h"

#include <string.h>

#include "unit/fake_elf.h"

/* --- bounds of functions --- */

/* Where rows of the table of functions are counted from, and what its four have. */
struct frames {
	uint64_t address;
	int32_t starts[4];
};

#define ROWS (FAKE_FRAMES + 12)

static void put_frames(char *bytes, const struct frames *frames)
{
	Elf64_Ehdr header;

	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		char *at = bytes + header.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;

		memcpy(&segment, at, sizeof(segment));
		if (segment.p_offset == FAKE_FRAMES)
			segment.p_vaddr = frames->address;
		memcpy(at, &segment, sizeof(segment));
	}
	for (size_t i = 0; i < array_length(frames->starts); i++)
		memcpy(bytes + ROWS + i * 8, &frames->starts[i], sizeof(frames->starts[i]));
}

static bool find(const struct frames *frames, uint64_t address, uint64_t *ret_start,
		 uint64_t *ret_end)
{
	struct text bytes = fake_elf_make(&(struct fake_elf){ .machine = EM_X86_64 });
	struct image image;
	struct elf elf;
	bool found;

	put_frames((char *)(uintptr_t)bytes.bytes, frames);
	image = image_of(bytes);
	assert_true(elf_open(&image, &elf));
	found = elf_function(&elf, address, ret_start, ret_end);
	elf_close(&elf);
	unguard(bytes);
	return found;
}

TEST(functions_are_between_rows)
{
	static const struct frames frames = { 0x10000, { -0x800, 0, 0x40, 0x100 } };
	static const struct {
		uint64_t address, start, end; /* 0: it is in none */
	} cases[] = {
		{ 0, 0, 0 },
		{ 0xf7ff, 0, 0 },
		{ 0xf800, 0xf800, 0x10000 },
		{ 0xffff, 0xf800, 0x10000 },
		{ 0x10000, 0x10000, 0x10040 },
		{ 0x100ff, 0x10040, 0x10100 },
		/* Where the last one ends, nothing says. */
		{ 0x10100, 0, 0 },
		{ UINT64_MAX, 0, 0 },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		uint64_t start, end;

		assert_int_equal(find(&frames, cases[i].address, &start, &end), cases[i].end != 0);
		if (!cases[i].end)
			continue;
		assert_int_equal(start, cases[i].start);
		assert_int_equal(end, cases[i].end);
	}
}

/* Below 0 and beyond the last one. */
TEST(rows_at_no_address)
{
	static const struct {
		struct frames frames;
		uint64_t address;
	} cases[] = {
		{ { 0x10000, { 0x40, 0x80, -0x10001, -0x10001 } }, 0x10090 },
		{ { 0x10000, { INT32_MIN, INT32_MIN, 0, 0x40 } }, 0xfff0 },
		{ { -(uint64_t)0x100, { -0x80, -0x40, 0x180, 0x280 } }, 0x90 },
		{ { -(uint64_t)0x100, { 0, 0x100, INT32_MAX, INT32_MAX } }, 1 },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		uint64_t start = 1, end = 2;

		assert_false(find(&cases[i].frames, cases[i].address, &start, &end));
		assert_int_equal(start, 1);
		assert_int_equal(end, 2);
	}
}

UNIT_TESTS(cmocka_unit_test(functions_are_between_rows), cmocka_unit_test(rows_at_no_address))
