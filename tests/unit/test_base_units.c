/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <math.h>

#include "unit/unit.h"

#define KIB ((uint64_t)1024)

struct row {
	enum unit unit;
	uint64_t value;
	const char *text;
};

/* On both sides of every step, and the largest value there is. */
static const struct row rows[] = {
	{ UNIT_NONE, 0, "0" },
	{ UNIT_NONE, 1000, "1000" },
	{ UNIT_NONE, UINT64_MAX, "18446744073709551615" },

	{ UNIT_COUNT, 0, "0" },
	{ UNIT_COUNT, 999, "999" },
	{ UNIT_COUNT, 1000, "1.000K" },
	{ UNIT_COUNT, 999999, "999.999K" },
	{ UNIT_COUNT, 1000000, "1.000M" },
	{ UNIT_COUNT, 999999999, "1000.000M" },
	{ UNIT_COUNT, 1000000000, "1.000G" },
	{ UNIT_COUNT, UINT64_MAX, "18446744073.710G" },

	{ UNIT_NS, 0, "0ns" },
	{ UNIT_NS, 1, "1ns" },
	{ UNIT_NS, 999, "999ns" },
	{ UNIT_NS, 1000, "1.000µs" },
	{ UNIT_NS, 999999, "999.999µs" },
	{ UNIT_NS, 1000000, "1.000ms" },
	{ UNIT_NS, 1234567, "1.235ms" },
	{ UNIT_NS, 999999499, "999.999ms" },
	{ UNIT_NS, 999999999, "1000.000ms" },
	{ UNIT_NS, 1000000000, "1.000s" },
	{ UNIT_NS, 3600000000000, "3600.000s" },
	{ UNIT_NS, UINT64_MAX, "18446744073.710s" },

	{ UNIT_BYTES, 0, "0B" },
	{ UNIT_BYTES, 1023, "1023B" },
	{ UNIT_BYTES, 1024, "1.000KiB" },
	{ UNIT_BYTES, KIB * 1024 - 1, "1023.999KiB" },
	{ UNIT_BYTES, KIB * 1024, "1.000MiB" },
	{ UNIT_BYTES, KIB *KIB * 64, "64.000MiB" },
	{ UNIT_BYTES, KIB *KIB * 1024 - 1, "1024.000MiB" },
	{ UNIT_BYTES, KIB *KIB * 1024, "1.000GiB" },
	{ UNIT_BYTES, KIB *KIB *KIB * 7 + KIB *KIB *KIB / 2, "7.500GiB" },
	{ UNIT_BYTES, KIB *KIB *KIB * 1024 - 1, "1024.000GiB" },
	{ UNIT_BYTES, KIB *KIB *KIB * 1024, "1.000TiB" },
	{ UNIT_BYTES, KIB *KIB *KIB *KIB * 1024, "1024.000TiB" },
	{ UNIT_BYTES, UINT64_MAX, "16777216.000TiB" },

	{ UNIT_TICKS, 0, "0.00s" },
	{ UNIT_TICKS, 9, "0.09s" },
	{ UNIT_TICKS, 999, "9.99s" },
	{ UNIT_TICKS, 1000000, "10000.00s" },
	{ UNIT_TICKS, UINT64_MAX, "184467440737095516.15s" },

	{ UNIT_US, 0, "0µs" },
	{ UNIT_US, 999, "999µs" },
	{ UNIT_US, 1000, "1.000ms" },
	{ UNIT_US, 999999, "999.999ms" },
	{ UNIT_US, 1000000, "1.000s" },
	{ UNIT_US, 90061000000, "90061.000s" },
	{ UNIT_US, UINT64_MAX, "18446744073709.552s" },

	{ UNIT_MS, 0, "0ms" },
	{ UNIT_MS, 999, "999ms" },
	{ UNIT_MS, 1000, "1.000s" },
	{ UNIT_MS, 1234567, "1234.567s" },
	{ UNIT_MS, UINT64_MAX, "18446744073709551.615s" },

	{ UNIT_KIB, 0, "0KiB" },
	{ UNIT_KIB, 1023, "1023KiB" },
	{ UNIT_KIB, 1024, "1.000MiB" },
	{ UNIT_KIB, 1536, "1.500MiB" },
	{ UNIT_KIB, KIB * 1024, "1.000GiB" },
	{ UNIT_KIB, KIB *KIB * 1024, "1.000TiB" },
	{ UNIT_KIB, UINT64_MAX, "17179869184.000TiB" },

	{ UNIT_PERCENT, 0, "0.00%" },
	{ UNIT_PERCENT, 1, "0.01%" },
	{ UNIT_PERCENT, 99, "0.99%" },
	{ UNIT_PERCENT, 100, "1.00%" },
	{ UNIT_PERCENT, 1234, "12.34%" },
	{ UNIT_PERCENT, 10000, "100.00%" },
	{ UNIT_PERCENT, UINT64_MAX, "184467440737095516.15%" },
};

