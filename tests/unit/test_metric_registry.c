/* SPDX-License-Identifier: BSD-2-Clause */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "metric/derived.h"
#include "metric/metric.h"
#include "unit/unit.h"

/*
 * Every row once more, by hand: what a row says about its kernel is checked against this table and
 * not against itself. Gates are named as metric-list tags them, in the order of its legend.
 */
struct expected {
	const char *name;
	enum metric_rule rule;
	enum unit unit;
	enum metric_source_id source;
	const char *key; /* of a file of pairs */
	unsigned column; /* of a file of columns */
	const char *tags;
};

#define SCHEDSTATS     "[SCHEDSTATS]"
#define CFS            "[cfs-only] [SCHEDSTATS]"
#define NON_EXT        "[non-ext] [SCHEDSTATS]"
#define IO_GATE        "[TASK_IO_ACCOUNTING]"
#define DELAY_GATE     "[TASKSTATS] [TASK_DELAY_ACCT]"
#define XACCT_GATE     "[TASKSTATS] [TASK_XACCT]"

#define COUNT          RULE_SUM_COUNT, UNIT_COUNT
#define NS             RULE_SUM_NS, UNIT_NS
#define BYTES          RULE_SUM_BYTES, UNIT_BYTES
#define TICKS          RULE_SUM_TICKS, UNIT_TICKS
#define PEAK           RULE_MAX_PEAK, UNIT_NS
#define GAUGE          RULE_MAX_GAUGE_NS, UNIT_NS
#define I32            RULE_RANGE_I32, UNIT_NONE

#define SCHED(key)     SOURCE_SCHED, key, 0
#define STAT(column)   SOURCE_STAT, NULL, column
#define STATUS(key)    SOURCE_STATUS, key, 0
#define SCHEDSTAT(col) SOURCE_SCHEDSTAT, NULL, col
#define IO(key)        SOURCE_IO, key, 0
#define TASKSTATS(key) SOURCE_TASKSTATS, key, 0
#define BPF_ONLY       SOURCE_NONE, NULL, 0
#define OF_STATES      SOURCE_STATES, NULL, 0
#define IN_STATE(name)                                  \
	{                                               \
		"state_" #name "_ns", NS, OF_STATES, "" \
	}

