/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The row of a metric says what a reader must know. Each caveat here is one that misled
 * a reader: none may get lost.
 */
#include <stdio.h>

#include "metric/derived.h"
#include "metric/metric.h"
#include "unit/unit.h"

struct caveat {
	const char *metric; /* "*" stands for any letters */
	const char *word;
	size_t rows; /* how many it concerns */
};

#define BORN "needs kernel.task_delayacct=1 when the thread starts"

static const struct caveat caveats[] = {
	/* taken at one moment, and may have changed since */
	{ "policy", "sampled", 1 },
	{ "nice", "sampled", 1 },
	{ "priority", "sampled", 1 },
	{ "rt_priority", "sampled", 1 },
	{ "cpu_affinity", "sampled", 1 },
	{ "processor", "sampled", 1 },
	{ "state", "sampled", 1 },
	{ "state", "two readings of one thread may differ", 1 },
	{ "fair_slice_ns", "sampled", 1 },
	{ "nr_threads", "sampled", 1 },
	{ "nr_threads", "leader only", 1 },
	{ "nr_threads", "largest process", 1 },
	{ "ext_enabled", "tie shows false", 1 },
	{ "ext_enabled", "count", 1 },
	/* the scheduler */
	{ "nr_wakeups_affine", "sched_ext does not count", 1 },
	{ "nr_wakeups_affine_attempts", "sched_ext does not count", 1 },
	{ "wait_max", "lifetime peak", 1 },
	{ "sleep_max", "lifetime peak", 1 },
	{ "block_max", "lifetime peak", 1 },
	{ "block_sum", "not for kernel threads", 1 },
	{ "block_max", "not for kernel threads", 1 },
	{ "kthread_block_*", "idle", 3 },
	{ "kthread_block_max", "lifetime peak", 1 },
	{ "exec_max", "lifetime peak", 1 },
	{ "slice_max", "lifetime peak", 1 },
	{ "voluntary_sleep_ns", "sum_sleep_runtime minus sum_block_runtime", 1 },
	{ "utime_clock_ticks", "USER_HZ", 1 },
	{ "stime_clock_ticks", "USER_HZ", 1 },
	{ "*_in_progress_ns", "0: no such wait", 7 },
	{ "*_in_progress_ns", "until it ends", 7 },
	{ "wait_in_progress_ns", "not in wait_time_ns and cpu_delay_total_ns", 1 },
	{ "blkio_in_progress_ns", BORN, 1 },
	/* heap and I/O */
	{ "allocated_bytes", "jemalloc only", 1 },
	{ "deallocated_bytes", "jemalloc only", 1 },
	{ "allocated_bytes", "cross-thread noise", 1 },
	{ "deallocated_bytes", "cross-thread noise", 1 },
	{ "cancelled_write_bytes", "not to the writer", 1 },
	{ "cancelled_write_bytes", "pairs with write_bytes for a group, never for one thread", 1 },
	/* delay accounting */
	{ "cpu_delay_*", "RACY", 4 },
	{ "cpu_delay_*", "wait_time_ns by another path", 4 },
	{ "blkio_delay_*", "canonical", 4 },
	{ "blkio_delay_*", "distinct from iowait_sum", 4 },
	{ "swapin_delay_*", "OVERLAPS with thrashing", 4 },
	{ "thrashing_delay_*", "OVERLAPS with swapin", 4 },
	{ "swapin_delay_*", "do not add", 4 },
	{ "thrashing_delay_*", "do not add", 4 },
	{ "cpu_delay_*", "counted even with kernel.task_delayacct=0", 4 },
	{ "blkio_delay_*", BORN, 4 },
	{ "swapin_delay_*", BORN, 4 },
	{ "freepages_delay_*", BORN, 4 },
	{ "thrashing_delay_*", BORN, 4 },
	{ "compact_delay_*", BORN, 4 },
	{ "wpcopy_delay_*", BORN, 4 },
	{ "irq_delay_*", BORN, 4 },
	{ "wpcopy_delay_*", "v13", 4 },
	{ "irq_delay_*", "v14", 4 },
	{ "*_delay_max_ns", "lifetime peak", 8 },
	{ "*_delay_min_ns", "sentinel 0", 8 },
	{ "*_delay_min_ns", "no events", 8 },
	{ "*_delay_min_ns", "largest minimum", 8 },
	{ "hiwater_*_bytes", "shared mm", 2 },
	{ "hiwater_*_bytes", "0 for kernel threads", 2 },
	{ "hiwater_*_bytes", "independent of kernel.task_delayacct", 2 },
	/* derived */
	{ "affine_success_ratio", "CFS only", 1 },
	{ "avg_wait_ns", "0 for sched_ext threads", 1 },
	{ "avg_iowait_ns", "0 for sched_ext threads", 1 },
	{ "disk_io_fraction", "can exceed 1", 1 },
	{ "live_heap_estimate", "jemalloc only", 1 },
	{ "live_heap_estimate", "cross-thread noise", 1 },
	{ "avg_cpu_delay_ns", "RACY", 1 },
	{ "avg_cpu_delay_ns", "avg_wait_ns by another path", 1 },
	{ "avg_blkio_delay_ns", "distinct from avg_iowait_ns", 1 },
	{ "avg_swapin_delay_ns", "OVERLAPS with thrashing", 1 },
	{ "avg_thrashing_delay_ns", "OVERLAPS with swapin", 1 },
	{ "total_offcpu_delay_ns", "larger of swapin and thrashing", 1 },
	{ "total_offcpu_delay_ns",
	  "if some delays were not measured, the sum of the others: a lower bound", 1 },
};

