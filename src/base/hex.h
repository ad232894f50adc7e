/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses in hexadecimal digits, as files of symbols have them.
 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include "base/text.h"

/* Cut a number of up to 16 digits, "0x" before it or not, off the front. False, with `rest`
 * untouched, when there is none or it has more. */
static inline bool hex_cut(struct text *rest, uint64_t *ret)
{
	size_t at = text_starts(*rest, TEXT("0x")) ? 2 : 0, first = at;
	uint64_t value = 0;

	for (; at < rest->length; at++) {
		unsigned char byte = (unsigned char)rest->bytes[at];
		unsigned digit = (unsigned)byte - '0';

		if (digit > 9)
			digit = (byte | 0x20u) - 'a' < 6 ? (byte | 0x20u) - 'a' + 10 : 16;
		if (digit > 15)
			break;
		value = value << 4 | digit;
	}
	if (at == first || at - first > 16)
		return false;
	rest->bytes += at;
	rest->length -= at;
	*ret = value;
	return true;
}

#endif
