/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/usual_operation.h"

#include <string.h>

enum { AX, CX, DX, BX, SP, BP };

/* The effect of an opcode. */
enum action {
	UNUSUAL,
	NOTHING,       /* to general registers */
	SETS_REG,      /* writes the register that ModRM names */
	SETS_RM,       /* writes the register or memory that it names */
	SETS_BYTE_REG, /* as these two, of 8 bits */
	SETS_BYTE_RM,
	SETS_LOW, /* writes the register in the low bits of the opcode */
	SETS_LOW_BYTE,
	GROUP_ALU, /* 80, 81, 83: the operation is in ModRM */
	GROUP_ALU_BYTE,
	GROUP_UNARY, /* f7 */
	GROUP_UNARY_BYTE,
	GROUP_FF,
	GROUP_MOV, /* c7 */
	GROUP_MOV_BYTE,
	MOVE_TO_RM,
	MOVE_TO_REG,
	ADDRESS,
	XOR_TO_RM,
	XOR_TO_REG,
	PUSH,
	POP,
	PUSH_VALUE,
	PAD,
	PAD_RM,
	RETURN,
	LEAVE,
	END,
	CALL,
	JUMP,
	BRANCH,
};

enum immediate { NO_IMMEDIATE, BYTE, WORD, FULL /* 8 bytes with REX.W, else 4 */ };

struct opcode_form {
	uint8_t action, has_modrm, immediate;
};

#define PLAIN(action)                   \
	{                               \
		action, 0, NO_IMMEDIATE \
	}
#define WITH(action, of)      \
	{                     \
		action, 0, of \
	}
#define RM(action)                      \
	{                               \
		action, 1, NO_IMMEDIATE \
	}
#define RM_WITH(action, of)   \
	{                     \
		action, 1, of \
	}

/* add, or, adc, sbb, and, sub: to r/m, to the register, to the accumulator. */
#define ALU(at)                                                                            \
	[at] = RM(SETS_BYTE_RM), [(at) + 1] = RM(SETS_RM), [(at) + 2] = RM(SETS_BYTE_REG), \
	[(at) + 3] = RM(SETS_REG), [(at) + 4] = WITH(NOTHING, BYTE),                       \
	[(at) + 5] = WITH(NOTHING, WORD)

static const struct opcode_form one_byte[256] = {
	ALU(0x00),
	ALU(0x08),
	ALU(0x10),
	ALU(0x18),
	ALU(0x20),
	ALU(0x28),
	[0x30] = RM(SETS_BYTE_RM),
	[0x31] = RM(XOR_TO_RM),
	[0x32] = RM(SETS_BYTE_REG),
	[0x33] = RM(XOR_TO_REG),
	[0x34] = WITH(NOTHING, BYTE),
	[0x35] = WITH(NOTHING, WORD),
	[0x38 ... 0x3b] = RM(NOTHING), /* cmp */
	[0x3c] = WITH(NOTHING, BYTE),
	[0x3d] = WITH(NOTHING, WORD),
	[0x50 ... 0x57] = PLAIN(PUSH),
	[0x58 ... 0x5f] = PLAIN(POP),
	[0x63] = RM(SETS_REG), /* movsxd */
	[0x68] = WITH(PUSH_VALUE, WORD),
	[0x69] = RM_WITH(SETS_REG, WORD), /* imul */
	[0x6a] = WITH(PUSH_VALUE, BYTE),
	[0x6b] = RM_WITH(SETS_REG, BYTE),
	[0x70 ... 0x7f] = WITH(BRANCH, BYTE),
	[0x80] = RM_WITH(GROUP_ALU_BYTE, BYTE),
	[0x81] = RM_WITH(GROUP_ALU, WORD),
	[0x83] = RM_WITH(GROUP_ALU, BYTE),
	[0x84 ... 0x85] = RM(NOTHING), /* test */
	[0x88] = RM(SETS_BYTE_RM),     /* mov */
	[0x89] = RM(MOVE_TO_RM),
	[0x8a] = RM(SETS_BYTE_REG),
	[0x8b] = RM(MOVE_TO_REG),
	[0x8d] = RM(ADDRESS),
	[0x90] = PLAIN(PAD),
	[0x98 ... 0x99] = PLAIN(NOTHING), /* cdqe, cqo */
	[0xa8] = WITH(NOTHING, BYTE),     /* test */
	[0xa9] = WITH(NOTHING, WORD),
	[0xb0 ... 0xb7] = WITH(SETS_LOW_BYTE, BYTE), /* mov */
	[0xb8 ... 0xbf] = WITH(SETS_LOW, FULL),
	[0xc0] = RM_WITH(SETS_BYTE_RM, BYTE), /* shifts */
	[0xc1] = RM_WITH(SETS_RM, BYTE),
	[0xd0] = RM(SETS_BYTE_RM),
	[0xd1] = RM(SETS_RM),
	[0xd2] = RM(SETS_BYTE_RM),
	[0xd3] = RM(SETS_RM),
	[0xc3] = PLAIN(RETURN),
	[0xc6] = RM_WITH(GROUP_MOV_BYTE, BYTE),
	[0xc7] = RM_WITH(GROUP_MOV, WORD),
	[0xc9] = PLAIN(LEAVE),
	[0xcc] = PLAIN(END), /* int3 */
	[0xe8] = WITH(CALL, WORD),
	[0xe9] = WITH(JUMP, WORD),
	[0xeb] = WITH(JUMP, BYTE),
	[0xf4] = PLAIN(END), /* hlt */
	[0xf6] = RM(GROUP_UNARY_BYTE),
	[0xf7] = RM(GROUP_UNARY),
	[0xff] = RM(GROUP_FF),
};

