/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/expression.h"

#include "unwind/cursor.h"

/*
 * The expression is computed with values that are not known, of which a few forms are kept: those
 * that an answer may have, and those on the way there. A stub of the PLT has 8 more bytes on the
 * stack once it has pushed its number, and says so by where in its 16 bytes it is:
 *
 *	breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus
 */
enum value_kind {
	VALUE_OTHER = EXPRESSION_OTHER,
	VALUE_REGISTER = EXPRESSION_REGISTER,
	VALUE_DEREF = EXPRESSION_DEREF,
	VALUE_STEP = EXPRESSION_STEP,
	VALUE_CONSTANT,  /* offset */
	VALUE_PC_LOW,    /* pc & 15 */
	VALUE_PC_BEHIND, /* addend if (pc & 15) >= addend_from, else 0 */
};

/* The largest depth of known expressions. */
#define DEPTH_MAX 8

struct machine {
	struct expression stack[DEPTH_MAX];
	unsigned depth;
};

static bool push(struct machine *m, struct expression value)
{
	if (m->depth == DEPTH_MAX)
		return false;
	m->stack[m->depth++] = value;
	return true;
}

static bool push_constant(struct machine *m, uint64_t value)
{
	return push(m, (struct expression){ .kind = VALUE_CONSTANT, .offset = (int64_t)value });
}

static bool push_register(struct machine *m, struct cursor *rest, uint64_t reg)
{
	int64_t offset;

	return cursor_sleb(rest, &offset) && reg <= UINT16_MAX &&
	       push(m, (struct expression){
			       .kind = VALUE_REGISTER, .reg = (uint16_t)reg, .offset = offset });
}

static bool add_constant(struct expression *value, int64_t more)
{
	switch (value->kind) {
	case VALUE_CONSTANT:
	case VALUE_REGISTER:
	case VALUE_STEP:
		return !__builtin_add_overflow(value->offset, more, &value->offset);
	case VALUE_DEREF:
		return !__builtin_add_overflow(value->addend, more, &value->addend);
	default:
		return false;
	}
}

/* a + b into `a`. */
static bool add_expression(struct expression *a, const struct expression *b)
{
	if (b->kind == VALUE_CONSTANT)
		return add_constant(a, b->offset);
	if (a->kind == VALUE_CONSTANT) {
		int64_t more = a->offset;

		*a = *b;
		return add_constant(a, more);
	}
	if (a->kind != VALUE_REGISTER || b->kind != VALUE_PC_BEHIND)
		return false;
	a->kind = VALUE_STEP;
	a->addend = b->addend;
	a->addend_from = b->addend_from;
	return true;
}

/* a OP b into `a`. */
static bool combine(uint8_t op, struct expression *a, const struct expression *b, uint64_t pc)
{
	if (op == DW_OP_plus)
		return add_expression(a, b);
	if (b->kind != VALUE_CONSTANT)
		return false;
	switch (op) {
	case DW_OP_minus:
		return b->offset != INT64_MIN && add_constant(a, -b->offset);
	case DW_OP_and:
		if (a->kind != VALUE_REGISTER || a->reg != pc || a->offset || b->offset != 15)
			return false;
		a->kind = VALUE_PC_LOW;
		return true;
	case DW_OP_ge:
		if (a->kind != VALUE_PC_LOW || b->offset < 0 || b->offset > 15)
			return false;
		*a = (struct expression){ .kind = VALUE_PC_BEHIND,
					  .addend = 1,
					  .addend_from = (uint8_t)b->offset };
		return true;
	case DW_OP_shl:
		if (a->kind != VALUE_PC_BEHIND || a->addend != 1 || b->offset < 0 || b->offset > 6)
			return false;
		a->addend <<= b->offset;
		return true;
	default:
		return false;
	}
}

static bool operate(struct machine *m, uint8_t op, uint64_t pc)
{
	if (m->depth < 2)
		return false;
	m->depth--;
	return combine(op, &m->stack[m->depth - 1], &m->stack[m->depth], pc);
}

static bool dereference(struct machine *m)
{
	if (!m->depth || m->stack[m->depth - 1].kind != VALUE_REGISTER)
		return false;
	m->stack[m->depth - 1].kind = VALUE_DEREF;
	return true;
}

/* Operations that push a number of so many bytes. */
static const struct {
	uint8_t size;
	bool is_signed;
} constants[256] = {
	[DW_OP_const1u] = { 1, false }, [DW_OP_const1s] = { 1, true },
	[DW_OP_const2u] = { 2, false }, [DW_OP_const2s] = { 2, true },
	[DW_OP_const4u] = { 4, false }, [DW_OP_const4s] = { 4, true },
	[DW_OP_const8u] = { 8, false }, [DW_OP_const8s] = { 8, true },
};

static bool run_operation(struct machine *m, struct cursor *rest, uint64_t pc)
{
	uint8_t op = *rest->at++;
	uint64_t value;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push_constant(m, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return push_register(m, rest, op - DW_OP_breg0);
	if (constants[op].size) {
		if (!cursor_fixed(rest, constants[op].size, &value))
			return false;
		if (constants[op].is_signed)
			value = (uint64_t)extend_sign(value, constants[op].size * 8u);
		return push_constant(m, value);
	}
	switch (op) {
	case DW_OP_nop:
		return true;
	case DW_OP_bregx:
		return cursor_uleb(rest, &value) && push_register(m, rest, value);
	case DW_OP_constu:
		return cursor_uleb(rest, &value) && push_constant(m, value);
	case DW_OP_consts:
		return cursor_sleb(rest, (int64_t *)&value) && push_constant(m, value);
	case DW_OP_plus_uconst:
		return cursor_uleb(rest, &value) && push_constant(m, value) &&
		       operate(m, DW_OP_plus, pc);
	case DW_OP_deref:
		return dereference(m);
	default:
		return operate(m, op, pc);
	}
}

struct expression expression_read(struct text bytes, uint64_t pc)
{
	struct cursor rest = cursor_of(bytes);
	struct machine machine = { .depth = 0 };
	const struct expression *top;

	while (rest.at < rest.end)
		if (!run_operation(&machine, &rest, pc))
			return (struct expression){ 0 };
	/* Values below the top of the stack are ignored. */
	top = machine.depth ? &machine.stack[machine.depth - 1] : NULL;
	return top && top->kind <= VALUE_STEP ? *top : (struct expression){ 0 };
}
