/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of variable length: seven bits in a byte, the lowest first; the eighth bit says that more
 * follow. Protobuf calls them varints, ClickHouse VarUInt, and DWARF unsigned LEB128.
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* The most bytes that a number of 64 bits has. */
#define VARINT_MAX 10

/* Write a number, at most VARINT_MAX bytes. Returns the address behind it. */
static inline char *varint_write(char *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*to++ = (char)(number | 0x80);
	*to++ = (char)number;
	return to;
}

/* Cut a number of at most `most` bytes, up to VARINT_MAX, off the front. One with more than 64 bits
 * becomes UINT64_MAX. False, with `rest` untouched, where it does not end within `most` bytes or
 * the text. */
static inline bool varint_cut(struct text *rest, size_t most, uint64_t *ret)
{
	uint64_t number = 0;

	for (size_t i = 0; i < most && i < rest->length; i++) {
		const unsigned char byte = (unsigned char)rest->bytes[i];

		number |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		rest->bytes += i + 1;
		rest->length -= i + 1;
		*ret = i == VARINT_MAX - 1 && byte > 1 ? UINT64_MAX : number;
		return true;
	}
	return false;
}

#endif
