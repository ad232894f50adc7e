/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All stacks of a profile made anew, with others in the place of frames.
 *
 * A frame has a *role* in a stack: the innermost of its kind (user or kernel) is where the thread
 * was; all others are callers, whose addresses are those of the instruction behind the call. A
 * frame may have both roles, in different stacks.
 */
#ifndef PROFILE_REWRITE_H
#define PROFILE_REWRITE_H

#include "profile/profile.h"

enum frame_role { ROLE_CALLER, ROLE_INNERMOST, ROLES };

/* A bit for each role (1 << role) that each frame has; `ret` is the caller's, to be freed. Fails
 * where the stacks of the profile are broken. */
struct error *rewrite_roles(const struct profile *profile, uint8_t **ret) MUST_CHECK;

/* The address by which a frame is looked up: for a caller, that of the call, which may be the last
 * instruction of its function. */
static inline uint64_t rewrite_address(const struct frame *frame, enum frame_role role)
{
	return role == ROLE_CALLER && frame->address ? frame->address - 1 : frame->address;
}

/* The frames that stand for one, by number, from outside in: it, and what is inlined into it. */
struct rewrite_frames {
	ARRAY(uint32_t);
};

/* Append what stands for frame `number`, which was `frame`: one frame at least. It is asked once
 * for each role, in the order in which stacks have the frames. */
typedef struct error *rewrite_frame(void *context, uint32_t number, const struct frame *frame,
				    enum frame_role role, struct rewrite_frames *ret);

/* Frames and nodes have other numbers afterwards, and samples whose stacks have become the same are
 * one. After an error the profile is as it was. */
struct error *rewrite_stacks(struct profile *profile, rewrite_frame *replace,
			     void *context) MUST_CHECK;

/* Append a frame of the profile, for rewrite_frame. */
struct error *rewrite_push(struct profile *profile, const struct frame *frame,
			   struct rewrite_frames *ret) MUST_CHECK;

#endif
