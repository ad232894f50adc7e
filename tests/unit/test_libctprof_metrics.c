/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctprof/snapshot.h"
#include "unit/build.h"

static size_t part_of(const char *name)
{
	return ctprof_metric_in_progress(ctprof_metric_find(name));
}

TEST(totals_name_their_waits_in_progress)
{
	assert_int_equal(part_of("wait_time_ns"), ctprof_metric_find("wait_in_progress_ns"));
	assert_int_equal(part_of("cpu_delay_total_ns"), ctprof_metric_find("wait_in_progress_ns"));
	assert_int_equal(part_of("wait_sum"), ctprof_metric_find("wait_sum_in_progress_ns"));
	assert_int_equal(part_of("voluntary_sleep_ns"), ctprof_metric_find("sleep_in_progress_ns"));
	assert_int_equal(part_of("block_sum"), ctprof_metric_find("block_in_progress_ns"));
	assert_int_equal(part_of("kthread_block_sum"),
			 ctprof_metric_find("kthread_block_in_progress_ns"));
	assert_int_equal(part_of("iowait_sum"), ctprof_metric_find("iowait_in_progress_ns"));
	assert_int_equal(part_of("blkio_delay_total_ns"),
			 ctprof_metric_find("blkio_in_progress_ns"));
}

TEST(others_have_none)
{
	size_t count = 0;

	for (size_t i = 0; i < ctprof_metric_count(); i++)
		count += ctprof_metric_in_progress(i) != CTPROF_METRIC_NONE;
	assert_int_equal(count, 8);
	assert_int_equal(part_of("run_time_ns"), CTPROF_METRIC_NONE);
	assert_int_equal(part_of("wait_in_progress_ns"), CTPROF_METRIC_NONE);
	assert_int_equal(part_of("no_such_metric"), CTPROF_METRIC_NONE);
	assert_int_equal(ctprof_metric_in_progress(ctprof_metric_count()), CTPROF_METRIC_NONE);
}

/* As the header says it: what was not measured adds nothing, also where there is no such metric. */
static uint64_t waited(const struct ctprof_thread *thread, const char *name)
{
	size_t accounted = ctprof_metric_find(name);
	uint64_t ns = 0, more;

	if (ctprof_thread_u64(thread, accounted, &ns) &&
	    ctprof_thread_u64(thread, ctprof_metric_in_progress(accounted), &more))
		ns += more;
	return ns;
}

TEST(waits_in_progress_can_be_added)
{
	struct ctprof_snapshot *s = build_snapshot();
	struct ctprof_thread *thread = build_thread(s, 1, 1, "p", "p", "/");

	build_number(thread, METRIC_wait_time_ns, 100);
	build_number(thread, METRIC_run_time_ns, 7);
	assert_int_equal(waited(thread, "wait_time_ns"), 100);
	build_number(thread, METRIC_wait_in_progress_ns, 23);
	assert_int_equal(waited(thread, "wait_time_ns"), 123);
	assert_int_equal(waited(thread, "run_time_ns"), 7);
	snapshot_destroy(s);
}

UNIT_TESTS(cmocka_unit_test(totals_name_their_waits_in_progress),
	   cmocka_unit_test(others_have_none), cmocka_unit_test(waits_in_progress_can_be_added))
