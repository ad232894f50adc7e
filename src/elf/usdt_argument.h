/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a probe has its arguments: the last string of its note (usdt_notes.h), as <sys/sdt.h> of
 * SystemTap has the compiler write it (its wiki, "UserSpaceProbeImplementation"). Each argument is
 * its size in bytes, negative if it has a sign, and the operand of an instruction:
 *
 *	-4@%eax 8@-16(%rbp,%rcx,8) 4@counter(%rip) -4@$5	x86_64
 *	8@x0 -4@[sp, 16] 4@5					aarch64
 *
 * libbpf reads some of these forms too. That is not used here: it opens and parses the
 * file with the privileges of the caller, attaches by links that cannot be pinned, and knows no
 * variables.
 */
#ifndef ELF_USDT_ARGUMENT_H
#define ELF_USDT_ARGUMENT_H

#include "base/error.h"
#include "base/text.h"

/* The sum of `offset`, `base`, and `index` shifted to the left; `is_memory`: what is at that
 * address. Of the sum or the memory, the lowest `bytes` are the value. */
struct usdt_argument {
	int64_t offset;
	/* Registers, as numbers of 64-bit words of struct pt_regs (x86_64) or user_pt_regs
	 * (aarch64) of <asm/ptrace.h>. */
	uint8_t base, index;
	uint8_t shift; /* at most 3 */
	uint8_t bytes; /* 1, 2, 4 or 8 */
	bool is_signed;
	bool is_memory;
	/* `base` is the address of the instruction, and the address of this symbol less that of the
	 * probe must be added to `offset`. Empty: there is none. Part of the text. */
	struct text symbol;
};

#define USDT_NO_REGISTER   UINT8_MAX
#define USDT_REGISTERS_MAX 34 /* numbers are below */

/* Argument `number`, from 1, of the text of a file for `machine` (EM_X86_64, EM_AARCH64). An error
 * (EINVAL) that says so if there are fewer, or if it is in a form or register that cannot be read;
 * other arguments are not looked at. */
struct error *usdt_argument_parse(struct text text, unsigned number, uint16_t machine,
				  struct usdt_argument *ret) MUST_CHECK;

#endif
