/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot/foreign.h"

#include "unit/build.h"

/* A file of the original, synthetic: these members and threads, all else left out. */
#define FILE_OF(members, threads) "{\"captured_at_unix_ns\":5," members "\"threads\":[" threads "]}"
#define T(tid, members)           "{\"tid\":" #tid ",\"tgid\":10" members "}"

static const struct ctprof_thread *thread(const struct ctprof_snapshot *s, size_t i)
{
	assert_true(i < s->threads.count);
	return snapshot_thread(s, i);
}

static void expect_measured(const struct ctprof_snapshot *s, size_t i, enum metric_id id,
			    uint64_t value)
{
	if (!is_measured(thread(s, i), id))
		fail_msg("%s of thread %zu is not measured", metrics[id].name, i);
	assert_int_equal(metric_load_u64(&thread(s, i)->record.values, &metrics[id]), value);
}

static void expect_unmeasured(const struct ctprof_snapshot *s, size_t i, enum metric_id id)
{
	if (is_measured(thread(s, i), id))
		fail_msg("%s of thread %zu counts as measured", metrics[id].name, i);
}

TEST(a_family_was_read_when_one_value_is_not_zero)
{
	struct ctprof_snapshot *s = parsed(FILE_OF(
		"",
		T(10, ",\"run_time_ns\":0,\"wait_time_ns\":0,\"timeslices\":0,"
		      "\"nr_wakeups\":0,\"minflt\":0") "," T(11, ",\"run_time_ns\":7,\"wait_time_"
								 "ns\":0,\"timeslices\":0,"
								 "\"nr_wakeups\":0,\"minflt\":3")));

	for (size_t i = 0; i < 2; i++) {
		expect_measured(s, i, METRIC_run_time_ns, i ? 7 : 0);
		expect_measured(s, i, METRIC_wait_time_ns, 0);
		expect_measured(s, i, METRIC_timeslices, 0);
		expect_measured(s, i, METRIC_minflt, i ? 3 : 0);
		expect_measured(s, i, METRIC_thread_count, 1);
		/* nobody ever woke up: nothing says that the kernel counts */
		expect_unmeasured(s, i, METRIC_nr_wakeups);
	}
	assert_int_equal(s->origin, ORIGIN_KTSTR);
	snapshot_destroy(s);
}

TEST(a_member_that_is_not_there_is_unmeasured)
{
	struct ctprof_snapshot *s =
		parsed(FILE_OF("", T(10, ",\"run_time_ns\":7") "," T(11, ",\"timeslices\":2")));

	expect_measured(s, 0, METRIC_run_time_ns, 7);
	expect_unmeasured(s, 0, METRIC_timeslices);
	expect_unmeasured(s, 1, METRIC_run_time_ns);
	expect_measured(s, 1, METRIC_timeslices, 2);
	assert_false(thread(s, 0)->start_time_clock_ticks.measured);
	snapshot_destroy(s);
}

/* nr_migrations comes from the same file as the SCHEDSTATS rows, but needs no option. */
TEST(rows_of_another_option_are_another_family)
{
	struct ctprof_snapshot *s =
		parsed(FILE_OF("", T(10, ",\"nr_migrations\":4,\"nr_wakeups\":0,\"wait_sum\":0,"
					 "\"core_forceidle_sum\":0,\"ext_enabled\":false")));

	expect_measured(s, 0, METRIC_nr_migrations, 4);
	expect_unmeasured(s, 0, METRIC_nr_wakeups);
	expect_unmeasured(s, 0, METRIC_wait_sum);
	expect_unmeasured(s, 0, METRIC_core_forceidle_sum);
	expect_unmeasured(s, 0, METRIC_ext_enabled);
	snapshot_destroy(s);
}

TEST(empty_texts_and_sets_are_unmeasured)
{
	struct ctprof_snapshot *s = parsed(
		FILE_OF("", T(10, ",\"policy\":\"\",\"state\":\"~\",\"cpu_affinity\":[]") "," T(
				    11, ",\"policy\":\"SCHED_RR\",\"state\":\"S\","
					"\"cpu_affinity\":[0,2]")));

	expect_unmeasured(s, 0, METRIC_policy);
	expect_unmeasured(s, 0, METRIC_state);
	expect_unmeasured(s, 0, METRIC_cpu_affinity);
	assert_true(is_measured(thread(s, 1), METRIC_policy));
	expect_measured(s, 1, METRIC_state, 'S');
	assert_int_equal(cpu_set_count(thread(s, 1)->record.values.cpu_affinity.v), 2);
	snapshot_destroy(s);
}

