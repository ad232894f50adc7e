/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/derived.h"

#include "unit/unit.h"

/* One of each form. */
TEST(formulas)
{
	static const struct {
		enum derived_id id;
		const char *formula;
		enum unit unit;
		bool is_ratio;
	} rows[] = {
		{ DERIVED_ID_avg_wait_ns, "wait_sum / wait_count", UNIT_NS, false },
		{ DERIVED_ID_disk_io_fraction, "read_bytes / rchar", UNIT_NONE, true },
		{ DERIVED_ID_cpu_efficiency, "run_time_ns / (run_time_ns + wait_time_ns)",
		  UNIT_NONE, true },
		{ DERIVED_ID_live_heap_estimate, "allocated_bytes - deallocated_bytes", UNIT_BYTES,
		  false },
		{ DERIVED_ID_total_offcpu_delay_ns,
		  "cpu + blkio + freepages + compact + wpcopy + irq + max(swapin, thrashing)",
		  UNIT_NS, false },
	};
	char buffer[DERIVED_FORMULA_MAX];

	for (size_t i = 0; i < array_length(rows); i++) {
		const struct derived *d = &derived_metrics[rows[i].id];

		assert_string_equal(derived_formula(buffer, d), rows[i].formula);
		assert_int_equal(d->unit, rows[i].unit);
		assert_int_equal(d->is_ratio, rows[i].is_ratio);
	}
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		assert_true(strlen(derived_formula(buffer, &derived_metrics[i])) <
			    DERIVED_FORMULA_MAX - 1);
}

/* --- values --- */

struct input {
	enum metric_id id;
	uint64_t value;
};

/* A thread in which just these were measured, up to METRIC_COUNT. */
static struct thread_record of(const struct input *inputs)
{
	struct thread_record thread = { 0 };

	for (; inputs->id != METRIC_COUNT; inputs++) {
		assert_true(metric_store_u64(&thread.values, &metrics[inputs->id], inputs->value));
		metric_set_add(&thread.measured, inputs->id);
	}
	return thread;
}
#define thread(...) of((const struct input[]){ __VA_ARGS__, { METRIC_COUNT, 0 } })

/* Totals that get what has passed of their waits. */
static struct metric_set with_waits;

static struct derived_sum sum_of(enum derived_id id, const struct thread_record *threads,
				 size_t count)
{
	struct derived_sum sum = { 0 };

	for (size_t i = 0; i < count; i++)
		derived_add(&sum, &derived_metrics[id], &threads[i], &with_waits, NULL);
	return sum;
}

static struct datum datum_of(enum derived_id id, const struct thread_record *threads, size_t count)
{
	struct derived_sum sum = sum_of(id, threads, count);

	return derived_datum(&sum, &derived_metrics[id]);
}

static double value_of(enum derived_id id, const struct thread_record *threads, size_t count)
{
	struct datum datum = datum_of(id, threads, count);
	double value = -1;

	assert_true(datum_magnitude(&datum, &value));
	assert_int_equal(datum.threads, count);
	return value;
}

/* In how many of the threads its inputs were measured. */
static size_t measured_of(enum derived_id id, const struct thread_record *threads, size_t count)
{
	return datum_of(id, threads, count).measured;
}

static void expect_none(enum derived_id id, const struct thread_record *threads, size_t count)
{
	assert_int_equal(datum_of(id, threads, count).kind, DATUM_NONE);
}

/* All of these are exact in binary. */
TEST(values_of_a_thread)
{
	const struct thread_record t = thread(
		{ METRIC_wait_sum, 1000 }, { METRIC_wait_count, 8 }, { METRIC_run_time_ns, 300 },
		{ METRIC_wait_time_ns, 100 }, { METRIC_read_bytes, 4096 }, { METRIC_rchar, 1024 },
		{ METRIC_allocated_bytes, 10 }, { METRIC_deallocated_bytes, 30 },
		{ METRIC_nonvoluntary_csw, 1 }, { METRIC_voluntary_csw, 3 },
		{ METRIC_irq_delay_total_ns, 7 }, { METRIC_irq_delay_count, 2 });

	assert_true(value_of(DERIVED_ID_avg_wait_ns, &t, 1) == 125);
	assert_true(value_of(DERIVED_ID_cpu_efficiency, &t, 1) == 0.75);
	assert_true(value_of(DERIVED_ID_disk_io_fraction, &t, 1) == 4);
	assert_true(value_of(DERIVED_ID_live_heap_estimate, &t, 1) == -20);
	assert_true(value_of(DERIVED_ID_involuntary_csw_ratio, &t, 1) == 0.25);
	assert_true(value_of(DERIVED_ID_avg_irq_delay_ns, &t, 1) == 3.5);
}