TEST(every_ladder_at_every_step)
{
	char buffer[UNITS_TEXT_MAX];

	for (size_t i = 0; i < array_length(rows); i++)
		assert_string_equal(units_format(buffer, rows[i].unit, rows[i].value),
				    rows[i].text);
}

TEST(negatives_climb_the_same_ladder)
{
	char buffer[UNITS_TEXT_MAX], expected[UNITS_TEXT_MAX] = "-";

	for (size_t i = 0; i < array_length(rows); i++) {
		if (!rows[i].value)
			continue;
		strcpy(expected + 1, rows[i].text);
		assert_string_equal(units_format(buffer, rows[i].unit, -(__int128)rows[i].value),
				    expected);
		assert_string_equal(
			units_format_delta(buffer, rows[i].unit, -(__int128)rows[i].value),
			expected);
	}
}

TEST(differences_carry_a_sign)
{
	char buffer[UNITS_TEXT_MAX], expected[UNITS_TEXT_MAX] = "+";

	for (size_t i = 0; i < array_length(rows); i++) {
		strcpy(expected + 1, rows[i].text);
		assert_string_equal(units_format_delta(buffer, rows[i].unit, rows[i].value),
				    expected);
	}
}

TEST(the_largest_difference)
{
	char buffer[UNITS_TEXT_MAX];
	__int128 twice_max = (__int128)UINT64_MAX * 2;

	assert_string_equal(units_format_delta(buffer, UNIT_NONE, twice_max),
			    "+36893488147419103230");
	assert_string_equal(units_format_half_delta(buffer, UNIT_NONE, -twice_max),
			    "-18446744073709551615");
	/* seven of the largest times */
	assert_string_equal(units_format_delta(buffer, UNIT_NS, (__int128)UINT64_MAX * 7),
			    "+129127208515.967s");
}

/* A name of a unit for each length there can be: nothing is cut off. */
TEST(the_largest_number_there_is)
{
	static const struct {
		enum unit unit;
		const char *text;
	} largest[] = {
		{ UNIT_NONE, "-170141183460469231731687303715884105728" },
		{ UNIT_COUNT, "-170141183460469231731687303715.884G" },
		{ UNIT_NS, "-170141183460469231731687303715.884s" },
		{ UNIT_TICKS, "-1701411834604692317316873037158841057.28s" },
		{ UNIT_MS, "-170141183460469231731687303715884105.728s" },
		{ UNIT_PERCENT, "-1701411834604692317316873037158841057.28%" },
	};
	const __int128 value = (__int128)((unsigned __int128)1 << 127);
	char buffer[UNITS_TEXT_MAX];

	for (size_t i = 0; i < array_length(largest); i++) {
		assert_string_equal(units_format(buffer, largest[i].unit, value), largest[i].text);
		assert_string_equal(units_format_delta(buffer, largest[i].unit, value),
				    largest[i].text);
	}
	assert_string_equal(units_digits(buffer, UNIT_NS, value), largest[0].text);
}

