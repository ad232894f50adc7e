/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/file_locks.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);

	must(!file_locks_holder(bytes, 0));
	for (uint32_t pid = 2000; pid < 2004; pid++)
		file_locks_holder(bytes, pid);
	fuzz_release(bytes);
	return 0;
}
