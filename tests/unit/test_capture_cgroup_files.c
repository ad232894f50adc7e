/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/cgroup_files.h"

#include "unit/build.h"

static struct ctprof_snapshot *snapshot;
static struct cgroup_counters cgroup;

static int setup(void **state)
{
	(void)state;
	snapshot = build_snapshot();
	cgroup = (struct cgroup_counters){ 0 };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	snapshot_destroy(snapshot);
	return 0;
}

static bool take(const char *file, const char *bytes)
{
	struct text text = guarded(bytes, strlen(bytes));
	bool understood;
	size_t number = 0;

	while (cgroup_file_name(number) && strcmp(cgroup_file_name(number), file) != 0)
		number++;
	assert_non_null(cgroup_file_name(number));
	understood = cgroup_take_file(snapshot, number, text, &cgroup);
	unguard(text);
	return understood;
}

static void expect_reading(struct reading reading, uint64_t value)
{
	assert_true(reading.measured);
	assert_false(reading.unlimited);
	assert_int_equal(reading.value, value);
}

static void expect_unlimited(struct reading reading)
{
	assert_true(reading.measured);
	assert_true(reading.unlimited);
}

TEST(cpu_stat)
{
	assert_true(take("cpu.stat", "usage_usec 12\nuser_usec 5\nkey-only\nnr_periods 0\n"
				     "nr_throttled 0\nthrottled_usec 18446744073709551615\n"));
	expect_reading(cgroup.cpu.usage_usec, 12);
	expect_reading(cgroup.cpu.nr_throttled, 0);
	expect_reading(cgroup.cpu.throttled_usec, UINT64_MAX);
}

/* The root cgroup, and one without the controller, have the first line only. */
TEST(cpu_stat_without_throttling)
{
	assert_true(take("cpu.stat", "usage_usec 12\n"));
	expect_reading(cgroup.cpu.usage_usec, 12);
	assert_false(cgroup.cpu.nr_throttled.measured);
	assert_false(take("cpu.stat", "usage_usec x\nnr_throttled 3\n"));
	expect_reading(cgroup.cpu.nr_throttled, 3);
}

TEST(cpu_max)
{
	assert_true(take("cpu.max", "max 100000\n"));
	expect_unlimited(cgroup.cpu.max_quota_us);
	expect_reading(cgroup.cpu.max_period_us, 100000);
	assert_true(take("cpu.max", "25000 50000\n"));
	expect_reading(cgroup.cpu.max_quota_us, 25000);
	expect_reading(cgroup.cpu.max_period_us, 50000);
	cgroup = (struct cgroup_counters){ 0 };
	assert_false(take("cpu.max", "max\n"));
	assert_false(cgroup.cpu.max_period_us.measured);
	assert_false(take("cpu.max", ""));
}

TEST(weights)
{
	assert_true(take("cpu.weight", "100\n"));
	expect_reading(cgroup.cpu.weight, 100);
	assert_true(take("cpu.weight.nice", "-20\n"));
	assert_true((int64_t)cgroup.cpu.weight_nice.value == -20);
	assert_false(take("cpu.weight", "max\n"));
}

/* "max" is no limit above, and all of it below. */
TEST(limits_and_floors)
{
	assert_true(take("memory.max", "max\n"));
	assert_true(take("memory.high", "4096\n"));
	assert_true(take("memory.low", "max\n"));
	assert_true(take("memory.min", "0\n"));
	assert_true(take("pids.max", "max\n"));
	assert_true(take("memory.swap.max", "max\n"));
	expect_unlimited(cgroup.memory.max);
	expect_reading(cgroup.memory.high, 4096);
	expect_reading(cgroup.memory.low, UINT64_MAX);
	expect_reading(cgroup.memory.min, 0);
	expect_unlimited(cgroup.pids.max);
	expect_unlimited(cgroup.memory.swap.max);
}

TEST(currents)
{
	assert_true(take("memory.current", "123\n"));
	assert_true(take("pids.current", "7\n"));
	assert_true(take("memory.peak", "456\n"));
	assert_true(take("memory.swap.current", "0\n"));
	assert_true(take("memory.swap.peak", "8192\n"));
	expect_reading(cgroup.memory.current, 123);
	expect_reading(cgroup.pids.current, 7);
	expect_reading(cgroup.memory.peak, 456);
	expect_reading(cgroup.memory.swap.current, 0);
	expect_reading(cgroup.memory.swap.peak, 8192);
	assert_false(take("memory.current", "max\n"));
	assert_false(take("memory.current", "12 34\n"));
	assert_false(take("memory.current", "-1\n"));
}

