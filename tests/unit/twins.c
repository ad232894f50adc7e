/* SPDX-License-Identifier: BSD-2-Clause */
#define OTHER_TWIN
#include "unit/twins.h"

struct twin {
	uint64_t first, between, last;
};

size_t twin_size(void)
{
	static volatile struct twin twin;

	twin.last = 1;
	return sizeof(twin);
}
