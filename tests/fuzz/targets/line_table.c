/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include "elf/library_cache.h"
#include "elf/line_table.h"
#include "elf/usdt_notes.h"

static bool take_row(void *context, uint64_t address, uint32_t line)
{
	size_t *left = context;

	(void)address;
	(void)line;
	must(*left);
	return --*left;
}

static bool take_note(void *context, const struct usdt_note *note)
{
	(void)context;
	must(strlen(note->provider) && strlen(note->name));
	return true;
}

static bool take_library(void *context, const char *name, const char *path)
{
	const struct text *bytes = context;

	must(fuzz_is_inside(text_of(name), *bytes) && fuzz_is_inside(text_of(path), *bytes));
	library_is(name, TEXT("c"));
	return true;
}

/* What is read of files for probes: the same bytes as each. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	const struct line_sections sections = { bytes, bytes, bytes };
	struct image image = image_of(bytes);
	struct elf elf;
	/* Each byte makes one row at most. */
	size_t left = size + 1;

	line_table_find(&sections, TEXT("a.c"), take_row, &left);
	library_cache_each(bytes, take_library, &bytes);
	if (elf_open(&image, &elf))
		usdt_each(&elf, take_note, NULL);
	elf_close(&elf);
	fuzz_release(bytes);
	return 0;
}
