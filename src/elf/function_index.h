/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions of a file by where they start: the sorted table of .eh_frame_hdr, as linkers write
 * it (LSB Core 5.0, 10.6.2). Only the rows that are read are copied.
 */
#ifndef ELF_FUNCTION_INDEX_H
#define ELF_FUNCTION_INDEX_H

#include "elf/elf.h"

struct function_index {
	const struct elf *elf; /* not owned */
	uint64_t address;      /* of .eh_frame_hdr */
	uint32_t count;        /* of functions */
};

/* False: there is no table, or none that can be searched. */
bool function_index_open(const struct elf *elf, struct function_index *ret);

/* Where a function starts, and where its description (FDE) is. False: that is not in the file. */
bool function_index_at(const struct function_index *index, uint32_t number, uint64_t *ret_start,
		       uint64_t *ret_description);

/* How many functions start at or before the address. False: a row cannot be read. */
bool function_index_find(const struct function_index *index, uint64_t address, uint32_t *ret);

#endif
