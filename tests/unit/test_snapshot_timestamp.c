/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/timestamp.h"

#include <time.h>

#include "unit/unit.h"

/* 2026-11-20 00:00:00 UTC. */
#define DAY UINT64_C(1795132800000)
#define AT(hour, minute, second) \
	(DAY + ((uint64_t)(hour)*3600 + (uint64_t)(minute)*60 + (second)) * 1000)

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

TEST(words_and_times)
{
	static const struct {
		const char *text;
		struct timestamp timestamp;
	} good[] = {
		{ "first", { .kind = TIMESTAMP_FIRST } },
		{ "last", { .kind = TIMESTAMP_LAST } },
		{ "-5m", { .kind = TIMESTAMP_BEFORE_LAST, .ms = 300000 } },
		{ "-0.25s", { .kind = TIMESTAMP_BEFORE_LAST, .fraction = true, .ms = 250 } },
		{ "12:30", { .kind = TIMESTAMP_OF_DAY, .ms = 45000000 } },
		{ "12:30Z", { .kind = TIMESTAMP_OF_DAY, .ms = 45000000 } },
		{ "12:30:05", { .kind = TIMESTAMP_OF_DAY, .ms = 45005000 } },
		{ "12:30:05.0079Z",
		  { .kind = TIMESTAMP_OF_DAY, .fraction = true, .ms = 45005007 } },
		{ "23:59:60", { .kind = TIMESTAMP_OF_DAY, .ms = 86400000 } },
		{ "2026-11-20T12:30:05Z", { .kind = TIMESTAMP_AT, .ms = AT(12, 30, 5) } },
		{ "2026-11-20 12:30:05 UTC", { .kind = TIMESTAMP_AT, .ms = AT(12, 30, 5) } },
		{ "2026-11-20T12:30Z", { .kind = TIMESTAMP_AT, .ms = AT(12, 30, 0) } },
		{ "2026-11-20T12:30:05.250Z",
		  { .kind = TIMESTAMP_AT, .fraction = true, .ms = AT(12, 30, 5) + 250 } },
		/* Also two hours east of Greenwich. */
		{ "2026-11-20T12:30:05", { .kind = TIMESTAMP_AT, .ms = AT(12, 30, 5) } },
		{ "1795177805", { .kind = TIMESTAMP_AT, .ms = AT(12, 30, 5) } },
		{ "1795177805.25",
		  { .kind = TIMESTAMP_AT, .fraction = true, .ms = AT(12, 30, 5) + 250 } },
	};

	set_zone("XYZ-2");
	for (size_t i = 0; i < array_length(good); i++) {
		struct text text = guarded(good[i].text, strlen(good[i].text));
		struct timestamp timestamp;

		if (!timestamp_parse(text, &timestamp))
			fail_msg("'%s' is none", good[i].text);
		assert_int_equal(timestamp.kind, good[i].timestamp.kind);
		assert_int_equal(timestamp.fraction, good[i].timestamp.fraction);
		assert_int_equal(timestamp.ms, good[i].timestamp.ms);
		unguard(text);
	}
}

TEST(no_times)
{
	static const char *const bad[] = {
		"",
		"firs",
		"lasts",
		"5m",
		"-5",
		"-30000d",
		"+5m",
		"12",
		"1:30",
		"24:00",
		"12:60",
		"12:30:61",
		"12:30:5",
		"12:30:",
		"12:30:05.",
		"12:30:05 Z",
		"12:30:05ZZ",
		"2026-11-20",
		"2026-11-20T",
		"2026-11-31T12:30",
		"2026-13-01T12:30",
		"2026-00-01T12:30",
		"2026-01-00T12:30",
		"1969-12-31T12:30:00Z",
		"26-11-20T12:30",
		"2026-11-20t12:30",
		"2026",
		"20261120",
		"99999999999999999999",
		"1795177805.",
		"-1795177805",
		"12:30:05.000000000000000000000000000000000000000000000000000000000000000",
	};
	struct timestamp timestamp = { .ms = 42 };

	for (size_t i = 0; i < array_length(bad); i++)
		if (timestamp_parse(text_of(bad[i]), &timestamp))
			fail_msg("'%s' is one", bad[i]);
	assert_int_equal(timestamp.ms, 42);
}

