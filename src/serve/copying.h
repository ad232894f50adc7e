/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies of threads, stacks and wakers from one profile into another, each when it is first asked
 * for, so that the copy has what is referred to and nothing else.
 *
 *	struct profile_copying c;
 *	err = copying_begin(&c, from, into);
 *	err = copying_thread(&c, sample.thread, &sample.thread);
 *	err = copying_node(&c, sample.node, &sample.node);
 *	copying_end(&c);
 */
#ifndef SERVE_COPYING_H
#define SERVE_COPYING_H

#include "profile/profile.h"

struct profile_copying {
	const struct profile *from;
	struct profile *into;
	/* The number in `into` of what is in `from`, or NODE_NONE: it is not there yet. */
	uint32_t *frames, *nodes, *threads, *wakers;
	struct {
		ARRAY(uint32_t);
	} chain; /* nodes from the inside out that are not there yet */
};

/* `into` has none of `from` yet. On an error there is nothing to end. */
struct error *copying_begin(struct profile_copying *c, const struct profile *from,
			    struct profile *into) MUST_CHECK;
void copying_end(struct profile_copying *c);

/* What the meta data say of the host and of what is measured; not of a time. */
struct error *copying_meta(const struct profile *from, struct profile *into) MUST_CHECK;

/* `*ret` is the number in `into`; NODE_NONE stays. Threads come without their times. */
struct error *copying_node(struct profile_copying *c, uint32_t node, uint32_t *ret) MUST_CHECK;
struct error *copying_thread(struct profile_copying *c, uint32_t thread, uint32_t *ret) MUST_CHECK;
/* Counted from 1 as in samples; 0 stays. */
struct error *copying_waker(struct profile_copying *c, uint32_t waker, uint32_t *ret) MUST_CHECK;

#endif
