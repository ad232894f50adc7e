/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"

struct ladder {
	unsigned step;
	const char *rungs[6]; /* the base unit first, NULL after the last */
	enum dimension dimension;
	uint64_t scale;
	const char *name;
};

static const struct ladder ladders[] = {
	[UNIT_NONE] = { 1, { "" }, DIMENSION_OTHER, 1, "" },
	[UNIT_COUNT] = { 1000, { "", "K", "M", "G" }, DIMENSION_COUNT, 1, "count" },
	[UNIT_NS] = { 1000, { "ns", "µs", "ms", "s" }, DIMENSION_TIME, 1, "ns" },
	[UNIT_US] = { 1000, { "µs", "ms", "s" }, DIMENSION_TIME, 1000, "us" },
	[UNIT_MS] = { 1000, { "ms", "s" }, DIMENSION_TIME, 1000000, "ms" },
	[UNIT_TICKS] = { 1, { "s" }, DIMENSION_TIME, NS_PER_TICK, "ticks" },
	[UNIT_BYTES] = { 1024, { "B", "KiB", "MiB", "GiB", "TiB" }, DIMENSION_BYTES, 1, "bytes" },
	[UNIT_KIB] = { 1024, { "KiB", "MiB", "GiB", "TiB" }, DIMENSION_BYTES, 1024, "KiB" },
	[UNIT_PERCENT] = { 1, { "%" }, DIMENSION_OTHER, 1, "percent" },
};

/* Is it shown as a hundredth of what it counts? */
static bool is_hundredths(enum unit unit)
{
	return unit == UNIT_PERCENT || unit == UNIT_TICKS;
}

enum dimension unit_dimension(enum unit unit)
{
	return ladders[unit].dimension;
}

uint64_t unit_scale(enum unit unit)
{
	return ladders[unit].scale;
}

const char *unit_name(enum unit unit)
{
	return ladders[unit].name;
}

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

	if (is_hundredths(unit)) {
		print_digits(whole, sizeof(whole), sign, size / 100);
		snprintf(buffer, UNITS_TEXT_MAX, "%s.%02u%s", whole, (unsigned)(size % 100),
			 ladder->rungs[0]);
		return buffer;
	}
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

	if (twice % 2 == 0 || is_hundredths(unit))
		return units_format_delta(buffer, unit, twice / 2);
	print_digits(whole, sizeof(whole), twice < 0 ? "-" : "+", magnitude(twice) / 2);
	snprintf(buffer, UNITS_TEXT_MAX, "%s.5%s", whole, ladders[unit].rungs[0]);
	return buffer;
}

char *units_format_real(char *buffer, enum unit unit, double value, const char *sign)
{
	const struct ladder *ladder = &ladders[unit];
	const char *before = value < 0 ? "-" : sign;
	double size = fabs(value);
	unsigned rung = 0;

	if (is_hundredths(unit))
		size /= 100;
	while (ladder->rungs[rung + 1] && size >= ladder->step) {
		size /= ladder->step;
		rung++;
	}
	snprintf(buffer, UNITS_TEXT_MAX, "%s%.*f%s", before, rung || unit == UNIT_NONE ? 3 : 2,
		 size, ladder->rungs[rung]);
	return buffer;
}

char *units_format_span(char *buffer, double seconds)
{
	/* From `least` seconds on; two minutes are the least that reads better so. */
	static const struct {
		double least, unit;
		const char *large, *small;
		double smaller;
	} spans[] = {
		{ 86400, 86400, "d", "h", 3600 },
		{ 3600, 3600, "h", "min", 60 },
		{ 120, 60, "min", "s", 1 },
	};

	for (size_t i = 0; i < array_length(spans); i++) {
		double large;

		if (seconds < spans[i].least)
			continue;
		large = floor(seconds / spans[i].unit);
		/* Not fmod(3), for which programs with the static library would need libm. */
		snprintf(buffer, UNITS_TEXT_MAX, "%.0f %s %.0f %s", large, spans[i].large,
			 floor((seconds - large * spans[i].unit) / spans[i].smaller),
			 spans[i].small);
		return buffer;
	}
	snprintf(buffer, UNITS_TEXT_MAX, "%.1f s", seconds);
	return buffer;
}

char *units_digits(char *buffer, enum unit unit, __int128 value)
{
	const char *sign = value < 0 ? "-" : "";
	char whole[48];

	if (unit != UNIT_PERCENT) {
		print_digits(buffer, UNITS_TEXT_MAX, sign, magnitude(value));
		return buffer;
	}
	print_digits(whole, sizeof(whole), sign, magnitude(value) / 100);
	snprintf(buffer, UNITS_TEXT_MAX, "%s.%02u", whole, (unsigned)(magnitude(value) % 100));
	return buffer;
}

