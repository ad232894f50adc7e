/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame instructions (DWARF 5, 6.4.2) of one description of a function, as rules.
 *
 *	struct cfi_program program = { .machine = cfi_machine_of(EM_X86_64), ... };
 *	if (cfi_begin(&program, initial) == CFI_DONE)
 *		answer = cfi_run(&program, &function, show, context);
 *
 * Of all registers only those are followed that unwind/rule.h has. A rule that does not fit there
 * is UNWIND_RULE_OTHER; a location that does not, of a register that can be done without,
 * UNWIND_UNKNOWN.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "unwind/cursor.h"
#include "unwind/expression.h"
#include "unwind/rule.h"

/* Registers that are tracked besides the CFA. */
enum cfi_tracked { CFI_RA, CFI_BP, CFI_BX, CFI_SP, CFI_TRACKED };

/* The location of a register. */
struct cfi_location {
	uint8_t kind;  /* enum unwind_location, or one of the following */
	uint8_t reg;   /* of UNWIND_IN_REG */
	int16_t words; /* of UNWIND_AT_* */
};
enum { CFI_UNDEFINED = UNWIND_UNKNOWN + 1, CFI_IS_CFA };

#define CFI_NOBODY UINT8_MAX /* no register of that kind */

/* A machine. Numbers are those that DWARF has for its registers. */
struct cfi_machine {
	uint16_t elf; /* EM_* */
	uint8_t sp, bp, bx, pc;
	bool signs_addresses; /* DW_CFA_AARCH64_negate_ra_state */
	/* default locations; of the return address: in its register, or on the stack, where a call
	 * stores it */
	struct cfi_location unsaid[CFI_TRACKED];
};

/* NULL: the machine is unsupported. */
const struct cfi_machine *cfi_machine_of(uint16_t elf);

struct cfi_state {
	struct expression cfa;
	struct cfi_location locations[CFI_TRACKED];
};

/* The rule of all locations, if the CFA is at a distance from a register. */
struct cfi_frame {
	uint64_t words[2]; /* struct unwind_rule, with a distance of 0 from the stack pointer */
	bool is_plain;     /* else it must be made of the state */
};

/* Common Information Entry (CIE): what several functions share. */
struct cfi_program {
	const struct cfi_machine *machine;
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t ra;      /* number of the return address */
	uint8_t encoding; /* DW_EH_PE_* of addresses */
	bool is_signal;
	/* Made by cfi_begin: */
	struct cfi_state initial;
	struct cfi_frame frame;          /* of that */
	uint8_t tracked[UNWIND_NUMBERS]; /* enum cfi_tracked of each register; CFI_TRACKED: none */
};

enum cfi_answer { CFI_DONE, CFI_REFUSED, CFI_NO_MEMORY };

/* The instructions that all of them begin with. */
enum cfi_answer cfi_begin(struct cfi_program *program, struct text instructions);

struct cfi_function {
	uint64_t start, end; /* end > start */
	struct text instructions;
	uint64_t instructions_at; /* address of these, which pointers in them may be relative to */
};

/* From `address` on this is the rule. False: there is no memory. */
typedef bool cfi_visit(void *context, uint64_t address, const struct unwind_rule *rule);

/* Show the rules of a function in order of addresses; of several at one address the last counts.
 * From where on it is not understood (CFI_REFUSED) it has UNWIND_RULE_OTHER. */
enum cfi_answer cfi_run(const struct cfi_program *program, const struct cfi_function *function,
			cfi_visit *visit, void *context);

#endif
