/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/left_out.h"

#include "metric/metric.h"
#include "unit/unit.h"

static void measure(struct thread_record *record, enum metric_id id, uint64_t value)
{
	assert_true(metric_store_u64(&record->values, &metrics[id], value));
	metric_set_add(&record->measured, id);
}

static void expect(const struct thread_record *record, enum metric_id id, uint64_t value)
{
	assert_true(metric_set_has(&record->measured, id));
	assert_int_equal(metric_load_u64(&record->values, &metrics[id]), value);
}

TEST(restores_what_others_tell)
{
	struct thread_record record = { 0 };

	measure(&record, METRIC_run_time_ns, 3000);
	measure(&record, METRIC_wait_time_ns, 200);
	measure(&record, METRIC_timeslices, 7);
	measure(&record, METRIC_voluntary_csw, 4);
	measure(&record, METRIC_nonvoluntary_csw, 5);
	measure(&record, METRIC_state_sleep_ns, 0);
	measure(&record, METRIC_state_lock_ns, 10000);
	measure(&record, METRIC_state_lock_futex_ns, 9000); /* a part of the lock's time */
	store_restore(&record);
	expect(&record, METRIC_state_exec_ns, 3000);
	expect(&record, METRIC_state_runnable_ns, 200);
	expect(&record, METRIC_state_switches, 9);
	expect(&record, METRIC_state_watched_ns, 13200);
	expect(&record, METRIC_cpu_delay_total_ns, 200);
	expect(&record, METRIC_cpu_delay_count, 7);
	expect(&record, METRIC_thread_count, 1);
}

/* Without states in the row there are none, and nothing is made of what was not measured. */
TEST(restores_nothing_else)
{
	struct thread_record record = { 0 };

	measure(&record, METRIC_run_time_ns, 3000);
	store_restore(&record);
	assert_false(metric_set_has(&record.measured, METRIC_state_exec_ns));
	assert_false(metric_set_has(&record.measured, METRIC_state_watched_ns));
	assert_false(metric_set_has(&record.measured, METRIC_cpu_delay_total_ns));
}

TEST(rounds_to_the_nearest)
{
	assert_int_equal(store_round(0), 0);
	assert_int_equal(store_round((1 << 25) - 1), 0);
	assert_int_equal(store_round(1 << 25), 1 << 26);
	assert_int_equal(store_round(10000000000), UINT64_C(149) << 26);
	assert_true(store_is_rounded(METRIC_state_idle_ns) &&
		    !store_is_rounded(METRIC_state_watched_ns) &&
		    !store_is_rounded(METRIC_run_time_ns));
	assert_true(store_is_left_out(METRIC_state_watched_ns) &&
		    store_is_left_out(METRIC_cpu_delay_count) &&
		    !store_is_left_out(METRIC_state_idle_ns));
}

UNIT_TESTS(cmocka_unit_test(restores_what_others_tell), cmocka_unit_test(restores_nothing_else),
	   cmocka_unit_test(rounds_to_the_nearest))
