/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

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

	{ UNIT_TICKS, 0, "0ticks" },
	{ UNIT_TICKS, 999, "999ticks" },
	{ UNIT_TICKS, 1000, "1.000Kticks" },
	{ UNIT_TICKS, 999999, "999.999Kticks" },
	{ UNIT_TICKS, 1000000, "1.000Mticks" },
	{ UNIT_TICKS, UINT64_MAX, "18446744073709.552Mticks" },
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
		{ UNIT_BYTES, 1536, "1.500KiB" },
	};
	char buffer[UNITS_TEXT_MAX];

	for (size_t i = 0; i < array_length(reals); i++)
		assert_string_equal(units_format_real(buffer, reals[i].unit, reals[i].value, ""),
				    reals[i].text);
	assert_string_equal(units_format_real(buffer, UNIT_NS, 3.5, "+"), "+3.50ns");
	assert_string_equal(units_format_real(buffer, UNIT_NS, -3.5, "+"), "-3.50ns");
}

UNIT_TESTS(cmocka_unit_test(every_ladder_at_every_step),
	   cmocka_unit_test(negatives_climb_the_same_ladder),
	   cmocka_unit_test(differences_carry_a_sign), cmocka_unit_test(the_largest_difference),
	   cmocka_unit_test(halves), cmocka_unit_test(values_that_are_not_whole))