/* Not the mean of the quotients: each event counts as much as any other. */
TEST(totals_are_divided)
{
	const struct thread_record threads[] = {
		thread({ METRIC_wait_sum, 100 }, { METRIC_wait_count, 1 }),
		thread({ METRIC_wait_sum, 20 }, { METRIC_wait_count, 3 }),
		thread({ METRIC_wait_sum, 0 }, { METRIC_wait_count, 0 }),
	};

	assert_true(value_of(DERIVED_ID_avg_wait_ns, threads, array_length(threads)) == 30);
}

TEST(threads_with_one_input_do_not_count)
{
	static const struct {
		enum derived_id derived;
		enum metric_id a, b;
		double value; /* of 10 and 5 */
	} forms[] = {
		{ DERIVED_ID_avg_wait_ns, METRIC_wait_sum, METRIC_wait_count, 2 },
		{ DERIVED_ID_disk_io_fraction, METRIC_read_bytes, METRIC_rchar, 2 },
		{ DERIVED_ID_cpu_efficiency, METRIC_run_time_ns, METRIC_wait_time_ns, 10 / 15.0 },
		{ DERIVED_ID_live_heap_estimate, METRIC_allocated_bytes, METRIC_deallocated_bytes,
		  5 },
	};

	for (size_t i = 0; i < array_length(forms); i++) {
		const struct thread_record threads[] = {
			thread({ forms[i].a, 5000 }),
			thread({ forms[i].b, 90 }),
			thread({ METRIC_nice, 1 }),
			thread({ forms[i].a, 10 }, { forms[i].b, 5 }),
		};

		assert_true(value_of(forms[i].derived, threads, 4) == forms[i].value);
		assert_int_equal(measured_of(forms[i].derived, threads, 4), 1);
		assert_int_equal(measured_of(forms[i].derived, threads + 3, 1), 1);
		/* no thread has both, though the group has */
		expect_none(forms[i].derived, threads, 3);
	}
}

TEST(without_value)
{
	const struct thread_record no_divisor = thread({ METRIC_wait_sum, 1000 });
	const struct thread_record zeros =
		thread({ METRIC_wait_sum, 1000 }, { METRIC_wait_count, 0 },
		       { METRIC_run_time_ns, 0 }, { METRIC_wait_time_ns, 0 });

	expect_none(DERIVED_ID_avg_wait_ns, &no_divisor, 1);
	expect_none(DERIVED_ID_avg_wait_ns, &zeros, 1);
	expect_none(DERIVED_ID_cpu_efficiency, &zeros, 1);
	expect_none(DERIVED_ID_live_heap_estimate, &zeros, 1);
	expect_none(DERIVED_ID_total_offcpu_delay_ns, &zeros, 1);
	for (enum derived_id id = 0; id < DERIVED_COUNT; id++)
		expect_none(id, NULL, 0);
}

/* --- delays --- */

TEST(all_delays)
{
	const enum derived_id id = DERIVED_ID_total_offcpu_delay_ns;
	struct thread_record t = thread(
		{ METRIC_cpu_delay_total_ns, 1 }, { METRIC_blkio_delay_total_ns, 2 },
		{ METRIC_freepages_delay_total_ns, 4 }, { METRIC_compact_delay_total_ns, 8 },
		{ METRIC_wpcopy_delay_total_ns, 16 }, { METRIC_irq_delay_total_ns, 32 },
		{ METRIC_swapin_delay_total_ns, 64 }, { METRIC_thrashing_delay_total_ns, 128 });

	assert_true(value_of(id, &t, 1) == 63 + 128);
	assert_true(metric_store_u64(&t.values, &metrics[METRIC_swapin_delay_total_ns], 256));
	assert_true(value_of(id, &t, 1) == 63 + 256);
	/* what was not measured is left out */
	metric_set_remove(&t.measured, METRIC_irq_delay_total_ns);
	assert_true(value_of(id, &t, 1) == 31 + 256);
}

