/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/jemalloc.h"

#include <string.h>

#include "unit/fake_elf.h"

/* What is found in the file. */
static enum jemalloc_refusal find(const struct fake_elf *fake, bool is_program,
				  struct jemalloc_layout *ret)
{
	struct text bytes = fake_elf_make(fake);
	struct image image = image_of(bytes);
	struct jemalloc_file file = { .is_program = is_program };
	enum jemalloc_refusal refusal;
	struct elf elf;

	*ret = (struct jemalloc_layout){ 0 };
	assert_true(elf_open(&image, &elf));
	file.elf = &elf;
	refusal = jemalloc_find(&file, ret);
	elf_close(&elf);
	unguard(bytes);
	return refusal;
}

#define expect_refusal(wanted, is_program, ...)                                                 \
	do {                                                                                    \
		struct jemalloc_layout layout_;                                                 \
		assert_int_equal(find(&(struct fake_elf){ __VA_ARGS__ }, is_program, &layout_), \
				 wanted);                                                       \
		assert_int_equal(layout_.deallocated, 0);                                       \
	} while (0)

#define expect_offsets(one, two, ...)                                                     \
	do {                                                                              \
		struct jemalloc_layout layout_;                                           \
		assert_int_equal(find(&(struct fake_elf){ __VA_ARGS__ }, true, &layout_), \
				 JEMALLOC_FOUND);                                         \
		assert_int_equal(layout_.allocated, one);                                 \
		assert_int_equal(layout_.deallocated, two);                               \
	} while (0)

#define SYMBOL .symbols[0] = { "tsd_tls", 0x10 }

/* --- the table and the functions --- */

TEST(functions_give_the_offsets)
{
	expect_offsets(0x338, 0x348, .machine = EM_X86_64, SYMBOL);
	expect_offsets(0x338, 0x348, .machine = EM_X86_64, SYMBOL, .fixed = true);
	expect_offsets(0x378, 0x388, .machine = EM_AARCH64, SYMBOL);
	expect_offsets(0x378, 0x388, .machine = EM_AARCH64, SYMBOL, .fixed = true);
}

TEST(functions_end_where_the_next_one_starts)
{
	expect_offsets(0x338, 0x348, .machine = EM_X86_64, SYMBOL, .without_frames = true);
	expect_offsets(0x378, 0x388, .machine = EM_AARCH64, SYMBOL, .without_frames = true);
}

TEST(additions_have_several_forms)
{
#define WITH(a, d) .machine = EM_X86_64, SYMBOL, .allocatedp = CODE(a), .deallocatedp = CODE(d)
	/* lea 0x100(%rdi),%rax; lea 0x108(%rdi),%r9 */
	expect_offsets(0x100, 0x108, WITH("\x48\x8d\x87\0\x01\0\0", "\x4c\x8d\x8f\x08\x01\0\0"));
	/* add $0x10,%rdi; lea 0x18(%rdi),%rcx */
	expect_offsets(0x10, 0x18, WITH("\x48\x83\xc7\x10\xc3", "\x48\x8d\x4f\x18\xc3"));
	/* twice the same is one answer */
	expect_offsets(0x10, 0x18,
		       WITH("\x48\x83\xc7\x10\x48\x8d\x47\x10", "\x48\x8d\x4f\x18\xc3"));
	/* add $0x338,%rsi is none */
	expect_refusal(JEMALLOC_NO_OFFSETS, true,
		       WITH("\x48\x81\xc6\x38\x03\0\0", "\x48\x81\xc7\x48\x03\0\0"));
	/* two different ones */
	expect_refusal(
		JEMALLOC_TWO_ANSWERS, true,
		WITH("\x48\x81\xc7\x38\x03\0\0\x48\x8d\x47\x20", "\x48\x81\xc7\x48\x03\0\0"));
	expect_refusal(JEMALLOC_NO_OFFSETS, true, WITH("\xc3", "\x48\x81\xc7\x48\x03\0\0"));
#undef WITH
}

