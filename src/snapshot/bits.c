/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/bits.h"

#include "base/hex.h"

char *bits_format(char *buffer, const struct bits *bits, size_t count)
{
	size_t length = (count + 3) / 4;

	for (size_t k = 0; k < length; k++)
		buffer[k] = hex_digits[bits->words[k / 16] >> (k % 16 * 4) & 15];
	buffer[length] = '\0';
	return buffer;
}

bool bits_parse(struct text text, struct bits *ret)
{
	struct bits bits = { 0 };

	if (text.length > BITS_MAX / 4)
		return false;
	for (size_t k = 0; k < text.length; k++) {
		int value = hex_digit(text.bytes[k]);

		if (value < 0)
			return false;
		bits.words[k / 16] |= (uint64_t)value << (k % 16 * 4);
	}
	*ret = bits;
	return true;
}
