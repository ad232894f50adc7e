/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_write(char *to, const void *bytes, size_t count)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < count; i += 3) {
		const size_t left = count - i;
		const uint32_t three = (uint32_t)from[i] << 16 |
				       (left > 1 ? (uint32_t)from[i + 1] << 8 : 0) |
				       (left > 2 ? from[i + 2] : 0);

		*to++ = digits[three >> 18];
		*to++ = digits[three >> 12 & 63];
		*to++ = left > 1 ? digits[three >> 6 & 63] : '=';
		*to++ = left > 2 ? digits[three & 63] : '=';
	}
	*to = '\0';
	return to;
}
