/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions, and what they have in common, as blocks of a table. Each instruction is in
 * test_unwind_build.c. */
#include "unwind/build.h"

#include <dwarf.h>
#include <zlib.h>

#include "unit/unwind_rules.h"
#include "unit/unwind_scene.h"

/* --- functions --- */

static const struct unwind_rule none = KIND(NONE), other = KIND(OTHER), pointer = KIND(POINTER),
				stop = KIND(STOP), plain = SP(8);

static const uint8_t deeper[] = { DW_CFA_def_cfa_offset, 16 };
static const struct unwind_rule deep = SP(16);

TEST(functions_that_touch_have_nothing_between_them)
{
	struct scene_file file = { 0 };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	/* In no order. */
	scene_put_function(&file.frames, common, SCENE_CODE + 0x40, 0x20, deeper, sizeof(deeper));
	scene_put_function(&file.frames, common, SCENE_CODE + 0x20, 0x20, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE, 0x20, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE + 0x61, 0x10, deeper, sizeof(deeper));
	table = table_of(&file);
	assert_int_equal(table.functions, 4);
	assert_int_equal(table.rows, 5);
	expect_rule(&table, SCENE_CODE + 0x3f, &plain, "second");
	expect_rule(&table, SCENE_CODE + 0x40, &deep, "third");
	expect_rule(&table, SCENE_CODE + 0x60, &none, "gap");
	expect_rule(&table, SCENE_CODE + 0x61, &deep, "fourth");
	unwind_table_deinit(&table);
}

TEST(functions_that_overlap_are_cut)
{
	static const uint8_t steps[] = { ADVANCE(0x18), DW_CFA_def_cfa_offset, 24 };
	static const struct unwind_rule deepest = SP(24);
	struct scene_file file = { 0 };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	scene_put_function(&file.frames, common, SCENE_CODE, 0x20, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE, 0x20, deeper, sizeof(deeper));
	scene_put_function(&file.frames, common, SCENE_CODE + 8, 8, deeper, sizeof(deeper));
	scene_put_function(&file.frames, common, SCENE_CODE + 0x10, 0x20, steps, sizeof(steps));
	table = table_of(&file);
	assert_int_equal(table.functions, 2);
	assert_int_equal(table.overlapping, 3);
	expect_rule(&table, SCENE_CODE + 0x1f, &plain, "first");
	expect_rule(&table, SCENE_CODE + 0x27, &plain, "rest");
	expect_rule(&table, SCENE_CODE + 0x28, &deepest, "rest");
	expect_rule(&table, SCENE_CODE + 0x30, &none, "behind");
	unwind_table_deinit(&table);
}

TEST(functions_outside_of_the_code_are_refused)
{
	struct scene_file file = { .segments = { { PT_LOAD, PF_R, SCENE_CODE + 0x1000, 0x100 },
						 { PT_LOAD, PF_R | PF_X, SCENE_CODE, 0x100 } } };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	scene_put_function(&file.frames, common, SCENE_CODE - 8, 8, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE + 0x1000, 8, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE + 0xf0, 0x7fffffff, NULL, 0);
	/* What a linker leaves of one that it dropped. */
	scene_put_function(&file.frames, common, 0, 8, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE, 0, NULL, 0);
	table = table_of(&file);
	assert_int_equal(table.functions, 1);
	assert_int_equal(table.refused, 2);
	expect_rule(&table, SCENE_CODE + 0xff, &plain, "inside");
	expect_rule(&table, SCENE_CODE + 0x100, &none, "behind");
	unwind_table_deinit(&table);
}