TEST(delays_count_wherever_they_were_measured)
{
	const struct thread_record threads[] = {
		thread({ METRIC_cpu_delay_total_ns, 1 }, { METRIC_swapin_delay_total_ns, 64 }),
		thread({ METRIC_irq_delay_total_ns, 2 }, { METRIC_thrashing_delay_total_ns, 100 }),
		thread({ METRIC_cpu_delay_total_ns, 4 }, { METRIC_swapin_delay_total_ns, 64 }),
		thread({ METRIC_nice, 1 }),
	};

	/* of swap-ins and thrashing, the larger of the whole group */
	assert_true(value_of(DERIVED_ID_total_offcpu_delay_ns, threads, 4) == 7 + 128);
	assert_true(value_of(DERIVED_ID_total_offcpu_delay_ns, threads, 2) == 3 + 100);
	/* any of its delays is enough */
	assert_int_equal(measured_of(DERIVED_ID_total_offcpu_delay_ns, threads, 4), 3);
	assert_int_equal(measured_of(DERIVED_ID_total_offcpu_delay_ns, threads, 2), 2);
	expect_none(DERIVED_ID_total_offcpu_delay_ns, &threads[3], 1);
}

TEST(a_delay_of_zero_is_a_value)
{
	const struct thread_record t = thread({ METRIC_blkio_delay_total_ns, 0 });

	assert_true(value_of(DERIVED_ID_total_offcpu_delay_ns, &t, 1) == 0);
}

/* Of how many delays the sum is, whatever the order of their bits. */
static int delays_in(const struct thread_record *threads, size_t count)
{
	return __builtin_popcount(
		datum_of(DERIVED_ID_total_offcpu_delay_ns, threads, count).inputs);
}

#define EIGHT_DELAYS(value)                                                                        \
	{ METRIC_cpu_delay_total_ns, value }, { METRIC_blkio_delay_total_ns, value },              \
		{ METRIC_freepages_delay_total_ns, value },                                        \
		{ METRIC_compact_delay_total_ns, value }, { METRIC_wpcopy_delay_total_ns, value }, \
		{ METRIC_irq_delay_total_ns, value }, { METRIC_swapin_delay_total_ns, value },     \
	{                                                                                          \
		METRIC_thrashing_delay_total_ns, value                                             \
	}

TEST(partial_delays_are_marked)
{
	const struct thread_record one = thread({ METRIC_cpu_delay_total_ns, 1 });
	const struct thread_record eight = thread(EIGHT_DELAYS(1));
	const struct thread_record nothing = thread({ METRIC_nice, 1 });

	assert_int_equal(delays_in(&one, 1), 1);
	assert_int_equal(delays_in(&eight, 1), DATUM_INPUTS);
	assert_int_equal(delays_in(&nothing, 1), 0);
	assert_false(datum_of(DERIVED_ID_total_offcpu_delay_ns, &one, 1).partial);
	assert_false(datum_of(DERIVED_ID_total_offcpu_delay_ns, &eight, 1).partial);
	/* the others have no such bits */
	assert_int_equal(datum_of(DERIVED_ID_avg_irq_delay_ns, &eight, 1).inputs, 0);
}

/* What one thread had, and another had not. */
TEST(threads_with_different_delays_are_partial)
{
	const struct thread_record both =
		thread({ METRIC_cpu_delay_total_ns, 1 }, { METRIC_irq_delay_total_ns, 2 });
	const struct thread_record cpu = thread({ METRIC_cpu_delay_total_ns, 1 });
	const struct thread_record irq = thread({ METRIC_irq_delay_total_ns, 2 });
	const struct thread_record orders[][3] = {
		{ both, cpu, both }, { cpu, both, both }, { both, both, cpu },
		{ cpu, irq, both },  { irq, cpu, both },
	};
	const struct thread_record alike[] = { both, both, both };
	struct datum datum;

	for (size_t i = 0; i < array_length(orders); i++) {
		datum = datum_of(DERIVED_ID_total_offcpu_delay_ns, orders[i], 3);
		assert_true(datum.partial);
		assert_int_equal(datum.measured, 3);
		assert_int_equal(__builtin_popcount(datum.inputs), 2);
	}
	datum = datum_of(DERIVED_ID_total_offcpu_delay_ns, alike, 3);
	assert_false(datum.partial);
	assert_true(datum.number == 9);
}

