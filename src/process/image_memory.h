/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory that images take in a process table (process_table.h): names of files and address
 * spaces, up to a limit, of which each user has a share (user_shares.h).
 */
#ifndef PROCESS_IMAGE_MEMORY_H
#define PROCESS_IMAGE_MEMORY_H

#include "base/names.h"
#include "process/address_space.h"
#include "process/user_shares.h"

struct image_memory {
	size_t max, used; /* bytes; `used` without names */
	struct user_shares shares;
	struct arena arena;
	struct names names;
};

/* The user of a process, whose share of memory is charged. Looked up when needed. */
struct image_payer {
	uint32_t pid;
	uint32_t share; /* once `is_known` */
	bool is_known;
};

void image_memory_init(struct image_memory *memory, size_t max);
void image_memory_deinit(struct image_memory *memory);

bool image_memory_has_room(const struct image_memory *memory, size_t bytes);

/* The name with these bytes, which stays. NULL: there is no room, or the share of the user is used
 * up. */
const struct name *image_memory_name(struct image_memory *memory, struct image_payer *payer,
				     struct text text);

/* Create an empty space where `*space` is NULL. False without memory. */
bool image_memory_create_space(struct image_memory *memory, struct address_space **space);

/* Add a mapping to a space, which is created where it is NULL, and copied where others share it
 * (address_space_put). False: there is no room, or the share of the user is used up. */
bool image_memory_put(struct image_memory *memory, struct image_payer *payer,
		      struct address_space **space, const struct profile_mapping *mapping);

/* Remove a user of the space. Takes NULL. */
void image_memory_drop(struct image_memory *memory, struct address_space *space);

#endif
