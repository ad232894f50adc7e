/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/operation.h"

#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/usual_operation.h"

struct decoder {
	csh engine;
	cs_insn *instruction;
};

struct decoder *decoder_create(void)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder || cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->engine) != CS_ERR_OK) {
		free(decoder);
		return NULL;
	}
	if (cs_option(decoder->engine, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		decoder->instruction = cs_malloc(decoder->engine);
	if (!decoder->instruction) {
		decoder_destroy(decoder);
		return NULL;
	}
	return decoder;
}

void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->instruction)
		cs_free(decoder->instruction, 1);
	cs_close(&decoder->engine);
	free(decoder);
}

/* --- operands --- */

static bool is_register(const cs_x86_op *operand, x86_reg reg)
{
	return operand->type == X86_OP_REG && operand->reg == reg;
}

static uint8_t followed(const cs_x86_op *operand)
{
	if (is_register(operand, X86_REG_RBP))
		return OPERATION_BP;
	return is_register(operand, X86_REG_RBX) ? OPERATION_BX : OPERATION_NOBODY;
}

static bool fits(int64_t value, int32_t *ret)
{
	*ret = (int32_t)value;
	return *ret == value;
}

/* A word at rsp or rbp and a distance. */
static bool is_in_frame(const cs_x86_op *operand, struct operation *ret)
{
	const x86_op_mem *mem = &operand->mem;

	if (operand->type != X86_OP_MEM || mem->index != X86_REG_INVALID ||
	    mem->segment != X86_REG_INVALID ||
	    (mem->base != X86_REG_RSP && mem->base != X86_REG_RBP))
		return false;
	ret->by_bp = mem->base == X86_REG_RBP;
	return fits(mem->disp, &ret->value);
}

/* --- what is done to a register --- */

static void note_write(x86_reg reg, struct operation *ret)
{
	switch (reg) {
	case X86_REG_RSP:
	case X86_REG_ESP:
	case X86_REG_SP:
	case X86_REG_SPL:
		ret->kind = OPERATION_LOSE_SP;
		break;
	case X86_REG_RBP:
	case X86_REG_EBP:
	case X86_REG_BP:
	case X86_REG_BPL:
		ret->sets_bp = 1;
		break;
	case X86_REG_RBX:
	case X86_REG_EBX:
	case X86_REG_BX:
	case X86_REG_BL:
	case X86_REG_BH:
		ret->sets_bx = 1;
		break;
	default:
		break;
	}
}

static void take_writes(struct decoder *decoder, struct operation *ret)
{
	cs_regs read, written;
	uint8_t read_count, written_count;

	ret->kind = OPERATION_OTHER;
	if (cs_regs_access(decoder->engine, decoder->instruction, read, &read_count, written,
			   &written_count) != CS_ERR_OK) {
		ret->kind = OPERATION_LOSE_SP;
		ret->sets_bp = ret->sets_bx = 1;
		return;
	}
	for (uint8_t i = 0; i < written_count; i++)
		note_write(written[i], ret);
}

/* mov and lea between rsp, rbp and the frame. False: it is something else. */
static bool take_move(const cs_insn *instruction, struct operation *ret)
{
	const cs_x86_op *to = &instruction->detail->x86.operands[0], *from = to + 1;
	const bool is_address = instruction->id == X86_INS_LEA;

	if (!is_address && is_register(to, X86_REG_RBP) && is_register(from, X86_REG_RSP)) {
		ret->kind = OPERATION_BP_SP;
	} else if (!is_address && is_register(to, X86_REG_RSP) && is_register(from, X86_REG_RBP)) {
		ret->kind = OPERATION_SP_BP;
	} else if (is_address && is_in_frame(from, ret)) {
		if (is_register(to, X86_REG_RSP))
			ret->kind = ret->by_bp ? OPERATION_SP_BP : OPERATION_ADD_SP;
		else if (is_register(to, X86_REG_RBP) && !ret->by_bp)
			ret->kind = OPERATION_BP_SP;
	} else if (!is_address && is_in_frame(to, ret) && followed(from)) {
		ret->kind = OPERATION_SAVE;
		ret->reg = followed(from) & 3;
	} else if (!is_address && followed(to) && is_in_frame(from, ret)) {
		ret->kind = OPERATION_LOAD;
		ret->reg = followed(to) & 3;
	}
	return ret->kind;
}

static bool take_add(const cs_insn *instruction, struct operation *ret)
{
	const cs_x86_op *to = &instruction->detail->x86.operands[0], *by = to + 1;
	int64_t value = by->imm;

	if (!is_register(to, X86_REG_RSP) || by->type != X86_OP_IMM)
		return false;
	if (instruction->id == X86_INS_SUB && __builtin_sub_overflow(0, value, &value))
		return false;
	ret->kind = OPERATION_ADD_SP;
	return fits(value, &ret->value);
}

