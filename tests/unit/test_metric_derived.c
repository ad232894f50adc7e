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

static struct aggregate of_total(uint64_t total)
{
	return (struct aggregate){ .threads = 1, .measured = 1, .total = total };
}

static double value_of(enum derived_id id, const struct aggregate *values)
{
	double value = -1;

	assert_true(derived_value(&derived_metrics[id], values, &value));
	return value;
}

/* All of these are exact in binary. */
TEST(values_of_groups)
{
	struct aggregate v[METRIC_COUNT] = {
		[METRIC_wait_sum] = of_total(1000),
		[METRIC_wait_count] = of_total(8),
		[METRIC_run_time_ns] = of_total(300),
		[METRIC_wait_time_ns] = of_total(100),
		[METRIC_read_bytes] = of_total(4096),
		[METRIC_rchar] = of_total(1024),
		[METRIC_allocated_bytes] = of_total(10),
		[METRIC_deallocated_bytes] = of_total(30),
		[METRIC_nonvoluntary_csw] = of_total(1),
		[METRIC_voluntary_csw] = of_total(3),
		[METRIC_irq_delay_total_ns] = of_total(7),
		[METRIC_irq_delay_count] = of_total(2),
	};

	assert_true(value_of(DERIVED_ID_avg_wait_ns, v) == 125);
	assert_true(value_of(DERIVED_ID_cpu_efficiency, v) == 0.75);
	assert_true(value_of(DERIVED_ID_disk_io_fraction, v) == 4);
	assert_true(value_of(DERIVED_ID_live_heap_estimate, v) == -20);
	assert_true(value_of(DERIVED_ID_involuntary_csw_ratio, v) == 0.25);
	assert_true(value_of(DERIVED_ID_avg_irq_delay_ns, v) == 3.5);
}

TEST(without_value)
{
	struct aggregate v[METRIC_COUNT] = { [METRIC_wait_sum] = of_total(1000) };
	double value = 5;

	/* a divisor that was not measured, and one of zero */
	assert_false(derived_value(&derived_metrics[DERIVED_ID_avg_wait_ns], v, &value));
	v[METRIC_wait_count] = of_total(0);
	assert_false(derived_value(&derived_metrics[DERIVED_ID_avg_wait_ns], v, &value));
	v[METRIC_run_time_ns] = v[METRIC_wait_time_ns] = of_total(0);
	assert_false(derived_value(&derived_metrics[DERIVED_ID_cpu_efficiency], v, &value));
	assert_false(derived_value(&derived_metrics[DERIVED_ID_live_heap_estimate], v, &value));
	assert_false(derived_value(&derived_metrics[DERIVED_ID_total_offcpu_delay_ns], v, &value));
	assert_true(value == 5);
}

TEST(all_delays)
{
	struct aggregate v[METRIC_COUNT] = {
		[METRIC_cpu_delay_total_ns] = of_total(1),
		[METRIC_blkio_delay_total_ns] = of_total(2),
		[METRIC_freepages_delay_total_ns] = of_total(4),
		[METRIC_compact_delay_total_ns] = of_total(8),
		[METRIC_wpcopy_delay_total_ns] = of_total(16),
		[METRIC_irq_delay_total_ns] = of_total(32),
		[METRIC_swapin_delay_total_ns] = of_total(64),
		[METRIC_thrashing_delay_total_ns] = of_total(128),
	};

	assert_true(value_of(DERIVED_ID_total_offcpu_delay_ns, v) == 63 + 128);
	v[METRIC_swapin_delay_total_ns] = of_total(256);
	assert_true(value_of(DERIVED_ID_total_offcpu_delay_ns, v) == 63 + 256);
	/* what was not measured is left out */
	v[METRIC_irq_delay_total_ns] = (struct aggregate){ .threads = 1 };
	assert_true(value_of(DERIVED_ID_total_offcpu_delay_ns, v) == 31 + 256);
}

UNIT_TESTS(cmocka_unit_test(every_formula), cmocka_unit_test(values_of_groups),
	   cmocka_unit_test(without_value), cmocka_unit_test(all_delays))