#define DELAYS(c)                                                                       \
	{ #c "_delay_count", COUNT, TASKSTATS(#c "_count"), DELAY_GATE },               \
		{ #c "_delay_total_ns", NS, TASKSTATS(#c "_delay_total"), DELAY_GATE }, \
		{ #c "_delay_max_ns", PEAK, TASKSTATS(#c "_delay_max"), DELAY_GATE },   \
	{                                                                               \
#c "_delay_min_ns", PEAK, TASKSTATS(#c "_delay_min"), DELAY_GATE        \
	}

/* clang-format off */
static const struct expected rows[] = {
	{ "thread_count", COUNT, SOURCE_ONE, NULL, 0, "" },
	{ "policy", RULE_MODE, UNIT_NONE, STAT(41), "" },
	{ "nice", I32, STAT(19), "" },
	{ "priority", I32, STAT(18), "" },
	{ "rt_priority", RULE_RANGE_U32, UNIT_NONE, STAT(40), "" },
	{ "cpu_affinity", RULE_AFFINITY, UNIT_NONE, SOURCE_AFFINITY, NULL, 0, "" },
	{ "processor", I32, STAT(39), "" },
	{ "state", RULE_MODE_CHAR, UNIT_NONE, STAT(3), "" },
	{ "ext_enabled", RULE_MODE_BOOL, UNIT_NONE, SCHED("ext.enabled"), "[SCHED_CLASS_EXT]" },
	{ "nr_threads", RULE_MAX_GAUGE_COUNT, UNIT_COUNT, STATUS("Threads"), "" },
	{ "run_time_ns", NS, SCHEDSTAT(1), "[SCHED_INFO]" },
	{ "wait_time_ns", NS, SCHEDSTAT(2), "[SCHED_INFO]" },
	{ "timeslices", COUNT, SCHEDSTAT(3), "[SCHED_INFO]" },
	{ "voluntary_csw", COUNT, STATUS("voluntary_ctxt_switches"), "" },
	{ "nonvoluntary_csw", COUNT, STATUS("nonvoluntary_ctxt_switches"), "" },
	{ "nr_wakeups", COUNT, SCHED("nr_wakeups"), SCHEDSTATS },
	{ "nr_wakeups_local", COUNT, SCHED("nr_wakeups_local"), SCHEDSTATS },
	{ "nr_wakeups_remote", COUNT, SCHED("nr_wakeups_remote"), SCHEDSTATS },
	{ "nr_wakeups_sync", COUNT, SCHED("nr_wakeups_sync"), SCHEDSTATS },
	{ "nr_wakeups_migrate", COUNT, SCHED("nr_wakeups_migrate"), SCHEDSTATS },
	{ "nr_wakeups_affine", COUNT, SCHED("nr_wakeups_affine"), CFS },
	{ "nr_wakeups_affine_attempts", COUNT, SCHED("nr_wakeups_affine_attempts"), CFS },
	{ "nr_migrations", COUNT, SCHED("nr_migrations"), "" },
	{ "nr_forced_migrations", COUNT, SCHED("nr_forced_migrations"), CFS },
	{ "nr_failed_migrations_affine", COUNT, SCHED("nr_failed_migrations_affine"), CFS },
	{ "nr_failed_migrations_running", COUNT, SCHED("nr_failed_migrations_running"), CFS },
	{ "nr_failed_migrations_hot", COUNT, SCHED("nr_failed_migrations_hot"), CFS },
	{ "wait_sum", NS, SCHED("wait_sum"), NON_EXT },
	{ "wait_count", COUNT, SCHED("wait_count"), NON_EXT },
	{ "wait_max", PEAK, SCHED("wait_max"), NON_EXT },
	{ "voluntary_sleep_ns", NS, SCHED("sum_sleep_runtime"), NON_EXT },
	{ "sleep_max", PEAK, SCHED("sleep_max"), NON_EXT },
	{ "block_sum", NS, SCHED("sum_block_runtime"), NON_EXT },
	{ "block_max", PEAK, SCHED("block_max"), NON_EXT },
	{ "kthread_block_sum", NS, SCHED("sum_block_runtime"), NON_EXT },
	{ "kthread_block_max", PEAK, SCHED("block_max"), NON_EXT },
	{ "iowait_sum", NS, SCHED("iowait_sum"), NON_EXT },
	{ "iowait_count", COUNT, SCHED("iowait_count"), NON_EXT },
	{ "exec_max", PEAK, SCHED("exec_max"), SCHEDSTATS },
	{ "slice_max", PEAK, SCHED("slice_max"), CFS },
	{ "core_forceidle_sum", NS, SCHED("core_forceidle_sum"), "[SCHED_CORE] [SCHEDSTATS]" },
	{ "fair_slice_ns", GAUGE, SCHED("slice"), "[fair-policy]" },
	{ "wait_in_progress_ns", GAUGE, BPF_ONLY, "[SCHED_INFO]" },
	{ "wait_sum_in_progress_ns", GAUGE, BPF_ONLY, SCHEDSTATS },
	{ "sleep_in_progress_ns", GAUGE, BPF_ONLY, SCHEDSTATS },
	{ "block_in_progress_ns", GAUGE, BPF_ONLY, SCHEDSTATS },
	{ "kthread_block_in_progress_ns", GAUGE, BPF_ONLY, SCHEDSTATS },
	{ "iowait_in_progress_ns", GAUGE, BPF_ONLY, SCHEDSTATS },
	{ "blkio_in_progress_ns", GAUGE, BPF_ONLY, "[TASK_DELAY_ACCT]" },
	{ "allocated_bytes", BYTES, SOURCE_JEMALLOC, "allocated", 0, "" },
	{ "deallocated_bytes", BYTES, SOURCE_JEMALLOC, "deallocated", 0, "" },
	{ "minflt", COUNT, STAT(10), "" },
	{ "majflt", COUNT, STAT(12), "" },
	{ "utime_clock_ticks", TICKS, STAT(14), "" },
	{ "stime_clock_ticks", TICKS, STAT(15), "" },
	{ "rchar", BYTES, IO("rchar"), IO_GATE },
	{ "wchar", BYTES, IO("wchar"), IO_GATE },
	{ "syscr", COUNT, IO("syscr"), IO_GATE },
	{ "syscw", COUNT, IO("syscw"), IO_GATE },
	{ "read_bytes", BYTES, IO("read_bytes"), IO_GATE },
	{ "write_bytes", BYTES, IO("write_bytes"), IO_GATE },
	{ "cancelled_write_bytes", BYTES, IO("cancelled_write_bytes"), IO_GATE },
	DELAYS(cpu), DELAYS(blkio), DELAYS(swapin), DELAYS(freepages),
	DELAYS(thrashing), DELAYS(compact), DELAYS(wpcopy), DELAYS(irq),
	{ "hiwater_rss_bytes", RULE_MAX_PEAK_BYTES, UNIT_BYTES, TASKSTATS("hiwater_rss"), XACCT_GATE },
	{ "hiwater_vm_bytes", RULE_MAX_PEAK_BYTES, UNIT_BYTES, TASKSTATS("hiwater_vm"), XACCT_GATE },
	IN_STATE(exec), IN_STATE(exec_user), IN_STATE(exec_system), IN_STATE(runnable), IN_STATE(paging),
	IN_STATE(sleep), IN_STATE(sleep_disk), IN_STATE(sleep_network), IN_STATE(sleep_pipe), IN_STATE(sleep_timer),
	IN_STATE(sleep_other), IN_STATE(lock), IN_STATE(lock_futex), IN_STATE(lock_kernel), IN_STATE(idle),
	IN_STATE(stopped), IN_STATE(watched),
	{ "state_switches", COUNT, OF_STATES, "" },
	{ "state_now", RULE_MODE, UNIT_NONE, OF_STATES, "" },
	{ "state_now_ns", GAUGE, OF_STATES, "" },
};
/* clang-format on */

static_assert(array_length(rows) == 1 + 54 + 7 + 34 + 20,
	      "one row for each metric there should be");

TEST(every_row_is_as_the_kernel_has_it)
{
	char tags[METRIC_TAGS_MAX];

	assert_int_equal(METRIC_COUNT, array_length(rows));
	for (size_t i = 0; i < array_length(rows); i++) {
		const struct metric *metric = &metrics[i];

		assert_string_equal(metric->name, rows[i].name);
		assert_int_equal(metric->rule, rows[i].rule);
		assert_int_equal(metric->unit, rows[i].unit);
		assert_int_equal(metric->sources[0].id, rows[i].source);
		assert_int_equal(metric->sources[0].column, rows[i].column);
		if (rows[i].key)
			assert_string_equal(metric->sources[0].key, rows[i].key);
		else
			assert_null(metric->sources[0].key);
		assert_string_equal(metric_tags(tags, metric), rows[i].tags);
	}
}

/* What only BPF can see has no other source, and what is booked names what is not booked yet. */
TEST(waits_in_progress)
{
	static const struct {
		enum metric_id booked, in_progress;
	} pairs[] = {
		{ METRIC_wait_time_ns, METRIC_wait_in_progress_ns },
		{ METRIC_cpu_delay_total_ns, METRIC_wait_in_progress_ns },
		{ METRIC_wait_sum, METRIC_wait_sum_in_progress_ns },
		{ METRIC_voluntary_sleep_ns, METRIC_sleep_in_progress_ns },
		{ METRIC_block_sum, METRIC_block_in_progress_ns },
		{ METRIC_kthread_block_sum, METRIC_kthread_block_in_progress_ns },
		{ METRIC_iowait_sum, METRIC_iowait_in_progress_ns },
		{ METRIC_blkio_delay_total_ns, METRIC_blkio_in_progress_ns },
	};

	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		enum metric_id in_progress = 0;
		bool is_part = false;

		for (size_t p = 0; p < array_length(pairs); p++) {
			if (pairs[p].booked == i)
				in_progress = pairs[p].in_progress;
			is_part |= pairs[p].in_progress == i;
		}
		assert_int_equal(metrics[i].in_progress, in_progress);
		assert_int_equal(metrics[i].sources[0].id == SOURCE_NONE, is_part);
		if (is_part)
			assert_string_equal(metrics[i].task.key, metrics[i].name);
	}
}

TEST(a_rule_is_of_its_family)
{
	static const enum metric_family families[] = {
		[RULE_NONE] = FAMILY_NONE,           [RULE_SUM_COUNT] = FAMILY_SUM,
		[RULE_SUM_NS] = FAMILY_SUM,          [RULE_SUM_TICKS] = FAMILY_SUM,
		[RULE_SUM_BYTES] = FAMILY_SUM,       [RULE_MAX_PEAK] = FAMILY_MAX,
		[RULE_MAX_PEAK_BYTES] = FAMILY_MAX,  [RULE_MAX_GAUGE_NS] = FAMILY_MAX,
		[RULE_MAX_GAUGE_COUNT] = FAMILY_MAX, [RULE_RANGE_I32] = FAMILY_RANGE,
		[RULE_RANGE_U32] = FAMILY_RANGE,     [RULE_MODE] = FAMILY_MODE,
		[RULE_MODE_CHAR] = FAMILY_MODE,      [RULE_MODE_BOOL] = FAMILY_MODE,
		[RULE_AFFINITY] = FAMILY_AFFINITY,
	};

	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(metrics[i].family, families[metrics[i].rule]);
}

static size_t rows_of_section(enum section section)
{
	size_t count = 0;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		count += metrics[i].section == section;
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		count += derived_metrics[i].section == section;
	return count;
}

TEST(sections)
{
	assert_int_equal(rows_of_section(SECTION_PRIMARY), 62);
	assert_int_equal(rows_of_section(SECTION_TASKSTATS_DELAY), 34 + 9);
	assert_int_equal(rows_of_section(SECTION_DERIVED), 8);
	assert_int_equal(rows_of_section(SECTION_THREAD_STATES), 20 + 7);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(metrics[i].section == SECTION_TASKSTATS_DELAY,
				 metrics[i].sources[0].id == SOURCE_TASKSTATS);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(metrics[i].section == SECTION_THREAD_STATES,
				 metrics[i].sources[0].id == SOURCE_STATES);
}

TEST(names_are_unique_and_apart_from_derived_ones)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		for (size_t j = i + 1; j < METRIC_COUNT; j++)
			assert_string_not_equal(metrics[i].name, metrics[j].name);
		for (size_t j = 0; j < DERIVED_COUNT; j++)
			assert_string_not_equal(metrics[i].name, derived_metrics[j].name);
	}
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		for (size_t j = i + 1; j < DERIVED_COUNT; j++)
			assert_string_not_equal(derived_metrics[i].name, derived_metrics[j].name);
}

