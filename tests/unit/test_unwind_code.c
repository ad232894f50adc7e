/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/code.h"

#include "base/array.h"
#include "unit/unit.h"

#define CODE  (PF_R | PF_X)
#define INSTR (SHF_ALLOC | SHF_EXECINSTR)

static Elf64_Phdr segment(uint64_t start, uint64_t size)
{
	return (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = CODE, .p_vaddr = start, .p_filesz = size
	};
}

static Elf64_Shdr section(uint64_t start, uint64_t size, uint64_t flags)
{
	return (Elf64_Shdr){
		.sh_type = SHT_PROGBITS, .sh_flags = flags, .sh_addr = start, .sh_size = size
	};
}

static void expect_range(const struct code *code, size_t i, uint64_t start, uint64_t end)
{
	assert_true(i < code->count);
	assert_int_equal(code->ranges[i].start, start);
	assert_int_equal(code->ranges[i].end, end);
}

TEST(instructions_are_from_the_first_section_of_them_to_the_last)
{
	Elf64_Phdr segments[] = {
		segment(0x1000, 0x1000), /* symbols, code, constants */
		segment(0x3000, 0x1000), /* without sections */
		segment(0x5000, 0x1000), /* sections that do not fit */
		segment(0x7000, 0x1000), /* no instructions */
	};
	Elf64_Shdr sections[] = {
		section(0x1000, 0x200, SHF_ALLOC),  section(0x1400, 0x300, INSTR),
		section(0x1200, 0x100, INSTR),      section(0x1400, 0, INSTR),
		section(0x1800, 0x800, SHF_ALLOC),  section(0x4fff, 0x10, INSTR),
		section(0x5001, 0x1000, INSTR),     section(0x5800, UINT64_MAX, INSTR),
		section(0x7000, 0x1000, SHF_ALLOC),
	};
	const struct elf elf = {
		.segments = segments,
		.segment_count = array_length(segments),
		.sections = sections,
		.section_count = array_length(sections),
	};
	struct code code, instructions;

	assert_true(code_init(&code, &elf, UINT32_MAX));
	assert_true(code_init_instructions(&instructions, &code, &elf));
	assert_int_equal(instructions.count, code.count);
	expect_range(&instructions, 0, 0x1200, 0x1700);
	expect_range(&instructions, 1, 0x3000, 0x4000);
	expect_range(&instructions, 2, 0x5000, 0x6000);
	expect_range(&instructions, 3, 0x7000, 0x8000);
	code_deinit(&instructions);
	code_deinit(&code);
}

UNIT_TESTS(cmocka_unit_test(instructions_are_from_the_first_section_of_them_to_the_last))
