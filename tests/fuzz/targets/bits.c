/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "snapshot/bits.h"

/* What was parsed is written so that it parses to the same set, whatever digits came in. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct bits bits, again;
	char digits[BITS_TEXT_MAX];

	if (bits_parse(bytes, &bits)) {
		must(bits_parse(text_of(bits_format(digits, &bits, BITS_MAX)), &again));
		must(memcmp(&bits, &again, sizeof(bits)) == 0);
		for (size_t i = 0; i < BITS_MAX; i++)
			must(!bits_has(&bits, i) || i / 4 < size);
	}
	fuzz_release(bytes);
	return 0;
}