/* Behind 0f. */
static const struct opcode_form two_bytes[256] = {
	[0x0b] = PLAIN(END),           /* ud2 */
	[0x10 ... 0x11] = RM(NOTHING), /* movups */
	[0x14] = RM(NOTHING),
	[0x16] = RM(NOTHING),
	[0x1f] = RM(PAD_RM),
	[0x28 ... 0x29] = RM(NOTHING), /* movaps */
	[0x2e ... 0x2f] = RM(NOTHING),
	[0x40 ... 0x4f] = RM(SETS_REG), /* cmov */
	[0x51] = RM(NOTHING),
	[0x54 ... 0x5f] = RM(NOTHING),
	[0x80 ... 0x8f] = WITH(BRANCH, WORD),
	[0x90 ... 0x9f] = RM(SETS_BYTE_RM), /* set */
	[0xaf] = RM(SETS_REG),              /* imul */
	[0xb6 ... 0xb7] = RM(SETS_REG),     /* movzx */
	[0xbe ... 0xbf] = RM(SETS_REG),     /* movsx */
	[0xc6] = RM_WITH(NOTHING, BYTE),
	[0xc8 ... 0xcf] = PLAIN(SETS_LOW), /* bswap */
};

/* Behind 66 0f, f3 0f and f2 0f: of vector registers. */
static const struct opcode_form two_bytes_66[256] = {
	[0x10 ... 0x11] = RM(NOTHING), /* movupd */
	[0x14] = RM(NOTHING),
	[0x1f] = RM(PAD_RM),
	[0x28 ... 0x29] = RM(NOTHING), /* movapd */
	[0x2e ... 0x2f] = RM(NOTHING),
	[0x51] = RM(NOTHING),
	[0x54 ... 0x5f] = RM(NOTHING),
	[0x60 ... 0x6f] = RM(NOTHING), /* movd, movdqa and the like */
	[0x70] = RM_WITH(NOTHING, BYTE),
	[0x74 ... 0x76] = RM(NOTHING),
	[0x7f] = RM(NOTHING),
	[0xc6] = RM_WITH(NOTHING, BYTE),
	[0xd4] = RM(NOTHING),
	[0xd6] = RM(NOTHING), /* movq */
	[0xd8 ... 0xdf] = RM(NOTHING),
	[0xe8 ... 0xef] = RM(NOTHING),
	[0xf8 ... 0xfe] = RM(NOTHING),
};

static const struct opcode_form two_bytes_f3[256] = {
	[0x10 ... 0x11] = RM(NOTHING), /* movss */
	[0x2a] = RM(NOTHING),          [0x51] = RM(NOTHING),
	[0x58 ... 0x5f] = RM(NOTHING), [0x6f] = RM(NOTHING), /* movdqu */
	[0x7e ... 0x7f] = RM(NOTHING),
};