TEST(code_that_is_far_away_is_refused)
{
	const uint64_t far = (uint64_t)1 << 60, near = SCENE_CODE + ((uint64_t)1 << 32) - 0x10000;
	static const uint8_t eight[] = { DW_EH_PE_absptr };
	struct scene_file file = { .segments = { { PT_LOAD, PF_X, SCENE_CODE, 0x100 },
						 { PT_LOAD, PF_X, near, 0x400 },
						 { PT_LOAD, PF_X, near + 0x10000, 0x400 },
						 { PT_LOAD, PF_X, far, 0x400 } } };
	const uint64_t starts[] = { SCENE_CODE, near, near + 0x10000, far };
	struct unwind_table table;
	size_t common =
		scene_put_common(&file.frames, false, 1, "zR", eight, 1, "\x0c\7\x8\x90\1", 5);

	for (size_t i = 0; i < array_length(starts); i++) {
		octets_fixed(&file.frames, 4, 4 + 8 + 8 + 1 + 3);
		octets_fixed(&file.frames, 4, file.frames.count - common);
		octets_fixed(&file.frames, 8, starts[i]);
		octets_fixed(&file.frames, 8, 8);
		octets_fixed(&file.frames, 4, 0);
	}
	table = table_of(&file);
	assert_int_equal(table.functions, 2);
	assert_int_equal(table.refused, 2);
	assert_int_equal(table.blocks.count, UNWIND_BLOCKS_MAX);
	assert_int_equal(table.words.count, 2 * (UNWIND_BLOCK_HEAD + 2));
	expect_rule(&table, near + 7, &plain, "last");
	unwind_table_deinit(&table);
}

/* --- blocks --- */

static struct scene_file large_file(uint64_t size)
{
	return (struct scene_file){ .segments = { { PT_LOAD, PF_R | PF_X, SCENE_CODE, size } },
				    .size = size };
}

TEST(a_block_begins_with_the_rule_in_force)
{
	struct scene_file file = large_file(0x60000);
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	scene_put_function(&file.frames, common, SCENE_CODE + 0x100, 0x20000, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE + 0x4fff0, 0x10, deeper,
			   sizeof(deeper));
	table = table_of(&file);
	assert_int_equal(table.base, SCENE_CODE);
	/* The last function ends where a block would begin, of which nothing is to be said. */
	assert_int_equal(table.blocks.count, 5);
	assert_int_equal(table.blocks.items[3], UNWIND_NO_BLOCK);
	assert_int_equal(table.rows, 2 + 1 + 2 + 2);
	expect_rule(&table, SCENE_CODE, &none, "before");
	expect_rule(&table, SCENE_CODE + 0x18000, &plain, "inside");
	expect_rule(&table, SCENE_CODE + 0x200ff, &plain, "inside");
	expect_rule(&table, SCENE_CODE + 0x20100, &none, "behind");
	expect_rule(&table, SCENE_CODE + 0x4fff0, &deep, "last");
	expect_rule(&table, SCENE_CODE + 0x50000, &none, "last");
	unwind_table_deinit(&table);
}

/* A frame begins every 2 KiB of what another compiler made, but for the last gap. */
static struct unwind_table table_of_foreign(struct scene_file *file, uint64_t end)
{
	struct text bytes = scene_make(file);
	struct unwind_table table;

	for (uint64_t at = 0x3000; at < end; at += 0x800)
		memcpy((char *)bytes.bytes + at, "\x55\x48\x89\xe5", 4);
	table = scene_table(bytes);
	unguard(bytes);
	scene_deinit(file);
	return table;
}

TEST(large_gaps_with_frame_pointers_go_by_them)
{
	struct scene_file file = large_file(0x150000);
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	scene_put_function(&file.frames, common, SCENE_CODE + 0x50000, 0x100, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE + 0x90080, 0x80, NULL, 0);
	scene_put_function(&file.frames, common, SCENE_CODE + 0xf0000, 0x100, NULL, 0);
	table = table_of_foreign(&file, 0xf0000);
	expect_rule(&table, SCENE_CODE - 1, &none, "outside");
	expect_rule(&table, SCENE_CODE, &pointer, "before");
	expect_rule(&table, SCENE_CODE + 0x4ffff, &pointer, "before");
	expect_rule(&table, SCENE_CODE + 0x50000, &plain, "first");
	expect_rule(&table, SCENE_CODE + 0x50100, &none, "small");
	expect_rule(&table, SCENE_CODE + 0x9007f, &none, "small");
	expect_rule(&table, SCENE_CODE + 0x90100, &pointer, "large");
	expect_rule(&table, SCENE_CODE + 0xeffff, &pointer, "large");
	expect_rule(&table, SCENE_CODE + 0xf0100, &none, "without");
	unwind_table_deinit(&table);
}