TEST(a_register_that_was_overwritten_is_not_the_argument)
{
	/* movz w0, #1; add x0, x0, #0x378 */
	expect_refusal(JEMALLOC_NO_OFFSETS, true, .machine = EM_AARCH64, SYMBOL,
		       .allocatedp = CODE("\x20\x00\x80\x52\x00\xe0\x0d\x91"));
	/* mov x2, x20; add x0, x2, #0x378 */
	expect_refusal(JEMALLOC_NO_OFFSETS, true, .machine = EM_AARCH64, SYMBOL,
		       .allocatedp = CODE("\xe2\x03\x14\xaa\x40\xe0\x0d\x91"));
}

TEST(offsets_must_make_sense)
{
#define WITH(d) .machine = EM_X86_64, SYMBOL, .deallocatedp = CODE(d)
	expect_refusal(JEMALLOC_NO_OFFSETS, true, WITH("\x48\x81\xc7\x38\x03\0\0"));
	expect_refusal(JEMALLOC_NO_OFFSETS, true, WITH("\x48\x81\xc7\x30\x03\0\0"));
	expect_refusal(JEMALLOC_NO_OFFSETS, true, WITH("\x48\x81\xc7\x44\x03\0\0"));
	expect_refusal(JEMALLOC_NO_OFFSETS, true, WITH("\x48\x81\xc7\x48\x04\0\0"));
	expect_refusal(JEMALLOC_NO_OFFSETS, true, WITH("\x48\x81\xc7\x48\x03\x01\0"));
#undef WITH
	expect_refusal(JEMALLOC_TLS_ARITHMETIC, true, .machine = EM_X86_64, SYMBOL,
		       .tls_size = 0x348);
}

TEST(there_is_one_table)
{
	expect_refusal(JEMALLOC_TWO_ANSWERS, true, .machine = EM_X86_64, SYMBOL,
		       .with_two_tables = true);
	expect_refusal(JEMALLOC_NOT_FOUND, true, .machine = EM_X86_64, .without_table = true);
	/* A symbol says that it is there, but not how it looks. */
	expect_refusal(JEMALLOC_NO_OFFSETS, true, .machine = EM_X86_64, SYMBOL,
		       .without_table = true);
	expect_refusal(JEMALLOC_NOT_FOUND, true, .machine = EM_X86_64, SYMBOL, .without_tls = true);
	expect_refusal(JEMALLOC_ARCH_MISMATCH, true, .machine = EM_RISCV, SYMBOL, .fixed = true);
}

TEST(neighbours_must_be_right)
{
	static const size_t ends[] = { 8, 19, 31, 43 }; /* of the names */

	for (size_t i = 0; i < array_length(ends); i++) {
		const struct fake_elf fake = { .machine = EM_X86_64 };
		struct text bytes = fake_elf_make(&fake);
		struct image image = image_of(bytes);
		struct jemalloc_file file = { .is_program = true };
		struct jemalloc_layout layout;
		struct elf elf;

		((char *)(uintptr_t)bytes.bytes)[FAKE_NAMES + ends[i]] ^= 1;
		assert_true(elf_open(&image, &elf));
		file.elf = &elf;
		assert_int_equal(jemalloc_find(&file, &layout), JEMALLOC_NOT_FOUND);
		elf_close(&elf);
		unguard(bytes);
	}
}

/* --- the block of a program --- */

static int64_t block_of(const struct fake_elf *fake)
{
	struct jemalloc_layout layout;

	assert_int_equal(find(fake, true, &layout), JEMALLOC_FOUND);
	assert_false(layout.by_slot);
	return layout.block;
}

TEST(a_symbol_gives_the_block)
{
	assert_int_equal(block_of(&(struct fake_elf){ .machine = EM_X86_64, SYMBOL }),
			 0x10 - 0xa48);
	assert_int_equal(block_of(&(struct fake_elf){
				 .machine = EM_X86_64,
				 .symbols = { { "_rjem_je_tsd_tls", 0x20 }, { "errno", 0x30 } } }),
			 0x20 - 0xa48);
	assert_int_equal(block_of(&(struct fake_elf){
				 .machine = EM_X86_64,
				 .symbols = { { "je_tsd_tls", 0x20 }, { "tsd_tls", 0x20 } } }),
			 0x20 - 0xa48);
	assert_int_equal(block_of(&(struct fake_elf){ .machine = EM_AARCH64, SYMBOL }),
			 0x10 + 0x10);
	expect_refusal(JEMALLOC_TWO_ANSWERS, true, .machine = EM_X86_64,
		       .symbols = { { "je_tsd_tls", 0x20 }, { "tsd_tls", 0x28 } });
	expect_refusal(JEMALLOC_TLS_ARITHMETIC, true, .machine = EM_X86_64,
		       .symbols = { { "tsd_tls", 0xa48 - 0x348 } });
}