TEST(facts_of_leaders_are_theirs_alone)
{
	struct ctprof_snapshot *s = parsed(FILE_OF(
		"", T(10, ",\"nr_threads\":2,\"voluntary_csw\":1,\"smaps_rollup_kb\":"
			  "{\"Rss\":4}") "," T(11, ",\"nr_threads\":0,\"smaps_rollup_kb\":{}")));

	expect_measured(s, 0, METRIC_nr_threads, 2);
	expect_unmeasured(s, 1, METRIC_nr_threads);
	assert_non_null(thread(s, 0)->smaps_rollup_kib);
	assert_int_equal(thread(s, 0)->smaps_rollup_kib->items[0].value, 4);
	assert_null(thread(s, 1)->smaps_rollup_kib);
	snapshot_destroy(s);
}

/* --- delays without booleans --- */

#define NO_DELAYS                                                                  \
	",\"cpu_delay_count\":3,\"cpu_delay_total_ns\":9,\"blkio_delay_count\":0," \
	"\"blkio_delay_total_ns\":0,\"irq_delay_count\":0,\"hiwater_rss_bytes\":4096"
#define SOME_DELAYS                                                                \
	",\"cpu_delay_count\":3,\"cpu_delay_total_ns\":9,\"blkio_delay_count\":2," \
	"\"blkio_delay_total_ns\":8,\"irq_delay_count\":0,\"hiwater_rss_bytes\":4096"

#define IRQ_DELAYS                                                                 \
	",\"cpu_delay_count\":3,\"cpu_delay_total_ns\":9,\"blkio_delay_count\":0," \
	"\"blkio_delay_total_ns\":0,\"irq_delay_count\":1,\"hiwater_rss_bytes\":4096"

TEST(a_thread_of_no_delays_may_be_older_than_the_switch)
{
	struct ctprof_snapshot *s =
		parsed(FILE_OF("", T(10, NO_DELAYS) "," T(11, SOME_DELAYS) "," T(12, IRQ_DELAYS)));

	expect_measured(s, 0, METRIC_cpu_delay_count, 3);
	expect_measured(s, 0, METRIC_hiwater_rss_bytes, 4096);
	expect_unmeasured(s, 0, METRIC_blkio_delay_count);
	expect_unmeasured(s, 0, METRIC_irq_delay_count);
	expect_measured(s, 1, METRIC_blkio_delay_count, 2);
	expect_measured(s, 1, METRIC_irq_delay_count, 0);
	expect_measured(s, 2, METRIC_blkio_delay_count, 0);
	expect_measured(s, 2, METRIC_irq_delay_count, 1);
	snapshot_destroy(s);
}

/* Interrupt time needs a kernel option of its own: other delays say nothing of it. */
TEST(irq_delays_are_a_family_of_their_own)
{
	struct ctprof_snapshot *s = parsed(FILE_OF("", T(10, SOME_DELAYS)));

	expect_measured(s, 0, METRIC_blkio_delay_count, 2);
	expect_unmeasured(s, 0, METRIC_irq_delay_count);
	snapshot_destroy(s);
	s = parsed(FILE_OF("", T(10, IRQ_DELAYS) "," T(11, IRQ_DELAYS)));
	expect_measured(s, 0, METRIC_irq_delay_count, 1);
	expect_unmeasured(s, 0, METRIC_blkio_delay_count);
	snapshot_destroy(s);
}

TEST(unless_the_kernel_was_booted_with_it)
{
	struct ctprof_snapshot *s =
		parsed(FILE_OF("\"host\":{\"kernel_cmdline\":\"quiet delayacct ro\"},",
			       T(10, NO_DELAYS) "," T(11, SOME_DELAYS) "," T(12, IRQ_DELAYS)));

	expect_measured(s, 0, METRIC_blkio_delay_count, 0);
	expect_measured(s, 0, METRIC_irq_delay_count, 0);
	snapshot_destroy(s);
	s = parsed(FILE_OF("\"host\":{\"kernel_cmdline\":\"quiet nodelayacct ro\"},",
			   T(10, NO_DELAYS) "," T(11, SOME_DELAYS)));
	expect_unmeasured(s, 0, METRIC_blkio_delay_count);
	snapshot_destroy(s);
}

/* --- the booleans of the later spelling --- */

