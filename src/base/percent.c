/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/percent.h"

#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

bool percent_is_unreserved(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= '0' && byte <= '9') || (byte && strchr("-._~", byte));
}

void percent_print(FILE *out, struct text text, const char *also)
{
	for (size_t i = 0; i < text.length; i++) {
		const char byte = text.bytes[i];

		if (percent_is_unreserved(byte) || (byte && strchr(also, byte)))
			fputc(byte, out);
		else
			fprintf(out, "%%%02X", (unsigned char)byte);
	}
}

char *percent_encode(struct text text)
{
	char *encoded = NULL;
	size_t length;
	FILE *out = open_memstream(&encoded, &length);

	if (!out)
		return NULL;
	percent_print(out, text, "");
	if (fclose(out) == 0)
		return encoded;
	free(encoded);
	return NULL;
}

/* The value of a hexadecimal digit of either case; -1: it is none. */
static int digit_of(char byte)
{
	return hex_digit(byte >= 'A' && byte <= 'F' ? (char)(byte | 0x20) : byte);
}

/* Decode the escape "%XX" at `at`. -1: it is malformed, or stands for a NUL. */
static int decode_byte(const char *at)
{
	const int high = digit_of(at[1]), low = high < 0 ? -1 : digit_of(at[2]);
	const int byte = low < 0 ? -1 : high << 4 | low;

	return byte ? byte : -1;
}

bool percent_decode(char *string, bool plus_is_space)
{
	char *to = string;

	for (const char *at = string; *at; at++) {
		int byte = *at;

		if (*at == '%') {
			byte = decode_byte(at);
			if (byte < 0)
				return false;
			at += 2;
		} else if (*at == '+' && plus_is_space) {
			byte = ' ';
		}
		*to++ = (char)byte;
	}
	*to = '\0';
	return true;
}