TEST(sums_of_the_same_delays_compare)
{
	const struct thread_record cpu1 = thread({ METRIC_cpu_delay_total_ns, 1 });
	const struct thread_record cpu5 = thread({ METRIC_cpu_delay_total_ns, 5 });
	const struct thread_record irq5 = thread({ METRIC_irq_delay_total_ns, 5 });
	const struct thread_record eight = thread(EIGHT_DELAYS(1));
	const enum derived_id id = DERIVED_ID_total_offcpu_delay_ns;
	struct datum before = datum_of(id, &cpu1, 1), after = datum_of(id, &cpu5, 1);
	struct datum_change change;

	datum_compare(&before, &after, &change);
	assert_true(change.has_delta && change.twice == 8);
	after = datum_of(id, &irq5, 1);
	datum_compare(&before, &after, &change);
	assert_false(change.has_delta);
	after = datum_of(id, &eight, 1);
	datum_compare(&before, &after, &change);
	assert_false(change.has_delta);
}

/* --- exact --- */

/* Of swap-ins and thrashing one counts: seven of the largest numbers. */
TEST(delays_beyond_64_bits)
{
	const struct thread_record threads[] = { thread(EIGHT_DELAYS(UINT64_MAX)),
						 thread(EIGHT_DELAYS(UINT64_MAX)) };
	struct datum datum = datum_of(DERIVED_ID_total_offcpu_delay_ns, threads, 1);

	assert_int_equal(datum.kind, DATUM_NUMBER);
	assert_true(datum.number == (__int128)UINT64_MAX * 7);
	datum = datum_of(DERIVED_ID_total_offcpu_delay_ns, threads, 2);
	assert_true(datum.number == (__int128)UINT64_MAX * 14);
}

TEST(a_heap_is_exact_and_may_be_below_zero)
{
	static const struct {
		uint64_t allocated, freed;
		__int128 live;
	} heaps[] = {
		{ 10, 30, -20 },
		{ UINT64_MAX, 0, UINT64_MAX },
		{ 0, UINT64_MAX, -(__int128)UINT64_MAX },
		{ UINT64_MAX, UINT64_MAX - 1, 1 },
		/* one apart, and no double knows */
		{ ((uint64_t)1 << 60) + 1, (uint64_t)1 << 60, 1 },
		{ 0, 0, 0 },
	};

	for (size_t i = 0; i < array_length(heaps); i++) {
		const struct thread_record t =
			thread({ METRIC_allocated_bytes, heaps[i].allocated },
			       { METRIC_deallocated_bytes, heaps[i].freed });
		const struct thread_record two[] = { t, t };
		struct datum datum = datum_of(DERIVED_ID_live_heap_estimate, &t, 1);

		assert_int_equal(datum.kind, DATUM_NUMBER);
		assert_true(datum.number == heaps[i].live);
		/* sums of inputs do not stop at 64 bits */
		assert_true(datum_of(DERIVED_ID_live_heap_estimate, two, 2).number ==
			    heaps[i].live * 2);
	}
}

TEST(quotients_of_large_sums)
{
	const struct thread_record t =
		thread({ METRIC_wait_sum, UINT64_MAX }, { METRIC_wait_count, 1 },
		       { METRIC_run_time_ns, UINT64_MAX }, { METRIC_wait_time_ns, UINT64_MAX });
	const struct thread_record threads[] = { t, t };

	assert_true(value_of(DERIVED_ID_avg_wait_ns, threads, 2) == 18446744073709551616.0);
	assert_true(value_of(DERIVED_ID_cpu_efficiency, threads, 2) == 0.5);
}

TEST(metrics_that_some_threads_lack_are_partial)
{
	const struct thread_record threads[] = {
		thread({ METRIC_wait_sum, 10 }, { METRIC_wait_count, 2 }),
		thread({ METRIC_wait_sum, 10 }),
	};

	assert_false(datum_of(DERIVED_ID_avg_wait_ns, threads, 1).partial);
	assert_true(datum_of(DERIVED_ID_avg_wait_ns, threads, 2).partial);
	assert_int_equal(datum_of(DERIVED_ID_avg_wait_ns, threads, 2).threads, 2);
}

/* --- between two captures --- */

