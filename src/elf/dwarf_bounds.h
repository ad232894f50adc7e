/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds the cost of debug information before libdw reads it.
 *
 * libdw inflates compressed sections as a whole when it opens a file, makes of each abbreviation an
 * object of ten times its size, and visits all attributes of an entry, some of which take no bytes.
 * So a small file could take gigabytes, or hours. No compiler comes near these bounds.
 */
#ifndef ELF_DWARF_BOUNDS_H
#define ELF_DWARF_BOUNDS_H

#include "base/error.h"
#include "elf/elf.h"

/* A file, and what its sections have together, once inflated: in bytes. */
#define DEBUG_SIZE_MAX ((uint64_t)256 << 20)

/* Compressed debug information is a third to a tenth of what it was; sections do not overlap. */
#define DEBUG_RATIO_MAX 64

/* Do the first sections of these names together keep to these bounds? `ret_bytes` is what they
 * have, packed and inflated. */
bool dwarf_sections_are_bounded(const struct elf *elf, const char *const *names, size_t count,
				uint64_t *ret_bytes);

/* libdw makes of a byte of abbreviations ten, and a kilobyte of each unit: the limits of a file. */
#define DEBUG_ABBREVIATIONS_MAX ((uint64_t)32 << 20)
#define DEBUG_UNITS_MAX         ((uint64_t)128 << 10)

/* The most attributes of an entry. */
#define DEBUG_ATTRIBUTES_MAX 128

struct abbreviations {
	uint64_t length;     /* of the table, in bytes */
	unsigned most_free;  /* how many attributes of one entry take no room in it */
	bool has_references; /* entries may refer to those of other units (DW_FORM_ref_addr) */
};

/*
 * The table of abbreviations (DWARF 5, 7.5.3) at `offset` of .debug_abbrev. False when it is not
 * in the form that libdw reads in the same way, or an entry has too many attributes.
 */
bool dwarf_measure_abbreviations(struct text section, uint64_t offset,
				 struct abbreviations *ret) MUST_CHECK;

/*
 * The size of the line program (DWARF 5, 6.2) at `offset` of .debug_line; libdw can allocate 80
 * bytes for each byte of it. False if libdw could not read its header in linear time: lists of
 * files could have any number of empty entries.
 */
bool dwarf_measure_lines(struct text section, uint64_t offset, uint64_t *ret) MUST_CHECK;

#endif
