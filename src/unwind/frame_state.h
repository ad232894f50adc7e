/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of the stack where an instruction begins (unwind/inferred.h): how far rsp and rbp
 * are from the caller's frame, and where the caller's rbp and rbx are.
 */
#ifndef UNWIND_FRAME_STATE_H
#define UNWIND_FRAME_STATE_H

#include "unwind/operation.h"
#include "unwind/rule.h"

#define FRAME_UNKNOWN INT32_MAX

/* Where a register of the caller is: in itself, so far below the CFA (more than 0), or lost. */
enum { FRAME_SAME = 0, FRAME_LOST = -1, FRAME_NO_CALLER = -2, FRAME_ZERO = -3 };

struct frame_state {
	int32_t sp, bp; /* CFA minus the register, or FRAME_UNKNOWN */
	int32_t saved_bp, saved_bx;
};

/* Where a function begins, and where a file begins to run. */
extern const struct frame_state frame_at_entry, frame_at_begin;

/* Update the state to what it is after the instruction. */
void frame_state_apply(struct frame_state *state, const struct operation *operation);

/* Two ways meet: do they agree where the caller is? */
bool frame_state_agrees(const struct frame_state *a, const struct frame_state *b);

/* UNWIND_RULE_NONE: it does not say where the caller is. */
struct unwind_rule frame_state_rule(const struct frame_state *state);

#endif
