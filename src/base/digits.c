/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/digits.h"

#include <string.h>

static unsigned count_digits(uint64_t value)
{
	/* From the number of bits, of which a digit takes 4096 / 1233. 0 has a digit too. */
	static const uint64_t powers[DIGITS_MAX] = {
		0,
		10u,
		100u,
		1000u,
		10000u,
		100000u,
		1000000u,
		10000000u,
		100000000u,
		1000000000u,
		10000000000u,
		100000000000u,
		1000000000000u,
		10000000000000u,
		100000000000000u,
		1000000000000000u,
		10000000000000000u,
		100000000000000000u,
		1000000000000000000u,
		10000000000000000000u,
	};
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1), few = bits * 1233 >> 12;

	return few + (value >= powers[few]);
}

unsigned digits_u64(char to[static DIGITS_MAX], uint64_t value)
{
	/* The numbers of two digits, one after the other: half as many divisions. */
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	const unsigned count = count_digits(value);
	char *at = to + count;

	for (; value >= 10; value /= 100)
		memcpy(at -= 2, &pairs[value % 100 * 2], 2);
	if (count % 2)
		*--at = (char)('0' + value);
	return count;
}
