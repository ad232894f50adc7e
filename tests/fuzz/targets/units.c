/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <math.h>

#include "base/units.h"

/* With a sign before it, an amount is the same one, or its negative. */
static void check_signs(struct text text, const struct amount *amount)
{
	bool has_sign = text.bytes[0] == '+' || text.bytes[0] == '-';
	char *signs = malloc(text.length + 1);
	struct amount again;

	must(signs);
	memcpy(signs + 1, text.bytes, text.length);
	for (size_t i = 0; i < 2; i++) {
		signs[0] = "+-"[i];
		must(units_parse((struct text){ signs, text.length + 1 }, &again) == !has_sign);
		must(has_sign || again.value == (i ? -amount->value : amount->value));
	}
	free(signs);
}

static void check_text(struct text text)
{
	struct amount amount;
	uint64_t ns;
	bool is_amount = units_parse(text, &amount), is_duration = units_parse_duration(text, &ns);

	if (is_amount) {
		must(isfinite(amount.value));
		must(amount.percent == (amount.dimension == DIMENSION_OTHER));
		must(amount.percent == text_ends(text, TEXT("%")));
		check_signs(text, &amount);
	}
	if (is_duration) {
		must(ns <= 100000000000000000);
		must(!is_amount || (amount.dimension == DIMENSION_TIME && amount.value >= ns &&
				    amount.value - 1 <= ns));
	} else if (is_amount && amount.dimension == DIMENSION_TIME) {
		must(text.bytes[0] == '+' || text.bytes[0] == '-' || amount.value > 1e17);
	}
}

/* Printed and read again, it is the same but for the three decimals of a step. */
static void check_round_trip(enum unit unit, __int128 value)
{
	double exact = (double)value * (double)unit_scale(unit) / (unit == UNIT_PERCENT ? 100 : 1);
	char plain[UNITS_TEXT_MAX], delta[UNITS_TEXT_MAX];
	struct amount amount, again;

	units_format(plain, unit, value);
	units_format_delta(delta, unit, value);
	must(strlen(delta) < UNITS_TEXT_MAX - 1);
	must(strcmp(plain, delta + (value >= 0)) == 0);
	/* Ticks are printed, and not written by people. */
	if (unit == UNIT_TICKS)
		return;
	must(units_parse(text_of(plain), &amount));
	must(units_parse(text_of(delta), &again));
	must(amount.value == again.value);
	must(amount.percent == (unit == UNIT_PERCENT));
	must(fabs(amount.value - exact) <= fabs(exact) * 0.0005001);
}

/* The digits are the number itself, a digit at a time. */
static void check_digits(enum unit unit, __int128 value)
{
	char digits[UNITS_TEXT_MAX];
	__int128 read = 0;

	units_digits(digits, unit, value);
	for (const char *p = digits; *p; p++)
		if (*p != '-' && *p != '.')
			read = read * 10 + (*p - '0');
	must((digits[0] == '-') == (value < 0));
	must(read == (value < 0 ? -value : value));
}

static void check_real(enum unit unit, __int128 value)
{
	char text[UNITS_TEXT_MAX];
	struct amount amount;

	units_format_real(text, unit, (double)value / 256, "+");
	must(strlen(text) < UNITS_TEXT_MAX - 1);
	must(text[0] == (value < 0 ? '-' : '+'));
	must(unit == UNIT_TICKS || units_parse(text_of(text), &amount));
}

/* The text is one that somebody wrote; its first bytes are a number and its unit too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = fuzz_copy(data, size);
	__int128 value = 0;

	check_text(bytes);
	if (size > 9) {
		enum unit unit = (enum unit)(data[0] % (UNIT_PERCENT + 1));

		for (size_t i = 2; i < 11 && i < size; i++)
			value = value << 8 | data[i];
		if (data[1] & 1)
			value = -value;
		check_round_trip(unit, value);
		check_digits(unit, value);
		check_real(unit, value);
	}
	fuzz_release(bytes);
	return 0;
}