#define BOOLEANS(taskstats, cpu, block, xacct, jemalloc)                    \
	",\"taskstats_measured\":" #taskstats ",\"cpu_delay_active\":" #cpu \
	",\"delay_block_active\":" #block ",\"xacct_active\":" #xacct       \
	",\"jemalloc_measured\":" #jemalloc

/* clang-format off */
#define FOUR_THREADS                                                                              \
	T(10, SOME_DELAYS BOOLEANS(true, true, true, true, true) ",\"allocated_bytes\":5") ","     \
	T(11, SOME_DELAYS BOOLEANS(true, true, false, true, false) ",\"allocated_bytes\":0") ","   \
	T(12, SOME_DELAYS BOOLEANS(true, false, true, false, true) ",\"allocated_bytes\":0") ","   \
	T(13, SOME_DELAYS BOOLEANS(false, true, true, true, true))
/* clang-format on */

TEST(a_false_boolean_clears_its_family)
{
	struct ctprof_snapshot *s = parsed(FILE_OF("", FOUR_THREADS));

	expect_measured(s, 0, METRIC_blkio_delay_count, 2);
	expect_measured(s, 0, METRIC_allocated_bytes, 5);

	expect_measured(s, 1, METRIC_cpu_delay_count, 3);
	expect_unmeasured(s, 1, METRIC_blkio_delay_count);
	expect_unmeasured(s, 1, METRIC_irq_delay_count);
	expect_measured(s, 1, METRIC_hiwater_rss_bytes, 4096);
	expect_unmeasured(s, 1, METRIC_allocated_bytes);

	expect_unmeasured(s, 2, METRIC_cpu_delay_count);
	expect_measured(s, 2, METRIC_blkio_delay_count, 2);
	expect_unmeasured(s, 2, METRIC_hiwater_rss_bytes);
	expect_measured(s, 2, METRIC_allocated_bytes, 0);

	expect_unmeasured(s, 3, METRIC_cpu_delay_count);
	expect_unmeasured(s, 3, METRIC_blkio_delay_count);
	expect_unmeasured(s, 3, METRIC_hiwater_rss_bytes);
	snapshot_destroy(s);
}

/* They decide: a zero of a family they call measured is a zero, whatever other threads say. */
TEST(a_true_boolean_makes_zeros_zeros)
{
	struct ctprof_snapshot *s = parsed(FILE_OF(
		"",
		T(10, NO_DELAYS BOOLEANS(true, true, true, true,
					 true) ",\"allocated_bytes\":0,\"deallocated_bytes\":0")));

	expect_measured(s, 0, METRIC_blkio_delay_count, 0);
	expect_measured(s, 0, METRIC_blkio_delay_total_ns, 0);
	expect_measured(s, 0, METRIC_allocated_bytes, 0);
	snapshot_destroy(s);
}

TEST(one_boolean_of_each)
{
	static const struct {
		enum family_boolean which;
		enum metric_id cleared, kept;
	} rows[] = {
		{ BOOLEAN_TASKSTATS, METRIC_irq_delay_min_ns, METRIC_run_time_ns },
		{ BOOLEAN_TASKSTATS, METRIC_hiwater_vm_bytes, METRIC_allocated_bytes },
		{ BOOLEAN_CPU_DELAY, METRIC_cpu_delay_max_ns, METRIC_blkio_delay_max_ns },
		{ BOOLEAN_BLOCK_DELAY, METRIC_swapin_delay_min_ns, METRIC_cpu_delay_min_ns },
		{ BOOLEAN_XACCT, METRIC_hiwater_rss_bytes, METRIC_irq_delay_count },
		{ BOOLEAN_JEMALLOC, METRIC_deallocated_bytes, METRIC_hiwater_rss_bytes },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct ctprof_thread t = { .tid = 1 };

		memset(&t.record.measured, 0xff, sizeof(t.record.measured));
		foreign_apply_boolean(&t, rows[i].which);
		assert_false(is_measured(&t, rows[i].cleared));
		assert_true(is_measured(&t, rows[i].kept));
	}
}

/* --- cgroups and pressure --- */

#define CGROUP_FILE(cgroup) FILE_OF("\"cgroup_stats\":{\"/a\":{" cgroup "}},", T(10, ""))

