/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/utf8.h"

#include <langinfo.h>
#include <string.h>

/* RFC 3629 section 4: the second byte's range depends on the first. */
size_t utf8_sequence(const char *bytes, size_t length)
{
	const unsigned char *b = (const unsigned char *)bytes;
	unsigned char low = 0x80, high = 0xbf;
	size_t wide;

	if (!length)
		return 0;
	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xc2 && b[0] <= 0xdf) {
		wide = 2;
	} else if (b[0] >= 0xe0 && b[0] <= 0xef) {
		wide = 3;
		if (b[0] == 0xe0)
			low = 0xa0;
		if (b[0] == 0xed)
			high = 0x9f;
	} else if (b[0] >= 0xf0 && b[0] <= 0xf4) {
		wide = 4;
		if (b[0] == 0xf0)
			low = 0x90;
		if (b[0] == 0xf4)
			high = 0x8f;
	} else {
		return 0;
	}
	if (length < wide || b[1] < low || b[1] > high)
		return 0;
	for (size_t i = 2; i < wide; i++)
		if (b[i] < 0x80 || b[i] > 0xbf)
			return 0;
	return wide;
}

bool utf8_is_valid(struct text text)
{
	size_t wide;

	for (size_t i = 0; i < text.length; i += wide) {
		uint64_t eight;

		/* Most text is ASCII. */
		wide = sizeof(eight);
		if (text.length - i >= wide) {
			memcpy(&eight, text.bytes + i, wide);
			if (!(eight & 0x8080808080808080u))
				continue;
		}
		wide = utf8_sequence(text.bytes + i, text.length - i);
		if (!wide)
			return false;
	}
	return true;
}

size_t utf8_clean(struct text text, char *out)
{
	size_t used = 0;

	for (size_t i = 0; i < text.length;) {
		size_t wide = utf8_sequence(text.bytes + i, text.length - i);

		if (wide)
			memcpy(out + used, text.bytes + i, wide);
		else
			memcpy(out + used, UTF8_REPLACEMENT, UTF8_REPLACEMENT_LENGTH);
		used += wide ? wide : UTF8_REPLACEMENT_LENGTH;
		i += wide ? wide : 1;
	}
	return used;
}

bool utf8_is_locale(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
