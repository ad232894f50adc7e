/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/frame_state.h"

/* No real frame is larger; bytes that are not code may seem to have larger ones. */
#define DISTANCE_MAX (1 << 24)
/* CFA minus rbp after "push %rbp; mov %rsp,%rbp". */
#define AT_FRAME 16
const struct frame_state frame_at_entry = {
	.sp = 8,
	.bp = FRAME_UNKNOWN,
	.saved_bp = FRAME_SAME,
	.saved_bx = FRAME_SAME,
};
const struct frame_state frame_at_begin = {
	.sp = FRAME_UNKNOWN,
	.bp = FRAME_UNKNOWN,
	.saved_bp = FRAME_NO_CALLER,
	.saved_bx = FRAME_NO_CALLER,
};

static int32_t *saved_of(struct frame_state *state, unsigned reg)
{
	return reg == OPERATION_BP ? &state->saved_bp : &state->saved_bx;
}

static int32_t moved(int32_t distance, int64_t by)
{
	int64_t sum = distance == FRAME_UNKNOWN ? FRAME_UNKNOWN : distance + by;

	return sum > DISTANCE_MAX || sum < -DISTANCE_MAX ? FRAME_UNKNOWN : (int32_t)sum;
}

/* The register has another value now. What was saved of it stays where it is. */
static void overwrite(struct frame_state *state, unsigned reg)
{
	int32_t *saved = saved_of(state, reg);

	if (reg == OPERATION_BP)
		state->bp = FRAME_UNKNOWN;
	if (*saved == FRAME_SAME)
		*saved = FRAME_LOST;
}

static void save(struct frame_state *state, unsigned reg, int32_t distance)
{
	int32_t *saved = reg ? saved_of(state, reg) : NULL;

	/* A register that the function has overwritten no longer has the caller's value. */
	if (saved && *saved == FRAME_SAME && distance != FRAME_UNKNOWN && distance > 0 &&
	    !(reg == OPERATION_BP && state->bp != FRAME_UNKNOWN))
		*saved = distance;
}

static void load_register(struct frame_state *state, unsigned reg, int32_t distance)
{
	int32_t *saved = reg ? saved_of(state, reg) : NULL;

	if (!saved)
		return;
	if (reg == OPERATION_BP)
		state->bp = FRAME_UNKNOWN;
	if (*saved > 0 && *saved == distance)
		*saved = FRAME_SAME;
	else if (*saved == FRAME_SAME)
		*saved = FRAME_LOST;
}

void frame_state_apply(struct frame_state *state, const struct operation *operation)
{
	const int32_t at = moved(operation->by_bp ? state->bp : state->sp, -operation->value);

	switch ((enum operation_kind)operation->kind) {
	case OPERATION_PUSH:
		state->sp = moved(state->sp, 8);
		save(state, operation->reg, state->sp);
		break;
	case OPERATION_POP:
		load_register(state, operation->reg, state->sp);
		state->sp = moved(state->sp, -8);
		break;
	case OPERATION_ADD_SP:
		state->sp = moved(state->sp, -(int64_t)operation->value);
		break;
	case OPERATION_SP_BP:
		state->sp = moved(state->bp, -(int64_t)operation->value);
		break;
	case OPERATION_BP_SP:
		overwrite(state, OPERATION_BP);
		state->bp = moved(state->sp, -(int64_t)operation->value);
		break;
	case OPERATION_SAVE:
		save(state, operation->reg, at);
		break;
	case OPERATION_LOAD:
		load_register(state, operation->reg, at);
		break;
	case OPERATION_LEAVE:
		state->sp = state->bp;
		load_register(state, OPERATION_BP, state->sp);
		state->sp = moved(state->sp, -8);
		break;
	case OPERATION_LOSE_SP:
		state->sp = FRAME_UNKNOWN;
		break;
	case OPERATION_ZERO_BP:
		overwrite(state, OPERATION_BP);
		if (state->saved_bp == FRAME_LOST)
			state->saved_bp = FRAME_ZERO;
		break;
	default:
		break;
	}
	if (operation->sets_bp)
		overwrite(state, OPERATION_BP);
	if (operation->sets_bx)
		overwrite(state, OPERATION_BX);
}

/* Two ways meet: do they agree where the caller is? */
bool frame_state_agrees(const struct frame_state *a, const struct frame_state *b)
{
	if (a->sp != FRAME_UNKNOWN && b->sp != FRAME_UNKNOWN)
		return a->sp == b->sp;
	return a->bp != FRAME_UNKNOWN && a->bp == b->bp;
}

/* --- rules --- */

static void location(int32_t saved, uint8_t *ret_location, int8_t *ret_offset)
{
	const bool fits = saved > 0 && saved % 8 == 0 && saved / 8 <= -(INT8_MIN);

	*ret_location = saved == FRAME_SAME ? UNWIND_SAME : fits ? UNWIND_AT_CFA : UNWIND_UNKNOWN;
	*ret_offset = fits ? (int8_t)(-saved / 8) : 0;
}

struct unwind_rule frame_state_rule(const struct frame_state *state)
{
	struct unwind_rule rule = { .kind = UNWIND_RULE_FRAME,
				    .ra = UNWIND_AT_CFA,
				    .ra_offset = -1 };

	if (state->saved_bp == FRAME_NO_CALLER)
		return (struct unwind_rule){ .kind = UNWIND_RULE_STOP };
	/* Use the frame pointer if it is one. Some functions have other addresses in rbp. */
	if (state->bp != FRAME_UNKNOWN && state->bp >= AT_FRAME &&
	    (state->bp == AT_FRAME || state->sp == FRAME_UNKNOWN)) {
		rule.base = UNWIND_BASE_BP;
		rule.cfa_offset = state->bp;
	} else if (state->sp != FRAME_UNKNOWN && state->sp >= frame_at_entry.sp) {
		rule.base = UNWIND_BASE_SP;
		rule.cfa_offset = state->sp;
	} else if (!state->sp && state->saved_bp == FRAME_ZERO) {
		/* The first one of a thread: it took what was on its stack, and marked its end by
		 * an rbp of 0. */
		return (struct unwind_rule){ .kind = UNWIND_RULE_STOP };
	} else {
		return (struct unwind_rule){ .kind = UNWIND_RULE_NONE };
	}
	location(state->saved_bp, &rule.bp, &rule.bp_offset);
	location(state->saved_bx, &rule.bx, &rule.bx_offset);
	return rule;
}