/* mov $-2000,%rcx; mov %fs:0x338(%rcx),%rdx */
#define CONSTANT "\x48\xc7\xc1\x30\xf8\xff\xff"
#define ACCESS   "\x64\x48\x8b\x91\x38\x03\0\0"

TEST(code_gives_the_block)
{
	assert_int_equal(block_of(&(struct fake_elf){ .machine = EM_X86_64,
						      .counting = CODE(CONSTANT ACCESS) }),
			 -2000);
	/* with other instructions between, an upper register, and the other counter: mov
	 * $-2000,%r9; add %fs:0x348(%r9),%r11 */
	assert_int_equal(block_of(&(struct fake_elf){
				 .machine = EM_X86_64,
				 .counting = CODE("\x49\xc7\xc1\x30\xf8\xff\xff\x90\x90\x90"
						  "\x64\x4d\x03\x99\x48\x03\0\0") }),
			 -2000);
	/* Without %fs, for another field, of another register, or beyond the storage it is nothing.
	 */
	expect_refusal(JEMALLOC_NO_BLOCK, true, .machine = EM_X86_64,
		       .counting = CODE(CONSTANT "\x90\x48\x8b\x91\x38\x03\0\0"));
	expect_refusal(JEMALLOC_NO_BLOCK, true, .machine = EM_X86_64,
		       .counting = CODE(CONSTANT "\x64\x48\x8b\x91\x30\x03\0\0"));
	expect_refusal(JEMALLOC_NO_BLOCK, true, .machine = EM_X86_64,
		       .counting = CODE(CONSTANT "\x64\x48\x8b\x92\x38\x03\0\0"));
	expect_refusal(JEMALLOC_NO_BLOCK, true, .machine = EM_X86_64,
		       .counting = CODE("\x48\xc7\xc1\x30\xf0\xff\xff" ACCESS));
	expect_refusal(JEMALLOC_NO_BLOCK, true, .machine = EM_X86_64,
		       .counting = CODE("\x48\xc7\xc1\xff\xff\xff\xff" ACCESS));
	expect_refusal(JEMALLOC_TWO_ANSWERS, true, .machine = EM_X86_64,
		       .counting = CODE(CONSTANT ACCESS "\x48\xc7\xc1\x38\xf8\xff\xff" ACCESS));
	expect_refusal(JEMALLOC_NO_BLOCK, true, .machine = EM_AARCH64);
}

/* The first ones were seen in processes with Debian's libjemalloc2, the others follow from the
 * rules of the linkers. */
TEST(blocks_follow_the_rules_of_the_machine)
{
	static const struct {
		uint16_t machine;
		uint64_t address, size, align, value;
		int64_t block;
	} rows[] = {
		{ EM_X86_64, 0xc7520, 0xa48, 8, 0, -2632 },
		{ EM_X86_64, 0x1000, 0xa48, 64, 0, -0xa80 },
		{ EM_X86_64, 0x1008, 0xa48, 64, 0, -0xa78 },
		{ EM_X86_64, 0x1008, 0x38, 64, 8, -0x30 },
		{ EM_X86_64, 0, 8, 1, 0, -8 },
		{ EM_X86_64, 0, 8, 0, 0, -8 },
		{ EM_AARCH64, 0x9a6e8, 0xa88, 8, 0, 16 },
		{ EM_AARCH64, 0x1000, 0x100, 64, 8, 72 },
		{ EM_AARCH64, 0x1010, 0x100, 64, 0, 16 },
		{ EM_AARCH64, 0x1020, 0x100, 64, 0, 32 },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		const Elf64_Phdr tls = { .p_vaddr = rows[i].address,
					 .p_memsz = rows[i].size,
					 .p_align = rows[i].align };
		int64_t block;

		assert_true(jemalloc_block_of(rows[i].machine, &tls, rows[i].value, &block));
		assert_int_equal(block, rows[i].block);
	}
}