/* A rule for each byte of two pages. */
TEST(a_page_with_too_many_rows_loses_its_end_only)
{
	struct octets code = { 0 };
	struct scene_file file = { 0 };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	for (unsigned i = 0; i < 0x200; i++) {
		octets_list(&code, DW_CFA_def_cfa_offset, (uint8_t)(8 + i % 2 * 8));
		octets_list(&code, ADVANCE(1));
	}
	octets_list(&code, DW_CFA_def_cfa_offset, 32);
	scene_put_function(&file.frames, common, SCENE_CODE, 0x208, code.items, code.count);
	table = table_of(&file);
	array_deinit(&code);
	assert_int_equal(table.refused, 2);
	for (unsigned i = 0; i < 0x200; i++)
		expect_rule(&table, SCENE_CODE + i,
			    i % 256 >= 254 ? &other
			    : i % 2        ? &deep
					   : &plain,
			    "byte");
	expect_rule(&table, SCENE_CODE + 0x200, &(struct unwind_rule)SP(32), "behind");
	expect_rule(&table, SCENE_CODE + 0x208, &none, "end");
	unwind_table_deinit(&table);
}

/* What its last byte says goes on in the pages behind, which have no rows of their own. */
TEST(the_last_rule_of_a_full_page_continues)
{
	struct octets code = { 0 };
	struct scene_file file = { 0 };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	for (unsigned i = 0; i < 255; i++) {
		octets_list(&code, DW_CFA_def_cfa_offset, (uint8_t)(8 + i % 2 * 8));
		octets_list(&code, ADVANCE(1));
	}
	octets_list(&code, DW_CFA_def_cfa_offset, 32);
	scene_put_function(&file.frames, common, SCENE_CODE, 0x408, code.items, code.count);
	table = table_of(&file);
	array_deinit(&code);
	assert_int_equal(table.refused, 1);
	expect_rule(&table, SCENE_CODE + 0xff, &other, "last");
	expect_rule(&table, SCENE_CODE + 0x100, &(struct unwind_rule)SP(32), "next");
	expect_rule(&table, SCENE_CODE + 0x407, &(struct unwind_rule)SP(32), "end");
	expect_rule(&table, SCENE_CODE + 0x408, &none, "behind");
	unwind_table_deinit(&table);
}

TEST(code_of_go_keeps_frame_pointers)
{
	struct scene_file file = large_file(0x30000);
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	file.other_section = ".gopclntab";
	file.segments[0].size = 0x28000;
	scene_put_function(&file.frames, common, SCENE_CODE + 0x100, 0x10, NULL, 0);
	table = table_of(&file);
	assert_int_equal(table.blocks.count, 3);
	expect_rule(&table, SCENE_CODE, &pointer, "before");
	expect_rule(&table, SCENE_CODE + 0x100, &plain, "function");
	expect_rule(&table, SCENE_CODE + 0x110, &pointer, "behind");
	expect_rule(&table, SCENE_CODE + 0x1abcd, &pointer, "another block");
	expect_rule(&table, SCENE_CODE + 0x27fff, &pointer, "last");
	expect_rule(&table, SCENE_CODE + 0x28000, &none, "end");
	unwind_table_deinit(&table);
}

TEST(the_entry_of_a_file_has_no_caller)
{
	static const struct {
		uint64_t entry, before, stops, ends;
	} files[] = { { 0x30, 0x2f, 0x4f, 0x50 },
		      { 0x100, 0xff, 0x1ff, 0x200 },
		      { 0x10, 0x20, UINT64_MAX, 0x50 } };

	for (size_t i = 0; i < array_length(files); i++) {
		struct scene_file file = { .entry = SCENE_CODE + files[i].entry };
		size_t common = scene_put_usual(&file.frames);
		struct unwind_table table;

		scene_put_function(&file.frames, common, SCENE_CODE, 0x20, NULL, 0);
		scene_put_function(&file.frames, common, SCENE_CODE + 0x50, 0x20, NULL, 0);
		table = table_of(&file);
		expect_rule(&table, SCENE_CODE + files[i].before, &none, "before");
		if (files[i].stops != UINT64_MAX) {
			expect_rule(&table, SCENE_CODE + files[i].entry, &stop, "there");
			expect_rule(&table, SCENE_CODE + files[i].stops, &stop, "and on");
		}
		expect_rule(&table, SCENE_CODE + files[i].ends,
			    files[i].ends == 0x50 ? &plain : &none, "up to there");
		expect_rule(&table, SCENE_CODE + 0x10, &plain, "function");
		unwind_table_deinit(&table);
	}
}

