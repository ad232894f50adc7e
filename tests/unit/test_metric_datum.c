/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/datum.h"

#include <math.h>

#include "unit/build.h"

static const struct datum none = { 0 };

static struct datum number(__int128 value)
{
	return datum_number(value);
}

static struct datum real(double value)
{
	return (struct datum){ .kind = DATUM_REAL, .real = value };
}

static struct datum range(int64_t smallest, int64_t largest)
{
	return (struct datum){ .kind = DATUM_RANGE, .range = { smallest, largest } };
}

static struct datum of_kind(enum datum_kind kind)
{
	return (struct datum){ .kind = kind };
}

static struct datum cpus(const struct name *set, uint32_t fewest, uint32_t most)
{
	return (struct datum){ .kind = DATUM_CPUS,
			       .cpus = { .set = set, .fewest = fewest, .most = most } };
}

static struct datum partial(struct datum datum)
{
	datum.partial = true;
	datum.measured = 1;
	datum.threads = 2;
	return datum;
}

static struct datum with_inputs(struct datum datum, uint8_t inputs)
{
	datum.inputs = inputs;
	return datum;
}

static struct datum_change change_of(struct datum before, struct datum after)
{
	struct datum_change change;

	datum_compare(&before, &after, &change);
	return change;
}

/* Both ways: the one is the negative of the other. */
static void expect_twice(struct datum before, struct datum after, __int128 twice)
{
	struct datum_change there = change_of(before, after), back = change_of(after, before);

	assert_true(there.has_delta && back.has_delta);
	assert_false(there.real || back.real);
	assert_true(there.twice == twice);
	assert_true(back.twice == -twice);
	assert_true(there.delta == (double)twice / 2);
	assert_true(back.delta == -(double)twice / 2);
	assert_int_equal(there.differs, twice != 0);
	assert_int_equal(back.differs, twice != 0);
}

static void expect_no_delta(struct datum x, struct datum y, bool differs)
{
	struct datum_change there = change_of(x, y), back = change_of(y, x);

	assert_false(there.has_delta || back.has_delta);
	assert_false(there.has_share || back.has_share);
	assert_int_equal(there.differs, differs);
	assert_int_equal(back.differs, differs);
}

TEST(whole_numbers_differ_exactly)
{
	const __int128 most = UINT64_MAX;

	expect_twice(number(1000), number(1125), 250);
	expect_twice(number(0), number(0), 0);
	expect_twice(number(0), number(most), 2 * most);
	expect_twice(number(most - 1), number(most), 2);
	/* what is more than 64 bits: seven delays added up */
	expect_twice(number(7 * most), number(0), -14 * most);
	expect_twice(number(7 * most - 1), number(7 * most), 2);
	expect_twice(number(-most), number(most), 4 * most);
	/* 2^53 and one more, which a double does not tell apart */
	expect_twice(number(9007199254740992), number(9007199254740993), 2);
}

TEST(reals_differ_as_reals)
{
	struct datum_change change = change_of(real(1.5), real(1));

	assert_true(change.has_delta && change.real && change.differs);
	assert_true(change.delta == -0.5);
	change = change_of(real(2.25), real(2.25));
	assert_true(change.has_delta && change.real && !change.differs);
	assert_true(change.delta == 0);
	/* a quotient beside a whole number, as of a total that is divided on one side */
	change = change_of(number(2), real(2.5));
	assert_true(change.has_delta && change.real && change.differs);
	assert_true(change.delta == 0.5);
}

TEST(ranges_differ_by_their_midpoints)
{
	expect_twice(range(0, 10), range(0, 19), 9);
	expect_twice(range(0, 1), range(0, 0), -1);
	expect_twice(range(-20, -20), range(19, 19), 78);
	expect_twice(range(INT32_MIN, INT32_MIN), range(UINT32_MAX, UINT32_MAX),
		     2 * ((__int128)UINT32_MAX - INT32_MIN));
	expect_twice(range(INT64_MIN, INT64_MIN), range(INT64_MAX, INT64_MAX),
		     2 * ((__int128)INT64_MAX - INT64_MIN));
	expect_twice(range(3, 5), range(3, 5), 0);
}