TEST(blocks_outside_the_storage_are_refused)
{
	static const struct {
		uint64_t size, align, value;
	} rows[] = {
		{ 8, 8, 8 },
		{ 0, 8, 0 },
		{ UINT64_MAX, 8, 0 },
		{ 100, 24, 0 },
		{ 100, (uint64_t)1 << 63, 0 },
	};
	const Elf64_Phdr fine = { .p_memsz = 8, .p_align = 8 };
	int64_t block = 77;

	for (size_t i = 0; i < array_length(rows); i++) {
		const Elf64_Phdr tls = { .p_memsz = rows[i].size, .p_align = rows[i].align };

		assert_false(jemalloc_block_of(EM_X86_64, &tls, rows[i].value, &block));
		assert_false(jemalloc_block_of(EM_AARCH64, &tls, rows[i].value, &block));
	}
	assert_false(jemalloc_block_of(EM_386, &fine, 0, &block));
	assert_int_equal(block, 77);
}

/* --- the block of a library --- */

static uint64_t slot_of(const struct fake_elf *fake)
{
	struct jemalloc_layout layout;

	assert_int_equal(find(fake, false, &layout), JEMALLOC_FOUND);
	assert_true(layout.by_slot);
	return layout.slot;
}

#define SLOTS(n, ...) .slot_count = n, .slots = { __VA_ARGS__ }

/* mov 0xf9(%rip),%rcx: the first word, at 0x1400; and the second */
#define LOAD_1 "\x48\x8b\x0d\xf9\0\0\0"
#define LOAD_2 "\x48\x8b\x0d\x01\x01\0\0"

TEST(a_single_word_is_the_one)
{
	assert_int_equal(
		slot_of(&(struct fake_elf){ .machine = EM_X86_64, SLOTS(1, { 0, false }) }),
		FAKE_SLOT);
	assert_int_equal(
		slot_of(&(struct fake_elf){ .machine = EM_AARCH64, SLOTS(1, { 0, false }) }),
		FAKE_SLOT);
	/* Words of other files, and a second one of the same variable, do not disturb. */
	assert_int_equal(
		slot_of(&(struct fake_elf){ .machine = EM_AARCH64,
					    SLOTS(3, { 0, true }, { 0, false }, { 0, false }) }),
		FAKE_SLOT + 16);
	expect_refusal(JEMALLOC_IN_DSO, false, .machine = EM_X86_64);
	expect_refusal(JEMALLOC_IN_DSO, false, .machine = EM_X86_64, SLOTS(1, { 0, true }));
	expect_refusal(JEMALLOC_TWO_ANSWERS, false, .machine = EM_X86_64,
		       SLOTS(2, { 0, false }, { 8, false }));
}

/* As the variable of a program is, so that of a library is within the storage as a whole. */
TEST(a_slot_of_another_file_is_refused)
{
	const uint64_t most = 0xa48 - 0x348 - 8;

	assert_int_equal(
		slot_of(&(struct fake_elf){ .machine = EM_X86_64, SLOTS(1, { most, false }) }),
		FAKE_SLOT);
	expect_refusal(JEMALLOC_TLS_ARITHMETIC, false, .machine = EM_X86_64,
		       SLOTS(1, { most + 8, false }));
	expect_refusal(JEMALLOC_TLS_ARITHMETIC, false, .machine = EM_X86_64,
		       SLOTS(1, { (uint64_t)-8, false }));
}

TEST(a_symbol_gives_the_slot)
{
	assert_int_equal(slot_of(&(struct fake_elf){ .machine = EM_X86_64,
						     SYMBOL,
						     SLOTS(2, { 8, false }, { 0x10, false }) }),
			 FAKE_SLOT + 8);
	expect_refusal(JEMALLOC_IN_DSO, false, .machine = EM_X86_64, SYMBOL,
		       SLOTS(1, { 8, false }));
}

