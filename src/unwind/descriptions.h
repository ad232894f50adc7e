/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptions of functions (FDE) in a section, ordered by the start of the functions, and
 * their common parts (CIE).
 *
 * A CIE must precede the FDEs that refer to it: .eh_frame cannot refer to a later one, and no
 * compiler writes .debug_frame in another order. So each byte of the section is read once.
 */
#ifndef UNWIND_DESCRIPTIONS_H
#define UNWIND_DESCRIPTIONS_H

#include "base/array.h"
#include "base/word_map.h"
#include "elf/function_index.h"
#include "unwind/cfi.h"
#include "unwind/code.h"
#include "unwind/frame_section.h"

struct description {
	uint64_t start, end;
	uint32_t instructions; /* where they begin in the section, which is IMAGE_STRETCH_MAX at
				  most */
	uint32_t length, common;
};

struct common {
	struct cfi_program program;
	bool has_size; /* functions have data of a size given there before their instructions */
};

struct descriptions {
	struct frame_section section;
	struct {
		ARRAY(struct description);
	} functions;
	struct {
		ARRAY(struct common);
	} commons;
	struct word_map common_at; /* by where it is in the section */
	/* The one that was looked for last: most functions have that of the function before. */
	uint64_t last_common_at;
	uint32_t last_common; /* its number; WORD_MAP_NEW: there is none */
	size_t refused;
};

/* Takes the section over. Functions outside of `code` are refused, and ends cut to it. False
 * without memory. */
bool descriptions_read(struct descriptions *descriptions, struct frame_section section,
		       const struct cfi_machine *machine, const struct code *code);

/*
 * Those of the functions `first` to `first + count - 1` of the index, whose descriptions must be in
 * .eh_frame of the same file. Of that section only these and their common parts are read.
 */
bool descriptions_read_some(struct descriptions *descriptions, const struct function_index *index,
			    uint32_t first, uint32_t count, const struct cfi_machine *machine,
			    const struct code *code);

/* Takes an empty one. */
void descriptions_deinit(struct descriptions *descriptions);

#endif