static struct datum between(enum derived_id id, const struct thread_record *before,
			    size_t before_count, const struct thread_record *after,
			    size_t after_count)
{
	struct derived_sum x = sum_of(id, before, before_count);
	struct derived_sum y = sum_of(id, after, after_count);
	struct derived_sum sum = derived_between(&x, &y, &derived_metrics[id]);

	return derived_datum(&sum, &derived_metrics[id]);
}

/* Ten waits of 100 ns in all before, two of 600 ns each since. */
TEST(quotients_of_a_window_are_of_it_alone)
{
	const struct thread_record before = thread(
		{ METRIC_wait_sum, 100 }, { METRIC_wait_count, 10 }, { METRIC_run_time_ns, 1000 },
		{ METRIC_wait_time_ns, 0 }, { METRIC_read_bytes, 0 }, { METRIC_rchar, 5000 });
	const struct thread_record after = thread(
		{ METRIC_wait_sum, 1300 }, { METRIC_wait_count, 12 }, { METRIC_run_time_ns, 1100 },
		{ METRIC_wait_time_ns, 300 }, { METRIC_read_bytes, 10 }, { METRIC_rchar, 5040 });

	assert_true(between(DERIVED_ID_avg_wait_ns, &before, 1, &after, 1).real == 600);
	assert_true(between(DERIVED_ID_cpu_efficiency, &before, 1, &after, 1).real == 0.25);
	assert_true(between(DERIVED_ID_disk_io_fraction, &before, 1, &after, 1).real == 0.25);
	/* nothing happened in it */
	assert_int_equal(between(DERIVED_ID_avg_wait_ns, &after, 1, &after, 1).kind, DATUM_NONE);
}

TEST(differences_of_a_window_are_unchanged)
{
	const struct thread_record before =
		thread({ METRIC_allocated_bytes, 100 }, { METRIC_deallocated_bytes, 40 },
		       { METRIC_cpu_delay_total_ns, 5 });
	const struct thread_record after =
		thread({ METRIC_allocated_bytes, 300 }, { METRIC_deallocated_bytes, 310 },
		       { METRIC_cpu_delay_total_ns, 9 });

	assert_true(between(DERIVED_ID_live_heap_estimate, &before, 1, &after, 1).number == -10);
	assert_true(between(DERIVED_ID_total_offcpu_delay_ns, &before, 1, &after, 1).number == 9);
}

/* A thread that only the later capture could read would bring its whole life along. */
TEST(a_window_is_partial_where_either_side_is)
{
	const struct thread_record whole[] = {
		thread({ METRIC_wait_sum, 10 }, { METRIC_wait_count, 2 }),
		thread({ METRIC_wait_sum, 20 }, { METRIC_wait_count, 4 }),
	};
	const struct thread_record half[] = {
		thread({ METRIC_wait_sum, 10 }, { METRIC_wait_count, 2 }),
		thread({ METRIC_wait_sum, 20 }),
	};
	const enum derived_id id = DERIVED_ID_avg_wait_ns;

	assert_true(between(id, half, 2, whole, 2).partial);
	assert_true(between(id, whole, 2, half, 2).partial);
	assert_int_equal(between(id, half, 2, whole, 2).measured, 1);
}

UNIT_TESTS(cmocka_unit_test(formulas), cmocka_unit_test(values_of_a_thread),
	   cmocka_unit_test(totals_are_divided),
	   cmocka_unit_test(threads_with_one_input_do_not_count), cmocka_unit_test(without_value),
	   cmocka_unit_test(all_delays), cmocka_unit_test(delays_count_wherever_they_were_measured),
	   cmocka_unit_test(a_delay_of_zero_is_a_value),
	   cmocka_unit_test(partial_delays_are_marked),
	   cmocka_unit_test(threads_with_different_delays_are_partial),
	   cmocka_unit_test(sums_of_the_same_delays_compare),
	   cmocka_unit_test(delays_beyond_64_bits),
	   cmocka_unit_test(a_heap_is_exact_and_may_be_below_zero),
	   cmocka_unit_test(quotients_of_large_sums),
	   cmocka_unit_test(metrics_that_some_threads_lack_are_partial),
	   cmocka_unit_test(quotients_of_a_window_are_of_it_alone),
	   cmocka_unit_test(differences_of_a_window_are_unchanged),
	   cmocka_unit_test(a_window_is_partial_where_either_side_is))
