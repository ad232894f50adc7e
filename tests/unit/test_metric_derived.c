/* SPDX-License-Identifier: BSD-2-Clause */
#include "metric/derived.h"

#include <assert.h>

#include "unit/unit.h"

struct expected {
	const char *name, *formula;
	enum unit unit;
	bool is_ratio;
};

static const struct expected rows[] = {
	{ "affine_success_ratio", "nr_wakeups_affine / nr_wakeups_affine_attempts", UNIT_NONE,
	  true },
	{ "avg_wait_ns", "wait_sum / wait_count", UNIT_NS, false },
	{ "cpu_efficiency", "run_time_ns / (run_time_ns + wait_time_ns)", UNIT_NONE, true },
	{ "avg_slice_ns", "run_time_ns / timeslices", UNIT_NS, false },
	{ "involuntary_csw_ratio", "nonvoluntary_csw / (nonvoluntary_csw + voluntary_csw)",
	  UNIT_NONE, true },
	{ "disk_io_fraction", "read_bytes / rchar", UNIT_NONE, true },
	{ "live_heap_estimate", "allocated_bytes - deallocated_bytes", UNIT_BYTES, false },
	{ "avg_iowait_ns", "iowait_sum / iowait_count", UNIT_NS, false },
#define AVERAGE(c)                                                                               \
	{                                                                                        \
		"avg_" #c "_delay_ns", #c "_delay_total_ns / " #c "_delay_count", UNIT_NS, false \
	}
	AVERAGE(cpu),
	AVERAGE(blkio),
	AVERAGE(swapin),
	AVERAGE(freepages),
	AVERAGE(thrashing),
	AVERAGE(compact),
	AVERAGE(wpcopy),
	AVERAGE(irq),
#undef AVERAGE
	{ "total_offcpu_delay_ns",
	  "cpu + blkio + freepages + compact + wpcopy + irq + max(swapin, thrashing)", UNIT_NS,
	  false },
};

static_assert(array_length(rows) == 17, "one row for each derived metric there should be");

TEST(every_formula)
{
	char buffer[DERIVED_FORMULA_MAX];

	assert_int_equal(DERIVED_COUNT, array_length(rows));
	for (size_t i = 0; i < array_length(rows); i++) {
		const struct derived *d = &derived_metrics[i];

		assert_string_equal(d->name, rows[i].name);
		assert_string_equal(derived_formula(buffer, d), rows[i].formula);
		assert_int_equal(d->unit, rows[i].unit);
		assert_int_equal(d->is_ratio, rows[i].is_ratio);
	}
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

static bool result(enum derived_id id, const struct thread_record *threads, size_t count,
		   struct derived_value *ret)
{
	struct derived_sum sum = { 0 };

	for (size_t i = 0; i < count; i++)
		derived_add(&sum, &derived_metrics[id], &threads[i]);
	return derived_result(&sum, &derived_metrics[id], ret);
}

static double value_of(enum derived_id id, const struct thread_record *threads, size_t count)
{
	struct derived_value value = { .value = -1 };

	assert_true(result(id, threads, count, &value));
	assert_int_equal(value.threads, count);
	return value.value;
}

/* In how many of the threads its inputs were measured. */
static size_t measured_of(enum derived_id id, const struct thread_record *threads, size_t count)
{
	struct derived_value value = { 0 };

	assert_true(result(id, threads, count, &value));
	return value.measured;
}

static void expect_none(enum derived_id id, const struct thread_record *threads, size_t count)
{
	struct derived_value value = { 5, 6, 7 };

	assert_false(result(id, threads, count, &value));
	assert_true(value.value == 5 && value.measured == 6 && value.threads == 7);
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

UNIT_TESTS(cmocka_unit_test(every_formula), cmocka_unit_test(values_of_a_thread),
	   cmocka_unit_test(totals_are_divided),
	   cmocka_unit_test(threads_with_one_input_do_not_count), cmocka_unit_test(without_value),
	   cmocka_unit_test(all_delays), cmocka_unit_test(delays_count_wherever_they_were_measured),
	   cmocka_unit_test(a_delay_of_zero_is_a_value))