/* They are not the same, and no number says how far apart they are. */
TEST(ranges_around_the_same_midpoint)
{
	expect_no_delta(range(0, 10), range(5, 5), true);
	expect_no_delta(range(-5, 5), range(-1, 1), true);
	expect_no_delta(range(0, 1), range(-1, 2), true);
}

TEST(categories)
{
	char again[] = "SCHED_RR"; /* other bytes, the same text */

	expect_no_delta(datum_text("SCHED_RR"), datum_text(again), false);
	expect_no_delta(datum_text("SCHED_RR"), datum_text("SCHED_FIFO"), true);
	expect_no_delta(datum_text("SCHED_RR"), datum_text(NULL), true);
	expect_no_delta(datum_text(NULL), datum_text(NULL), false);
	assert_int_equal(datum_text(NULL).kind, DATUM_NONE);
	expect_no_delta(datum_text("5"), number(5), true);
}

TEST(cpu_sets)
{
	struct ctprof_snapshot *s = build_snapshot(), *t = build_snapshot();
	struct ctprof_thread *thread = build_thread(s, 1, 1, "p", "t", "/");
	const struct name *four, *same_four, *other_four, *eight;

	build_cpus(s, thread, "0-3");
	four = thread->record.values.cpu_affinity.v;
	build_cpus(s, thread, "4-7");
	other_four = thread->record.values.cpu_affinity.v;
	build_cpus(s, thread, "0-7");
	eight = thread->record.values.cpu_affinity.v;
	thread = build_thread(t, 1, 1, "p", "t", "/");
	build_cpus(t, thread, "0-3");
	same_four = thread->record.values.cpu_affinity.v;

	assert_ptr_not_equal(four, same_four);
	expect_twice(cpus(four, 4, 4), cpus(same_four, 4, 4), 0);
	expect_twice(cpus(four, 4, 4), cpus(eight, 8, 8), 8);
	expect_no_delta(cpus(four, 4, 4), cpus(other_four, 4, 4), true);
	/* of threads that do not agree */
	expect_no_delta(cpus(NULL, 4, 4), cpus(four, 4, 4), true);
	expect_no_delta(cpus(NULL, 2, 4), cpus(NULL, 2, 8), true);
	expect_no_delta(cpus(NULL, 2, 4), cpus(NULL, 2, 4), false);
	snapshot_destroy(s);
	snapshot_destroy(t);
}

TEST(limits)
{
	expect_no_delta(of_kind(DATUM_UNLIMITED), of_kind(DATUM_UNLIMITED), false);
	expect_no_delta(of_kind(DATUM_UNLIMITED), number(0), true);
	expect_no_delta(of_kind(DATUM_UNLIMITED), none, true);
}

TEST(the_smallest_of_nothing)
{
	expect_no_delta(of_kind(DATUM_NO_EVENTS), of_kind(DATUM_NO_EVENTS), false);
	expect_no_delta(of_kind(DATUM_NO_EVENTS), number(800), true);
	expect_no_delta(of_kind(DATUM_NO_EVENTS), number(0), true);
}

TEST(unmeasured_data)
{
	expect_no_delta(none, none, false);
	expect_no_delta(none, number(0), true);
	expect_no_delta(none, real(0), true);
	expect_no_delta(none, range(0, 0), true);
}

/* The part that was read says nothing of the whole, even where the parts are alike. */
TEST(partial_values_have_no_delta)
{
	expect_no_delta(partial(number(5)), number(7), true);
	expect_no_delta(partial(number(5)), partial(number(7)), true);
	expect_no_delta(partial(number(5)), partial(number(5)), false);
	expect_no_delta(partial(real(5)), real(7), true);
	expect_no_delta(partial(range(0, 1)), range(4, 5), true);
	expect_no_delta(partial(number(5)), real(7), true);
}

TEST(sums_of_different_things_have_no_delta)
{
	expect_no_delta(with_inputs(number(5), 1), with_inputs(number(7), 3), true);
	expect_no_delta(with_inputs(number(5), 1), with_inputs(number(7), 2), true);
	expect_no_delta(with_inputs(number(5), 0xff), number(7), true);
	expect_twice(with_inputs(number(5), 3), with_inputs(number(7), 3), 4);
	expect_twice(with_inputs(number(5), 0xff), with_inputs(number(7), 0xff), 4);
}

