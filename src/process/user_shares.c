/* SPDX-License-Identifier: BSD-2-Clause */
#include "process/user_shares.h"

void user_shares_init(struct user_shares *shares, size_t all)
{
	*shares = (struct user_shares){ .max_one = all / 8, .max_all = all / 2 };
}

void user_shares_deinit(struct user_shares *shares)
{
	word_map_deinit(&shares->numbers);
	array_deinit(&shares->used);
}

uint32_t user_shares_of(struct user_shares *shares, uint32_t pid)
{
	const uint32_t user = shares->user_of ? shares->user_of(pid) : 0;
	uint32_t *number = user ? word_map_at(&shares->numbers, (struct words){ { user } }) : NULL;

	if (!number)
		return USER_SHARE_NONE;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&shares->used, 0))
			return USER_SHARE_NONE;
		*number = (uint32_t)shares->used.count;
	}
	return *number;
}

bool user_shares_have(const struct user_shares *shares, uint32_t share, size_t amount)
{
	const size_t used = share ? shares->used.items[share - 1] : 0;

	return share == USER_SHARE_NONE ||
	       (used <= shares->max_one && amount <= shares->max_one - used &&
		shares->used_by_all <= shares->max_all &&
		amount <= shares->max_all - shares->used_by_all);
}

void user_shares_take(struct user_shares *shares, uint32_t share, size_t amount)
{
	if (share == USER_SHARE_NONE)
		return;
	shares->used.items[share - 1] += amount;
	shares->used_by_all += amount;
}

void user_shares_give_back(struct user_shares *shares, uint32_t share, size_t amount)
{
	if (share == USER_SHARE_NONE)
		return;
	shares->used.items[share - 1] -= amount;
	shares->used_by_all -= amount;
}
