/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/unwind_truth.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>

#include "unit/unwind_scene.h"
#include "unwind/walk.h"

/* --- the machine that both are computed on --- */

#define SP UINT64_C(0x7ffd00001000)

static uint64_t mixed(uint64_t value)
{
	uint64_t state = value;

	return next_random(&state);
}

/* Values that may be addresses. */
static uint64_t word_at(uint64_t address)
{
	return 0x7f0000000000 + (mixed(address) & 0xfffffffff8);
}

static uint64_t register_of(uint64_t number, uint64_t pc)
{
	if (number == 16)
		return pc;
	return number == 7 ? SP : SP + 0x10000 + number * 0x1000;
}

/* --- what elfutils says --- */

/* Where something is, by its rule. */
enum said { SAID_VALUE, SAID_SAME, SAID_UNDEFINED, SAID_OTHER };

struct known {
	uint64_t pc, cfa;
};

static bool two(enum said *said, uint64_t *stack, size_t *depth, uint8_t atom)
{
	uint64_t b, *a;

	if (*depth < 2)
		return false;
	b = stack[--*depth];
	a = &stack[*depth - 1];
	*said = SAID_VALUE;
	switch (atom) {
	case DW_OP_plus:
		*a += b;
		return true;
	case DW_OP_minus:
		*a -= b;
		return true;
	case DW_OP_and:
		*a &= b;
		return true;
	case DW_OP_ge:
		*a = (int64_t)*a >= (int64_t)b;
		return true;
	case DW_OP_shl:
		*a <<= b;
		return true;
	default:
		return false;
	}
}

/* The value of an expression; it is where in memory something is, unless `ret_is_value`. */
static bool compute(const Dwarf_Op *ops, size_t count, const struct known *known, uint64_t *ret,
		    bool *ret_is_value)
{
	uint64_t stack[64] = { 0 };
	size_t depth = 0;
	enum said said;

	*ret_is_value = false;
	for (size_t i = 0; i < count; i++) {
		uint8_t atom = ops[i].atom;

		if (depth >= 60)
			return false;
		if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
			stack[depth++] = atom - DW_OP_lit0;
		else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
			stack[depth++] = register_of(atom - DW_OP_breg0, known->pc) + ops[i].number;
		else if (atom == DW_OP_bregx)
			stack[depth++] = register_of(ops[i].number, known->pc) + ops[i].number2;
		else if (atom == DW_OP_regx)
			stack[depth++] = register_of(ops[i].number, known->pc),
			*ret_is_value = true;
		else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
			stack[depth++] = register_of(atom - DW_OP_reg0, known->pc),
			*ret_is_value = true;
		else if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
			stack[depth++] = ops[i].number;
		else if (atom == DW_OP_call_frame_cfa)
			stack[depth++] = known->cfa;
		else if (atom == DW_OP_stack_value)
			*ret_is_value = true;
		else if (atom == DW_OP_plus_uconst && depth)
			stack[depth - 1] += ops[i].number;
		else if (atom == DW_OP_deref && depth)
			stack[depth - 1] = word_at(stack[depth - 1]);
		else if (!two(&said, stack, &depth, atom))
			return false;
	}
	if (depth)
		*ret = stack[depth - 1];
	return depth;
}

static enum said register_said(Dwarf_Frame *frame, int number, const struct known *known,
			       uint64_t *ret)
{
	Dwarf_Op room[3], *ops;
	bool is_value;
	size_t count;

	if (dwarf_frame_register(frame, number, room, &ops, &count))
		return SAID_OTHER;
	if (!count)
		return ops ? SAID_UNDEFINED : SAID_SAME;
	if (!compute(ops, count, known, ret, &is_value))
		return SAID_OTHER;
	if (!is_value)
		*ret = word_at(*ret);
	return SAID_VALUE;
}

/* --- what the table says --- */

static bool table_word(void *context, __u64 address, __u64 *ret)
{
	(void)context;
	*ret = word_at(address);
	return true;
}