static const struct opcode_form two_bytes_f2[256] = {
	[0x10 ... 0x11] = RM(NOTHING), /* movsd */
	[0x2a] = RM(NOTHING),          [0x51] = RM(NOTHING),
	[0x58 ... 0x5a] = RM(NOTHING), [0x5c ... 0x5f] = RM(NOTHING),
};

/* An instruction, taken apart. */
struct parts {
	const uint8_t *at, *end;
	struct opcode_form form;
	uint8_t opcode, prefix; /* 66, f2 or f3, or 0 */
	uint8_t rex;
	uint8_t mod, reg, rm; /* with the bits of `rex`; mod 3: rm is a register */
	bool has_sib, is_in_frame, is_by_bp;
	int32_t displacement;
	int32_t immediate;
};

static bool take(struct parts *parts, size_t size, int32_t *ret)
{
	int8_t byte;

	if ((size_t)(parts->end - parts->at) < size)
		return false;
	if (size == 1) {
		memcpy(&byte, parts->at, 1);
		*ret = byte;
	} else if (size) {
		memcpy(ret, parts->at, 4);
	}
	parts->at += size;
	return true;
}

static bool take_opcode(struct parts *parts)
{
	const struct opcode_form *forms = one_byte;

	if (parts->at < parts->end &&
	    (*parts->at == 0x66 || *parts->at == 0xf2 || *parts->at == 0xf3))
		parts->prefix = *parts->at++;
	if (parts->at < parts->end && *parts->at >> 4 == 4)
		parts->rex = *parts->at++;
	if (parts->at == parts->end)
		return false;
	parts->opcode = *parts->at++;
	if (parts->opcode == 0x0f) {
		if (parts->at == parts->end)
			return false;
		parts->opcode = *parts->at++;
		forms = parts->prefix == 0x66   ? two_bytes_66
			: parts->prefix == 0xf2 ? two_bytes_f2
			: parts->prefix == 0xf3 ? two_bytes_f3
						: two_bytes;
	} else if (parts->prefix) {
		return false;
	}
	/* capstone 4 takes movq with REX.W for another instruction. */
	if (forms == two_bytes_f3 && parts->opcode == 0x7e && parts->rex & 8)
		return false;
	parts->form = forms[parts->opcode];
	return parts->form.action != UNUSUAL;
}

/* ModRM, SIB and displacement (SDM, volume 2, 2.1.5). */
static bool take_modrm(struct parts *parts)
{
	uint8_t byte, base;
	size_t size;

	if (parts->at == parts->end)
		return false;
	byte = *parts->at++;
	parts->mod = byte >> 6;
	parts->reg = (uint8_t)((byte >> 3 & 7) | (parts->rex & 4) << 1);
	parts->rm = (uint8_t)((byte & 7) | (parts->rex & 1) << 3);
	if (parts->mod == 3)
		return true;
	size = parts->mod == 1 ? 1 : parts->mod == 2 ? 4 : 0;
	base = parts->rm;
	if ((byte & 7) == SP) {
		if (parts->at == parts->end)
			return false;
		byte = *parts->at++;
		parts->has_sib = true;
		base = (uint8_t)((byte & 7) | (parts->rex & 1) << 3);
		/* Only from the stack pointer, without an index. */
		parts->is_in_frame = base == SP && (byte >> 3 & 7) == SP && !(parts->rex & 2);
		if ((byte & 7) == BP && !parts->mod)
			size = 4;
		/* Disassemblers do not agree on a scale without index, and on rbp without one. */
		if ((byte >> 3 & 7) == SP && !(parts->rex & 2) &&
		    (byte >> 6 || (base != SP && base != SP + 8)))
			return false;
	} else if ((byte & 7) == BP && !parts->mod) {
		size = 4; /* from the next instruction */
	} else {
		parts->is_in_frame = parts->is_by_bp = base == BP;
	}
	return take(parts, size, &parts->displacement);
}

static bool take_immediate(struct parts *parts)
{
	size_t size = parts->form.immediate == BYTE   ? 1
		      : parts->form.immediate == WORD ? 4
		      : parts->form.immediate == FULL ? (parts->rex & 8 ? 8 : 4)
						      : 0;

	/* test, of a group that has no immediate else */
	if ((parts->form.action == GROUP_UNARY || parts->form.action == GROUP_UNARY_BYTE) &&
	    (parts->reg & 7) == 0)
		size = parts->form.action == GROUP_UNARY ? 4 : 1;
	return take(parts, size, &parts->immediate);
}