TEST(every_row_has_its_prose)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_true(strlen(metrics[i].prose) > 5);
	for (size_t i = 0; i < DERIVED_COUNT; i++)
		assert_true(strlen(derived_metrics[i].prose) > 5);
}

TEST(find_by_name)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		assert_ptr_equal(metric_find(text_of(rows[i].name)), &metrics[i]);
		assert_int_equal(metric_id(&metrics[i]), i);
	}
	assert_null(metric_find(TEXT("run_time")));
	assert_null(metric_find(TEXT("run_time_nss")));
	assert_null(metric_find(TEXT("")));
	assert_null(metric_find(TEXT("cpu_efficiency")));
}

static bool in_vocabulary(struct text tag)
{
	static const char *const vocabulary[] = {
		"[cfs-only]",   "[non-ext]",    "[fair-policy]",     "[dead]",
		"[SCHED_INFO]", "[SCHEDSTATS]", "[SCHED_CLASS_EXT]", "[SCHED_CORE]",
		"[TASKSTATS]",  "[TASK_XACCT]", "[TASK_DELAY_ACCT]", "[TASK_IO_ACCOUNTING]",
	};

	for (size_t i = 0; i < array_length(vocabulary); i++)
		if (text_equal(tag, text_of(vocabulary[i])))
			return true;
	return false;
}