TEST(digits_alone)
{
	char buffer[UNITS_TEXT_MAX];

	assert_string_equal(units_digits(buffer, UNIT_NS, 1234567), "1234567");
	assert_string_equal(units_digits(buffer, UNIT_KIB, -5), "-5");
	assert_string_equal(units_digits(buffer, UNIT_COUNT, 0), "0");
	assert_string_equal(units_digits(buffer, UNIT_BYTES, (__int128)UINT64_MAX * 7),
			    "129127208515966861305");
	assert_string_equal(units_digits(buffer, UNIT_PERCENT, 1234), "12.34");
	assert_string_equal(units_digits(buffer, UNIT_PERCENT, -5), "-0.05");
	assert_string_equal(units_digits(buffer, UNIT_PERCENT, 10000), "100.00");
}

TEST(digits_in_groups)
{
	char buffer[UNITS_TEXT_MAX];

	assert_string_equal(units_grouped(buffer, 0, ""), "0");
	assert_string_equal(units_grouped(buffer, 999, ""), "999");
	assert_string_equal(units_grouped(buffer, 1000, ""), "1,000");
	assert_string_equal(units_grouped(buffer, -1234567, "+"), "-1,234,567");
	assert_string_equal(units_grouped(buffer, 12345, "+"), "+12,345");
	assert_string_equal(units_grouped(buffer, UINT64_MAX, ""), "18,446,744,073,709,551,615");
	/* The largest there is. */
	units_grouped(buffer, -(__int128)((unsigned __int128)-1 >> 1) - 1, "");
	assert_int_equal(strlen(buffer), 1 + 39 + 12);
}

TEST(names_of_units)
{
	static const struct {
		enum unit unit;
		enum dimension dimension;
		uint64_t scale;
		const char *name;
	} units[] = {
		{ UNIT_NONE, DIMENSION_OTHER, 1, "" },
		{ UNIT_COUNT, DIMENSION_COUNT, 1, "count" },
		{ UNIT_NS, DIMENSION_TIME, 1, "ns" },
		{ UNIT_US, DIMENSION_TIME, 1000, "us" },
		{ UNIT_MS, DIMENSION_TIME, 1000000, "ms" },
		{ UNIT_TICKS, DIMENSION_TIME, 10000000, "ticks" },
		{ UNIT_BYTES, DIMENSION_BYTES, 1, "bytes" },
		{ UNIT_KIB, DIMENSION_BYTES, 1024, "KiB" },
		{ UNIT_PERCENT, DIMENSION_OTHER, 1, "percent" },
	};

	for (size_t i = 0; i < array_length(units); i++) {
		assert_int_equal(units[i].unit, i);
		assert_int_equal(unit_dimension(units[i].unit), units[i].dimension);
		assert_int_equal(unit_scale(units[i].unit), units[i].scale);
		assert_string_equal(unit_name(units[i].unit), units[i].name);
	}
}

TEST(halves)
{
	static const struct {
		int twice;
		const char *text;
	} halves[] = { { 0, "+0" },   { 1, "+0.5" },   { -1, "-0.5" }, { 2, "+1" },
		       { -2, "-1" },  { 3, "+1.5" },   { -3, "-1.5" }, { 2001, "+1000.5" },
		       { 40, "+20" }, { -39, "-19.5" } };
	char buffer[UNITS_TEXT_MAX];

	for (size_t i = 0; i < array_length(halves); i++)
		assert_string_equal(units_format_half_delta(buffer, UNIT_NONE, halves[i].twice),
				    halves[i].text);
	assert_string_equal(units_format_half_delta(buffer, UNIT_NS, 2469134), "+1.235ms");
}

