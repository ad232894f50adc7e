/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/maps.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size), rest = bytes;
	struct mapping mapping;

	while (maps_next(&rest, &mapping)) {
		must(mapping.start < mapping.end);
		must(fuzz_is_inside(mapping.path, bytes));
		must(!memchr(mapping.path.bytes, '\n', mapping.path.length));
	}
	must(!rest.length);
	fuzz_release(bytes);
	return 0;
}