TEST(tags_are_a_closed_vocabulary)
{
	char buffer[METRIC_TAGS_MAX];

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		struct text rest = text_of(metric_tags(buffer, &metrics[i])), tag;

		while (text_word(&rest, &tag))
			assert_true(in_vocabulary(tag));
	}
}

TEST(a_dead_row_is_tagged)
{
	struct metric dead = { .kind = KIND_DEAD,
			       .class = CLASS_CFS_ONLY,
			       .gates = 1u << GATE_SCHEDSTATS };
	char buffer[METRIC_TAGS_MAX];

	assert_true(metric_is_dead(&dead));
	assert_string_equal(metric_tags(buffer, &dead), "[cfs-only] [dead] [SCHEDSTATS]");
	for (size_t i = 0; i < METRIC_COUNT; i++)
		assert_false(metric_is_dead(&metrics[i]));
}

/* --- storing and loading --- */

static size_t size_of(const struct metric *metric)
{
	static const size_t sizes[] = {
#define SIZE(type, repr, ...) [VALUE_##type] = sizeof(repr),
		VALUE_TYPES(SIZE)
#undef SIZE
	};

	return sizes[metric->type];
}

/* Storing changes its own bytes and no others. */
TEST(a_row_stores_into_its_own_field)
{
	static const struct name *const name = (const void *)0x5a5a5a5a;

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *metric = &metrics[i];
		struct thread_values before, after;
		size_t end = metric->offset + size_of(metric);

		memset(&before, 0xa5, sizeof(before));
		after = before;
		if (metric->type == VALUE_label || metric->type == VALUE_cpu_set)
			metric_store_name(&after, metric, name);
		else
			assert_true(metric_store_u64(&after, metric, 0x41));
		assert_memory_equal(&after, &before, metric->offset);
		assert_memory_equal((char *)&after + end, (char *)&before + end,
				    sizeof(after) - end);
		if (metric->type == VALUE_label || metric->type == VALUE_cpu_set)
			assert_ptr_equal(metric_load_name(&after, metric), name);
		else if (metric->type == VALUE_flag)
			assert_int_equal(metric_load_u64(&after, metric), 1);
		else
			assert_int_equal(metric_load_u64(&after, metric), 0x41);
	}
}

