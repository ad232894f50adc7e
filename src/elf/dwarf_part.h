/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The part of debug information that some addresses need.
 *
 * All debug information on libc is 8 MB, but most stacks have two addresses of it, of functions
 * that start a program. .debug_aranges says which units have an address. Only these are made
 * .debug_info, and of other sections only what these refer to is kept; compressed sections are
 * inflated up to there.
 */
#ifndef ELF_DWARF_PART_H
#define ELF_DWARF_PART_H

#include "elf/dwarf_section.h"

/* Addresses of a file, as its segments have them, in any order. */
struct dwarf_addresses {
	const uint64_t *items;
	size_t count;
};

/*
 * Read from .debug_info, .debug_abbrev and .debug_line, which are open, what the units with these
 * addresses need. False: all of them are needed, since .debug_aranges does not have each address,
 * units refer to others, or something is malformed; something may have been read.
 */
bool dwarf_part_read(const struct elf *elf, const struct dwarf_addresses *addresses,
		     struct dwarf_section *info, struct dwarf_section *abbrev,
		     struct dwarf_section *line);

#endif
