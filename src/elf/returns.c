/* SPDX-License-Identifier: BSD-2-Clause */
#include "elf/returns.h"

#include <capstone/capstone.h>
#include <stdlib.h>

struct decoding {
	csh engine;
	cs_insn *instruction;
	uint8_t *begins; /* for each byte: does a decoded instruction begin there? */
	struct {
		ARRAY(uint64_t);
	} targets; /* of jumps within the code */
	struct returns *ret;
};

static bool is_in(const cs_detail *detail, uint8_t group)
{
	for (uint8_t i = 0; i < detail->groups_count; i++)
		if (detail->groups[i] == group)
			return true;
	return false;
}

/* The target of a direct jump or call; false for other instructions. */
static bool has_target(const cs_insn *instruction, uint64_t *ret)
{
	const cs_detail *detail = instruction->detail;

	if ((!is_in(detail, CS_GRP_JUMP) && !is_in(detail, CS_GRP_CALL)) ||
	    detail->x86.op_count != 1 || detail->x86.operands[0].type != X86_OP_IMM)
		return false;
	*ret = (uint64_t)detail->x86.operands[0].imm;
	return true;
}

static enum returns_state note_instruction(struct decoding *decoding, size_t length)
{
	const cs_insn *instruction = decoding->instruction;
	struct returns *ret = decoding->ret;
	uint64_t target;
	bool has_room = true;

	if (instruction->id == X86_INS_RET)
		has_room = array_push(&ret->places, instruction->address);
	if (has_room && has_target(instruction, &target) && target < length) {
		has_room = array_push(&decoding->targets, target);
		if (has_room && !target && is_in(instruction->detail, CS_GRP_JUMP))
			has_room = array_push(&ret->restarts, instruction->address);
	}
	if (!has_room)
		return RETURNS_NO_MEMORY;
	return ret->places.count > RETURNS_MAX || ret->restarts.count > RETURNS_MAX
		       ? RETURNS_TOO_LARGE
		       : RETURNS_FOUND;
}

static enum returns_state decode(struct decoding *decoding, struct text code)
{
	const uint8_t *at = (const uint8_t *)code.bytes;
	size_t left = code.length;
	uint64_t address = 0;

	while (left) {
		enum returns_state state;

		decoding->ret->stop = address;
		if (!cs_disasm_iter(decoding->engine, &at, &left, &address, decoding->instruction))
			return RETURNS_NOT_DECODED;
		decoding->begins[decoding->instruction->address] = 1;
		state = note_instruction(decoding, code.length);
		if (state != RETURNS_FOUND)
			return state;
	}
	for (size_t i = 0; i < decoding->targets.count; i++) {
		decoding->ret->stop = decoding->targets.items[i];
		if (!decoding->begins[decoding->targets.items[i]])
			return RETURNS_NOT_FOLLOWED;
	}
	return RETURNS_FOUND;
}

enum returns_state returns_find(struct text code, struct returns *ret)
{
	struct decoding decoding = { .ret = ret };
	enum returns_state state = RETURNS_NO_MEMORY;

	if (code.length > RETURNS_CODE_MAX)
		return RETURNS_TOO_LARGE;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoding.engine) != CS_ERR_OK)
		return RETURNS_NO_MEMORY;
	if (cs_option(decoding.engine, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK) {
		decoding.instruction = cs_malloc(decoding.engine);
		decoding.begins = calloc(code.length + 1, 1);
	}
	if (decoding.instruction && decoding.begins)
		state = decode(&decoding, code);
	if (decoding.instruction)
		cs_free(decoding.instruction, 1);
	free(decoding.begins);
	array_deinit(&decoding.targets);
	cs_close(&decoding.engine);
	return state;
}

void returns_deinit(struct returns *returns)
{
	array_deinit(&returns->places);
	array_deinit(&returns->restarts);
}
