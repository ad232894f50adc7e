/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_thread_file(SOURCE_IO, data, size);
}
