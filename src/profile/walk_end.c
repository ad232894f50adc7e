/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile/walk_end.h"

#include <stddef.h>

const struct walk_end_row walk_ends[WALK_ENDS] = {
#define WALK_END_ROW(id, name, worth, why) [WALK_END_##id] = { name, WALK_##worth, why },
	WALK_ENDS_ALL(WALK_END_ROW)
#undef WALK_END_ROW
};

uint64_t walk_ends_worth(const uint64_t walks[WALK_ENDS], enum walk_worth worth)
{
	uint64_t sum = 0;

	for (size_t end = 0; end < WALK_ENDS; end++)
		if (walk_ends[end].worth == worth)
			sum += walks[end];
	return sum;
}