TEST(numbers_of_one_file_of_a_cgroup)
{
	struct ctprof_snapshot *s = parsed(CGROUP_FILE(
		"\"cpu\":{\"usage_usec\":9,\"nr_throttled\":0,\"throttled_usec\":0,"
		"\"max_quota_us\":null,\"max_period_us\":100000,\"weight\":100,\"weight_nice\":"
		"null},"
		"\"memory\":{\"current\":0,\"max\":null,\"high\":null,\"low\":18446744073709551615,"
		"\"min\":null,\"stat\":{\"anon\":5},\"events\":{}},"
		"\"pids\":{\"current\":3,\"max\":null}"));
	const struct cgroup_counters *c = &s->cgroups.items[0];

	assert_true(c->cpu.usage_usec.measured);
	assert_true(c->cpu.nr_throttled.measured);
	assert_true(c->cpu.throttled_usec.measured);
	assert_int_equal(c->cpu.throttled_usec.value, 0);
	assert_true(c->cpu.weight.measured);
	assert_false(c->cpu.weight_nice.measured);
	assert_false(c->memory.current.measured);
	assert_false(c->memory.max.measured);
	assert_true(c->memory.low.measured);
	assert_int_equal(c->memory.low.value, UINT64_MAX);
	assert_true(c->memory.stat.measured);
	assert_false(c->memory.events.measured);
	assert_true(c->pids.current.measured);
	snapshot_destroy(s);
}

TEST(a_cgroup_of_zeros_is_unmeasured)
{
	struct ctprof_snapshot *s = parsed(CGROUP_FILE(
		"\"cpu\":{\"usage_usec\":0,\"nr_throttled\":0,\"throttled_usec\":0},"
		"\"memory\":{\"current\":0,\"stat\":{},\"events\":{}},\"pids\":{\"current\":0}"));
	const struct cgroup_counters *c = &s->cgroups.items[0];

	assert_false(c->cpu.usage_usec.measured);
	assert_false(c->cpu.nr_throttled.measured);
	assert_false(c->memory.current.measured);
	assert_false(c->memory.stat.measured);
	assert_false(c->pids.current.measured);
	snapshot_destroy(s);
}

#define PSI_CPU                                                                               \
	"\"psi\":{\"cpu\":{\"some\":{\"avg10\":0,\"avg60\":0,\"avg300\":0,\"total_usec\":7}," \
	"\"full\":{\"avg10\":0,\"avg60\":0,\"avg300\":0,\"total_usec\":0}}}"

static void check_psi(const struct psi *psi)
{
	assert_true(psi->cpu.some.total_usec.measured);
	assert_true(psi->cpu.some.avg10.measured);
	assert_int_equal(psi->cpu.some.avg10.value, 0);
	assert_false(psi->cpu.full.avg10.measured);
	assert_false(psi->cpu.full.total_usec.measured);
	assert_false(psi->io.some.total_usec.measured);
}

TEST(a_pressure_line_was_read_when_one_number_is_not_zero)
{
	struct ctprof_snapshot *s = parsed(FILE_OF(PSI_CPU ",", T(10, "")));

	check_psi(&s->psi);
	snapshot_destroy(s);
}

TEST(the_same_of_a_cgroup)
{
	struct ctprof_snapshot *s = parsed(CGROUP_FILE(PSI_CPU));

	check_psi(&s->cgroups.items[0].psi);
	snapshot_destroy(s);
}

/* --- .hst.zst --- */

#define FLAT                                                                         \
	",\"run_time_ns\":7,\"nr_wakeups\":3,\"nr_wakeups_idle\":0,\"wait_sum\":12," \
	"\"wait_count\":5,\"sleep_sum\":4,\"block_sum\":9,\"block_count\":2,"        \
	"\"iowait_sum\":3,\"iowait_count\":1,\"allocated_bytes\":6,\"deallocated_bytes\":6"

TEST(the_older_form)
{
	struct ctprof_snapshot *s =
		parsed(FILE_OF("\"cgroup_stats\":{\"/a\":{\"cpu_usage_usec\":5,\"nr_throttled\":0,"
			       "\"throttled_usec\":0,\"memory_current\":4096}},",
			       T(10, FLAT)));
	const struct cgroup_counters *c = &s->cgroups.items[0];

	assert_int_equal(s->origin, ORIGIN_HOST_STATE);
	expect_measured(s, 0, METRIC_run_time_ns, 7);
	expect_measured(s, 0, METRIC_wait_sum, 12000000);
	expect_measured(s, 0, METRIC_iowait_sum, 3000000);
	expect_measured(s, 0, METRIC_wait_count, 5);
	expect_measured(s, 0, METRIC_nr_wakeups, 3);
	expect_unmeasured(s, 0, METRIC_block_sum);
	expect_unmeasured(s, 0, METRIC_allocated_bytes);
	expect_unmeasured(s, 0, METRIC_deallocated_bytes);
	expect_unmeasured(s, 0, METRIC_voluntary_sleep_ns);
	assert_true(c->cpu.usage_usec.measured);
	assert_int_equal(c->cpu.usage_usec.value, 5);
	assert_true(c->cpu.throttled_usec.measured);
	assert_int_equal(c->memory.current.value, 4096);
	snapshot_destroy(s);
}

