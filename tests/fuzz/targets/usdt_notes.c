/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes as the section of tracepoints of a program.
 */
#include "elf/usdt_notes.h"

#include <string.h>

#include "elf_fuzz.h"

struct notes {
	struct text bytes;
	const struct elf *elf;
	size_t left; /* there is room for so many */
	bool ends;   /* after the first */
};

static bool take_note(void *context, const struct usdt_note *note)
{
	struct notes *notes = context;
	uint64_t offset;

	must(notes->left--);
	must(*note->provider && *note->name);
	must(fuzz_is_inside(text_of(note->provider), notes->bytes));
	must(fuzz_is_inside(text_of(note->name), notes->bytes));
	must(!note->arguments.length || fuzz_is_inside(note->arguments, notes->bytes));
	if (elf_code_offset(notes->elf, note->address, &offset))
		must(offset < notes->bytes.length);
	if (elf_offset(notes->elf, note->semaphore, &offset))
		must(offset < notes->bytes.length);
	if (!notes->ends)
		return true;
	notes->left = 0;
	return false;
}

static void check(const struct fuzz_section *sections, size_t count)
{
	struct text bytes = fuzz_make_elf(sections, count);
	struct image image = image_of(bytes);
	struct elf elf;

	must(elf_open(&image, &elf));
	for (int ends = 0; ends < 2; ends++) {
		struct notes notes = { bytes, &elf, sections[0].bytes.length / sizeof(Elf64_Nhdr),
				       ends };

		usdt_each(&elf, take_note, &notes);
	}
	elf_close(&elf);
	fuzz_release(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	const struct fuzz_section sections[] = { { ".note.stapsdt", SHT_NOTE, bytes },
						 { ".stapsdt.base", SHT_PROGBITS, TEXT("_") } };

	check(sections, 2);
	check(sections, 1);
	fuzz_release(bytes);
	return 0;
}
