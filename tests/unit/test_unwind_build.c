/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/build.h"

#include <dwarf.h>
#include <stdio.h>

#include "unit/unwind_rules.h"
#include "unit/unwind_scene.h"
#include "unit/unwind_truth.h"
#include "unwind/table_file.h"

/* --- real files --- */

/* UNWIND_FILES="PATH PATH..." has it look at all of these, and say what it saw. */
static bool compare_named(void)
{
	const char *named = getenv("UNWIND_FILES");
	struct text rest = text_of(named ? named : ""), word;
	size_t differing = 0;

	while (text_word(&rest, &word)) {
		struct unwind_truth truth;
		char path[4096];

		snprintf(path, sizeof(path), "%.*s", (int)word.length, word.bytes);
		if (!unwind_truth_compare(path, false, 1, &truth) &&
		    !unwind_truth_compare(path, true, 1, &truth))
			continue;
		printf("# %s rows %zu looks %zu differing %zu other %zu lost %zu\n", path,
		       truth.rows, truth.looks, truth.differing, truth.other, truth.lost);
		differing += truth.differing;
	}
	assert_int_equal(differing, 0);
	return named;
}

TEST(real_files_agree_with_elfutils)
{
	static const struct {
		const char *path;
		unsigned every;
	} files[] = {
		{ "/lib/x86_64-linux-gnu/libc.so.6", 1 },
		{ "/lib64/ld-linux-x86-64.so.2", 1 },
		{ "/lib/x86_64-linux-gnu/libstdc++.so.6", 1 },
		{ "/lib/x86_64-linux-gnu/libm.so.6", 1 },
		{ "/lib/x86_64-linux-gnu/libcrypto.so.3", 1 },
		{ "/bin/bash", 1 },
		{ "/usr/bin/git", 1 },
		{ "/usr/lib/llvm-14/lib/libclang-cpp.so.14", 16 },
	};
	size_t seen = 0;

	if (compare_named())
		return;
	for (size_t i = 0; i < array_length(files); i++) {
		struct unwind_truth truth;

		if (!unwind_truth_compare(files[i].path, false, files[i].every, &truth))
			continue;
		seen++;
		assert_int_equal(truth.differing, 0);
		assert_true(truth.rows > 1000 && truth.looks > 2 * truth.rows);
		/* What is not understood is rare: jumps of longjmp, code that moves its stack. */
		assert_true(truth.other * 1000 < truth.rows && truth.lost * 1000 < truth.rows);
	}
	if (!seen)
		skip();
}

/* --- instructions --- */

#define CODE(...)     .code = { __VA_ARGS__ }, .length = sizeof((const uint8_t[]){ __VA_ARGS__ })
#define FUNCTION_SIZE 0x80

struct wanted_row {
	uint32_t at;
	struct unwind_rule rule;
};

struct instruction_case {
	const char *name;
	uint8_t code[64];
	size_t length;
	struct wanted_row rows[6]; /* as many as there are: behind the first, `at` is not 0 */
	bool refused;
};

