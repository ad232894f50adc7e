/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hexadecimal digits: numbers as files of symbols have them, bytes as build IDs and digests are
 * written.
 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include "base/text.h"

/* "0123456789abcdef", without a NUL. */
extern const char hex_digits[16];

/* The value of a lower-case digit, which is all that the kernel and our files write; -1: it is
 * none. */
static inline int hex_digit(char byte)
{
	return byte >= '0' && byte <= '9'   ? byte - '0'
	       : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
					    : -1;
}

/* Cut a number of up to 16 digits of either case, "0x" before it or not, off the front. False, with
 * `rest` untouched, when there is none or it has more. */
bool hex_cut(struct text *rest, uint64_t *ret);

/* Write two digits for each of the `count` bytes, then a NUL. Returns the address of the NUL. */
char *hex_write(char *to, const void *bytes, size_t count);

/* Read the bytes back, at most `most` of them. False, with `to` undefined, where the text has more,
 * an odd number of digits, or anything but lower-case digits. */
bool hex_read(struct text text, void *to, size_t most);

#endif