static bool table_register(void *context, __u32 number, __u64 *ret)
{
	*ret = register_of(number, *(uint64_t *)context);
	return true;
}

static struct unwind_walk start_at(uint64_t pc)
{
	return (struct unwind_walk){ .ip = pc,
				     .sp = SP,
				     .bp = register_of(6, pc),
				     .bx = register_of(3, pc),
				     .known = UNWIND_KNOWS_ALL,
				     .is_exact = 1 };
}

/* --- both --- */

struct comparison {
	const struct unwind_table *table;
	Dwarf_CFI *cfi;
	uint64_t entry;
	struct unwind_truth result;
	const char *why;
};

static bool same_register(struct comparison *c, Dwarf_Frame *frame, int number,
			  const struct known *known, uint8_t place, bool is_known, uint64_t value)
{
	uint64_t wanted = 0;
	enum said said = register_said(frame, number, known, &wanted);

	if (place == UNWIND_UNKNOWN) {
		c->result.lost += said != SAID_UNDEFINED;
		return !is_known;
	}
	/* Of rbx, which calls preserve, elfutils 0.188 knows that under the number of rax. */
	if (said == SAID_SAME || (said == SAID_UNDEFINED && number == 3))
		return is_known && value == register_of((uint64_t)number, known->pc);
	return said == SAID_VALUE && is_known && value == wanted;
}

static bool same_frame(struct comparison *c, Dwarf_Frame *frame, const struct unwind_rule *rule,
		       struct known *known)
{
	struct unwind_memory memory = { .word = table_word,
					.reg = table_register,
					.context = &known->pc };
	struct unwind_walk w = start_at(known->pc);
	uint32_t stop = unwind_by_rule(&w, &memory, rule);
	Dwarf_Op *ops;
	size_t count;
	uint64_t ra = 0;
	bool is_value;

	c->why = "the CFA";
	if (dwarf_frame_cfa(frame, &ops, &count) ||
	    !compute(ops, count, known, &known->cfa, &is_value))
		return false;
	/* Some code that was written by hand says what cannot be: a walk ends there. */
	if (stop == UNWIND_NO_SENSE && known->cfa % 8)
		return true;
	if (stop != UNWIND_GOES_ON || w.sp != known->cfa)
		return false;
	c->why = "the return address";
	if (register_said(frame, 16, known, &ra) != SAID_VALUE || w.ip != ra)
		return false;
	c->why = "rbp";
	if (!same_register(c, frame, 6, known, rule->bp, w.known & UNWIND_KNOWS_BP, w.bp))
		return false;
	c->why = "rbx";
	return same_register(c, frame, 3, known, rule->bx, w.known & UNWIND_KNOWS_BX, w.bx);
}

/* `ret_end` is up to where this holds. */
static bool same_at(struct comparison *c, uint64_t pc, const struct unwind_rule *rule,
		    uint64_t *ret_end)
{
	struct known known = { .pc = pc };
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr start, end;
	bool is_signal, same = false;
	uint64_t ra;

	*ret_end = pc + 1;
	c->result.looks++;
	c->why = "whether there is a function";
	/* Nothing is said: ours has what instructions say (tests/unit/test_unwind_inferred.c), or
	 * that the file begins there. */
	if (dwarf_cfi_addrframe(c->cfi, pc, &frame))
		return rule->kind != UNWIND_RULE_OTHER &&
		       (rule->kind != UNWIND_RULE_STOP || pc - c->entry < 256);
	dwarf_frame_info(frame, &start, &end, &is_signal);
	if (end > pc)
		*ret_end = end;
	c->why = "the kind";
	if (rule->kind == UNWIND_RULE_STOP)
		same = register_said(frame, 16, &known, &ra) == SAID_UNDEFINED;
	else if (rule->kind == UNWIND_RULE_OTHER)
		same = true;
	else if (rule->kind == UNWIND_RULE_FRAME)
		same = !(rule->flags & UNWIND_SIGNAL) == !is_signal &&
		       same_frame(c, frame, rule, &known);
	free(frame);
	return same;
}