/* --- what functions have in common --- */

struct common_case {
	const char *letters;
	uint8_t data[16];
	size_t length;
	uint8_t version;
	uint8_t flags; /* of the rule */
	bool refused;
};

#define DATA(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

TEST(augmentation_letters_are_parsed)
{
	static const struct common_case cases[] = {
		{ "zR", DATA(0x1b), 1, 0, false },
		{ "zR", DATA(0x1b), 3, 0, false },
		{ "zR", DATA(0x1b), 2, 0, true },
		{ "zRS", DATA(0x1b), 1, UNWIND_SIGNAL, false },
		{ "zPLR", DATA(0x9b, 1, 2, 3, 4, 0x1b, 0x1b), 1, 0, false },
		{ "zRB", DATA(0x1b), 1, 0, false },
		{ "zPR", DATA(0x03, 1, 2, 3, 4, 0x1b), 1, 0, false },
		{ "zR?", DATA(0x1b), 1, 0, true },
		{ "zP", DATA(0x9b, 1), 1, 0, true },
		{ "zR", DATA(0x3b), 1, 0, true }, /* relative to data */
		{ "zR", DATA(0x9b), 1, 0, true }, /* indirect */
		{ "R", DATA(0x1b), 1, 0, true },
		{ "eh", DATA(0, 0, 0, 0, 0, 0, 0, 0), 1, 0, true },
	};

	for (size_t i = 0; i < array_length(cases); i++) {
		const struct common_case *c = &cases[i];
		struct scene_file file = { 0 };
		struct unwind_rule wanted = plain;
		size_t common = scene_put_common(&file.frames, false, c->version, c->letters,
						 c->data, c->length, "\x0c\7\x8\x90\1", 5);
		struct unwind_table table;

		scene_put_function(&file.frames, common, SCENE_CODE, 0x10, NULL, 0);
		table = table_of(&file);
		wanted.flags = c->flags;
		assert_int_equal(!table.refused, !c->refused);
		expect_rule(&table, SCENE_CODE, c->refused ? &none : &wanted, c->letters);
		unwind_table_deinit(&table);
	}
}

/* In .debug_frame addresses have 8 bytes. */
static void put_debug_function(struct octets *debug, size_t common, uint64_t start, uint64_t size)
{
	octets_fixed(debug, 4, 4 + 8 + 8 + 4);
	octets_fixed(debug, 4, common);
	octets_fixed(debug, 8, start);
	octets_fixed(debug, 8, size);
	octets_list(debug, DW_CFA_def_cfa_offset, 16, 0, 0);
}

TEST(debug_information_fills_gaps)
{
	static const uint8_t versions[] = { 1, 3, 4 };

	for (size_t i = 0; i < array_length(versions); i++) {
		struct scene_file file = { 0 };
		size_t common = scene_put_usual(&file.frames);
		size_t debug = scene_put_common(&file.debug, true, versions[i], "", "", 0,
						"\x0c\7\x8\x90\1", 5);
		struct unwind_table table;

		scene_put_function(&file.frames, common, SCENE_CODE + 0x20, 0x20, NULL, 0);
		put_debug_function(&file.debug, debug, SCENE_CODE, 0x30);
		put_debug_function(&file.debug, debug, SCENE_CODE + 0x28, 0x20);
		put_debug_function(&file.debug, debug, SCENE_CODE + 0x50, 0x10);
		table = table_of(&file);
		assert_int_equal(table.functions, 3);
		assert_int_equal(table.refused + table.overlapping, 0);
		expect_rule(&table, SCENE_CODE + 0x1f, &deep, "first");
		expect_rule(&table, SCENE_CODE + 0x20, &plain, "loaded");
		expect_rule(&table, SCENE_CODE + 0x3f, &plain, "loaded");
		expect_rule(&table, SCENE_CODE + 0x40, &none, "gap");
		expect_rule(&table, SCENE_CODE + 0x5f, &deep, "last");
		unwind_table_deinit(&table);
	}
}