TEST(values_that_are_not_whole)
{
	static const struct {
		enum unit unit;
		double value;
		const char *text;
	} reals[] = {
		{ UNIT_NONE, 0.75, "0.750" },     { UNIT_NONE, -0.5, "-0.500" },
		{ UNIT_NS, 3.5, "3.50ns" },       { UNIT_NS, 0, "0.00ns" },
		{ UNIT_NS, 1250, "1.250µs" },     { UNIT_NS, -2000000, "-2.000ms" },
		{ UNIT_BYTES, -20, "-20.00B" },   { UNIT_BYTES, -1024.0 * 1024, "-1.000MiB" },
		{ UNIT_BYTES, 1536, "1.500KiB" }, { UNIT_US, 2.5, "2.50µs" },
		{ UNIT_US, 1500, "1.500ms" },     { UNIT_MS, -2500, "-2.500s" },
		{ UNIT_KIB, 1536, "1.500MiB" },   { UNIT_COUNT, 2500, "2.500K" },
		{ UNIT_PERCENT, 1250, "12.50%" }, { UNIT_PERCENT, -5, "-0.05%" },
		{ UNIT_TICKS, 1250, "12.50s" },
	};
	char buffer[UNITS_TEXT_MAX];

	for (size_t i = 0; i < array_length(reals); i++)
		assert_string_equal(units_format_real(buffer, reals[i].unit, reals[i].value, ""),
				    reals[i].text);
	assert_string_equal(units_format_real(buffer, UNIT_NS, 3.5, "+"), "+3.50ns");
	assert_string_equal(units_format_real(buffer, UNIT_NS, -3.5, "+"), "-3.50ns");
}

TEST(spans_have_their_two_largest_units)
{
	static const struct {
		double seconds;
		const char *text;
	} spans[] = {
		{ 0, "0.0 s" },           { 0.04, "0.0 s" },
		{ 119.9, "119.9 s" },     { 120, "2 min 0 s" },
		{ 3599, "59 min 59 s" },  { 3600, "1 h 0 min" },
		{ 86399, "23 h 59 min" }, { 3 * 86400 + 4 * 3600 + 59 * 60, "3 d 4 h" },
	};
	char buffer[UNITS_TEXT_MAX];

	for (size_t i = 0; i < array_length(spans); i++)
		assert_string_equal(units_format_span(buffer, spans[i].seconds), spans[i].text);
}

/* Nothing per second of a clock that ran backwards. */
TEST(a_negative_zero_is_no_number_of_its_own)
{
	char buffer[UNITS_TEXT_MAX];

	assert_string_equal(units_format_real(buffer, UNIT_NS, -0.0, "+"), "+0.00ns");
	assert_string_equal(units_format_real(buffer, UNIT_NONE, -0.0, ""), "0.000");
}

/* --- what people write --- */

TEST(amounts)
{
	static const struct {
		const char *text;
		enum dimension dimension;
		double value;
	} amounts[] = {
		{ "0", DIMENSION_COUNT, 0 },
		{ "250", DIMENSION_COUNT, 250 },
		{ "+250", DIMENSION_COUNT, 250 },
		{ "-250", DIMENSION_COUNT, -250 },
		{ "2K", DIMENSION_COUNT, 2000 },
		{ "2.5M", DIMENSION_COUNT, 2500000 },
		{ "1G", DIMENSION_COUNT, 1e9 },
		{ "007", DIMENSION_COUNT, 7 },
		{ "0.05", DIMENSION_COUNT, 0.05 },
		{ "-0.05", DIMENSION_COUNT, -0.05 },
		{ "7ns", DIMENSION_TIME, 7 },
		{ "7us", DIMENSION_TIME, 7000 },
		{ "7µs", DIMENSION_TIME, 7000 },
		{ "10ms", DIMENSION_TIME, 10000000 },
		{ "-1.5s", DIMENSION_TIME, -1500000000 },
		{ "0.001ms", DIMENSION_TIME, 1000 },
		{ "1B", DIMENSION_BYTES, 1 },
		{ "1KiB", DIMENSION_BYTES, 1024 },
		{ "1.5MiB", DIMENSION_BYTES, 1572864 },
		{ "2GiB", DIMENSION_BYTES, 2147483648.0 },
		{ "1TiB", DIMENSION_BYTES, 1099511627776.0 },
		{ "18446744073709551615", DIMENSION_COUNT, 18446744073709551616.0 },
	};

	for (size_t i = 0; i < array_length(amounts); i++) {
		struct text text = guarded(amounts[i].text, strlen(amounts[i].text));
		struct amount amount = { .percent = true };

		assert_true(units_parse(text, &amount));
		assert_int_equal(amount.dimension, amounts[i].dimension);
		assert_false(amount.percent);
		if (fabs(amount.value - amounts[i].value) > fabs(amounts[i].value) * 1e-15)
			fail_msg("%s is %.17g", amounts[i].text, amount.value);
		unguard(text);
	}
}