char *units_grouped(char *buffer, __int128 value, const char *sign)
{
	char digits[48];
	size_t length, used;

	print_digits(digits, sizeof(digits), "", magnitude(value));
	length = strlen(digits);
	used = (size_t)snprintf(buffer, UNITS_TEXT_MAX, "%s", value < 0 ? "-" : sign);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	buffer[used] = '\0';
	return buffer;
}

char *units_real_digits(char *buffer, double value)
{
	snprintf(buffer, UNITS_TEXT_MAX, "%.15g", value);
	if (strtod(buffer, NULL) != value)
		snprintf(buffer, UNITS_TEXT_MAX, "%.17g", value);
	return buffer;
}

/* --- what people write --- */

struct suffix {
	const char *text;
	enum dimension dimension;
	double factor;
};

static const struct suffix suffixes[] = {
	{ "", DIMENSION_COUNT, 1 },
	{ "K", DIMENSION_COUNT, 1e3 },
	{ "M", DIMENSION_COUNT, 1e6 },
	{ "G", DIMENSION_COUNT, 1e9 },
	{ "ns", DIMENSION_TIME, 1 },
	{ "us", DIMENSION_TIME, 1e3 },
	{ "µs", DIMENSION_TIME, 1e3 },
	{ "ms", DIMENSION_TIME, 1e6 },
	{ "s", DIMENSION_TIME, 1e9 },
	{ "B", DIMENSION_BYTES, 1 },
	{ "KiB", DIMENSION_BYTES, 1024 },
	{ "MiB", DIMENSION_BYTES, 1024.0 * 1024 },
	{ "GiB", DIMENSION_BYTES, 1024.0 * 1024 * 1024 },
	{ "TiB", DIMENSION_BYTES, 1024.0 * 1024 * 1024 * 1024 },
};

/* These are said of durations only: elsewhere "m" could be anything. */
static const struct suffix long_times[] = {
	{ "m", DIMENSION_TIME, 60e9 },
	{ "min", DIMENSION_TIME, 60e9 },
	{ "h", DIMENSION_TIME, 3600e9 },
	{ "d", DIMENSION_TIME, 86400e9 },
};

static const struct suffix *find_suffix(const struct suffix *rows, size_t count, struct text text)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(text_of(rows[i].text), text))
			return &rows[i];
	return NULL;
}

/* Digits with an optional fraction, off the front of `text`: no exponents, no hexadecimal, which
 * strtod would take. */
static bool cut_decimal(struct text *text, double *ret)
{
	char digits[40];
	size_t length = 0, points = 0;
	double divisor = 1;

	while (length < text->length && length + 1 < sizeof(digits)) {
		char c = text->bytes[length];

		if (c == '.')
			points++;
		else if (c < '0' || c > '9')
			break;
		digits[length++] = c;
	}
	digits[length] = '\0';
	if (!length || points > 1 || digits[0] == '.' || digits[length - 1] == '.')
		return false;
	*ret = 0;
	for (size_t i = 0; i < length; i++) {
		if (digits[i] == '.')
			divisor = 1;
		else
			*ret = *ret * 10 + (digits[i] - '0');
		divisor *= digits[i] == '.' ? 1 : 10;
	}
	*ret /= points ? divisor : 1;
	text->bytes += length;
	text->length -= length;
	return true;
}

bool units_parse(struct text text, struct amount *ret)
{
	struct amount amount = { 0 };
	const struct suffix *suffix;
	bool negative = text.length && text.bytes[0] == '-';

	if (text.length && (negative || text.bytes[0] == '+'))
		text = (struct text){ text.bytes + 1, text.length - 1 };
	if (!cut_decimal(&text, &amount.value))
		return false;
	if (text_equal(text, TEXT("%"))) {
		amount.percent = true;
		amount.dimension = DIMENSION_OTHER;
	} else {
		suffix = find_suffix(suffixes, array_length(suffixes), text);
		if (!suffix)
			return false;
		amount.dimension = suffix->dimension;
		amount.value *= suffix->factor;
	}
	if (negative)
		amount.value = -amount.value;
	*ret = amount;
	return true;
}

/* Some three years are enough to wait. */
static bool take_duration(double ns, uint64_t *ret_ns)
{
	if (ns > 1e17)
		return false;
	*ret_ns = (uint64_t)ns;
	return true;
}

bool units_parse_duration(struct text text, uint64_t *ret_ns)
{
	const struct suffix *suffix;
	double value;

	if (!cut_decimal(&text, &value))
		return false;
	suffix = find_suffix(long_times, array_length(long_times), text);
	if (!suffix)
		suffix = find_suffix(suffixes, array_length(suffixes), text);
	return suffix && suffix->dimension == DIMENSION_TIME &&
	       take_duration(value * suffix->factor, ret_ns);
}

bool units_parse_seconds(struct text text, uint64_t *ret_ns)
{
	struct text rest = text;
	double value;

	if (cut_decimal(&rest, &value) && !rest.length)
		return take_duration(value * 1e9, ret_ns);
	return units_parse_duration(text, ret_ns);
}