/* The member of the record that has the row's name is the one it stores into. */
TEST(the_field_has_the_name_of_the_row)
{
#define METRIC(type_, name_, ...)                                      \
	assert_string_equal(metrics[METRIC_##name_].name, #name_);     \
	assert_int_equal(metrics[METRIC_##name_].type, VALUE_##type_); \
	assert_int_equal(metrics[METRIC_##name_].offset, offsetof(struct thread_values, name_));
#include "metric/metrics.def"
#undef METRIC
}

TEST(extremes_pass_through_unchanged)
{
	struct thread_values values = { 0 };
	const struct metric *nice = &metrics[METRIC_nice], *rt = &metrics[METRIC_rt_priority];

	assert_true(metric_store_u64(&values, &metrics[METRIC_run_time_ns], UINT64_MAX));
	assert_int_equal(values.run_time_ns.v, UINT64_MAX);
	assert_int_equal(metric_load_u64(&values, &metrics[METRIC_run_time_ns]), UINT64_MAX);
	assert_true(metric_store_i64(&values, nice, INT32_MIN));
	assert_true(metric_load_i64(&values, nice) == INT32_MIN);
	assert_int_equal(values.nice.v, INT32_MIN);
	assert_true(metric_store_u64(&values, rt, UINT32_MAX));
	assert_true(metric_load_i64(&values, rt) == UINT32_MAX);
	assert_true(metric_store_u64(&values, &metrics[METRIC_state], 'D'));
	assert_int_equal(values.state.v, 'D');
	assert_true(metric_store_i64(&values, &metrics[METRIC_ext_enabled], 1));
	assert_true(values.ext_enabled.v);
}

TEST(what_does_not_fit_is_refused)
{
	struct thread_values values = { .nice = { 7 }, .rt_priority = { 7 }, .state = { 'R' } };

	assert_false(metric_store_i64(&values, &metrics[METRIC_nice], (int64_t)INT32_MAX + 1));
	assert_false(metric_store_i64(&values, &metrics[METRIC_nice], (int64_t)INT32_MIN - 1));
	assert_false(metric_store_u64(&values, &metrics[METRIC_nice], UINT64_MAX));
	assert_false(metric_store_i64(&values, &metrics[METRIC_rt_priority], -1));
	assert_false(metric_store_u64(&values, &metrics[METRIC_rt_priority], 1ull << 32));
	assert_false(metric_store_u64(&values, &metrics[METRIC_state], 0));
	assert_false(metric_store_u64(&values, &metrics[METRIC_state], ' '));
	assert_false(metric_store_u64(&values, &metrics[METRIC_state], 0x7f));
	assert_false(metric_store_i64(&values, &metrics[METRIC_run_time_ns], -1));
	assert_false(metric_store_u64(&values, &metrics[METRIC_policy], 1));
	assert_false(metric_store_i64(&values, &metrics[METRIC_cpu_affinity], 1));
	assert_int_equal(values.nice.v, 7);
	assert_int_equal(values.rt_priority.v, 7);
	assert_int_equal(values.state.v, 'R');
	assert_int_equal(values.run_time_ns.v, 0);
}

TEST(numbers_and_names_are_apart)
{
	struct thread_values values = { .run_time_ns = { 5 } };

	assert_null(metric_load_name(&values, &metrics[METRIC_run_time_ns]));
	assert_null(metric_load_name(&values, &metrics[METRIC_state]));
	assert_int_equal(metric_load_u64(&values, &metrics[METRIC_policy]), 0);
}

TEST(sets_of_metrics)
{
	struct metric_set set = { 0 };

	for (enum metric_id i = 0; i < METRIC_COUNT; i++) {
		assert_false(metric_set_has(&set, i));
		metric_set_add(&set, i);
		assert_true(metric_set_has(&set, i));
		if (i)
			assert_true(metric_set_has(&set, i - 1));
	}
	metric_set_remove(&set, METRIC_wait_sum);
	for (enum metric_id i = 0; i < METRIC_COUNT; i++)
		assert_int_equal(metric_set_has(&set, i), i != METRIC_wait_sum);
}

UNIT_TESTS(cmocka_unit_test(every_row_is_as_the_kernel_has_it), cmocka_unit_test(waits_in_progress),
	   cmocka_unit_test(a_rule_is_of_its_family), cmocka_unit_test(sections),
	   cmocka_unit_test(names_are_unique_and_apart_from_derived_ones),
	   cmocka_unit_test(every_row_has_its_prose), cmocka_unit_test(find_by_name),
	   cmocka_unit_test(tags_are_a_closed_vocabulary), cmocka_unit_test(a_dead_row_is_tagged),
	   cmocka_unit_test(a_row_stores_into_its_own_field),
	   cmocka_unit_test(the_field_has_the_name_of_the_row),
	   cmocka_unit_test(extremes_pass_through_unchanged),
	   cmocka_unit_test(what_does_not_fit_is_refused),
	   cmocka_unit_test(numbers_and_names_are_apart), cmocka_unit_test(sets_of_metrics))
