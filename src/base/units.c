/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <stdbool.h>
#include <stdio.h>

struct ladder {
	unsigned step;
	const char *rungs[6]; /* the base unit first, NULL after the last */
};

static const struct ladder ladders[] = {
	[UNIT_NONE] = { 1, { "" } },
	[UNIT_COUNT] = { 1000, { "", "K", "M", "G" } },
	[UNIT_NS] = { 1000, { "ns", "µs", "ms", "s" } },
	[UNIT_BYTES] = { 1024, { "B", "KiB", "MiB", "GiB", "TiB" } },
	[UNIT_TICKS] = { 1000, { "ticks", "Kticks", "Mticks" } },
};

typedef unsigned __int128 u128;

static void print_digits(char *out, size_t size, const char *sign, u128 whole)
{
	char digits[40];
	size_t n = sizeof(digits);

	digits[--n] = '\0';
	do {
		digits[--n] = (char)('0' + (unsigned)(whole % 10));
		whole /= 10;
	} while (whole);
	snprintf(out, size, "%s%s", sign, digits + n);
}

/* Exact: doubles would round what does not fit into 53 bits. */
static char *format(char *buffer, enum unit unit, bool negative, u128 size, const char *plus)
{
	const struct ladder *ladder = &ladders[unit];
	const char *sign = negative ? "-" : plus;
	char whole[48];
	u128 divisor = 1, scaled;
	unsigned rung = 0;

	while (ladder->rungs[rung + 1] && size >= divisor * ladder->step) {
		divisor *= ladder->step;
		rung++;
	}
	if (!rung) {
		print_digits(whole, sizeof(whole), sign, size);
		snprintf(buffer, UNITS_TEXT_MAX, "%s%s", whole, ladder->rungs[0]);
		return buffer;
	}
	scaled = (size / divisor) * 1000 + ((size % divisor) * 1000 + divisor / 2) / divisor;
	print_digits(whole, sizeof(whole), sign, scaled / 1000);
	snprintf(buffer, UNITS_TEXT_MAX, "%s.%03u%s", whole, (unsigned)(scaled % 1000),
		 ladder->rungs[rung]);
	return buffer;
}

static u128 magnitude(__int128 value)
{
	return value < 0 ? -(u128)value : (u128)value;
}

char *units_format(char *buffer, enum unit unit, __int128 value)
{
	return format(buffer, unit, value < 0, magnitude(value), "");
}

char *units_format_delta(char *buffer, enum unit unit, __int128 value)
{
	return format(buffer, unit, value < 0, magnitude(value), "+");
}

char *units_format_half_delta(char *buffer, enum unit unit, __int128 twice)
{
	char whole[48];

	if (twice % 2 == 0)
		return units_format_delta(buffer, unit, twice / 2);
	print_digits(whole, sizeof(whole), twice < 0 ? "-" : "+", magnitude(twice) / 2);
	snprintf(buffer, UNITS_TEXT_MAX, "%s.5%s", whole, ladders[unit].rungs[0]);
	return buffer;
}

char *units_format_real(char *buffer, enum unit unit, double value, const char *sign)
{
	const struct ladder *ladder = &ladders[unit];
	const char *before = value < 0 ? "-" : sign;
	double size = value < 0 ? -value : value;
	unsigned rung = 0;

	while (ladder->rungs[rung + 1] && size >= ladder->step) {
		size /= ladder->step;
		rung++;
	}
	snprintf(buffer, UNITS_TEXT_MAX, "%s%.*f%s", before, rung || unit == UNIT_NONE ? 3 : 2,
		 size, ladder->rungs[rung]);
	return buffer;
}
