/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/grid.h"

uint64_t grid_next(uint64_t due_ns, uint64_t interval_ns, uint64_t ended_ns, uint64_t now_ns)
{
	const uint64_t half_ns = ended_ns + interval_ns / 2;
	const uint64_t least_ns = now_ns > half_ns ? now_ns : half_ns;
	const uint64_t passed = least_ns > due_ns ? (least_ns - due_ns) / interval_ns : 0;

	return due_ns + (passed + 1) * interval_ns;
}
