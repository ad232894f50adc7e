/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ranges of code in a file: addresses of its executable segments, limited to bytes in the file.
 * Tables cover only these, so the size of the file bounds theirs.
 */
#ifndef UNWIND_CODE_H
#define UNWIND_CODE_H

#include "elf/elf.h"

struct code_range {
	uint64_t start, end; /* end > start */
};

struct code {
	struct code_range *ranges; /* by start, with gaps between them */
	size_t count;
};

/* Only what is at most `span` bytes behind the 64 KiB block that the first begins in. False without
 * memory. */
bool code_init(struct code *code, const struct elf *elf, uint64_t span);
void code_deinit(struct code *code);

/*
 * The same ranges, each without what is before its first section of instructions and behind its
 * last one: some linkers put tables of symbols, strings and constants into the segment of the code.
 * A range without such a section stays as it is. False without memory.
 */
bool code_init_instructions(struct code *instructions, const struct code *code,
			    const struct elf *elf);

/* The range that has the address; NULL: none. */
const struct code_range *code_find(const struct code *code, uint64_t address);

#endif
