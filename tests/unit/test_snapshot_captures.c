/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/captures.h"

#include "unit/unit.h"

/* Packed, so that what is dropped must be freed. */
static void add(struct captures *captures, uint64_t at_ms, uint64_t size)
{
	assert_true(captures_add(captures, (struct capture_kept){ at_ms, size, malloc(size) }));
}

static void fill(struct captures *captures, const uint64_t *times, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(captures, times[i], 10);
}

TEST(they_can_be_sorted)
{
	static const uint64_t times[] = { 300, 100, 200, 200, 400 };
	static const uint64_t sorted[] = { 100, 200, 200, 300, 400 };
	struct captures captures = { 0 };

	captures_sort(&captures);
	fill(&captures, times, array_length(times));
	assert_int_equal(captures.size, 50);
	assert_int_equal(captures.items[0].at_ms, 300);
	captures_sort(&captures);
	assert_int_equal(captures.count, array_length(sorted));
	for (size_t i = 0; i < captures.count; i++)
		assert_int_equal(captures.items[i].at_ms, sorted[i]);
	captures_deinit(&captures);
	assert_int_equal(captures.count, 0);
	assert_int_equal(captures.size, 0);
}

/* What comes after the clock was set back is not the first to go. */
TEST(a_clock_that_is_set_back)
{
	static const uint64_t times[] = { 7000, 8000, 1000, 2000 };
	const struct keep by_age = { .age_ms = 1500 }, by_size = { .bytes = 20 };
	struct captures captures = { 0 };

	fill(&captures, times, array_length(times));
	assert_int_equal(captures_surplus(&captures, &by_age, 2000), 0);
	assert_int_equal(captures_surplus(&captures, &by_size, 2000), 2);
	captures_drop(&captures, 2);
	assert_int_equal(captures.items[0].at_ms, 1000);
	captures_deinit(&captures);
}

TEST(the_last_at_or_before)
{
	static const uint64_t times[] = { 100, 200, 200, 300 };
	static const struct {
		uint64_t at;
		size_t found;
	} asked[] = {
		{ 100, 0 }, { 199, 0 }, { 200, 2 }, { 299, 2 }, { 300, 3 }, { UINT64_MAX, 3 }
	};
	struct captures captures = { 0 };
	size_t found = 42;

	assert_false(captures_at(&captures, 1, &found));
	fill(&captures, times, array_length(times));
	assert_false(captures_at(&captures, 99, &found));
	assert_int_equal(found, 42);
	for (size_t i = 0; i < array_length(asked); i++) {
		assert_true(captures_at(&captures, asked[i].at, &found));
		assert_int_equal(found, asked[i].found);
	}
	captures_deinit(&captures);
}

TEST(captures_beyond_the_limits)
{
	static const uint64_t times[] = { 1000, 2000, 3000, 4000 };
	static const struct {
		struct keep keep;
		uint64_t now;
		size_t surplus;
	} cases[] = {
		{ { 0, 0 }, 9000, 0 },
		/* Just as old as may be is kept. */
		{ { 3000, 0 }, 4000, 0 },
		{ { 2999, 0 }, 4000, 1 },
		{ { 1000, 0 }, 4000, 2 },
		/* The newest stays, however old or large. */
		{ { 1, 0 }, 1000000, 3 },
		{ { 0, 1 }, 4000, 3 },
		{ { 0, 40 }, 4000, 0 },
		{ { 0, 39 }, 4000, 1 },
		{ { 0, 20 }, 4000, 2 },
		/* The stricter of both. */
		{ { 1000, 39 }, 4000, 2 },
		{ { 3000, 10 }, 4000, 3 },
		/* The clock was set back. */
		{ { 1, 0 }, 500, 0 },
	};
	struct captures captures = { 0 };

	for (size_t i = 0; i < array_length(cases); i++)
		assert_int_equal(captures_surplus(&captures, &cases[i].keep, cases[i].now), 0);
	fill(&captures, times, array_length(times));
	for (size_t i = 0; i < array_length(cases); i++)
		assert_int_equal(captures_surplus(&captures, &cases[i].keep, cases[i].now),
				 cases[i].surplus);
	captures_deinit(&captures);
}

/* As a flight recorder does for days. */
TEST(a_ring_stays_within_its_bounds)
{
	const struct keep keep = { .age_ms = 5000, .bytes = 4000 };
	struct captures ring = { 0 };
	uint64_t random = 7, newest = 0;
	size_t room = 0;

	for (uint64_t at = 0; at < 2000000; at += 100 + next_random(&random) % 400) {
		newest = at;
		add(&ring, at, 1 + next_random(&random) % 900);
		captures_drop(&ring, captures_surplus(&ring, &keep, at));
		assert_true(ring.size <= keep.bytes);
		assert_true(at - ring.items[0].at_ms <= keep.age_ms);
		/* And no more was dropped than that. */
		assert_true(ring.count >= 2 || at == 0);
		room = ring.room;
	}
	assert_int_equal(ring.items[ring.count - 1].at_ms, newest);
	assert_true(room < 100);
	captures_deinit(&ring);
}

UNIT_TESTS(cmocka_unit_test(they_can_be_sorted), cmocka_unit_test(a_clock_that_is_set_back),
	   cmocka_unit_test(the_last_at_or_before), cmocka_unit_test(captures_beyond_the_limits),
	   cmocka_unit_test(a_ring_stays_within_its_bounds))
