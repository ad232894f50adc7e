/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes the effect of an instruction on the stack pointer, rbp and rbx, and where control
 * continues: all that unwind/inferred.h needs. Only x86_64.
 */
#ifndef UNWIND_OPERATION_H
#define UNWIND_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation_kind {
	OPERATION_NONE, /* not decoded */
	OPERATION_OTHER,
	OPERATION_PAD,  /* does nothing: between functions */
	OPERATION_PUSH, /* `reg`; as the next, 8 bytes */
	OPERATION_POP,
	OPERATION_ADD_SP,  /* rsp += value */
	OPERATION_SP_BP,   /* rsp = rbp + value */
	OPERATION_BP_SP,   /* rbp = rsp + value */
	OPERATION_SAVE,    /* `reg` to rsp + value, or rbp + value if `by_bp` */
	OPERATION_LOAD,    /* and back */
	OPERATION_ZERO_BP, /* rbp = 0: the end of all frames, or a number */
	OPERATION_LEAVE,   /* rsp = rbp; pop rbp */
	OPERATION_LOSE_SP, /* rsp = something */
	OPERATION_CALL,    /* as the next two, to its own address + value */
	OPERATION_JUMP,
	OPERATION_BRANCH, /* or goes on */
	OPERATION_CALL_INDIRECT,
	OPERATION_JUMP_INDIRECT,
	OPERATION_RETURN,
	OPERATION_END, /* goes on nowhere */
	OPERATION_SIGRETURN,
};

enum operation_register { OPERATION_NOBODY, OPERATION_BP, OPERATION_BX };

struct operation {
	int32_t value;
	uint8_t kind, length;
	uint8_t reg : 2, by_bp : 1, sets_bp : 1, sets_bx : 1; /* overwrites these in another way */
};

struct decoder;

/* NULL without memory. */
struct decoder *decoder_create(void);
/* Takes NULL. */
void decoder_destroy(struct decoder *decoder);

/* The instruction that begins with these bytes. One of which not all is there is
 * OPERATION_NONE. */
struct operation decoder_read(struct decoder *decoder, const uint8_t *bytes, size_t size);

/* The same by capstone alone, which decoder_read() asks only for what is unusual. */
struct operation decoder_read_any(struct decoder *decoder, const uint8_t *bytes, size_t size);

#endif