TEST(maps_keep_every_line)
{
	assert_true(take("memory.stat", "anon 5\nfile 0\nsock 18446744073709551615\n"));
	assert_int_equal(cgroup.memory.stat.count, 3);
	assert_string_equal(cgroup.memory.stat.items[2].key->bytes, "sock");
	assert_int_equal(cgroup.memory.stat.items[2].value, UINT64_MAX);
	assert_true(cgroup.memory.stat.measured);
	assert_false(take("memory.events", "low 1\nhigh x\nmax -1\noom 2\n\xff 3\n"));
	assert_int_equal(cgroup.memory.events.count, 2);
	assert_int_equal(cgroup.memory.events.items[0].value, 1);
	assert_int_equal(cgroup.memory.events.items[1].value, 2);
}

/* The kernel does not write such a file: nothing in it is believed. */
TEST(a_map_with_a_key_twice_is_not_measured)
{
	assert_false(take("memory.events", "low 1\noom 2\nlow 9\n"));
	assert_false(cgroup.memory.events.measured);
	assert_int_equal(cgroup.memory.events.count, 0);
}

static void expect_io(uint64_t rbytes, uint64_t wbytes, uint64_t rios, uint64_t wios,
		      uint64_t dbytes, uint64_t dios)
{
	expect_reading(cgroup.io.rbytes, rbytes);
	expect_reading(cgroup.io.wbytes, wbytes);
	expect_reading(cgroup.io.rios, rios);
	expect_reading(cgroup.io.wios, wios);
	expect_reading(cgroup.io.dbytes, dbytes);
	expect_reading(cgroup.io.dios, dios);
}

/* Controllers add words of theirs; a device that was not used may have a line without any. */
TEST(io_is_summed_over_devices)
{
	assert_true(
		take("io.stat",
		     "8:16 rbytes=1000 wbytes=200 rios=10 wios=2 dbytes=30 dios=3 cost.usage=9\n"
		     "254:0 \n8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n"));
	expect_io(5096, 200, 11, 2, 30, 3);
}

TEST(no_io_is_zero)
{
	assert_true(take("io.stat", ""));
	expect_io(0, 0, 0, 0, 0, 0);
	cgroup = (struct cgroup_counters){ 0 };
	assert_true(take("io.stat", "8:0 \n8:16 cost.usage=5\n"));
	expect_io(0, 0, 0, 0, 0, 0);
}

TEST(sums_of_io_stop_at_the_largest_number)
{
	assert_true(take("io.stat", "8:0 rbytes=18446744073709551615 wbytes=1\n"
				    "8:16 rbytes=2 wbytes=2\n"));
	expect_reading(cgroup.io.rbytes, UINT64_MAX);
	expect_reading(cgroup.io.wbytes, 3);
}

/* What the kernel does not print is unknown, and so is all of a file that it would not print. */
TEST(io_that_is_not_there_is_not_measured)
{
	assert_true(take("io.stat", "8:0 rbytes=5 wbytes=6 rios=1 wios=1\n"));
	expect_reading(cgroup.io.wios, 1);
	assert_false(cgroup.io.dbytes.measured);
	cgroup = (struct cgroup_counters){ 0 };
	assert_false(take("io.stat", "8:0 rbytes=5\n8:16 rbytes=-1\n"));
	assert_false(take("io.stat", "8:0 rbytes=\n"));
	assert_false(take("io.stat", "8:0 rbytes=18446744073709551616\n"));
	assert_false(take("io.stat", "8:0 rios\n"));
	assert_false(cgroup.io.rbytes.measured);
	assert_false(cgroup.io.rios.measured);
}

TEST(pressure)
{
	struct psi_resource psi = { 0 };

	assert_true(psi_take_file(TEXT("full avg10=1.50 avg60=0.00 avg300=0.00 total=5\n"), &psi));
	expect_reading(psi.full.avg10, 150);
	expect_reading(psi.full.avg60, 0);
	expect_reading(psi.full.total_usec, 5);
	assert_false(psi.some.avg10.measured);
	assert_false(psi_take_file(TEXT("garbage"), &psi));
	assert_false(psi.full.total_usec.measured);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

UNIT_TESTS(CASE(cpu_stat), CASE(cpu_stat_without_throttling), CASE(cpu_max), CASE(weights),
	   CASE(limits_and_floors), CASE(currents), CASE(maps_keep_every_line),
	   CASE(a_map_with_a_key_twice_is_not_measured), CASE(io_is_summed_over_devices),
	   CASE(no_io_is_zero), CASE(sums_of_io_stop_at_the_largest_number),
	   CASE(io_that_is_not_there_is_not_measured), CASE(pressure))
