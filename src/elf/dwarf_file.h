/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open a hostile file with debug information with libdw (elfutils), safely.
 *
 *	struct dwarf_file file;
 *	if (dwarf_file_open(&image, NULL, &file) == DWARF_FILE_OPEN)
 *		look(file.dwarf);
 *	dwarf_file_close(&file);
 *
 * libdw reads a file in memory that is made of the sections it needs: their sizes were checked
 * (dwarf_bounds.h), they cannot change afterwards, and all headers are ours. It is kept from
 * opening other files that this one names, such as devices or pipes without a writer. Its
 * convenience functions (dwarf_diename, dwarf_srclang) must not be called: they follow references
 * to such files.
 */
#ifndef ELF_DWARF_FILE_H
#define ELF_DWARF_FILE_H

#include <elfutils/libdw.h>

#include "elf/dwarf_part.h"

enum dwarf_file_answer {
	DWARF_FILE_NONE, /* no information, or no memory */
	DWARF_FILE_OPEN,
	DWARF_FILE_REFUSED, /* it breaks a bound */
};

struct dwarf_file {
	char *copy;
	size_t size; /* of the copy */
	Elf *elf;
	Dwarf *dwarf;
	/* .debug_abbrev and .debug_line as libdw has them, inflated. The second may be empty. */
	struct text abbreviations, lines;
};

/* With `addresses` (NULL: all is wanted), units that come behind those with an address may be left
 * out (dwarf_part.h). If it is not opened, `ret` is empty. */
enum dwarf_file_answer dwarf_file_open(struct image *image, const struct dwarf_addresses *addresses,
				       struct dwarf_file *ret);

/* How many bytes the used sections have, packed and inflated; UINT64_MAX: they would be refused. */
uint64_t dwarf_file_bytes_of_all(const struct elf *elf);

/* Takes an empty one. */
void dwarf_file_close(struct dwarf_file *file);

/* Another section as libdw has it, inflated, such as ".debug_str". Empty: there is none, or it is
 * one that ctprof does not use. */
struct text dwarf_file_section(const struct dwarf_file *file, const char *name);

#endif