/* What zlib makes of `debug`, behind a header of one of the two kinds. */
static struct octets packed(const struct octets *debug, bool is_old, uint64_t size)
{
	const Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = size };
	uint64_t swapped = htobe64(size);
	uint8_t room[4096];
	uLongf length = sizeof(room);
	struct octets made = { 0 };

	assert_int_equal(compress(room, &length, debug->items, debug->count), Z_OK);
	if (is_old) {
		octets_put(&made, "ZLIB", 4);
		octets_fixed(&made, 8, swapped);
	} else {
		octets_put(&made, &header, sizeof(header));
	}
	octets_put(&made, room, length);
	return made;
}

TEST(debug_information_is_inflated_within_bounds)
{
	for (unsigned i = 0; i < 8; i++) {
		bool is_old = i & 1, is_wrong = i & 2, is_huge = i & 4;
		struct octets debug = { 0 };
		size_t common = scene_put_common(&debug, true, 3, "", "", 0, "\x0c\7\x8\x90\1", 5);
		struct scene_file file = { .debug_name = is_old ? ".zdebug_frame" : NULL,
					   .debug_flags = is_old ? 0 : SHF_COMPRESSED };
		struct unwind_table table;

		put_debug_function(&debug, common, SCENE_CODE, 0x30);
		file.debug = packed(&debug, is_old,
				    is_huge ? (uint64_t)1 << 40 : debug.count + is_wrong);
		table = table_of(&file);
		assert_int_equal(table.functions, i < 2);
		unwind_table_deinit(&table);
		array_deinit(&debug);
	}
}

/* Zeros are packed a thousand times. */
TEST(debug_information_that_would_fill_the_memory_is_left_out)
{
	struct octets debug = { 0 };
	size_t common = scene_put_common(&debug, true, 3, "", "", 0, "\x0c\7\x8\x90\1", 5);
	struct scene_file file = { .debug_flags = SHF_COMPRESSED };
	struct unwind_table table;

	put_debug_function(&debug, common, SCENE_CODE, 0x30);
	while (debug.count < (size_t)2 << 20)
		octets_fixed(&debug, 8, 0);
	file.debug = packed(&debug, false, debug.count);
	table = table_of(&file);
	assert_int_equal(table.functions, 0);
	unwind_table_deinit(&table);
	array_deinit(&debug);
}

TEST(without_sections_it_is_found_as_the_process_finds_it)
{
	struct scene_file file = { .no_sections = true };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	scene_put_function(&file.frames, common, SCENE_CODE, 0x10, NULL, 0);
	octets_fixed(&file.frames, 4, 0);
	/* Behind the end. */
	scene_put_function(&file.frames, common, SCENE_CODE + 0x10, 0x10, NULL, 0);
	table = table_of(&file);
	assert_int_equal(table.functions, 1);
	expect_rule(&table, SCENE_CODE + 0xf, &plain, "function");
	unwind_table_deinit(&table);
}

TEST(an_end_within_the_section_is_not_the_end)
{
	struct scene_file file = { 0 };
	size_t common = scene_put_usual(&file.frames);
	struct unwind_table table;

	octets_fixed(&file.frames, 4, 0);
	scene_put_function(&file.frames, common, SCENE_CODE, 0x10, NULL, 0);
	/* The length of what is not there. */
	octets_fixed(&file.frames, 4, 0x1000);
	table = table_of(&file);
	assert_int_equal(table.functions, 1);
	assert_int_equal(table.refused, 1);
	unwind_table_deinit(&table);
}

TEST(lengths_may_have_eight_bytes)
{
	static const uint64_t lengths[] = { 8 + 4 + 4 + 1 + 3, UINT64_MAX, (uint64_t)1 << 40, 7 };

	for (size_t i = 0; i < array_length(lengths); i++) {
		struct scene_file file = { 0 };
		size_t common = scene_put_usual(&file.frames);
		struct unwind_table table;

		octets_fixed(&file.frames, 4, UINT32_MAX);
		octets_fixed(&file.frames, 8, lengths[i]);
		octets_fixed(&file.frames, 8, file.frames.count - common);
		octets_fixed(&file.frames, 4, SCENE_CODE - (SCENE_FRAMES + file.frames.count));
		octets_fixed(&file.frames, 4, 0x10);
		octets_list(&file.frames, 0, DW_CFA_def_cfa_offset, 16, 0);
		table = table_of(&file);
		assert_int_equal(table.functions, !i);
		assert_int_equal(!table.refused, !i);
		expect_rule(&table, SCENE_CODE, i ? &none : &deep, "wide");
		unwind_table_deinit(&table);
	}
}