static void compare_at(struct comparison *c, uint64_t pc, const struct unwind_rule *rule,
		       uint64_t *ret_end)
{
	if (same_at(c, pc, rule, ret_end))
		return;
	if (c->result.differing++ < 5)
		fprintf(stderr, "%#lx: %s differs; kind %u base %u + %d, %u, flags %u\n", pc,
			c->why, rule->kind, rule->base, rule->cfa_offset, rule->number,
			rule->flags);
}

/* Each stretch of the row that elfutils tells apart, and its last byte. */
static void compare_row(struct comparison *c, uint64_t start, uint64_t end)
{
	struct unwind_rule rule = scene_rule(c->table, start), last = scene_rule(c->table, end - 1);
	uint64_t next;

	assert_memory_equal(&rule, &last, sizeof(rule));
	c->result.rows++;
	c->result.other += rule.kind == UNWIND_RULE_OTHER;
	for (uint64_t pc = start; pc < end; pc = next) {
		compare_at(c, pc, &rule, &next);
		/* Gaps may be long. */
		if (rule.kind == UNWIND_RULE_NONE || rule.kind == UNWIND_RULE_POINTER)
			next = pc + (end - pc + 3) / 4;
	}
	compare_at(c, end - 1, &rule, &next);
}

static void compare_block(struct comparison *c, uint64_t base, const uint32_t *block)
{
	size_t words = unwind_block_words(block), at = UNWIND_BLOCK_HEAD;

	for (uint64_t page = 0; page < UNWIND_PAGES; page++) {
		size_t behind = UNWIND_BLOCK_HEAD +
				(block[(page + 1) / 2] >> ((page + 1) % 2 * 16) & 0xffff);

		for (; at < behind; at++) {
			uint64_t start = base + page * 256 + UNWIND_ROW_OFFSET(block[at]);
			uint64_t end = base + (page + 1) * 256;

			if (at + 1 < behind)
				end = base + page * 256 + UNWIND_ROW_OFFSET(block[at + 1]);
			compare_row(c, start, end);
		}
	}
	assert_int_equal(at, words);
}

static void compare_table(struct comparison *c, unsigned every)
{
	for (size_t i = 0; i < c->table->blocks.count; i++) {
		uint32_t place = c->table->blocks.items[i];

		if (unwind_is_block(place) && i % every == c->table->blocks.count / 2 % every)
			compare_block(c, c->table->base + i * 0x10000,
				      c->table->words.items + place);
	}
}

bool unwind_truth_compare(const char *path, bool debug_frame, unsigned every,
			  struct unwind_truth *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table table;
	struct comparison c = { .table = &table };
	struct image image;
	struct elf elf;
	bool found;
	Dwarf *dwarf;
	Elf *file;

	if (fd < 0)
		return false;
	assert_int_equal(image_open(fd, &image), 0);
	assert_true(elf_open(&image, &elf));
	/* Its registers are those of `known`. */
	if (elf.machine != EM_X86_64) {
		elf_close(&elf);
		image_close(&image);
		return false;
	}
	expect_ok(unwind_build(&elf, &table));
	c.entry = elf.entry;
	scene_check(&table);
	elf_version(EV_CURRENT);
	file = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	dwarf = debug_frame ? dwarf_begin_elf(file, DWARF_C_READ, NULL) : NULL;
	c.cfi = debug_frame ? dwarf ? dwarf_getcfi(dwarf) : NULL : dwarf_getcfi_elf(file);
	found = c.cfi;
	if (found)
		compare_table(&c, every);
	if (debug_frame)
		dwarf_end(dwarf);
	else
		dwarf_cfi_end(c.cfi);
	elf_end(file);
	unwind_table_deinit(&table);
	elf_close(&elf);
	image_close(&image);
	*ret = c.result;
	return found;
}
