/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the call frame information of a file: .eh_frame, which a process also has in memory, and
 * .debug_frame, which may be compressed.
 */
#ifndef UNWIND_FRAME_SECTION_H
#define UNWIND_FRAME_SECTION_H

#include "elf/elf.h"

struct frame_section {
	struct text bytes; /* of the image, or `inflated`; empty: there is none */
	uint64_t address;  /* where the process has it */
	bool is_debug;     /* in the form of .debug_frame */
	bool has_end;      /* an entry of length 0 is the end; else there are more behind it */
	char *inflated;
	uint64_t offset; /* in the file, of frame_section_unread() */
};

/* Without section headers it is found as the process finds it (PT_GNU_EH_FRAME). */
struct frame_section frame_section_loaded(const struct elf *elf);

/* The same of a file with section headers, of which nothing is copied yet: image_bytes() must have
 * been called for what is read of it. Empty unless all of it is in one segment. */
struct frame_section frame_section_unread(const struct elf *elf);

/* Inflated to at most DEBUG_SIZE_MAX bytes, and DEBUG_RATIO_MAX times the file. One that does not
 * keep to these, or is damaged, is none, as is one for which there is no memory. */
struct frame_section frame_section_debug(const struct elf *elf);

/* Takes an empty one. */
void frame_section_deinit(struct frame_section *section);

#endif
