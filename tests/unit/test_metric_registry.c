/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "metric/derived.h"
#include "metric/metric.h"
#include "unit/unit.h"

/*
 * What a file needs of the kernel, every row that is read there needs: /proc/PID/io is there with
 * CONFIG_TASK_IO_ACCOUNTING alone (fs/proc/base.c), and so on. Of /proc/PID/sched most lines need
 * CONFIG_SCHEDSTATS (proc_sched_show_task() of kernel/sched/debug.c). Values are held against files
 * of real kernels by tests/recorded.
 */
static unsigned gates_of(const struct metric_source *source)
{
	static const char *const always[] = { "nr_migrations", "slice" };

	switch (source->id) {
	case SOURCE_SCHEDSTAT:
		return 1u << GATE_SCHED_INFO;
	case SOURCE_IO:
		return 1u << GATE_TASK_IO_ACCOUNTING;
	case SOURCE_SCHED:
		if (strcmp(source->key, "ext.enabled") == 0)
			return 1u << GATE_SCHED_CLASS_EXT;
		for (size_t i = 0; i < array_length(always); i++)
			if (strcmp(source->key, always[i]) == 0)
				return 0;
		return strcmp(source->key, "core_forceidle_sum") == 0
			       ? 1u << GATE_SCHED_CORE | 1u << GATE_SCHEDSTATS
			       : 1u << GATE_SCHEDSTATS;
	case SOURCE_TASKSTATS:
		return 1u << GATE_TASKSTATS |
		       1u << (strstr(source->key, "hiwater") ? GATE_TASK_XACCT
							     : GATE_TASK_DELAY_ACCT);
	default:
		return 0;
	}
}

TEST(a_row_needs_the_options_of_its_source)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric *metric = &metrics[i];

		/* What only BPF can see is kept by the kernel's accounting of another row. */
		if (metric->sources[0].id == SOURCE_NONE)
			assert_int_equal(__builtin_popcount(metric->gates), 1);
		else if (metric->gates != gates_of(&metric->sources[0]))
			fail_msg("%s needs %#x, its source %#x", metric->name,
				 (unsigned)metric->gates, gates_of(&metric->sources[0]));
	}
}

/* That of which class of scheduler a thread is in matters for what the scheduler counts only. */
TEST(classes_are_of_what_the_scheduler_counts)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		if (metrics[i].class != CLASS_ANY)
			assert_int_equal(metrics[i].sources[0].id, SOURCE_SCHED);
}

TEST(names_end_with_their_units)
{
	static const struct {
		const char *end;
		enum unit unit;
	} ends[] = {
		{ "_ns", UNIT_NS },     { "_bytes", UNIT_BYTES }, { "_ticks", UNIT_TICKS },
		{ "char", UNIT_BYTES }, { "_count", UNIT_COUNT }, { "_sum", UNIT_NS },
		{ "_max", UNIT_NS },    { "_csw", UNIT_COUNT },
	};

	for (size_t i = 0; i < METRIC_COUNT; i++)
		for (size_t e = 0; e < array_length(ends); e++) {
			const size_t name = strlen(metrics[i].name), end = strlen(ends[e].end);

			if (name > end && strcmp(metrics[i].name + name - end, ends[e].end) == 0)
				assert_int_equal(metrics[i].unit, ends[e].unit);
		}
}

/* Each metric of waits in progress comes from BPF alone, and the total that it belongs to names it.
 */
TEST(waits_in_progress)
{
	static const struct {
		enum metric_id accounted, in_progress;
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
			if (pairs[p].accounted == i)
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

TEST(sections)
{
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
		assert_ptr_equal(metric_find(text_of(metrics[i].name)), &metrics[i]);
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

TEST(values_out_of_range_are_refused)
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

UNIT_TESTS(cmocka_unit_test(a_row_needs_the_options_of_its_source),
	   cmocka_unit_test(classes_are_of_what_the_scheduler_counts),
	   cmocka_unit_test(names_end_with_their_units), cmocka_unit_test(waits_in_progress),
	   cmocka_unit_test(a_rule_is_of_its_family), cmocka_unit_test(sections),
	   cmocka_unit_test(names_are_unique_and_apart_from_derived_ones),
	   cmocka_unit_test(every_row_has_its_prose), cmocka_unit_test(find_by_name),
	   cmocka_unit_test(tags_are_a_closed_vocabulary), cmocka_unit_test(a_dead_row_is_tagged),
	   cmocka_unit_test(a_row_stores_into_its_own_field),
	   cmocka_unit_test(the_field_has_the_name_of_the_row),
	   cmocka_unit_test(extremes_pass_through_unchanged),
	   cmocka_unit_test(values_out_of_range_are_refused),
	   cmocka_unit_test(numbers_and_names_are_apart), cmocka_unit_test(sets_of_metrics))