TEST(percentages)
{
	static const struct {
		const char *text;
		double value;
	} percentages[] = { { "5%", 5 }, { "-12.5%", -12.5 }, { "+0.1%", 0.1 }, { "1000%", 1000 } };

	for (size_t i = 0; i < array_length(percentages); i++) {
		struct amount amount = { 0 };

		assert_true(units_parse(text_of(percentages[i].text), &amount));
		assert_true(amount.percent);
		assert_true(amount.value == percentages[i].value);
	}
}

static const char *const no_amounts[] = {
	"",      "+",        "-",     "--5",    "+-5",  "- 5",
	" 5",    "5 ",       "5 ms",  ".5",     "5.",   ".",
	"1.2.3", "1..2",     "1,5",   "0x10",   "1e3",  "inf",
	"nan",   "infinity", "ms",    "%",      "5%%",  "5%s",
	"5msec", "5sec",     "5k",    "5KB",    "5kib", "5PiB",
	"5Ks",   "5MS",      "5\xc2", "5\xb5s", "5s\n", "1111111111222222222233333333334444444444",
};

TEST(invalid_amounts)
{
	for (size_t i = 0; i < array_length(no_amounts); i++) {
		struct text text = guarded(no_amounts[i], strlen(no_amounts[i]));
		struct amount amount = { DIMENSION_BYTES, true, 42 };

		if (units_parse(text, &amount))
			fail_msg("\"%s\" is %g", no_amounts[i], amount.value);
		assert_true(amount.dimension == DIMENSION_BYTES && amount.percent &&
			    amount.value == 42);
		unguard(text);
	}
	assert_false(units_parse((struct text){ 0 }, &(struct amount){ 0 }));
	/* a zero ends nothing */
	assert_false(units_parse(TEXT("5\0"), &(struct amount){ 0 }));
	assert_false(units_parse(TEXT("5m\0s"), &(struct amount){ 0 }));
}

/* "m" could be anything, where it is not a length of time. */
TEST(minutes_are_of_durations_only)
{
	static const char *const words[] = { "5m", "5min", "5h", "5d" };

	for (size_t i = 0; i < array_length(words); i++)
		assert_false(units_parse(text_of(words[i]), &(struct amount){ 0 }));
}

TEST(durations)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} durations[] = {
		{ "0s", 0 },
		{ "1ns", 1 },
		{ "250us", 250000 },
		{ "250µs", 250000 },
		{ "10ms", 10000000 },
		{ "10s", 10000000000 },
		{ "0.25s", 250000000 },
		{ "1.5m", 90000000000 },
		{ "2min", 120000000000 },
		{ "1h", 3600000000000 },
		{ "7d", 604800000000000 },
		{ "100000000s", 100000000000000000 },
	};
	static const char *const refused[] = {
		"",      "10",  "-1s",        "+1s",
		"5%",    "5B",  "5K",         "1e3s",
		"1 s",   "1s ", ".5s",        "5.s",
		"s",     "1w",  "100000001s", "28000h",
		"1158d", "d",   "1H",         "1mins",
		"inf",   "nan", "nans",       "99999999999999999999999999999999999999h",
	};

	for (size_t i = 0; i < array_length(durations); i++) {
		struct text text = guarded(durations[i].text, strlen(durations[i].text));
		uint64_t ns = 42;

		assert_true(units_parse_duration(text, &ns));
		assert_int_equal(ns, durations[i].ns);
		unguard(text);
	}
	for (size_t i = 0; i < array_length(refused); i++) {
		uint64_t ns = 42;

		if (units_parse_duration(text_of(refused[i]), &ns))
			fail_msg("\"%s\" is %llu ns", refused[i], (unsigned long long)ns);
		assert_int_equal(ns, 42);
	}
}