TEST(printed_timestamps_are_read)
{
	static const uint64_t times[] = { 0, 1, AT(12, 30, 5) + 250, UINT64_C(253402300799999) };

	set_zone("XYZ-2");
	for (size_t i = 0; i < array_length(times); i++) {
		char text[TIMESTAMP_TEXT_SIZE];
		struct timestamp timestamp;

		timestamp_print(text, times[i]);
		assert_true(timestamp_parse(text_of(text), &timestamp));
		assert_int_equal(timestamp.kind, TIMESTAMP_AT);
		assert_int_equal(timestamp.ms, times[i]);
	}
}

/* Which capture of those at `times` a text means; -1: all are later, -2: all are earlier. */
static int pick(const uint64_t *times, size_t count, const char *text)
{
	struct captures captures = { 0 };
	struct timestamp timestamp;
	size_t picked;
	enum timestamp_picked found;

	for (size_t i = 0; i < count; i++)
		assert_true(captures_add(&captures, (struct capture_kept){ .at_ms = times[i] }));
	assert_true(timestamp_parse(text_of(text), &timestamp));
	found = timestamp_pick(&timestamp, &captures, &picked);
	captures_deinit(&captures);
	return found == TIMESTAMP_PICKED ? (int)picked : found == TIMESTAMP_TOO_EARLY ? -1 : -2;
}

struct picked {
	const char *text;
	int number;
};

static void check_picks(const uint64_t *times, size_t count, const struct picked *picks,
			size_t pick_count)
{
	for (size_t i = 0; i < pick_count; i++) {
		int number = pick(times, count, picks[i].text);

		if (number != picks[i].number)
			fail_msg("'%s' is %d", picks[i].text, number);
	}
}

TEST(the_nearest_at_or_before)
{
	static const uint64_t times[] = { AT(12, 30, 0) + 3, AT(12, 30, 5) + 1, AT(12, 30, 10) + 4,
					  AT(12, 30, 15) + 2 };
	static const struct picked picks[] = {
		{ "first", 0 },
		{ "last", 3 },
		/* A second is meant whole, as it is printed ... */
		{ "12:30:05Z", 1 },
		{ "2026-11-20T12:30Z", 0 },
		{ "1795177805", 1 },
		/* ... and a fraction exactly. */
		{ "12:30:05.000Z", 0 },
		{ "12:30:05.001Z", 1 },
		{ "12:30:04Z", 0 },
		{ "12:30:09Z", 1 },
		{ "12:30:15Z", 3 },
		{ "12:30:15.002Z", 3 },
		{ "12:30:15.003Z", -2 },
		{ "12:30:16Z", -2 },
		{ "12:31", -2 },
		{ "12:29Z", -1 },
		{ "2026-11-20T12:29:59Z", -1 },
		{ "2026-12-01T00:00Z", -2 },
		{ "1795177816", -2 },
		{ "-5s", 2 },
		{ "-15s", 0 },
		{ "-16s", -1 },
		{ "-1d", -1 },
	};

	check_picks(times, array_length(times), picks, array_length(picks));
	/* What is before 1970 is before everything. */
	assert_int_equal(pick((const uint64_t[]){ 1000 }, 1, "-1d"), -1);
}

/* From the evening to the morning: a time of the day is on the day where it was recorded. */
TEST(times_of_the_day_over_midnight)
{
	static const uint64_t times[] = { AT(20, 0, 0), AT(22, 0, 0), AT(24, 0, 0), AT(32, 0, 0) };
	static const struct picked picks[] = {
		{ "20:00Z", 0 },
		{ "21:00Z", 0 },
		{ "23:00Z", 1 },
		{ "00:00Z", 2 },
		{ "07:00Z", 2 },
		{ "08:00Z", 3 },
		{ "19:00Z", -2 },
		/* In UTC, whatever the local time is. */
		{ "20:00", 0 },
		{ "22:00", 1 },
		{ "08:00", 3 },
	};

	set_zone("XYZ-2");
	check_picks(times, array_length(times), picks, array_length(picks));
}

UNIT_TESTS(cmocka_unit_test(words_and_times), cmocka_unit_test(no_times),
	   cmocka_unit_test(printed_timestamps_are_read),
	   cmocka_unit_test(the_nearest_at_or_before),
	   cmocka_unit_test(times_of_the_day_over_midnight))