static bool take_zero(const cs_insn *instruction, struct operation *ret)
{
	const cs_x86_op *to = &instruction->detail->x86.operands[0];
	const bool is_zero = (is_register(to, X86_REG_EBP) && is_register(to + 1, X86_REG_EBP)) ||
			     (is_register(to, X86_REG_RBP) && is_register(to + 1, X86_REG_RBP));

	if (is_zero)
		ret->kind = OPERATION_ZERO_BP;
	return is_zero;
}

static bool take_stack(const cs_insn *instruction, struct operation *ret)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	/* Two bytes. */
	if (x86->prefix[2] == 0x66)
		return false;
	if (instruction->id == X86_INS_PUSHFQ || instruction->id == X86_INS_PUSH) {
		ret->kind = OPERATION_PUSH;
	} else {
		if (x86->op_count && is_register(&x86->operands[0], X86_REG_RSP))
			return false;
		ret->kind = OPERATION_POP;
	}
	ret->reg = x86->op_count ? followed(&x86->operands[0]) & 3 : OPERATION_NOBODY;
	return true;
}

/* --- where it goes on --- */

static bool is_in(const cs_insn *instruction, uint8_t group)
{
	for (uint8_t i = 0; i < instruction->detail->groups_count; i++)
		if (instruction->detail->groups[i] == group)
			return true;
	return false;
}

static bool take_way(const cs_insn *instruction, struct operation *ret)
{
	const cs_x86_op *operand = &instruction->detail->x86.operands[0];
	const bool is_call = is_in(instruction, CS_GRP_CALL);

	if (!is_call && !is_in(instruction, CS_GRP_JUMP))
		return false;
	if (operand->type != X86_OP_IMM || !fits(operand->imm, &ret->value)) {
		ret->kind = is_call ? OPERATION_CALL_INDIRECT : OPERATION_JUMP_INDIRECT;
	} else if (is_call) {
		/* A call of the next instruction pushes that instruction's address. */
		ret->kind = ret->value == ret->length ? OPERATION_PUSH : OPERATION_CALL;
	} else {
		ret->kind = instruction->id == X86_INS_JMP ? OPERATION_JUMP : OPERATION_BRANCH;
	}
	return true;
}

static bool take_kind(const cs_insn *instruction, struct operation *ret)
{
	switch (instruction->id) {
	case X86_INS_NOP:
		ret->kind = OPERATION_PAD;
		return true;
	case X86_INS_INT3:
	case X86_INS_HLT:
	case X86_INS_UD2:
	case X86_INS_UD0:
		ret->kind = OPERATION_END;
		return true;
	case X86_INS_RET:
		ret->kind = OPERATION_RETURN;
		return true;
	case X86_INS_LEAVE:
		ret->kind = OPERATION_LEAVE;
		return true;
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
	case X86_INS_POP:
	case X86_INS_POPFQ:
		return take_stack(instruction, ret);
	case X86_INS_ADD:
	case X86_INS_SUB:
		return take_add(instruction, ret);
	case X86_INS_XOR:
		return take_zero(instruction, ret);
	case X86_INS_MOV:
	case X86_INS_LEA:
		return take_move(instruction, ret);
	default:
		return take_way(instruction, ret);
	}
}

/* mov $15,%eax or mov $15,%rax, and syscall: what a signal's handler returns to. */
static bool is_sigreturn(const uint8_t *bytes, size_t size)
{
	static const uint8_t shorter[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 },
			     longer[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };

	return (size >= sizeof(shorter) && memcmp(bytes, shorter, sizeof(shorter)) == 0) ||
	       (size >= sizeof(longer) && memcmp(bytes, longer, sizeof(longer)) == 0);
}

/* Zero bytes fill gaps; they would decode as an ADD to memory. */
static bool is_fill(const uint8_t *bytes, size_t size)
{
	return size >= 2 && !bytes[0] && !bytes[1];
}

struct operation decoder_read_any(struct decoder *decoder, const uint8_t *bytes, size_t size)
{
	struct operation operation = { 0 };
	const uint8_t *at = bytes;
	uint64_t address = 0;

	if (is_fill(bytes, size) ||
	    !cs_disasm_iter(decoder->engine, &at, &size, &address, decoder->instruction))
		return operation;
	operation.length = (uint8_t)decoder->instruction->size;
	if (is_sigreturn(bytes, size + operation.length)) {
		operation.kind = OPERATION_SIGRETURN;
		return operation;
	}
	if (!take_kind(decoder->instruction, &operation)) {
		operation = (struct operation){ .length = operation.length };
		take_writes(decoder, &operation);
	}
	return operation;
}

struct operation decoder_read(struct decoder *decoder, const uint8_t *bytes, size_t size)
{
	struct operation operation;

	if (!is_fill(bytes, size) && !is_sigreturn(bytes, size) &&
	    usual_operation(bytes, size, &operation))
		return operation;
	return decoder_read_any(decoder, bytes, size);
}