static bool matches(const char *pattern, const char *name)
{
	const char *star = strchr(pattern, '*');
	size_t before, after;

	if (!star)
		return strcmp(pattern, name) == 0;
	before = (size_t)(star - pattern);
	after = strlen(star + 1);
	return strlen(name) >= before + after && strncmp(name, pattern, before) == 0 &&
	       strcmp(name + strlen(name) - after, star + 1) == 0;
}

/* How many of the rows it concerns have it; says which do not. */
static size_t count_row(const struct caveat *caveat, const char *name, const char *text)
{
	if (!matches(caveat->metric, name))
		return 0;
	if (text && strstr(text, caveat->word))
		return 1;
	print_error("%s does not say \"%s\"\n", name, caveat->word);
	return 0;
}

TEST(none_is_missing)
{
	size_t missing = 0;

	for (size_t c = 0; c < array_length(caveats); c++) {
		size_t found = 0;

		for (size_t i = 0; i < METRIC_COUNT; i++)
			found += count_row(&caveats[c], metrics[i].name, metrics[i].caveat);
		for (size_t i = 0; i < DERIVED_COUNT; i++)
			found += count_row(&caveats[c], derived_metrics[i].name,
					   derived_metrics[i].caveat);
		missing += caveats[c].rows - found;
	}
	assert_int_equal(missing, 0);
}

/* What follows from them: a program must be able to see it too. */
TEST(flags_agree_with_the_words)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		assert_int_equal(metrics[i].zero_is_no_events,
				 matches("*_delay_min_ns", metrics[i].name));
		assert_int_equal(metrics[i].owners == OWNERS_LEADERS,
				 matches("nr_threads", metrics[i].name));
	}
}

/* A category is named once for its rows to be found by it. */
TEST(delays_are_of_their_category)
{
	static const struct {
		const char *rows;
		enum metric_delay delay;
	} categories[] = {
		{ "cpu_delay_*", DELAY_cpu },
		{ "blkio_delay_*", DELAY_blkio },
		{ "swapin_delay_*", DELAY_swapin },
		{ "freepages_delay_*", DELAY_freepages },
		{ "thrashing_delay_*", DELAY_thrashing },
		{ "compact_delay_*", DELAY_compact },
		{ "wpcopy_delay_*", DELAY_wpcopy },
		{ "irq_delay_*", DELAY_irq },
	};

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum metric_delay delay = DELAY_NONE;
		bool in_progress = i == METRIC_blkio_in_progress_ns;

		for (size_t c = 0; c < array_length(categories); c++)
			if (matches(categories[c].rows, metrics[i].name))
				delay = categories[c].delay;
		assert_int_equal(metrics[i].delay, delay);
		assert_int_equal(metrics[i].gates >> GATE_TASK_DELAY_ACCT & 1,
				 delay != DELAY_NONE || in_progress);
		/* what concerns those that must be born for it concerns no other */
		assert_int_equal(metrics[i].caveat && strstr(metrics[i].caveat, BORN),
				 (delay != DELAY_NONE && delay != DELAY_cpu) || in_progress);
	}
}

TEST(classes_say_who_counts)
{
	assert_string_equal(metric_classes[CLASS_CFS_ONLY].tag, "cfs-only");
	assert_string_equal(metric_classes[CLASS_NON_EXT].tag, "non-ext");
	assert_string_equal(metric_classes[CLASS_FAIR_POLICY].tag, "fair-policy");
	for (size_t i = 1; i < METRIC_CLASS_COUNT; i++)
		assert_true(strlen(metric_classes[i].prose) > 5);
}

TEST(gates_say_what_turns_them_on)
{
	assert_non_null(
		strstr(metric_gates[GATE_TASK_DELAY_ACCT].remedy, "kernel.task_delayacct=1"));
	assert_non_null(strstr(metric_gates[GATE_SCHEDSTATS].remedy, "kernel.sched_schedstats=1"));
	for (size_t i = 0; i < GATE_COUNT; i++)
		assert_true(strlen(metric_gates[i].remedy) > 5);
	assert_non_null(strstr(metric_source_infos[SOURCE_TASKSTATS].denied, "CAP_NET_ADMIN"));
	assert_non_null(strstr(metric_source_infos[SOURCE_IO].denied, "CAP_SYS_PTRACE"));
}

UNIT_TESTS(cmocka_unit_test(none_is_missing), cmocka_unit_test(flags_agree_with_the_words),
	   cmocka_unit_test(delays_are_of_their_category), cmocka_unit_test(classes_say_who_counts),
	   cmocka_unit_test(gates_say_what_turns_them_on))