static const struct instruction_case instruction_cases[] = {
	{ "no instructions", .length = 0, .rows = { { 0, SP(8) } } },
	{ "push rbp; mov rsp, rbp; leave",
	  CODE(ADVANCE(1), DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2, ADVANCE(3),
	       DW_CFA_def_cfa_register, 6, ADVANCE(0x20), DW_CFA_def_cfa, 7, 8),
	  { { 0, SP(8) },
	    { 1, SP(16, .bp = UNWIND_AT_CFA, .bp_offset = -2) },
	    { 4, BP(16, .bp = UNWIND_AT_CFA, .bp_offset = -2) },
	    { 0x24, SP(8, .bp = UNWIND_AT_CFA, .bp_offset = -2) } } },
	{ "advances of 1, 2 and 4 bytes",
	  CODE(DW_CFA_advance_loc1, 2, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc2, 2, 0,
	       DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc4, 2, 0, 0, 0, DW_CFA_def_cfa_offset,
	       32),
	  { { 0, SP(8) }, { 2, SP(16) }, { 4, SP(24) }, { 6, SP(32) } } },
	{ "an advance by nothing", CODE(ADVANCE(0), DW_CFA_def_cfa_offset, 16), { { 0, SP(16) } } },
	{ "an advance behind the end",
	  CODE(DW_CFA_advance_loc1, 0x80, DW_CFA_def_cfa_offset, 16),
	  { { 0, SP(8) } } },
	{ "nothing changes at a place", CODE(ADVANCE(8), DW_CFA_nop), { { 0, SP(8) } } },
	{ "rbx, with extended operands",
	  CODE(DW_CFA_offset_extended, 3, 2, ADVANCE(1), DW_CFA_offset_extended_sf, 3, 0x7d,
	       ADVANCE(1), DW_CFA_GNU_negative_offset_extended, 3, 4),
	  { { 0, SP(8, .bx = UNWIND_AT_CFA, .bx_offset = -2) },
	    { 1, SP(8, .bx = UNWIND_AT_CFA, .bx_offset = 3) },
	    { 2, SP(8, .bx = UNWIND_AT_CFA, .bx_offset = 4) } } },
	{ "registers that nobody follows",
	  CODE(DW_CFA_offset | 12, 2, DW_CFA_undefined, 0x80, 1, DW_CFA_same_value, 13),
	  { { 0, SP(8) } } },
	{ "factored definitions of the CFA",
	  CODE(DW_CFA_def_cfa_sf, 6, 0x7e, ADVANCE(1), DW_CFA_def_cfa_offset_sf, 0x7c),
	  { { 0, BP(16) }, { 1, BP(32) } } },
	{ "restored registers",
	  CODE(DW_CFA_offset | 6, 2, DW_CFA_offset | 3, 3, ADVANCE(1), DW_CFA_restore | 6,
	       ADVANCE(1), DW_CFA_restore_extended, 3),
	  { { 0,
	      SP(8, .bp = UNWIND_AT_CFA, .bp_offset = -2, .bx = UNWIND_AT_CFA, .bx_offset = -3) },
	    { 1, SP(8, .bx = UNWIND_AT_CFA, .bx_offset = -3) },
	    { 2, SP(8) } } },
	{ "a restored return address",
	  CODE(DW_CFA_register, 16, 5, ADVANCE(1), DW_CFA_restore | 16),
	  { { 0, { .kind = UNWIND_RULE_FRAME, .cfa_offset = 8, .ra = UNWIND_IN_REG, .number = 5 } },
	    { 1, SP(8) } } },
	{ "remembered states",
	  CODE(DW_CFA_remember_state, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2, ADVANCE(1),
	       DW_CFA_restore_state),
	  { { 0, SP(16, .bp = UNWIND_AT_CFA, .bp_offset = -2) }, { 1, SP(8) } } },
	{ "a state that was not remembered",
	  CODE(ADVANCE(4), DW_CFA_restore_state, ADVANCE(1), DW_CFA_def_cfa_offset, 16),
	  { { 0, SP(8) }, { 4, KIND(OTHER) } },
	  .refused = true },
	{ "more states than there is room for",
	  CODE(0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa, 0xa),
	  { { 0, KIND(OTHER) } },
	  .refused = true },
	{ "an instruction that does not exist",
	  CODE(0x3f),
	  { { 0, KIND(OTHER) } },
	  .refused = true },
	{ "one of another machine",
	  CODE(DW_CFA_AARCH64_negate_ra_state),
	  { { 0, KIND(OTHER) } },
	  .refused = true },
	{ "an operand that is cut off",
	  CODE(ADVANCE(1), DW_CFA_def_cfa_offset, 16, ADVANCE(1), DW_CFA_def_cfa_expression, 40,
	       0x77),
	  { { 0, SP(8) }, { 1, SP(16) }, { 2, KIND(OTHER) } },
	  .refused = true },
	{ "sizes of arguments", CODE(DW_CFA_GNU_args_size, 0x90, 1), { { 0, SP(8) } } },
	{ "the return address is undefined", CODE(DW_CFA_undefined, 16), { { 0, KIND(STOP) } } },
	{ "it is in rdi (vfork)",
	  CODE(DW_CFA_register, 16, 5, DW_CFA_def_cfa_offset, 0),
	  { { 0, { .kind = UNWIND_RULE_FRAME, .ra = UNWIND_IN_REG, .number = 5 } } } },
	{ "it is in a register, and the CFA counted from another",
	  CODE(DW_CFA_register, 16, 5, DW_CFA_def_cfa, 10, 0),
	  { { 0, KIND(OTHER) } } },
	{ "it is further away than fits",
	  CODE(DW_CFA_offset | 16, 0x90, 1),
	  { { 0, KIND(OTHER) } } },
	{ "it is nowhere", CODE(DW_CFA_same_value, 16), { { 0, KIND(OTHER) } } },
	{ "rbp is further away than fits",
	  CODE(DW_CFA_offset | 6, 0x80, 1, ADVANCE(1), DW_CFA_offset | 6, 0x81, 1),
	  { { 0, SP(8, .bp = UNWIND_AT_CFA, .bp_offset = -128) },
	    { 1, SP(8, .bp = UNWIND_UNKNOWN) } } },
	{ "rbp is elsewhere",
	  CODE(DW_CFA_undefined, 6, ADVANCE(1), DW_CFA_same_value, 6, ADVANCE(1), DW_CFA_val_offset,
	       6, 2, ADVANCE(1), DW_CFA_restore | 6, ADVANCE(1), DW_CFA_register, 6, 12),
	  { { 0, SP(8, .bp = UNWIND_UNKNOWN) },
	    { 1, SP(8) },
	    { 2, SP(8, .bp = UNWIND_UNKNOWN) },
	    { 3, SP(8) },
	    { 4, SP(8, .bp = UNWIND_UNKNOWN) } } },
	{ "the stack pointer is not the CFA",
	  CODE(DW_CFA_val_offset, 7, 0, ADVANCE(1), DW_CFA_val_offset, 7, 2),
	  { { 0, SP(8) }, { 1, KIND(OTHER) } } },
	{ "CFAs of other registers",
	  CODE(DW_CFA_def_cfa, 3, 16, ADVANCE(1), DW_CFA_def_cfa, 10, 0, ADVANCE(1), DW_CFA_def_cfa,
	       40, 0),
	  { { 0, FRAME(.base = UNWIND_BASE_BX, .cfa_offset = 16) },
	    { 1, FRAME(.base = UNWIND_BASE_OTHER, .number = 10) },
	    { 2, KIND(OTHER) } } },
	{ "the last register that a rule may name, and the first that none may",
	  CODE(DW_CFA_def_cfa, 31, 16, DW_CFA_offset | 6, 2, ADVANCE(1), DW_CFA_def_cfa, 32, 16,
	       ADVANCE(1), DW_CFA_def_cfa, 7, 0, DW_CFA_register, 16, 31, ADVANCE(1),
	       DW_CFA_register, 16, 32),
	  { { 0, FRAME(.base = UNWIND_BASE_OTHER, .number = 31, .cfa_offset = 16,
		       .bp = UNWIND_AT_CFA, .bp_offset = -2) },
	    { 1, KIND(OTHER) },
	    { 2,
	      { .kind = UNWIND_RULE_FRAME,
		.ra = UNWIND_IN_REG,
		.number = 31,
		.bp = UNWIND_AT_CFA,
		.bp_offset = -2 } },
	    { 3, KIND(OTHER) } } },
	{ "a negative CFA", CODE(DW_CFA_def_cfa_sf, 7, 2), { { 0, SP(-16) } } },
	{ "a CFA too far away",
	  CODE(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x10),
	  { { 0, KIND(OTHER) } } },

	/* --- expressions --- */

	{ "a stub of the PLT",
	  CODE(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	       DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
	  { { 0, SP(8, .flags = UNWIND_PLT, .number = 11) } } },
	{ "a stub with endbr64",
	  CODE(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	       DW_OP_and, DW_OP_lit9, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus),
	  { { 0, SP(8, .flags = UNWIND_PLT, .number = 9) } } },
	{ "a stub that pushes two words",
	  CODE(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
	       DW_OP_and, DW_OP_lit9, DW_OP_ge, DW_OP_lit4, DW_OP_shl, DW_OP_plus),
	  { { 0, KIND(OTHER) } } },
	{ "a realigned stack",
	  CODE(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref, DW_CFA_expression, 6,
	       2, DW_OP_breg6, 0),
	  { { 0, FRAME(.base = UNWIND_BASE_BP, .flags = UNWIND_DEREF, .cfa_offset = -8,
		       .bp = UNWIND_AT_BP) } } },
	{ "more is added to what is read",
	  CODE(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref, DW_OP_plus_uconst, 8,
	       ADVANCE(1), DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 16, DW_OP_deref, DW_OP_lit8,
	       DW_OP_plus, ADVANCE(1), DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 16, DW_OP_deref,
	       DW_OP_const1s, 0xf8, DW_OP_plus, ADVANCE(1), DW_CFA_def_cfa_expression, 6,
	       DW_OP_breg7, 16, DW_OP_deref, DW_OP_plus_uconst, 0x80, 1),
	  { { 0, SP(16, .flags = UNWIND_DEREF, .addend = 8) },
	    { 2, SP(16, .flags = UNWIND_DEREF, .addend = -8) },
	    { 3, KIND(OTHER) } } },
	{ "a sum",
	  CODE(DW_CFA_def_cfa_expression, 5, DW_OP_bregx, 6, 8, DW_OP_plus_uconst, 8),
	  { { 0, BP(16) } } },
	{ "a CFA that cannot be computed, and its offset",
	  CODE(DW_CFA_def_cfa_expression, 2, DW_OP_dup, DW_OP_drop, ADVANCE(1),
	       DW_CFA_def_cfa_offset, 8),
	  { { 0, KIND(OTHER) } },
	  .refused = true },
	{ "an empty expression", CODE(DW_CFA_def_cfa_expression, 0), { { 0, KIND(OTHER) } } },
	{ "too little on the stack",
	  CODE(DW_CFA_def_cfa_expression, 1, DW_OP_deref),
	  { { 0, KIND(OTHER) } } },
	{ "places by expressions",
	  CODE(DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 1, DW_CFA_expression, 6, 3, DW_OP_breg7,
	       0xf8, 0, DW_CFA_expression, 3, 2, DW_OP_breg6, 8, ADVANCE(1), DW_CFA_val_expression,
	       3, 2, DW_OP_breg6, 8, ADVANCE(1), DW_CFA_expression, 3, 2, DW_OP_breg7, 9),
	  { { 0,
	      { .kind = UNWIND_RULE_FRAME,
		.cfa_offset = 8,
		.ra = UNWIND_AT_SP,
		.ra_offset = 21,
		.bp = UNWIND_AT_SP,
		.bp_offset = 15,
		.bx = UNWIND_AT_BP,
		.bx_offset = 1 } },
	    { 1,
	      { .kind = UNWIND_RULE_FRAME,
		.cfa_offset = 8,
		.ra = UNWIND_AT_SP,
		.ra_offset = 21,
		.bp = UNWIND_AT_SP,
		.bp_offset = 15,
		.bx = UNWIND_UNKNOWN } } } },
	{ "a frame of a signal keeps the stack pointer where its CFA is",
	  CODE(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 1, DW_OP_deref, DW_CFA_expression,
	       7, 3, DW_OP_breg7, 0xa0, 1, ADVANCE(1), DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa8,
	       1),
	  { { 0, SP(160, .flags = UNWIND_DEREF) }, { 1, KIND(OTHER) } } },
};

static void expect_rows(const struct unwind_table *table, const struct instruction_case *c)
{
	static const struct unwind_rule none = KIND(NONE);
	size_t count = 1;

	expect_rule(table, SCENE_CODE - 1, &none, c->name);
	while (count < array_length(c->rows) && c->rows[count].at)
		count++;
	for (size_t i = 0; i < count; i++) {
		uint32_t end = i + 1 < count ? c->rows[i + 1].at : FUNCTION_SIZE;

		for (uint32_t at = c->rows[i].at; at < end; at++)
			expect_rule(table, SCENE_CODE + at, &c->rows[i].rule, c->name);
	}
	expect_rule(table, SCENE_CODE + FUNCTION_SIZE, &none, c->name);
	/* Those, and that behind the end. */
	assert_int_equal(table->rows, count + 1);
	assert_int_equal(table->refused, c->refused);
	assert_int_equal(table->functions, 1);
}

TEST(each_instruction_has_its_rule)
{
	for (size_t i = 0; i < array_length(instruction_cases); i++) {
		const struct instruction_case *c = &instruction_cases[i];
		struct scene_file file = { 0 };
		struct unwind_table table;

		scene_put_function(&file.frames, scene_put_usual(&file.frames), SCENE_CODE,
				   FUNCTION_SIZE, c->code, c->length);
		table = table_of(&file);
		expect_rows(&table, c);
		/* Or the table would be refused wherever it is read. */
		if (!unwind_table_is_sound(&table))
			fail_msg("%s: the table is not sound", c->name);
		unwind_table_deinit(&table);
	}
}

UNIT_TESTS(cmocka_unit_test(real_files_agree_with_elfutils),
	   cmocka_unit_test(each_instruction_has_its_rule))
