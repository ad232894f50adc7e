/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits the share of each user of memory that all processes share: for images (image_memory.h)
 * and for unwind tables (unwind_table_cache.h). One user gets at most an eighth, all users together
 * half, so that a user with ever new files takes nothing from others. Root is not limited.
 */
#ifndef PROCESS_USER_SHARES_H
#define PROCESS_USER_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/array.h"
#include "base/word_map.h"

/* The share without a limit. */
#define USER_SHARE_NONE 0

/* The user of a process; 0: it is not limited. UINT32_MAX: it is gone; all of these are one user.
 */
typedef uint32_t share_user_of(uint32_t pid);

struct user_shares {
	share_user_of *user_of; /* NULL: no user is limited */
	size_t max_one, max_all;
	size_t used_by_all;
	struct word_map numbers; /* of users, from 1 */
	struct {
		ARRAY(size_t);
	} used; /* by number - 1 */
};

/* `all` is the amount that users share, in bytes or any other unit. */
void user_shares_init(struct user_shares *shares, size_t all);
void user_shares_deinit(struct user_shares *shares);

/* The number of the share that the process counts for. Without memory USER_SHARE_NONE. */
uint32_t user_shares_of(struct user_shares *shares, uint32_t pid);

/* Is so much left of it? */
bool user_shares_have(const struct user_shares *shares, uint32_t share, size_t amount);

/* Charge a share, even beyond its limit. */
void user_shares_take(struct user_shares *shares, uint32_t share, size_t amount);
void user_shares_give_back(struct user_shares *shares, uint32_t share, size_t amount);

#endif
