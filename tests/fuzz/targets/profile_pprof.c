/* SPDX-License-Identifier: BSD-2-Clause */
#include "profile_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_profile(profile_parse_pprof, data, size);
}
