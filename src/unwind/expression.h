/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DWARF expressions (DWARF 5, 2.5) as call frame information has them, by what they come to.
 */
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include "base/text.h"

enum expression_kind {
	EXPRESSION_OTHER,    /* anything else */
	EXPRESSION_REGISTER, /* reg + offset */
	EXPRESSION_DEREF,    /* the word at (reg + offset), + addend */
	EXPRESSION_STEP,     /* reg + offset, + addend if (pc & 15) >= addend_from */
};

struct expression {
	uint8_t kind; /* enum expression_kind */
	uint8_t addend_from;
	uint16_t reg; /* DWARF number */
	int64_t offset, addend;
};

/* `pc` is the register number of the program counter; without one, a number that no register has.
 */
struct expression expression_read(struct text bytes, uint64_t pc);

#endif
