/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of the memory of images (image_table.h) each user has: of one user no more than an
 * eighth, and of all of them no more than half, so that one who maps ever new files takes nothing
 * from the others. Root and whoever is not limited have all of it.
 */
#ifndef TRACE_IMAGE_SHARES_H
#define TRACE_IMAGE_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/word_map.h"

/* Of whom there is no limit. */
#define IMAGE_SHARE_NONE 0

/* The user of a process; 0: it is not limited. UINT32_MAX: it is gone; all of these are one user.
 */
typedef uint32_t image_user_of(uint32_t pid);

struct image_shares {
	image_user_of *user_of; /* NULL: nobody is limited */
	size_t max_one, max_all;
	size_t used_by_all;
	struct word_map numbers; /* of users, from 1 */
	struct {
		ARRAY(size_t);
	} used; /* bytes, by number - 1 */
};

void image_shares_init(struct image_shares *shares, size_t max_memory);
void image_shares_deinit(struct image_shares *shares);

/* The number of the share that the process counts for. Without memory IMAGE_SHARE_NONE. */
uint32_t image_shares_of(struct image_shares *shares, uint32_t pid);

/* Are so many bytes left of it? */
bool image_shares_have(const struct image_shares *shares, uint32_t share, size_t bytes);

/* They may be more than are left. */
void image_shares_take(struct image_shares *shares, uint32_t share, size_t bytes);
void image_shares_give_back(struct image_shares *shares, uint32_t share, size_t bytes);

#endif
