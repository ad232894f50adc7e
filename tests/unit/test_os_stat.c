/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/stat.h"

#include <stdio.h>

#include "unit/unit.h"

/* Columns 3 to 52 as a kernel prints them: each its own number, but for the state. */
#define COLUMNS                                                                                  \
	"S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 " \
	"34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52"

static void check_whole(const char *line, const char *comm)
{
	struct text bytes = guarded(line, strlen(line));
	struct stat_line stat;
	char number[16];

	assert_true(stat_parse(bytes, &stat));
	expect_text(stat.comm, comm);
	expect_text(stat.columns[STAT_STATE], "S");
	for (int i = 4; i <= STAT_COLUMNS; i++) {
		snprintf(number, sizeof(number), "%d", i);
		expect_text(stat.columns[i], number);
	}
	unguard(bytes);
}

TEST(columns_count_from_one)
{
	check_whole("1 (systemd) " COLUMNS "\n", "systemd");
	assert_int_equal(STAT_PPID, 4);
	assert_int_equal(STAT_START_TIME, 22);
}

TEST(names_hold_any_byte)
{
	check_whole("7 () " COLUMNS "\n", "");
	check_whole("7 (a b) " COLUMNS "\n", "a b");
	check_whole("7 (a) R 1 2) " COLUMNS "\n", "a) R 1 2");
	check_whole("7 (() " COLUMNS "\n", "(");
	check_whole("7 ()) " COLUMNS "\n", ")");
	check_whole("7 (a\nb (c\n)) " COLUMNS "\n", "a\nb (c\n)");
	check_whole("7 (\xff\xc3) " COLUMNS "\n", "\xff\xc3");
	check_whole("7 ( ) " COLUMNS "\n", " ");
}

TEST(later_kernels_may_add_columns)
{
	check_whole("7 (x) " COLUMNS " 53 54\n", "x");
}

TEST(a_short_line_has_what_it_has)
{
	struct text bytes = TEXT("7 (x) R 1 2");
	struct stat_line stat;

	assert_true(stat_parse(bytes, &stat));
	expect_text(stat.columns[3], "R");
	expect_text(stat.columns[5], "2");
	for (int i = 6; i <= STAT_COLUMNS; i++)
		assert_int_equal(stat.columns[i].length, 0);
}

TEST(not_a_stat_line)
{
	static const char *const bad[] = { "", "7", "7 x S 1", "7 (x", "7 x)", ")(", "\n\n" };
	struct stat_line stat;

	for (size_t i = 0; i < array_length(bad); i++) {
		struct text bytes = guarded(bad[i], strlen(bad[i]));

		assert_false(stat_parse(bytes, &stat));
		unguard(bytes);
	}
}

TEST(policies_by_name)
{
	static const char *const names[] = {
		"SCHED_OTHER", "SCHED_FIFO",     "SCHED_RR",  "SCHED_BATCH",     "SCHED_UNKNOWN(4)",
		"SCHED_IDLE",  "SCHED_DEADLINE", "SCHED_EXT", "SCHED_UNKNOWN(8)"
	};
	char buffer[POLICY_NAME_MAX];

	for (uint64_t i = 0; i < array_length(names); i++)
		assert_string_equal(policy_name(buffer, i), names[i]);
	assert_string_equal(policy_name(buffer, UINT64_MAX), "SCHED_UNKNOWN(18446744073709551615)");
}

UNIT_TESTS(cmocka_unit_test(columns_count_from_one), cmocka_unit_test(names_hold_any_byte),
	   cmocka_unit_test(later_kernels_may_add_columns),
	   cmocka_unit_test(a_short_line_has_what_it_has), cmocka_unit_test(not_a_stat_line),
	   cmocka_unit_test(policies_by_name))
