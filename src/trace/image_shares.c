/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/image_shares.h"

void image_shares_init(struct image_shares *shares, size_t max_memory)
{
	*shares = (struct image_shares){ .max_one = max_memory / 8, .max_all = max_memory / 2 };
}

void image_shares_deinit(struct image_shares *shares)
{
	word_map_deinit(&shares->numbers);
	array_deinit(&shares->used);
}

uint32_t image_shares_of(struct image_shares *shares, uint32_t pid)
{
	const uint32_t user = shares->user_of ? shares->user_of(pid) : 0;
	uint32_t *number = user ? word_map_at(&shares->numbers, (struct words){ { user } }) : NULL;

	if (!number)
		return IMAGE_SHARE_NONE;
	if (*number == WORD_MAP_NEW) {
		if (!array_push(&shares->used, 0))
			return IMAGE_SHARE_NONE;
		*number = (uint32_t)shares->used.count;
	}
	return *number;
}

bool image_shares_have(const struct image_shares *shares, uint32_t share, size_t bytes)
{
	const size_t used = share ? shares->used.items[share - 1] : 0;

	return share == IMAGE_SHARE_NONE ||
	       (used <= shares->max_one && bytes <= shares->max_one - used &&
		shares->used_by_all <= shares->max_all &&
		bytes <= shares->max_all - shares->used_by_all);
}

void image_shares_take(struct image_shares *shares, uint32_t share, size_t bytes)
{
	if (share == IMAGE_SHARE_NONE)
		return;
	shares->used.items[share - 1] += bytes;
	shares->used_by_all += bytes;
}

void image_shares_give_back(struct image_shares *shares, uint32_t share, size_t bytes)
{
	if (share == IMAGE_SHARE_NONE)
		return;
	shares->used.items[share - 1] -= bytes;
	shares->used_by_all -= bytes;
}
