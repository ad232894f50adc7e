/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/inferred.h"

#include <fcntl.h>
#include <stdio.h>

#include "unit/unwind_scene.h"
#include "unwind/code.h"

/* --- real files --- */

struct comparison {
	const struct unwind_table *table; /* of call frame information */
	uint64_t address;
	struct unwind_rule rule; /* from there on */
	size_t said, known, differing, of_registers;
};

static bool is_same_place(uint8_t place, int8_t offset, uint8_t wanted, int8_t wanted_offset)
{
	/* Behind a pop it is in both. */
	return place != UNWIND_AT_CFA || wanted != UNWIND_AT_CFA || offset == wanted_offset;
}

static void compare_byte(struct comparison *c, uint64_t address)
{
	const struct unwind_rule wanted = scene_rule(c->table, address), *rule = &c->rule;

	/* Only the usual ones: a distance from rsp or rbp. */
	if (wanted.kind != UNWIND_RULE_FRAME || wanted.flags || wanted.ra != UNWIND_AT_CFA ||
	    wanted.base > UNWIND_BASE_BP)
		return;
	c->said++;
	if (rule->kind != UNWIND_RULE_FRAME)
		return;
	c->known++;
	if (rule->base != wanted.base || rule->cfa_offset != wanted.cfa_offset ||
	    rule->ra_offset != wanted.ra_offset) {
		if (c->differing++ < 3)
			fprintf(stderr, "%#lx: base %u + %d is base %u + %d\n", address, rule->base,
				rule->cfa_offset, wanted.base, wanted.cfa_offset);
	} else if (!is_same_place(rule->bp, rule->bp_offset, wanted.bp, wanted.bp_offset) ||
		   !is_same_place(rule->bx, rule->bx_offset, wanted.bx, wanted.bx_offset)) {
		c->of_registers++;
	}
}

static bool compare(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct comparison *c = context;

	assert_true(address >= c->address);
	for (; c->address < address; c->address++)
		compare_byte(c, c->address);
	c->rule = *rule;
	return true;
}

/* What instructions say against what call frame information says of the same code. */
static struct comparison compare_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct comparison c = { 0 };
	struct unwind_table table;
	struct inferred inferred;
	struct image image;
	struct code code;
	struct elf elf;

	if (fd < 0)
		return c;
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	assert_true(code_init(&code, &elf, UINT32_MAX));
	expect_ok(unwind_build(&elf, &table));
	inferred_init(&inferred, &elf, 0);
	c.table = &table;
	for (size_t i = 0; i < code.count; i++) {
		c.address = code.ranges[i].start;
		c.rule = (struct unwind_rule){ 0 };
		assert_true(inferred_look(&inferred, code.ranges[i].start, code.ranges[i].end));
		assert_true(inferred_show(&inferred, code.ranges[i].start, code.ranges[i].end,
					  compare, &c));
	}
	printf("# %s: %zu bytes, %zu known, %zu differing, %zu of registers\n", path, c.said,
	       c.known, c.differing, c.of_registers);
	inferred_deinit(&inferred);
	unwind_table_deinit(&table);
	code_deinit(&code);
	elf_close(&elf);
	image_close(&image);
	return c;
}

TEST(instructions_agree_with_call_frame_information)
{
	static const char *const files[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/bin/bash",
		"/usr/bin/git",
		"/lib/x86_64-linux-gnu/libm.so.6",
		"/usr/bin/perl",
		"/lib/x86_64-linux-gnu/libcrypto.so.3",
	};
	size_t seen = 0;

	for (size_t i = 0; i < array_length(files); i++) {
		struct comparison c = compare_file(files[i]);

		if (!c.said)
			continue;
		seen++;
		/* The rest is of calls that do not return, and of switches. */
		assert_true(c.known * 100 > c.said * 85);
		/* Some of the C library's assembly pushes registers, and says nothing of it. */
		assert_true(c.differing * 500 < c.known && c.of_registers * 10000 < c.known);
	}
	if (!seen)
		skip();
}

/* --- instructions --- */

#define FRAME(...)                                                                           \
	{                                                                                    \
		.kind = UNWIND_RULE_FRAME, .ra = UNWIND_AT_CFA, .ra_offset = -1, __VA_ARGS__ \
	}
#define SP(offset, ...) FRAME(.cfa_offset = (offset), ##__VA_ARGS__)
#define BP(offset, ...) FRAME(.base = UNWIND_BASE_BP, .cfa_offset = (offset), ##__VA_ARGS__)
#define BP_AT(words)    .bp = UNWIND_AT_CFA, .bp_offset = (words)
#define BX_AT(words)    .bx = UNWIND_AT_CFA, .bx_offset = (words)
#define BP_LOST         .bp = UNWIND_UNKNOWN
#define NONE                             \
	{                                \
		.kind = UNWIND_RULE_NONE \
	}
#define STOP                             \
	{                                \
		.kind = UNWIND_RULE_STOP \
	}