TEST(code_gives_the_slot)
{
	assert_int_equal(slot_of(&(struct fake_elf){ .machine = EM_X86_64,
						     SLOTS(2, { 0, false }, { 8, false }),
						     .counting = CODE(LOAD_1 ACCESS) }),
			 FAKE_SLOT);
	assert_int_equal(slot_of(&(struct fake_elf){ .machine = EM_X86_64,
						     SLOTS(2, { 0, false }, { 8, false }),
						     .counting = CODE(LOAD_2 ACCESS) }),
			 FAKE_SLOT + 8);
	expect_refusal(JEMALLOC_TWO_ANSWERS, false, .machine = EM_X86_64,
		       SLOTS(2, { 0, false }, { 8, false }),
		       .counting = CODE(LOAD_1 ACCESS "\x48\x8b\x0d\xf2\0\0\0" ACCESS));
	/* A library whose storage the linker placed is none. */
	expect_refusal(JEMALLOC_IN_DSO, false, .machine = EM_X86_64, SLOTS(1, { 0, false }),
		       .counting = CODE(CONSTANT ACCESS));
}

/* --- hostile files --- */

static void look(struct text bytes)
{
	struct image image = image_of(bytes);
	struct jemalloc_file file = { .is_program = bytes.length % 2 };
	struct jemalloc_layout layout;
	struct elf elf;

	if (elf_open(&image, &elf)) {
		file.elf = &elf;
		if (jemalloc_find(&file, &layout) == JEMALLOC_FOUND)
			assert_true(layout.deallocated < JEMALLOC_OFFSET_MAX);
	}
	elf_close(&elf);
}

TEST(a_file_may_end_anywhere)
{
	const struct fake_elf fake = { .machine = EM_X86_64,
				       SYMBOL,
				       SLOTS(1, { 0x10, false }),
				       .counting = CODE(CONSTANT ACCESS) };
	struct text whole = fake_elf_make(&fake);

	for (size_t length = 0; length < whole.length; length += 7) {
		struct text part = guarded(whole.bytes, length);

		look(part);
		unguard(part);
	}
	unguard(whole);
}

TEST(any_byte_may_be_wrong)
{
	const struct fake_elf fake = { .machine = EM_X86_64,
				       SLOTS(1, { 0x10, false }),
				       .counting = CODE(LOAD_1 ACCESS) };
	struct text bytes = fake_elf_make(&fake);
	uint64_t random = 1;

	for (size_t i = 0; i < 3000; i++) {
		char *at = (char *)(uintptr_t)bytes.bytes +
			   next_random(&random) % (i % 2 ? FAKE_NAMES : FAKE_SIZE);
		char before = *at;

		*at = i % 3 ? (char)next_random(&random) : (char)0xff;
		look(bytes);
		*at = before;
	}
	unguard(bytes);
}

UNIT_TESTS(cmocka_unit_test(functions_give_the_offsets),
	   cmocka_unit_test(functions_end_where_the_next_one_starts),
	   cmocka_unit_test(additions_have_several_forms),
	   cmocka_unit_test(a_register_that_was_overwritten_is_not_the_argument),
	   cmocka_unit_test(offsets_must_make_sense), cmocka_unit_test(there_is_one_table),
	   cmocka_unit_test(neighbours_must_be_right), cmocka_unit_test(a_symbol_gives_the_block),
	   cmocka_unit_test(code_gives_the_block),
	   cmocka_unit_test(blocks_follow_the_rules_of_the_machine),
	   cmocka_unit_test(blocks_outside_the_storage_are_refused),
	   cmocka_unit_test(a_single_word_is_the_one),
	   cmocka_unit_test(a_slot_of_another_file_is_refused),
	   cmocka_unit_test(a_symbol_gives_the_slot), cmocka_unit_test(code_gives_the_slot),
	   cmocka_unit_test(a_file_may_end_anywhere), cmocka_unit_test(any_byte_may_be_wrong))
