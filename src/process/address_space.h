/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process may execute where, as it grows: shared by a process and its children until one of
 * them maps something.
 *
 * Nobody says when a mapping goes. So a later one wins where two overlap, and what it leaves of an
 * earlier one stays.
 */
#ifndef PROCESS_ADDRESS_SPACE_H
#define PROCESS_ADDRESS_SPACE_H

#include "profile/profile.h"

/* More executable mappings than programs have. Each new one moves those behind it, so that who
 * makes as many as it can would keep us busy. */
#define ADDRESS_SPACE_MAPPINGS_MAX 16384

struct address_space {
	struct {
		ARRAY(struct profile_mapping); /* by start, disjoint */
	};
	uint32_t users;
	uint32_t place; /* where in a profile they were put */
	uint32_t round; /* in which one: the caller's */
	uint32_t payer; /* whose memory it counts as, and how much of it: the caller's */
	size_t paid;
};

/* An empty one with one user; NULL without memory. */
struct address_space *address_space_create(void);

/* One user more, which is given back. Takes NULL. */
struct address_space *address_space_share(struct address_space *space);

/* One user less, and gone with the last. Takes NULL. */
void address_space_release(struct address_space *space);

/*
 * Put a mapping into the space of one of its users: a copy of the space when it has others too, in
 * which case `*space` becomes that. Memory without a name that goes on where other such ends is
 * one with it. False without memory, or with too many of them: `*space` is as it was.
 */
bool address_space_put(struct address_space **space, const struct profile_mapping *mapping);

/* Does it have just this mapping? */
bool address_space_has(const struct address_space *space, const struct profile_mapping *mapping);

/* Do they have the same ones? */
bool address_space_equal(const struct address_space *a, const struct address_space *b);

/* What it takes, in bytes. */
size_t address_space_bytes(const struct address_space *space);

#endif