#define CODE(literal) .code = literal, .length = sizeof(literal) - 1

struct wanted_row {
	uint32_t at;
	struct unwind_rule rule;
};

static const struct code_case {
	const char *name;
	const char *code;
	size_t length;
	struct wanted_row rows[8]; /* as many as there are: behind the first, `at` is not 0 */
	bool begins;               /* the file begins to run there */
} code_cases[] = {
	{ "a leaf", CODE("\x31\xc0\xc3"), { { 0, SP(8) }, { 3, NONE } } },
	{ "push, sub and back", /* push %rbp; push %rbx; sub $8,%rsp; add $8,%rsp; pop; pop; ret */
	  CODE("\x55\x53\x48\x83\xec\x08\x48\x83\xc4\x08\x5b\x5d\xc3"),
	  { { 0, SP(8) },
	    { 1, SP(16, BP_AT(-2)) },
	    { 2, SP(24, BP_AT(-2), BX_AT(-3)) },
	    { 6, SP(32, BP_AT(-2), BX_AT(-3)) },
	    { 10, SP(24, BP_AT(-2), BX_AT(-3)) },
	    { 11, SP(16, BP_AT(-2)) },
	    { 12, SP(8) },
	    { 13, NONE } } },
	{ "a frame pointer", /* push %rbp; mov %rsp,%rbp; sub $256,%rsp; leave; ret */
	  CODE("\x55\x48\x89\xe5\x48\x81\xec\x00\x01\x00\x00\xc9\xc3"),
	  { { 0, SP(8) },
	    { 1, SP(16, BP_AT(-2)) },
	    { 4, BP(16, BP_AT(-2)) },
	    { 12, SP(8) },
	    { 13, NONE } } },
	{ "a stack that is aligned", /* push %rbp; mov %rsp,%rbp; and $-64,%rsp; leave; ret */
	  CODE("\x55\x48\x89\xe5\x48\x83\xe4\xc0\xc9\xc3"),
	  { { 0, SP(8) },
	    { 1, SP(16, BP_AT(-2)) },
	    { 4, BP(16, BP_AT(-2)) },
	    { 9, SP(8) },
	    { 10, NONE } } },
	{ "registers that are stored", /* mov %rbx,-16(%rsp); sub $24,%rsp; mov 8(%rsp),%rbx;
					  lea 24(%rsp),%rsp; ret */
	  CODE("\x48\x89\x5c\x24\xf0\x48\x83\xec\x18\x48\x8b\x5c\x24\x08\x48\x8d\x64\x24\x18\xc3"),
	  { { 0, SP(8) },
	    { 5, SP(8, BX_AT(-3)) },
	    { 9, SP(32, BX_AT(-3)) },
	    { 14, SP(32) },
	    { 19, SP(8) },
	    { 20, NONE } } },
	{ "a branch over a push", /* test; je 1f; push; call *%rax; pop; 1: ret */
	  CODE("\x85\xff\x74\x04\x50\xff\xd0\x58\xc3"),
	  { { 0, SP(8) }, { 5, SP(16) }, { 8, SP(8) }, { 9, NONE } } },
	{ "ways that do not agree", /* test; je 1f; push %rax; 1: ret */
	  CODE("\x85\xff\x74\x01\x50\xc3"),
	  { { 0, NONE } } },
	{ "a return that is not to the caller", CODE("\x50\xc3"), { { 0, NONE } } },
	{ "two functions without padding",
	  CODE("\x50\x58\xc3\x53\x5b\xc3"),
	  { { 0, SP(8) },
	    { 1, SP(16) },
	    { 2, SP(8) },
	    { 4, SP(16, BX_AT(-2)) },
	    { 5, SP(8) },
	    { 6, NONE } } },
	{ "a switch", /* push %rax; jmp *%rdx; pop %rcx; ret; pop %rdx; ret */
	  CODE("\x50\xff\xe2\x59\xc3\x5a\xc3"),
	  { { 0, SP(8) }, { 1, SP(16) }, { 4, SP(8) }, { 5, SP(16) }, { 6, SP(8) }, { 7, NONE } } },
	{ "a signal's frame", /* ret; nop; mov $15,%rax; syscall */
	  CODE("\xc3\x90\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"),
	  { { 0, SP(8) },
	    { 1,
	      { .kind = UNWIND_RULE_FRAME,
		.flags = UNWIND_SIGNAL | UNWIND_DEREF,
		.cfa_offset = 160,
		.ra = UNWIND_AT_SP,
		.ra_offset = 21,
		.bp = UNWIND_AT_SP,
		.bp_offset = 15,
		.bx = UNWIND_AT_SP,
		.bx_offset = 16 } },
	    { 9, NONE } } },
	{ "what the file begins with", /* xor %ebp,%ebp; mov %rsp,%rdi; and; call 1f; hlt; 1: ret */
	  CODE("\x31\xed\x48\x89\xe7\x48\x83\xe4\xf0\xe8\x01\x00\x00\x00\xf4\xc3"),
	  { { 0, STOP }, { 15, SP(8) }, { 16, NONE } },
	  .begins = true },
	{ "what a thread begins with", /* ret; xor %ebp,%ebp; pop %rdi; call *%r9; hlt */
	  CODE("\x85\xc0\x75\x08\x31\xed\x5f\x41\xff\xd1\xf4\x90\xc3"),
	  { { 0, SP(8) },
	    { 6, SP(8, BP_LOST) },
	    { 7, STOP },
	    { 11, NONE },
	    { 12, SP(8) },
	    { 13, NONE } } },
	{ "nothing that is code", CODE("\x06\x06\x06\x06"), { { 0, NONE } } },
	{ "an instruction that is cut off", CODE("\x50\x48\x81"), { { 0, NONE } } },
};