TEST(milliseconds_that_are_too_many)
{
	struct ctprof_snapshot *s =
		parsed(FILE_OF("", T(10, ",\"sleep_sum\":1,\"wait_sum\":18446744073709551615")));

	expect_measured(s, 0, METRIC_wait_sum, UINT64_MAX);
	snapshot_destroy(s);
}

/* --- about the file --- */

TEST(one_remark_for_each_file)
{
	static const struct {
		const char *json, *word;
	} files[] = {
		{ FILE_OF("", T(10, ",\"run_time_ns\":7")), "inferred" },
		{ FILE_OF("", T(10, BOOLEANS(true, true, true, true, true))), "some families" },
		{ FILE_OF("", T(10, FLAT)), "1 ms" },
	};

	for (size_t i = 0; i < array_length(files); i++) {
		struct ctprof_snapshot *s = parsed(files[i].json);

		assert_int_equal(s->remarks.count, 1);
		assert_non_null(strstr(s->remarks.items[0], files[i].word));
		snapshot_destroy(s);
	}
}

TEST(both_spellings_of_sizes)
{
	static const char *const files[] = {
		FILE_OF("\"host\":{\"total_memory_kb\":42,\"hugepages_size_kb\":2048},",
			T(10, ",\"smaps_rollup_kb\":{\"Rss\":4}")),
		FILE_OF("\"host\":{\"total_memory_kib\":42,\"hugepages_size_kib\":2048},",
			T(10, ",\"smaps_rollup_kib\":{\"Rss\":4}")),
		FILE_OF("\"host\":{\"total_memory_kb\":42,\"total_memory_kib\":42,"
			"\"hugepages_size_kib\":2048},",
			T(10, ",\"smaps_rollup_kb\":{\"Rss\":4},\"smaps_rollup_kib\":{\"Rss\":4}")),
	};

	for (size_t i = 0; i < array_length(files); i++) {
		struct ctprof_snapshot *s = parsed(files[i]);

		assert_int_equal(s->host->total_memory_kib.value, 42);
		assert_true(s->host->total_memory_kib.measured);
		assert_int_equal(s->host->hugepages_size_kib.value, 2048);
		assert_int_equal(thread(s, 0)->smaps_rollup_kib->count, 1);
		assert_int_equal(thread(s, 0)->smaps_rollup_kib->items[0].value, 4);
		snapshot_destroy(s);
	}
}

UNIT_TESTS(cmocka_unit_test(a_family_was_read_when_one_value_is_not_zero),
	   cmocka_unit_test(a_member_that_is_not_there_is_unmeasured),
	   cmocka_unit_test(rows_of_another_option_are_another_family),
	   cmocka_unit_test(empty_texts_and_sets_are_unmeasured),
	   cmocka_unit_test(facts_of_leaders_are_theirs_alone),
	   cmocka_unit_test(a_thread_of_no_delays_may_be_older_than_the_switch),
	   cmocka_unit_test(irq_delays_are_a_family_of_their_own),
	   cmocka_unit_test(unless_the_kernel_was_booted_with_it),
	   cmocka_unit_test(a_false_boolean_clears_its_family),
	   cmocka_unit_test(a_true_boolean_makes_zeros_zeros),
	   cmocka_unit_test(one_boolean_of_each), cmocka_unit_test(numbers_of_one_file_of_a_cgroup),
	   cmocka_unit_test(a_cgroup_of_zeros_is_unmeasured),
	   cmocka_unit_test(a_pressure_line_was_read_when_one_number_is_not_zero),
	   cmocka_unit_test(the_same_of_a_cgroup), cmocka_unit_test(the_older_form),
	   cmocka_unit_test(milliseconds_that_are_too_many),
	   cmocka_unit_test(one_remark_for_each_file), cmocka_unit_test(both_spellings_of_sizes))