/* --- machines --- */

TEST(aarch64_is_a_row)
{
	static const uint8_t code[] = { ADVANCE(4),
					DW_CFA_AARCH64_negate_ra_state,
					ADVANCE(4),
					DW_CFA_def_cfa_offset,
					32,
					DW_CFA_offset | 29,
					4,
					DW_CFA_offset | 30,
					3,
					ADVANCE(4),
					DW_CFA_def_cfa_register,
					29 };
	static const struct unwind_rule rules[] = {
		{ .kind = UNWIND_RULE_FRAME,
		  .ra = UNWIND_IN_REG,
		  .number = 30,
		  .bx = UNWIND_UNKNOWN },
		{ .kind = UNWIND_RULE_FRAME,
		  .cfa_offset = 32,
		  .ra = UNWIND_AT_CFA,
		  .ra_offset = -3,
		  .bp = UNWIND_AT_CFA,
		  .bp_offset = -4,
		  .bx = UNWIND_UNKNOWN },
		{ .kind = UNWIND_RULE_FRAME,
		  .base = UNWIND_BASE_BP,
		  .cfa_offset = 32,
		  .ra = UNWIND_AT_CFA,
		  .ra_offset = -3,
		  .bp = UNWIND_AT_CFA,
		  .bp_offset = -4,
		  .bx = UNWIND_UNKNOWN },
	};
	struct scene_file file = { .machine = EM_AARCH64 };
	size_t common = scene_put_common(&file.frames, false, 1, "zR", "\x1b", 1, "\x0c\x1f\0", 3);
	struct unwind_table table;

	/* The return address is in x30. */
	file.frames.items[common + 4 + 4 + 1 + 3 + 2] = 30;
	scene_put_function(&file.frames, common, SCENE_CODE, 0x40, code, sizeof(code));
	table = table_of(&file);
	expect_rule(&table, SCENE_CODE + 4, &rules[0], "leaf");
	expect_rule(&table, SCENE_CODE + 8, &rules[1], "frame");
	expect_rule(&table, SCENE_CODE + 12, &rules[2], "frame pointer");
	unwind_table_deinit(&table);
}

TEST(other_machines_are_refused)
{
	struct scene_file file = { .machine = EM_S390 };
	struct text bytes = scene_make(&file);
	struct image image = image_of(bytes);
	struct unwind_table table;
	struct elf elf;

	assert_true(elf_open(&image, &elf));
	expect_error(unwind_build(&elf, &table), "machine 22");
	elf_close(&elf);
	unguard(bytes);
}

TEST(a_file_without_rules_has_no_blocks)
{
	struct scene_file file = { 0 };
	struct unwind_table table = table_of(&file);

	assert_int_equal(table.blocks.count + table.words.count + table.rows, 0);
	unwind_table_deinit(&table);
}

UNIT_TESTS(cmocka_unit_test(functions_that_touch_have_nothing_between_them),
	   cmocka_unit_test(functions_that_overlap_are_cut),
	   cmocka_unit_test(functions_outside_of_the_code_are_refused),
	   cmocka_unit_test(code_that_is_far_away_is_refused),
	   cmocka_unit_test(a_block_begins_with_the_rule_in_force),
	   cmocka_unit_test(large_gaps_with_frame_pointers_go_by_them),
	   cmocka_unit_test(a_page_with_too_many_rows_loses_its_end_only),
	   cmocka_unit_test(the_last_rule_of_a_full_page_continues),
	   cmocka_unit_test(code_of_go_keeps_frame_pointers),
	   cmocka_unit_test(the_entry_of_a_file_has_no_caller),
	   cmocka_unit_test(augmentation_letters_are_parsed),
	   cmocka_unit_test(debug_information_fills_gaps),
	   cmocka_unit_test(debug_information_is_inflated_within_bounds),
	   cmocka_unit_test(debug_information_that_would_fill_the_memory_is_left_out),
	   cmocka_unit_test(without_sections_it_is_found_as_the_process_finds_it),
	   cmocka_unit_test(an_end_within_the_section_is_not_the_end),
	   cmocka_unit_test(lengths_may_have_eight_bytes), cmocka_unit_test(aarch64_is_a_row),
	   cmocka_unit_test(other_machines_are_refused),
	   cmocka_unit_test(a_file_without_rules_has_no_blocks))
