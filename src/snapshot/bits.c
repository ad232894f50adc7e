/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/bits.h"

char *bits_format(char *buffer, const struct bits *bits, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	size_t length = (count + 3) / 4;

	for (size_t k = 0; k < length; k++)
		buffer[k] = digits[bits->words[k / 16] >> (k % 16 * 4) & 15];
	buffer[length] = '\0';
	return buffer;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

bool bits_parse(struct text text, struct bits *ret)
{
	struct bits bits = { 0 };

	if (text.length > BITS_MAX / 4)
		return false;
	for (size_t k = 0; k < text.length; k++) {
		int value = digit_value(text.bytes[k]);

		if (value < 0)
			return false;
		bits.words[k / 16] |= (uint64_t)value << (k % 16 * 4);
	}
	*ret = bits;
	return true;
}
