/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What debug information may cost, told before libdw reads it.
 *
 * libdw inflates compressed sections whole when it opens a file, makes of each abbreviation an
 * object of ten times its size, and looks at all attributes of an entry, of which some take no room
 * in it. A small file can so ask for gigabytes, or hours. These are bounds that no compiler comes
 * near to.
 */
#ifndef ELF_DWARF_BOUNDS_H
#define ELF_DWARF_BOUNDS_H

#include "base/error.h"
#include "elf/elf.h"

/* A file, and what its sections have together, once inflated: in bytes. */
#define DEBUG_SIZE_MAX ((uint64_t)256 << 20)

/* Compressed debug information is a third to a tenth of what it was; sections do not overlap. */
#define DEBUG_RATIO_MAX 64

/* Do all sections together keep to these bounds? */
bool dwarf_sections_are_bounded(const struct elf *elf);

/* The most attributes of an entry. */
#define DEBUG_ATTRIBUTES_MAX 128

struct abbreviations {
	uint64_t length;    /* of the table, in bytes */
	unsigned most_free; /* how many attributes of one entry take no room in it */
};

/*
 * The table of abbreviations (DWARF 5, 7.5.3) at `offset` of .debug_abbrev. False when it is not
 * in the form that libdw reads in the same way, or an entry has too many attributes.
 */
bool dwarf_measure_abbreviations(struct text section, uint64_t offset,
				 struct abbreviations *ret) MUST_CHECK;

/*
 * How many bytes the lines (DWARF 5, 6.2) at `offset` of .debug_line take, of each of which libdw
 * can make 80. False when their header is not of a form that libdw reads in a time that grows with
 * them: lists of files could have entries without room, and of those any number.
 */
bool dwarf_measure_lines(struct text section, uint64_t offset, uint64_t *ret) MUST_CHECK;

#endif
