/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Well-known frames, which say how a thread came to wait and not where: they are passed over when a
 * report names the place of a wait or of its time.
 */
#ifndef PROFILE_KNOWN_FRAMES_H
#define PROFILE_KNOWN_FRAMES_H

#include "profile/flame.h"

/* By name and, of libraries, by file. Rows of `known_frames`, of which the first that matches
 * decides. */
enum known_frame {
	FRAME_OTHER,     /* none of these: it is named */
	FRAME_SCHEDULER, /* of the kernel: gives the CPU away, or waits in general */
	FRAME_ENTRY,     /* of the kernel: enters it by a system call, or an interrupt */
	FRAME_START,     /* begins a thread, or a program */
	FRAME_LIBRARY,   /* of the C library or of a runtime: wraps what a program calls */
};

/* `module` may be NULL. */
enum known_frame known_frame(enum frame_kind kind, const struct name *name,
			     const struct name *module);

/* The same of each frame of a profile, for stack_place: the caller frees it. NULL without memory.
 */
unsigned char *known_frames_of(const struct profile *profile);
/* And of each face. */
unsigned char *known_faces_of(const struct flame *flame);

/* Is the function on the way of threads whatever they do: the start of a thread or program, the
 * entry of a system call ("__x64_sys_fsync") or an interrupt, or the scheduler? */
bool frame_is_passed(enum frame_kind kind, const struct name *name);

/* Does the function send a request to another program and wait for the answer? Functions of name
 * resolvers, database clients and HTTP clients do. */
bool frame_asks(const struct name *name);

/* Does the function `name` wait for a lock of its program? `caller` is the file of the function
 * that calls it. Both may be NULL. */
bool frame_is_lock(const struct name *name, const struct name *caller);

/* Has the frame no function: "[unknown]", "[bash+0x1234]"? */
bool frame_is_unnamed(const struct name *name);

/* The name as texts have it: "bash+0x1234" of "[bash+0x1234]". */
struct text frame_shown_name(const struct name *name);

/* The innermost node of the thread that waits. With --wakers, the stack of the waker follows that
 * of the waiter in one path, separated by a note. May be NODE_NONE. */
uint32_t stack_waiter(const struct profile *profile, uint32_t leaf);

/*
 * Where a thread waits, or runs, in a stack whose innermost node is `leaf`.
 *
 * `own` is the innermost function of the program itself; where all of its frames are of libraries,
 * the innermost of them. `call` is what that calls in a library, or NODE_NONE. Of a stack with
 * frames of the kernel alone, `own` is the innermost of them that is not of the scheduler. Both are
 * NODE_NONE without a stack.
 */
struct stack_place {
	uint32_t own, call;
};
struct stack_place stack_place(const struct profile *profile, const unsigned char *known,
			       uint32_t leaf);

#endif
