/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A section with debug information, read and inflated piece by piece.
 *
 *	struct dwarf_section section;
 *	if (dwarf_section_open(&elf, ".debug_line", &section)) {
 *		section.bytes = room for section.size bytes;
 *		if (dwarf_section_skip(&section, 1000, false) &&
 *		    dwarf_section_read(&section, 1100))
 *			parse(dwarf_section_from(&section, 1000));
 *	}
 *	dwarf_section_close(&section);
 *
 * The file may be hostile and may change: each byte of it is read once.
 */
#ifndef ELF_DWARF_SECTION_H
#define ELF_DWARF_SECTION_H

#include <zlib.h>

#include "elf/elf.h"

struct dwarf_section {
	struct image *image;   /* NULL: there is no such section */
	uint64_t flags;        /* SHF_COMPRESSED: the bytes stay compressed in a way that is left to
				  libelf */
	uint64_t size;         /* of all of it, once inflated */
	char *bytes;           /* the caller's: room for all of it */
	uint64_t length;       /* as far as `bytes` are there, with what was skipped among them */
	uint64_t from, to;     /* the last piece that was read: offsets in the section */
	uint64_t offset, left; /* in the file: what was not read */
	bool is_packed;
	char *window; /* of packed bytes, and behind them what is inflated to be skipped */
	z_stream stream;
};

/* Describe the first section of that name; it must not be moved then. False: there is none, or its
 * sizes are impossible. */
bool dwarf_section_open(const struct elf *elf, const char *name, struct dwarf_section *ret);

/* Read on to offset `end`, if it was not reached yet. False: so much is not there. */
bool dwarf_section_read(struct dwarf_section *section, uint64_t end);

/* Begin another piece at offset `from`. `bytes` have it at that offset, or without a gap behind the
 * piece before. False: that is not there, or was read or skipped already. */
bool dwarf_section_skip(struct dwarf_section *section, uint64_t from, bool without_gap);

/* Returns the bytes from `offset` on, if `offset` is in the piece that was read last; else nothing.
 */
struct text dwarf_section_from(const struct dwarf_section *section, uint64_t offset);

/* Takes one that did not open. */
void dwarf_section_close(struct dwarf_section *section);

#endif
