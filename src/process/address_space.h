/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of a process. A process and its children share them until one of them
 * maps something.
 *
 * The kernel does not report when a mapping is removed. So the later of two that overlap wins, and
 * the rest of the earlier one stays.
 */
#ifndef PROCESS_ADDRESS_SPACE_H
#define PROCESS_ADDRESS_SPACE_H

#include "profile/profile.h"

/* More executable mappings than programs have. Each new one moves those behind it, so a process
 * that makes as many as it can would take much of our time. */
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

/* Create an empty space with one user. NULL without memory. */
struct address_space *address_space_create(void);

/* Add a user, and return the space. Takes NULL. */
struct address_space *address_space_share(struct address_space *space);

/* Remove a user; the last one destroys the space. Takes NULL. */
void address_space_release(struct address_space *space);

/*
 * Add a mapping for one of the users of the space. If there are others, `*space` becomes a copy.
 * Memory without a name extends other such memory that ends where it begins. False without memory,
 * or with too many mappings: `*space` is as it was.
 */
bool address_space_put(struct address_space **space, const struct profile_mapping *mapping);

/* Returns whether the space has exactly this mapping. */
bool address_space_has(const struct address_space *space, const struct profile_mapping *mapping);

/* The mapping that begins at an address, good until the space changes. NULL: none does. */
const struct profile_mapping *address_space_at(const struct address_space *space, uint64_t start);

/* Returns whether both have the same mappings. */
bool address_space_equal(const struct address_space *a, const struct address_space *b);

/* Returns the memory that it takes, in bytes. */
size_t address_space_bytes(const struct address_space *space);

#endif
