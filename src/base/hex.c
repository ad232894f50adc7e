/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/hex.h"

const char hex_digits[16] = { '0', '1', '2', '3', '4', '5', '6', '7',
			      '8', '9', 'a', 'b', 'c', 'd', 'e', 'f' };

bool hex_cut(struct text *rest, uint64_t *ret)
{
	size_t at = text_starts(*rest, TEXT("0x")) ? 2 : 0, first = at;
	uint64_t value = 0;

	for (; at < rest->length; at++) {
		const char byte = rest->bytes[at];
		const int digit =
			hex_digit(byte >= 'A' && byte <= 'F' ? (char)(byte | 0x20) : byte);

		if (digit < 0)
			break;
		value = value << 4 | (uint64_t)digit;
	}
	if (at == first || at - first > 16)
		return false;
	rest->bytes += at;
	rest->length -= at;
	*ret = value;
	return true;
}

char *hex_write(char *to, const void *bytes, size_t count)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < count; i++) {
		*to++ = hex_digits[from[i] >> 4];
		*to++ = hex_digits[from[i] & 15];
	}
	*to = '\0';
	return to;
}

bool hex_read(struct text text, void *to, size_t most)
{
	unsigned char *bytes = to;

	if (text.length % 2 || text.length / 2 > most)
		return false;
	for (size_t i = 0; i < text.length; i += 2) {
		const int high = hex_digit(text.bytes[i]), low = hex_digit(text.bytes[i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i / 2] = (unsigned char)(high << 4 | low);
	}
	return true;
}
