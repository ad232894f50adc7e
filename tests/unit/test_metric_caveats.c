/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program can see of a metric agrees with what its caveat tells a reader. The words
 * themselves are reviewed in doc/metrics.md, which is made of them.
 */
#include "metric/metric.h"
#include "unit/unit.h"

#define BORN "needs kernel.task_delayacct=1 when the thread starts"

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

TEST(classes_name_their_threads)
{
	assert_string_equal(metric_classes[CLASS_CFS_ONLY].tag, "cfs-only");
	assert_string_equal(metric_classes[CLASS_NON_EXT].tag, "non-ext");
	assert_string_equal(metric_classes[CLASS_FAIR_POLICY].tag, "fair-policy");
	for (size_t i = 1; i < METRIC_CLASS_COUNT; i++)
		assert_true(strlen(metric_classes[i].prose) > 5);
}

TEST(gates_name_their_switch)
{
	assert_non_null(
		strstr(metric_gates[GATE_TASK_DELAY_ACCT].remedy, "kernel.task_delayacct=1"));
	assert_non_null(strstr(metric_gates[GATE_SCHEDSTATS].remedy, "kernel.sched_schedstats=1"));
	for (size_t i = 0; i < GATE_COUNT; i++)
		assert_true(strlen(metric_gates[i].remedy) > 5);
	assert_non_null(strstr(metric_source_infos[SOURCE_TASKSTATS].denied, "CAP_NET_ADMIN"));
	assert_non_null(strstr(metric_source_infos[SOURCE_IO].denied, "CAP_SYS_PTRACE"));
}

UNIT_TESTS(cmocka_unit_test(flags_agree_with_the_words),
	   cmocka_unit_test(delays_are_of_their_category),
	   cmocka_unit_test(classes_name_their_threads), cmocka_unit_test(gates_name_their_switch))