/* --- what it does --- */

static bool sets(struct operation *ret, uint8_t reg)
{
	ret->kind = reg == SP ? OPERATION_LOSE_SP : OPERATION_OTHER;
	ret->sets_bp = reg == BP;
	ret->sets_bx = reg == BX;
	return true;
}

/* Without REX, 4 to 7 are the second bytes of ax, cx, dx and bx. */
static bool sets_byte(struct operation *ret, const struct parts *parts, uint8_t reg)
{
	return sets(ret, parts->rex || reg < 4 ? reg : reg - 4);
}

static bool sets_rm(struct operation *ret, const struct parts *parts)
{
	return sets(ret, parts->mod == 3 ? parts->rm : AX);
}

static uint8_t followed(uint8_t reg)
{
	return reg == BP ? OPERATION_BP : reg == BX ? OPERATION_BX : OPERATION_NOBODY;
}

static bool moves_to_frame(struct operation *ret, const struct parts *parts,
			   enum operation_kind kind)
{
	ret->kind = (uint8_t)kind;
	ret->reg = followed(parts->reg) & 3;
	ret->by_bp = parts->is_by_bp;
	ret->value = parts->displacement;
	return true;
}

static bool moves(struct operation *ret, const struct parts *parts, uint8_t to, uint8_t from)
{
	if (parts->rex & 8 && to == BP && from == SP)
		ret->kind = OPERATION_BP_SP;
	else if (parts->rex & 8 && to == SP && from == BP)
		ret->kind = OPERATION_SP_BP;
	else
		return sets(ret, to);
	return true;
}

static bool move(struct operation *ret, const struct parts *parts)
{
	const bool to_rm = parts->form.action == MOVE_TO_RM;

	if (parts->mod == 3)
		return to_rm ? moves(ret, parts, parts->rm, parts->reg)
			     : moves(ret, parts, parts->reg, parts->rm);
	if (parts->rex & 8 && parts->is_in_frame && followed(parts->reg))
		return moves_to_frame(ret, parts, to_rm ? OPERATION_SAVE : OPERATION_LOAD);
	return sets(ret, to_rm ? AX : parts->reg);
}

static bool take_address(struct operation *ret, const struct parts *parts)
{
	if (parts->mod == 3)
		return false;
	if (!(parts->rex & 8) || !parts->is_in_frame || (parts->reg != SP && parts->reg != BP) ||
	    (parts->reg == BP && parts->is_by_bp))
		return sets(ret, parts->reg);
	ret->by_bp = parts->is_by_bp;
	ret->value = parts->displacement;
	ret->kind = parts->reg == BP  ? OPERATION_BP_SP
		    : parts->is_by_bp ? OPERATION_SP_BP
				      : OPERATION_ADD_SP;
	return true;
}

static bool zeroes_or_sets(struct operation *ret, const struct parts *parts)
{
	if (parts->mod == 3 && parts->reg == BP && parts->rm == BP) {
		ret->kind = OPERATION_ZERO_BP;
		return true;
	}
	return parts->form.action == XOR_TO_RM ? sets_rm(ret, parts) : sets(ret, parts->reg);
}

/* add, or, adc, sbb, and, sub, xor, cmp, of a number. */
static bool alu(struct operation *ret, const struct parts *parts)
{
	const unsigned which = parts->reg & 7;
	int64_t value = parts->immediate;

	if (which == 7)
		return sets(ret, AX);
	if (parts->mod != 3 || parts->rm != SP || !(parts->rex & 8) || (which != 0 && which != 5))
		return sets_rm(ret, parts);
	value = which == 5 ? -value : value;
	if (value > INT32_MAX)
		return false;
	ret->kind = OPERATION_ADD_SP;
	ret->value = (int32_t)value;
	return true;
}

/* test; not, neg; mul, imul, div, idiv of rax. */
static bool unary(struct operation *ret, const struct parts *parts)
{
	const unsigned which = parts->reg & 7;

	if (which == 1)
		return false;
	if (which != 2 && which != 3)
		return sets(ret, AX);
	if (parts->form.action == GROUP_UNARY)
		return sets_rm(ret, parts);
	return parts->mod == 3 ? sets_byte(ret, parts, parts->rm) : sets(ret, AX);
}

