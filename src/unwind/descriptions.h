/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptions of functions (FDE) in a section, by where the functions begin, and what they
 * have in common (CIE).
 *
 * A CIE counts from where it stands on: the form of .eh_frame cannot point to a later one, and
 * nobody writes .debug_frame in another order. So each byte of the section is read once, whatever
 * refers to what.
 */
#ifndef UNWIND_DESCRIPTIONS_H
#define UNWIND_DESCRIPTIONS_H

#include "base/array.h"
#include "base/word_map.h"
#include "unwind/cfi.h"
#include "unwind/code.h"
#include "unwind/frame_section.h"

struct description {
	uint64_t start, end;
	uint64_t instructions; /* where they begin in the section */
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
	size_t refused;
};

/* Takes the section over. Functions outside of `code` are refused, and ends cut to it. False
 * without memory. */
bool descriptions_read(struct descriptions *descriptions, struct frame_section section,
		       const struct cfi_machine *machine, const struct code *code);

/* Takes an empty one. */
void descriptions_deinit(struct descriptions *descriptions);

#endif