static const struct unwind_rule *wanted_at(const struct code_case *c, uint32_t at)
{
	const struct wanted_row *row = c->rows;

	for (size_t i = 1; i < array_length(c->rows) && c->rows[i].at && c->rows[i].at <= at; i++)
		row = &c->rows[i];
	return &row->rule;
}

/* Where the code is, behind the headers. */
#define AT (SCENE_CODE + 0x4000)

struct shown {
	struct unwind_rule rules[64];
	uint32_t count; /* up to which they are known */
	struct unwind_rule last;
};

static bool keep(void *context, uint64_t address, const struct unwind_rule *rule)
{
	struct shown *shown = context;

	assert_in_range(address, AT + (shown->count ? shown->count - 1 : 0),
			AT + array_length(shown->rules));
	for (; shown->count < address - AT; shown->count++)
		shown->rules[shown->count] = shown->last;
	shown->count = (uint32_t)(address - AT);
	shown->last = *rule;
	return true;
}

/* A file with this code alone. */
static struct text file_of(const char *code, size_t length)
{
	struct scene_file file = { .segments = { { PT_LOAD, PF_R | PF_X, SCENE_CODE,
						   AT - SCENE_CODE + length } },
				   .size = AT - SCENE_CODE + length };
	struct text bytes = scene_make(&file);

	memcpy((char *)bytes.bytes + (AT - SCENE_CODE), code, length);
	scene_deinit(&file);
	return bytes;
}

static void show_case(const struct code_case *c, struct shown *ret)
{
	struct text bytes = file_of(c->code, c->length);
	struct image image = image_of(bytes);
	struct inferred inferred;
	struct elf elf;

	assert_true(elf_open(&image, &elf));
	inferred_init(&inferred, &elf, c->begins ? AT : 0);
	assert_true(inferred_look(&inferred, AT, AT + c->length));
	assert_true(inferred_show(&inferred, AT, AT + c->length, keep, ret));
	inferred_deinit(&inferred);
	elf_close(&elf);
	unguard(bytes);
}

TEST(each_way_has_its_rules)
{
	for (size_t i = 0; i < array_length(code_cases); i++) {
		const struct code_case *c = &code_cases[i];
		struct shown shown = { 0 };

		show_case(c, &shown);
		for (uint32_t at = 0; at < c->length; at++) {
			const struct unwind_rule *rule =
				at < shown.count ? &shown.rules[at] : &shown.last;

			if (memcmp(rule, wanted_at(c, at), sizeof(*rule)) != 0)
				fail_msg("%s at %u: kind %u base %u+%d flags %u bp %u %d bx %u %d",
					 c->name, at, rule->kind, rule->base, rule->cfa_offset,
					 rule->flags, rule->bp, rule->bp_offset, rule->bx,
					 rule->bx_offset);
		}
	}
}

/* Each byte may begin a function that is followed to the end in vain: that ends. */
TEST(hostile_code_costs_a_bounded_number_of_steps)
{
	const size_t size = INFERRED_BYTES_MAX;
	char *code = malloc(size);
	struct image image;
	struct inferred inferred;
	struct text bytes;
	struct elf elf;

	assert_non_null(code);
	/* ret; push %rax; push %rax...: each push that follows a ret. */
	for (size_t i = 0; i < size; i++)
		code[i] = i % 16 == 15 && i % 32 == 15 ? (char)0x90 : i % 16 == 15 ? 0x50 : 0x58;
	bytes = file_of(code, size);
	image = image_of(bytes);
	assert_true(elf_open(&image, &elf));
	inferred_init(&inferred, &elf, 0);
	assert_true(inferred_look(&inferred, AT, AT + size));
	assert_int_equal(inferred.bytes, size);
	/* More than that is not looked at. */
	assert_true(inferred_look(&inferred, AT, AT + 1));
	assert_false(inferred_says(&inferred, AT));
	inferred_deinit(&inferred);
	elf_close(&elf);
	unguard(bytes);
	free(code);
}

UNIT_TESTS(cmocka_unit_test(instructions_agree_with_call_frame_information),
	   cmocka_unit_test(each_way_has_its_rules),
	   cmocka_unit_test(hostile_code_costs_a_bounded_number_of_steps))