static void expect_share(struct datum before, struct datum after, double share)
{
	struct datum_change change = change_of(before, after);

	assert_true(change.has_share);
	assert_true(change.share == share);
}

TEST(shares_of_the_baseline)
{
	expect_share(number(1000), number(1125), 0.125);
	expect_share(number(8), number(0), -1);
	expect_share(number(1024), number(-1024), -2);
	expect_share(number(5), number(5), 0);
	expect_share(real(0.5), real(2), 3);
	expect_share(range(0, 10), range(0, 20), 1);
}

/* No share of nothing is a number, but it is more than any. */
TEST(shares_of_zero)
{
	expect_share(number(0), number(7), (double)INFINITY);
	expect_share(number(0), number(-7), (double)-INFINITY);
	expect_share(real(0), real(0.1), (double)INFINITY);
	expect_share(range(-5, 5), range(0, 1), (double)INFINITY);
	assert_false(change_of(number(0), number(0)).has_share);
	assert_false(change_of(real(0), real(0)).has_share);
}

TEST(nothing)
{
	static const struct name set = { .length = 0 };
	const struct {
		struct datum datum;
		bool is_nothing;
	} rows[] = {
		{ none, true },
		{ of_kind(DATUM_NO_EVENTS), true },
		{ number(0), true },
		{ number(1), false },
		{ number(-1), false },
		{ number((__int128)1 << 100), false },
		{ real(0), true },
		{ real(-0.0), true },
		{ real(1e-300), false },
		{ range(0, 0), true },
		{ range(5, 5), false },
		/* the middle is zero, they are not */
		{ range(-5, 5), false },
		{ range(0, 1), false },
		{ of_kind(DATUM_UNLIMITED), false },
		{ datum_text("0"), false },
		{ datum_text(""), false },
		{ cpus(&set, 4, 4), false },
		{ cpus(NULL, 0, 4), false },
		{ partial(number(0)), true },
	};

	for (size_t i = 0; i < array_length(rows); i++)
		if (datum_is_nothing(&rows[i].datum) != rows[i].is_nothing)
			fail_msg("row %zu", i);
}

static void expect_magnitude(struct datum datum, double expected)
{
	double value = 77;

	assert_true(datum_magnitude(&datum, &value));
	assert_true(value == expected);
}

static void expect_no_magnitude(struct datum datum)
{
	double value = 77;

	assert_false(datum_magnitude(&datum, &value));
	assert_true(value == 77);
}

TEST(magnitudes)
{
	static const struct name set = { .length = 0 };

	expect_magnitude(number(-5), -5);
	expect_magnitude(number(UINT64_MAX), 18446744073709551616.0);
	expect_magnitude(real(0.25), 0.25);
	expect_magnitude(range(-1, 2), 0.5);
	expect_magnitude(cpus(&set, 4, 4), 4);
	/* ranking needs no more than what was read */
	expect_magnitude(partial(number(3)), 3);
	expect_no_magnitude(cpus(NULL, 4, 4));
	expect_no_magnitude(none);
	expect_no_magnitude(datum_text("x"));
	expect_no_magnitude(of_kind(DATUM_UNLIMITED));
	expect_no_magnitude(of_kind(DATUM_NO_EVENTS));
}

UNIT_TESTS(cmocka_unit_test(whole_numbers_differ_exactly), cmocka_unit_test(reals_differ_as_reals),
	   cmocka_unit_test(ranges_differ_by_their_midpoints),
	   cmocka_unit_test(ranges_around_the_same_midpoint), cmocka_unit_test(categories),
	   cmocka_unit_test(cpu_sets), cmocka_unit_test(limits),
	   cmocka_unit_test(the_smallest_of_nothing), cmocka_unit_test(unmeasured_data),
	   cmocka_unit_test(partial_values_have_no_delta),
	   cmocka_unit_test(sums_of_different_things_have_no_delta),
	   cmocka_unit_test(shares_of_the_baseline), cmocka_unit_test(shares_of_zero),
	   cmocka_unit_test(nothing), cmocka_unit_test(magnitudes))