TEST(a_duration_without_unit_is_in_seconds)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} durations[] = {
		{ "0", 0 },
		{ "10", 10000000000 },
		{ "0.5", 500000000 },
		{ "0.001", 1000000 },
		{ "500ms", 500000000 },
		{ "2min", 120000000000 },
		{ "100000000", 100000000000000000 },
	};
	static const char *const refused[] = { "",   ".5", "5.",        "1.2.3",
					       "-1", "5 ", "100000001", "5K" };

	for (size_t i = 0; i < array_length(durations); i++) {
		uint64_t ns = 42;

		assert_true(units_parse_seconds(text_of(durations[i].text), &ns));
		assert_int_equal(ns, durations[i].ns);
	}
	for (size_t i = 0; i < array_length(refused); i++) {
		uint64_t ns = 42;

		assert_false(units_parse_seconds(text_of(refused[i]), &ns));
		assert_int_equal(ns, 42);
	}
}

/* What is printed can be written: three decimals of at least one, or all digits. */
TEST(printed_values_parse_again)
{
	static const enum unit units[] = { UNIT_NONE, UNIT_COUNT, UNIT_NS,  UNIT_US,
					   UNIT_MS,   UNIT_BYTES, UNIT_KIB, UNIT_PERCENT };
	uint64_t seed = 9;

	for (int round = 0; round < 20000; round++) {
		enum unit unit = units[next_random(&seed) % array_length(units)];
		uint64_t value = next_random(&seed) >> next_random(&seed) % 64;
		double exact = (double)value * (double)unit_scale(unit);
		char text[UNITS_TEXT_MAX];
		struct amount amount;

		if (unit == UNIT_PERCENT)
			exact /= 100;
		assert_true(units_parse(text_of(units_format_delta(text, unit, value)), &amount));
		assert_int_equal(amount.percent, unit == UNIT_PERCENT);
		if (unit != UNIT_NONE)
			assert_int_equal(amount.dimension, unit_dimension(unit));
		if (fabs(amount.value - exact) > exact * 0.0005001)
			fail_msg("%s is %.17g, not %.17g", text, amount.value, exact);
	}
}

UNIT_TESTS(cmocka_unit_test(every_ladder_at_every_step),
	   cmocka_unit_test(negatives_climb_the_same_ladder),
	   cmocka_unit_test(differences_carry_a_sign), cmocka_unit_test(the_largest_difference),
	   cmocka_unit_test(the_largest_number_there_is), cmocka_unit_test(digits_alone),
	   cmocka_unit_test(digits_in_groups), cmocka_unit_test(names_of_units),
	   cmocka_unit_test(halves), cmocka_unit_test(values_that_are_not_whole),
	   cmocka_unit_test(spans_have_their_two_largest_units),
	   cmocka_unit_test(a_negative_zero_is_no_number_of_its_own), cmocka_unit_test(amounts),
	   cmocka_unit_test(percentages), cmocka_unit_test(invalid_amounts),
	   cmocka_unit_test(minutes_are_of_durations_only), cmocka_unit_test(durations),
	   cmocka_unit_test(a_duration_without_unit_is_in_seconds),
	   cmocka_unit_test(printed_values_parse_again))
