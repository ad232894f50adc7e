/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of DWARF (DWARF 5, 7.6), cut from the front of bytes that may be hostile. Each function
 * returns false, and cuts nothing, when they are not all there.
 */
#ifndef ELF_DWARF_CURSOR_H
#define ELF_DWARF_CURSOR_H

#include <string.h>

#include "base/text.h"

/* The longest LEB128 of codes, tags, names and forms, which are small, and of 64 bits. */
#define DWARF_SMALL_MAX    5
#define DWARF_CONSTANT_MAX 10

/* A number of `size` bytes, at most 8. */
static inline bool dwarf_cut_fixed(struct text *rest, size_t size, uint64_t *ret)
{
	if (rest->length < size)
		return false;
	*ret = 0;
	memcpy(ret, rest->bytes, size);
	rest->bytes += size;
	rest->length -= size;
	return true;
}

/* A number of at most `most` bytes, 7 bits in each (LEB128). */
static inline bool dwarf_cut_leb128(struct text *rest, size_t most, uint64_t *ret)
{
	uint64_t value = 0;

	for (size_t i = 0; i < most && i < rest->length; i++) {
		uint8_t byte = (uint8_t)rest->bytes[i];

		value |= i < 9 ? (uint64_t)(byte & 0x7f) << 7 * i : 0;
		if (byte & 0x80)
			continue;
		rest->bytes += i + 1;
		rest->length -= i + 1;
		*ret = value;
		return true;
	}
	return false;
}

/* The length of what follows, and how many bytes an offset has in it: 4 or 8 (7.4). */
static inline bool dwarf_cut_length(struct text *rest, uint64_t *ret_length, size_t *ret_offset)
{
	struct text after = *rest;
	uint64_t length;
	size_t offset = 4;

	if (!dwarf_cut_fixed(&after, 4, &length))
		return false;
	if (length == UINT32_MAX) {
		offset = 8;
		if (!dwarf_cut_fixed(&after, 8, &length))
			return false;
	}
	*rest = after;
	*ret_length = length;
	*ret_offset = offset;
	return true;
}

#endif
