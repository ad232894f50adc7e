/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Are two walks over one stack the same, and if not, why may that be?
 *
 * A cause is a rule that the two walks themselves show. What no rule explains is a difference.
 */
#ifndef TESTS_UNWINDING_VERDICT_H
#define TESTS_UNWINDING_VERDICT_H

#include "peer.h"
#include "space.h"

/* ID and what is said of it. */
#define VERDICTS(X)                                                                               \
	X(EQUAL, "the same frames")                                                               \
	/* No file says how the caller is found there: each goes on by frame pointers, or not. */ \
	X(UNDESCRIBED, "through code that no file describes")                                     \
	/* peer_loses_rbx() */                                                                    \
	X(PEER_RBX, "elfutils loses rbx, which the frame is counted from")                        \
	/* It says that it failed, where a file has a rule; ours goes on. */                      \
	X(PEER_FAILED, "elfutils fails, and says so")                                             \
	/* A return address where nothing is mapped, or none at all. */                           \
	X(PEER_NOWHERE, "elfutils goes on to where no code is")                                   \
	/* It finds the same frame again and again. */                                            \
	X(PEER_CIRCLE, "elfutils goes in a circle")                                               \
	/* From here on it is ours. It ends where elfutils goes on, and says that it cannot. */   \
	X(SHORT, "ours ends early, and says so")                                                  \
	X(DIFFERENT, "different")

enum verdict {
#define VERDICT_ID(id, text) VERDICT_##id,
	VERDICTS(VERDICT_ID)
#undef VERDICT_ID
		VERDICT_COUNT
};

struct own_walk {
	uint64_t *frames;
	size_t count;
	enum unwind_stop stop;
};

/* `ret_same` is how many frames from the innermost on are the same. */
enum verdict verdict_of(struct peer *peer, const struct space *space, const struct own_walk *ours,
			const struct peer_walk *theirs, size_t *ret_same);

const char *verdict_text(enum verdict verdict);
const char *stop_text(enum unwind_stop stop);

#endif