/* inc, dec, call, jmp. */
static bool group_ff(struct operation *ret, const struct parts *parts)
{
	switch (parts->reg & 7) {
	case 0:
	case 1:
		return sets_rm(ret, parts);
	case 2:
		ret->kind = OPERATION_CALL_INDIRECT;
		return true;
	case 4:
		ret->kind = OPERATION_JUMP_INDIRECT;
		return true;
	default:
		return false;
	}
}

static bool goes(struct operation *ret, const struct parts *parts)
{
	const int64_t to = (int64_t)parts->immediate + ret->length;

	if (to > INT32_MAX)
		return false;
	ret->value = (int32_t)to;
	if (parts->form.action == CALL)
		ret->kind = ret->value == ret->length ? OPERATION_PUSH : OPERATION_CALL;
	else
		ret->kind = parts->form.action == JUMP ? OPERATION_JUMP : OPERATION_BRANCH;
	return true;
}

static bool push_or_pop(struct operation *ret, const struct parts *parts)
{
	const uint8_t reg = (uint8_t)((parts->opcode & 7) | (parts->rex & 1) << 3);

	if (parts->form.action == POP && reg == SP)
		return false;
	ret->kind = parts->form.action == POP ? OPERATION_POP : OPERATION_PUSH;
	ret->reg = followed(reg) & 3;
	return true;
}

static bool is(struct operation *ret, enum operation_kind kind)
{
	ret->kind = (uint8_t)kind;
	return true;
}

static bool act(struct operation *ret, const struct parts *parts)
{
	const uint8_t low = (uint8_t)((parts->opcode & 7) | (parts->rex & 1) << 3);

	switch ((enum action)parts->form.action) {
	case NOTHING:
		return sets(ret, AX);
	case SETS_REG:
		return sets(ret, parts->reg);
	case SETS_RM:
		return sets_rm(ret, parts);
	case SETS_BYTE_REG:
		return sets_byte(ret, parts, parts->reg);
	case SETS_BYTE_RM:
		return parts->mod == 3 ? sets_byte(ret, parts, parts->rm) : sets(ret, AX);
	case SETS_LOW:
		return sets(ret, low);
	case SETS_LOW_BYTE:
		return sets_byte(ret, parts, low);
	case GROUP_ALU:
		return alu(ret, parts);
	case GROUP_ALU_BYTE:
		return parts->mod == 3 && (parts->reg & 7) != 7 ? sets_byte(ret, parts, parts->rm)
								: sets(ret, AX);
	case GROUP_UNARY:
	case GROUP_UNARY_BYTE:
		return unary(ret, parts);
	case GROUP_FF:
		return group_ff(ret, parts);
	case GROUP_MOV:
		return !(parts->reg & 7) && sets_rm(ret, parts);
	case GROUP_MOV_BYTE:
		return !(parts->reg & 7) &&
		       (parts->mod == 3 ? sets_byte(ret, parts, parts->rm) : sets(ret, AX));
	case MOVE_TO_RM:
	case MOVE_TO_REG:
		return move(ret, parts);
	case ADDRESS:
		return take_address(ret, parts);
	case XOR_TO_RM:
	case XOR_TO_REG:
		return zeroes_or_sets(ret, parts);
	case PUSH:
	case POP:
		return push_or_pop(ret, parts);
	case PUSH_VALUE:
		return is(ret, OPERATION_PUSH);
	case PAD:
		return !parts->rex && is(ret, OPERATION_PAD);
	case PAD_RM:
		return parts->mod != 3 && !(parts->reg & 7) && is(ret, OPERATION_PAD);
	case RETURN:
		return is(ret, OPERATION_RETURN);
	case LEAVE:
		return is(ret, OPERATION_LEAVE);
	case END:
		return is(ret, OPERATION_END);
	case CALL:
	case JUMP:
	case BRANCH:
		return goes(ret, parts);
	case UNUSUAL:
		break;
	}
	return false;
}

bool usual_operation(const uint8_t *bytes, size_t size, struct operation *ret)
{
	struct parts parts = { .at = bytes, .end = bytes + size };
	struct operation operation = { 0 };

	if (!take_opcode(&parts) || (parts.form.has_modrm && !take_modrm(&parts)) ||
	    !take_immediate(&parts))
		return false;
	operation.length = (uint8_t)(parts.at - bytes);
	if (!act(&operation, &parts))
		return false;
	*ret = operation;
	return true;
}
