/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code whose returns are looked for.
 */
#include "elf/returns.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct returns returns = { 0 };

	if (returns_find(bytes, &returns) == RETURNS_FOUND) {
		for (size_t i = 0; i < returns.places.count; i++)
			must(returns.places.items[i] < size &&
			     (!i || returns.places.items[i] > returns.places.items[i - 1]));
		for (size_t i = 0; i < returns.restarts.count; i++)
			must(returns.restarts.items[i] < size);
	} else {
		must(returns.stop <= size);
	}
	returns_deinit(&returns);
	fuzz_release(bytes);
	return 0;
}
