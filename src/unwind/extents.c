/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/extents.h"

/* The first unit at or behind `from` that is taken, or else is free; UNWIND_CHUNK_UNITS: there is
 * none. */
static uint32_t next(const struct unwind_extents *extents, uint32_t from, bool taken)
{
	while (from < UNWIND_CHUNK_UNITS) {
		uint64_t bits = extents->taken[from / 64] ^ (taken ? 0 : UINT64_MAX);

		bits &= UINT64_MAX << from % 64;
		if (bits)
			return from / 64 * 64 + (uint32_t)__builtin_ctzll(bits);
		from = (from / 64 + 1) * 64;
	}
	return UNWIND_CHUNK_UNITS;
}

static void mark(struct unwind_extents *extents, uint32_t first, uint32_t units, bool taken)
{
	for (uint32_t end = first + units; first < end;) {
		uint32_t bit = first % 64, count = 64 - bit < end - first ? 64 - bit : end - first;
		uint64_t bits = UINT64_MAX >> (64 - count) << bit;

		if (taken)
			extents->taken[first / 64] |= bits;
		else
			extents->taken[first / 64] &= ~bits;
		first += count;
	}
}

bool unwind_extents_take(struct unwind_extents *extents, uint32_t units, uint32_t *ret)
{
	uint32_t end, longest = 0;

	if (extents->too_many && units >= extents->too_many)
		return false;
	for (uint32_t at = next(extents, 0, false); at < UNWIND_CHUNK_UNITS;
	     at = next(extents, end, false)) {
		end = next(extents, at, true);
		if (end - at >= units) {
			mark(extents, at, units, true);
			*ret = at;
			return true;
		}
		if (end - at > longest)
			longest = end - at;
	}
	extents->too_many = longest + 1;
	return false;
}

void unwind_extents_give_back(struct unwind_extents *extents, uint32_t first, uint32_t units)
{
	mark(extents, first, units, false);
	extents->too_many = 0;
}
