/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file that may have code of Go.
 */
#include "elf/go_build.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct image image = image_of(bytes);
	struct go_build build;
	uint64_t start, end;
	struct elf elf;

	if (elf_open(&image, &elf)) {
		go_build_find(&elf, &build);
		must(build.is_go || !build.minor);
		must(build.major < 10000 && build.minor < 10000);
		must(!go_build_code(&elf, &start, &end) || start < end);
		elf_close(&elf);
	}
	fuzz_release(bytes);
	return 0;
}
