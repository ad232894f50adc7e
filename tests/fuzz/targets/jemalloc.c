/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An ELF file, with debug information, as what a process runs: what is found of jemalloc in it.
 */
#include "elf/jemalloc.h"
#include "fuzz.h"

static int open_nothing(void *context, const char *path)
{
	(void)context;
	must(path[0] == '/');
	must(!strstr(path, "/../"));
	return -1;
}

static void check(const struct elf *elf, bool is_program)
{
	const struct jemalloc_file file = { elf, is_program, "/a/b", open_nothing, NULL };
	struct jemalloc_layout layout = { .allocated = 1 }, again;
	enum jemalloc_refusal refusal = jemalloc_find(&file, &layout);

	if (refusal) {
		must(layout.allocated == 1);
		return;
	}
	must(layout.allocated < layout.deallocated && layout.deallocated < JEMALLOC_OFFSET_MAX);
	must(layout.allocated % 8 == 0 && layout.deallocated % 8 == 0);
	must(is_program || layout.by_slot);
	must(layout.by_slot || (layout.block > INT32_MIN && layout.block < INT32_MAX));
	must(jemalloc_find(&file, &again) == JEMALLOC_FOUND);
	must(again.block == layout.block && again.slot == layout.slot);
}

static void check_parts(const struct elf *elf, struct text bytes)
{
	struct text id = elf_build_id(elf), name;
	uint64_t start, end;
	uint32_t crc;

	must(!id.length || fuzz_is_inside(id, bytes));
	must(!elf_debuglink(elf, &name, &crc) || fuzz_is_inside(name, bytes));
	must(!elf_function(elf, 0x1000, &start, &end) || (start <= 0x1000 && 0x1000 < end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	struct image image = image_of(bytes);
	struct elf elf;

	if (elf_open(&image, &elf)) {
		check_parts(&elf, bytes);
		check(&elf, true);
		check(&elf, false);
	}
	elf_close(&elf);
	image_close(&image);
	fuzz_release(bytes);
	return 0;
}
