/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the stack before an instruction (unwind/inferred.h): the distances of rsp and rbp
 * from the caller's frame, and the locations of the caller's rbp and rbx.
 */
#ifndef UNWIND_FRAME_STATE_H
#define UNWIND_FRAME_STATE_H

#include "unwind/operation.h"
#include "unwind/rule.h"

#define FRAME_UNKNOWN INT32_MAX

/* The location of a register of the caller: unchanged, at a distance below the CFA (more than 0),
 * or lost. */
enum { FRAME_SAME = 0, FRAME_LOST = -1, FRAME_NO_CALLER = -2, FRAME_ZERO = -3 };

struct frame_state {
	int32_t sp, bp; /* CFA minus the register, or FRAME_UNKNOWN */
	int32_t saved_bp, saved_bx;
};

/* The states at the start of a function, and at the entry point of a file. */
extern const struct frame_state frame_at_entry, frame_at_begin;

/* Update the state to what it is after the instruction. */
void frame_state_apply(struct frame_state *state, const struct operation *operation);

/* Two ways meet: do they agree where the caller is? */
bool frame_state_agrees(const struct frame_state *a, const struct frame_state *b);

/* UNWIND_RULE_NONE: it does not say where the caller is. */
struct unwind_rule frame_state_rule(const struct frame_state *state);

#endif
