/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/psi.h"

#include "unit/unit.h"

TEST(percents_are_hundredths)
{
	static const struct {
		const char *text;
		uint16_t hundredths;
	} good[] = {
		{ "0.00", 0 },
		{ "0.01", 1 },
		{ "1.5", 150 },
		{ "1.501", 150 },
		{ "1.599", 159 },
		{ "100.99", 10099 },
		{ "100.00", 10000 },
		{ "7", 700 },
		{ "655.35", 65535 },
		{ "655.36", 65535 },
		{ "99999999999.00", 65535 },
	};

	for (size_t i = 0; i < array_length(good); i++) {
		struct text text = guarded(good[i].text, strlen(good[i].text));
		uint16_t hundredths = 7;

		assert_true(psi_percent(text, &hundredths));
		assert_int_equal(hundredths, good[i].hundredths);
		unguard(text);
	}
}

TEST(not_percents)
{
	static const char *const bad[] = { "",    ".",     ".5",    "x",   "-1.00",
					   "1.x", "1.00x", "1.5.0", "1,5", "1.-5" };
	uint16_t hundredths = 7;

	for (size_t i = 0; i < array_length(bad); i++)
		assert_false(psi_percent(text_of(bad[i]), &hundredths));
	assert_int_equal(hundredths, 7);
}

TEST(a_whole_file)
{
	static const char file[] =
		"some avg10=1.50 avg60=0.41 avg300=0.16 total=2630583\n"
		"full avg10=0.25 avg60=100.00 avg300=0.00 total=18446744073709551615\n";
	struct text bytes = guarded(file, strlen(file));
	struct psi_lines lines;

	psi_parse(bytes, &lines);
	assert_true(lines.some.measured);
	assert_int_equal(lines.some.avg10, 150);
	assert_int_equal(lines.some.avg60, 41);
	assert_int_equal(lines.some.avg300, 16);
	assert_int_equal(lines.some.total_usec, 2630583);
	assert_true(lines.full.measured);
	assert_int_equal(lines.full.avg10, 25);
	assert_int_equal(lines.full.avg60, 10000);
	assert_int_equal(lines.full.avg300, 0);
	assert_int_equal(lines.full.total_usec, UINT64_MAX);
	unguard(bytes);
}

TEST(irq_has_full_only)
{
	struct psi_lines lines;

	psi_parse(TEXT("full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"), &lines);
	assert_false(lines.some.measured);
	assert_true(lines.full.measured);
	assert_int_equal(lines.full.total_usec, 5);
}

TEST(unknown_keys_and_lines_are_passed_over)
{
	struct psi_lines lines;

	psi_parse(TEXT("most avg10=9.00 total=9\n\n"
		       "some new=x avg10=1.00 word avg300=3.00 total=5 avg60=2.00 later=7\n"),
		  &lines);
	assert_true(lines.some.measured);
	assert_int_equal(lines.some.avg10, 100);
	assert_int_equal(lines.some.avg60, 200);
	assert_int_equal(lines.some.avg300, 300);
	assert_int_equal(lines.some.total_usec, 5);
	assert_false(lines.full.measured);
}

TEST(a_line_with_a_bad_number_is_not_measured)
{
	static const char *const bad[] = {
		"",
		"some\n",
		"garbage",
		"some avg10=x avg60=0.41 avg300=0.16 total=2630583\n",
		"some avg10=1.00 avg60=0.41 avg300=0.16 total=-1\n",
		"some avg10=1.00 avg60=0.41 avg300=0.16 total=18446744073709551616\n",
		"some avg10=1.00 avg60=0.41 avg300=0.16\n",
		"some avg10= avg60=0.41 avg300=0.16 total=1\n",
	};

	for (size_t i = 0; i < array_length(bad); i++) {
		struct text bytes = guarded(bad[i], strlen(bad[i]));
		struct psi_lines lines;

		psi_parse(bytes, &lines);
		assert_false(lines.some.measured);
		assert_false(lines.full.measured);
		unguard(bytes);
	}
}

/* A line that was cut off says less than it seems to. */
TEST(all_four_numbers_must_be_there)
{
	static const char *const lines_without[] = {
		"some avg60=0.41 avg300=0.16 total=1\n",
		"some avg10=1.00 avg300=0.16 total=1\n",
		"some avg10=1.00 avg60=0.41 total=1\n",
		"some avg10=1.00 avg60=0.41 avg300=0.16 total\n",
		"some avg10=1.00 avg10=1.00 avg60=0.41 total=1\n",
	};

	for (size_t i = 0; i < array_length(lines_without); i++) {
		struct psi_lines lines;

		psi_parse(text_of(lines_without[i]), &lines);
		assert_false(lines.some.measured);
		assert_int_equal(lines.some.total_usec, 0);
	}
}

UNIT_TESTS(cmocka_unit_test(percents_are_hundredths), cmocka_unit_test(not_percents),
	   cmocka_unit_test(a_whole_file), cmocka_unit_test(irq_has_full_only),
	   cmocka_unit_test(unknown_keys_and_lines_are_passed_over),
	   cmocka_unit_test(a_line_with_a_bad_number_is_not_measured),
	   cmocka_unit_test(all_four_numbers_must_be_there))
